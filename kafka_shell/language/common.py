"""The options of every command. A command can override an option of the same name."""

from __future__ import annotations

from kafka_shell.common.command_results import FORMATS
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Option
from kafka_shell.plan.model import Effect

LONGEST_WAIT_MS = 24 * 24 * 60 * 60 * 1000  # 24d; Kafka uses 32-bit milliseconds

CONNECTION = (
    Option("--broker", kinds.HOST_PORT, "Bootstrap brokers: host:port[,host:port].",
           aliases=("--bootstrap-server",)),
    Option("--command-config", kinds.FILE, "Java .properties file with client configs.",
           aliases=("--adminclient.config",)),
    Option("--adminclient-property", kinds.PROPERTY, "Client config, key=value.", many=True),
    Option("--profile", kinds.PROFILE, "Profile in config.toml."),
)  # fmt: skip

# Declared by the commands that send it to the brokers.
TIMEOUT = Option("--timeout", kinds.DURATION,
                 "How long brokers wait for a change to complete (KIP-4).",
                 least=-1, most=LONGEST_WAIT_MS)  # fmt: skip
# Commands without a connection do not have it, except those that declare it.
DEADLINE = Option("--deadline", kinds.DURATION, "Maximum duration of the whole command.",
                  least=1, most=LONGEST_WAIT_MS)  # fmt: skip

RUNNING = (
    Option("--output", kinds.CHOICE, "Output format.", choices=FORMATS),
    Option("--safe-csv", kinds.FLAG,
           "In CSV, put a ' before cells that spreadsheets read as formulas (= + - @)."),
    Option("--no-color", kinds.FLAG, "Print without colors."),
    DEADLINE,
    Option("--help", kinds.FLAG, "Show help.", aliases=("-h",)),
)  # fmt: skip

CHANGING = (
    Option("--verbose", kinds.FLAG, "List every change of a long plan and of its report."),
    Option("--dry-run", kinds.FLAG, "Show and validate the plan without applying it."),
    Option("--yes", kinds.FLAG, "Skip the confirmation (--yes=CLUSTER if the guard is typed).",
           value_optional=True),
)  # fmt: skip
# Declared by the commands whose tool of Kafka has it.
FORCE = Option("--force", kinds.FLAG, "The same as --yes, as in Kafka's tool.",
               hidden=True, excludes=("--yes",))  # fmt: skip

SANDBOX = (
    Option("--kafka-version", kinds.TEXT, "Kafka version of the sandbox.", metavar="VERSION",
           choices=("4.3", "3.9")),
    Option("--brokers", kinds.INTEGER, "Number of brokers.", least=1, most=9),
    Option("--port", kinds.INTEGER, "Port of the first broker; 0 uses a free port.", metavar="PORT",
           least=0, most=65535),
    Option("--secure", kinds.FLAG, "Require authentication, to try SASL, TLS and ACLs."),
    Option("--empty", kinds.FLAG, "Create no demo data."),
)  # fmt: skip

PROGRAM = (
    *SANDBOX,
    Option("--shell", kinds.FLAG, "Start the prompt."),
    Option("--sandbox", kinds.FLAG, "Use a Kafka cluster on this machine; starts it if necessary."),
    Option("--keep", kinds.FLAG, "Keep the sandbox running at exit."),
    Option("--keep-going", kinds.FLAG, "Continue a script after a failed line."),
    Option("--version", kinds.FLAG, "Print the version."),
    Option("--completion", kinds.CHOICE, "Print a completion script.",
           choices=("bash", "zsh", "fish")),
)  # fmt: skip


def common_options(command: Command) -> tuple[Option, ...]:
    """Return the options that this command has in common with others."""
    running = RUNNING if command.needs_cluster else tuple(o for o in RUNNING if o is not DEADLINE)
    return CONNECTION + running + (() if command.effect is Effect.READ else CHANGING)
