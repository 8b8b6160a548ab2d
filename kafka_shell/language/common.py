"""Options that every command has, declared once. A command's own option of the same name wins."""

from __future__ import annotations

from kafka_shell.plan.model import Effect

from .command import Kind, Option

LONGEST_WAIT_MS = 24 * 24 * 60 * 60 * 1000  # 24d: Kafka's requests hold 32 bits of milliseconds

CONNECTION = (
    Option("--broker", Kind.HOST_PORT, "Brokers to start from: host:port[,host:port].",
           aliases=("--bootstrap-server",), metavar="HOST:PORT"),
    Option("--command-config", Kind.FILE, "A Java .properties file with client settings.",
           aliases=("--adminclient.config",), metavar="FILE"),
    Option("--adminclient-property", Kind.PROPERTY, "One client setting, key=value.", many=True,
           metavar="KEY=VALUE"),
    Option("--profile", Kind.PROFILE, "A profile of config.toml.", metavar="NAME"),
)  # fmt: skip

RUNNING = (
    Option("--output", Kind.CHOICE, "How to print the answer.",
           choices=("table", "json", "yaml", "csv")),
    Option("--safe-csv", Kind.FLAG,
           "In CSV, put a ' before cells that a spreadsheet takes for a formula (= + - @)."),
    Option("--no-color", Kind.FLAG, "Print without colour."),
    Option("--timeout", Kind.DURATION, "How long a broker may wait for completeness (KIP-4).",
           metavar="DURATION", least=-1, most=LONGEST_WAIT_MS),
    Option("--deadline", Kind.DURATION, "How long the whole command may take.",
           metavar="DURATION", least=1, most=LONGEST_WAIT_MS),
    Option("--help", Kind.FLAG, "Show the command's help.", aliases=("-h",)),
)  # fmt: skip

CHANGING = (
    Option("--dry-run", Kind.FLAG, "Show the plan and the broker's verdict on it; change nothing."),
    Option("--yes", Kind.FLAG, "Answer the question with yes (--yes=CLUSTER for a typed guard).",
           aliases=("--force",), value_optional=True),
)  # fmt: skip

SANDBOX = (
    Option("--kafka-version", Kind.TEXT, "Which Kafka the sandbox runs.", metavar="VERSION",
           choices=("4.3", "3.9")),
    Option("--brokers", Kind.INTEGER, "How many brokers it has.", metavar="N", least=1,
           most=9),
    Option("--port", Kind.INTEGER, "Its first broker's port; 0 takes a free one.", metavar="PORT",
           least=0, most=65535),
    Option("--secure", Kind.FLAG, "Clients must log in: SASL, TLS and ACLs can be tried."),
    Option("--empty", Kind.FLAG, "Without demo data."),
)  # fmt: skip

PROGRAM = (
    *SANDBOX,
    Option("--shell", Kind.FLAG, "Open the prompt."),
    Option("--sandbox", Kind.FLAG, "Use a real Kafka on this machine, started if it is not up."),
    Option("--keep", Kind.FLAG, "Leave the sandbox running at the end."),
    Option("--keep-going", Kind.FLAG, "A failing line does not stop the script."),
    Option("--version", Kind.FLAG, "Print the version."),
    Option("--completion", Kind.CHOICE, "Print a completion script.",
           choices=("bash", "zsh", "fish")),
)  # fmt: skip


def common_options(effect: Effect) -> tuple[Option, ...]:
    """The options that a command of this effect has besides its own, inside the shell too."""
    return CONNECTION + RUNNING + (() if effect is Effect.READ else CHANGING)
