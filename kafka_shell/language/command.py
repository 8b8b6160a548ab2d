"""Declarations of commands, used by the parser, completion, `help` and the README."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from kafka_shell.language.kind import Kind
from kafka_shell.plan.model import Effect


class Argument(Struct, frozen=True):
    """A positional argument. With `option` it can also be given as an option (`--topic t`).

    With `many` it takes one or more words and its value is a tuple; otherwise its value is one
    word, or None if it is optional and absent. It takes no word if one of the options in `unless`
    is given.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = True
    option: str = ""
    choices: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name in messages: TOPIC."""
        return self.name.upper()


class Option(Struct, frozen=True):
    """An option. With `many` it can be repeated, and its value is a tuple.

    `value_optional` takes a value only as `--name=value` (`--yes`, `--yes=CLUSTER`); without a
    value it is True. A `bare` option takes the next word unless it starts with a dash; without a
    word its value is the empty string. `excludes` cannot be used with it; without one of `requires`
    it has no effect and is refused. `least` and `most` limit numbers, durations and rates (default:
    64 bits). A FLAG may be an empty value of another option, `empty_of`, whose values have an
    order. The value of an absent option is None, () with `many`, or False for a FLAG.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    metavar: str = ""
    excludes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    value_optional: bool = False
    bare: bool = False
    hidden: bool = False
    empty_of: str = ""
    least: int | None = None
    most: int | None = None

    @property
    def label(self) -> str:
        """Its name in messages: --partitions."""
        return self.name


Parameter = Argument | Option


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
    """A command. `run(invocation, context)` returns a value, an iterator of rows, or a Plan.

    `family` groups commands in help (topics, configs, cluster, shell ...). `exactly_one` and
    `at_least_one` are groups of options or arguments of which one must be given. `needs_cluster` is
    False for commands without a connection. `description` is the longer help text. `apis` are the
    API keys it uses, besides Metadata, ApiVersions, FindCoordinator and authentication.
    A command that `repeats` a line repeats the pipe after it, too.
    `elsewhere` are unsupported options of the corresponding tool of Kafka, with hints.
    """

    name: str
    summary: str
    family: str
    run: Callable[[Invocation, Any], Any]
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
