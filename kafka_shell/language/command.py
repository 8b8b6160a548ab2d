"""Declarations of commands, used by the parser, completion, `help` and the README."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

from msgspec import Struct, field

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.kinds import Argument as Argument
from kafka_shell.language.kinds import Option as Option
from kafka_shell.language.kinds import Parameter as Parameter


class Example(Struct, frozen=True):
    """An example that works with the demo data of the sandbox, which the tests run.

    `status` is its exit status.
    """

    line: str
    about: str
    status: int = 0


class Short(Struct, frozen=True):
    """A short form: the first word `word` is replaced with `line`."""

    word: str
    line: str


class Command(Struct, frozen=True):
    """A command. `run` names the function that runs it, `topics.run:list_topics`, which takes the
    invocation and the context and returns a value, an iterator of rows, or a Plan.

    `family` groups commands in help (topics, configs, cluster, shell ...). `exactly_one` and
    `at_least_one` are groups of options or arguments of which one must be given. `needs_cluster` is
    False for commands without a connection. `description` is the longer help text. `apis` are the
    API keys it uses, besides Metadata, ApiVersions, FindCoordinator and authentication.
    A command that `repeats` a line repeats the pipe after it, too. One that is `rare`, or another
    spelling of a command, comes last in help, and is completed when its first letters are typed.
    `elsewhere` are unsupported options of the corresponding tool of Kafka, with hints.
    """

    name: str
    summary: str
    family: str
    run: str = ""
    effect: Effect = Effect.READ
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[Example, ...] = ()
    shorts: tuple[Short, ...] = ()
    search: tuple[str, ...] = ()
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_least_one: tuple[tuple[str, ...], ...] = ()
    needs_cluster: bool = True
    description: str = ""
    apis: tuple[int, ...] = ()
    repeats: bool = False
    rare: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()

    @property
    def verb_noun(self) -> bool:
        """Whether the command can be written as a flag (`--list-topics`)."""
        return "-" in self.name and " " not in self.name

    def option(self, name: str) -> Option | None:
        """Return the option with this name or alias, without common options."""
        for option in self.options:
            if name == option.name or name in option.aliases:
                return option
        return None


class Invocation(Struct, frozen=True):
    """A parsed line: the command, and the value of each argument and option.

    Names have no dashes: `invocation["topic"]`, `invocation["replication-factor"]`. An argument and
    its `option` share the name of the argument. `spans` are the positions of the words in `text`,
    so that later errors can point to them.
    """

    command: Command
    values: dict[str, Any]
    text: str = ""
    spans: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of `name`, or `default` if the command has no such parameter."""
        return self.values.get(name, default)

    def span(self, name: str, index: int = 0) -> tuple[int, int] | None:
        """Return the span of a word of `name` in `text`."""
        spans = self.spans.get(name, ())
        return spans[index] if index < len(spans) else None


# The options of every command. A command can override an option of the same name.

LONGEST_WAIT_MS = 24 * 24 * 60 * 60 * 1000  # 24d; Kafka uses 32-bit milliseconds

CONNECTION = (
    Option("--broker", kinds.HOST_PORT, "Bootstrap brokers: host:port[,host:port].",
           aliases=("--bootstrap-server",)),
    Option("--command-config", kinds.FILE, "Java .properties file with client configs.",
           aliases=("--adminclient.config",)),
    Option("--adminclient-property", kinds.PROPERTY, "Client config, key=value.", many=True),
    Option("--profile", kinds.PROFILE, "Profile in config.toml."),
    Option("--address-map", kinds.ADDRESS_PAIR,
           "Address to use for an advertised address (* is a wildcard).", many=True),
    Option("--via", kinds.VIA,
           "Proxy for all connections: socks5://HOST:PORT, http://HOST:PORT or ssh://HOST."),
)  # fmt: skip

# Declared by the commands that send it to the brokers.
TIMEOUT = Option("--timeout", kinds.DURATION,
                 "Timeout of the request on the broker.",
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
    Option("--verbose", kinds.FLAG, "Show the whole plan and every change, with IDs."),
    Option("--quiet", kinds.FLAG, "Print only errors.", excludes=("--verbose",)),
    Option("--dry-run", kinds.FLAG, "Show and validate the plan without applying it."),
    Option("--yes", kinds.FLAG, "Skip the confirmation (--yes=CLUSTER with guard = typed).",
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
    Option("--check", kinds.FLAG, "Check the syntax of a script and run nothing."),
    Option("--version", kinds.FLAG, "Print the version."),
    Option("--completion", kinds.CHOICE, "Print a completion script.",
           choices=("bash", "zsh", "fish")),
)  # fmt: skip


def common_options(command: Command) -> tuple[Option, ...]:
    """Return the options that this command has in common with others."""
    running = RUNNING if command.needs_cluster else tuple(o for o in RUNNING if o is not DEADLINE)
    return CONNECTION + running + (() if command.effect is Effect.READ else CHANGING)


# All commands of the program, found by the words that name them.


class Registry(Sequence[Command]):
    """Commands in the order of help. Looking one up imports its module and no other.

    `index` has the words of each module: the names and the short forms of its commands. `load`
    imports a module and returns its commands. Iterating imports all modules.
    """

    def __init__(
        self, index: Mapping[str, Sequence[str]], load: Callable[[str], Sequence[Command]]
    ) -> None:
        self._index, self._load = index, load
        self._modules = {word: module for module, words in index.items() for word in words}
        self._first = {word.split()[0]: module for word, module in self._modules.items()}
        self._commands: tuple[Command, ...] = ()
        self.most_words = max((word.count(" ") + 1 for word in self._modules), default=1)

    def named(self, name: str) -> Command | None:
        """The command with this name."""
        return next((command for command in self._module_of(name) if command.name == name), None)

    def with_flag(self, word: str) -> Command | None:
        """The command whose flag spelling this is: `--list-topics`."""
        flag = word.startswith("--") and "-" in word[2:]  # --broker is an option
        command = self.named(word[2:]) if flag else None
        return command if command is not None and command.verb_noun else None

    def line_of_short(self, word: str) -> str | None:
        """The full line of a short form."""
        shorts = (short for command in self._module_of(word) for short in command.shorts)
        return next((short.line for short in shorts if short.word == word), None)

    def has_first(self, word: str) -> bool:
        """Whether the name or the short form of a command begins with this word."""
        return word in self._first

    def continues(self, begun: str) -> bool:
        """Whether a command's name begins with these words and has more."""
        return any(word.startswith(begun) and word != begun for word in self._modules)

    def _module_of(self, word: str) -> Sequence[Command]:
        return self._load(self._modules[word]) if word in self._modules else ()

    def _all(self) -> tuple[Command, ...]:
        if not self._commands:
            self._commands = tuple(each for module in self._index for each in self._load(module))
        return self._commands

    def __iter__(self) -> Iterator[Command]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Command: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Command]: ...
    def __getitem__(self, index: int | slice) -> Command | Sequence[Command]:
        return self._all()[index]


def words_of_command(command: Command) -> tuple[str, ...]:
    """The command's name and its short forms."""
    return (command.name, *(short.word for short in command.shorts))
