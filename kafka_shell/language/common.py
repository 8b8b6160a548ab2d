"""The options of every command. A command can override an option of the same name."""

from __future__ import annotations

from kafka_shell.plan.model import Effect

from .command import Kind, Option

LONGEST_WAIT_MS = 24 * 24 * 60 * 60 * 1000  # 24d; Kafka uses 32-bit milliseconds

CONNECTION = (
    Option("--broker", Kind.HOST_PORT, "Bootstrap brokers: host:port[,host:port].",
           aliases=("--bootstrap-server",), metavar="HOST:PORT"),
    Option("--command-config", Kind.FILE, "Java .properties file with client configs.",
           aliases=("--adminclient.config",), metavar="FILE"),
    Option("--adminclient-property", Kind.PROPERTY, "Client config, key=value.", many=True,
           metavar="KEY=VALUE"),
    Option("--profile", Kind.PROFILE, "Profile in config.toml.", metavar="NAME"),
)  # fmt: skip

RUNNING = (
    Option("--output", Kind.CHOICE, "Output format.",
           choices=("table", "json", "yaml", "csv")),
    Option("--safe-csv", Kind.FLAG,
           "In CSV, put a ' before cells that spreadsheets read as formulas (= + - @)."),
    Option("--no-color", Kind.FLAG, "Print without colors."),
    Option("--timeout", Kind.DURATION, "How long brokers wait for a change to complete (KIP-4).",
           metavar="DURATION", least=-1, most=LONGEST_WAIT_MS),
    Option("--deadline", Kind.DURATION, "Maximum duration of the whole command.",
           metavar="DURATION", least=1, most=LONGEST_WAIT_MS),
    Option("--help", Kind.FLAG, "Show help.", aliases=("-h",)),
)  # fmt: skip

CHANGING = (
    Option("--dry-run", Kind.FLAG, "Show and validate the plan without applying it."),
    Option("--yes", Kind.FLAG, "Skip the confirmation (--yes=CLUSTER if the guard is typed).",
           aliases=("--force",), value_optional=True),
)  # fmt: skip

SANDBOX = (
    Option("--kafka-version", Kind.TEXT, "Kafka version of the sandbox.", metavar="VERSION",
           choices=("4.3", "3.9")),
    Option("--brokers", Kind.INTEGER, "Number of brokers.", metavar="N", least=1,
           most=9),
    Option("--port", Kind.INTEGER, "Port of the first broker; 0 uses a free port.", metavar="PORT",
           least=0, most=65535),
    Option("--secure", Kind.FLAG, "Require authentication, to try SASL, TLS and ACLs."),
    Option("--empty", Kind.FLAG, "Create no demo data."),
)  # fmt: skip

PROGRAM = (
    *SANDBOX,
    Option("--shell", Kind.FLAG, "Start the prompt."),
    Option("--sandbox", Kind.FLAG, "Use a Kafka cluster on this machine; starts it if necessary."),
    Option("--keep", Kind.FLAG, "Keep the sandbox running at exit."),
    Option("--keep-going", Kind.FLAG, "Continue a script after a failed line."),
    Option("--version", Kind.FLAG, "Print the version."),
    Option("--completion", Kind.CHOICE, "Print a completion script.",
           choices=("bash", "zsh", "fish")),
)  # fmt: skip


def common_options(effect: Effect) -> tuple[Option, ...]:
    """Return the common options of commands with this effect."""
    return CONNECTION + RUNNING + (() if effect is Effect.READ else CHANGING)
