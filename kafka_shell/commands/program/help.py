"""`help`: every page is derived from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.language.common import CONNECTION, PROGRAM, RUNNING, common_options
from kafka_shell.language.tokens import tokenize
from kafka_shell.language.usage import metavar, usage
from kafka_shell.output.pane import columns_of

if TYPE_CHECKING:
    from kafka_shell.context import Context

_NARROW = 24  # columns; fewer are no place for a sentence

FAMILIES = ("topics", "configs", "clients", "access", "partitions", "groups", "cluster",
            "transactions", "audit", "shell")  # fmt: skip


def show_help(invocation: Invocation, context: Context) -> str:
    """The list of commands, one command's page, or commands that have to do with a word."""
    from kafka_shell.commands import REGISTRY

    columns = columns_of(context.out)
    word = invocation["command"]
    if word is None:
        return overview(REGISTRY, columns)
    for command in REGISTRY:
        if word == command.name or word in (short.word for short in command.shorts):
            return page(command, columns)
    return _found(word, REGISTRY, invocation, columns)


def overview(registry: Sequence[Command], columns: int | None = None) -> str:
    """Every command with its summary, by family. `columns` are the terminal's; None is none."""
    width = max(len(command.name) for command in registry) + 2
    lines = []
    for family in FAMILIES:
        members = [command for command in registry if command.family == family]
        if members:
            rows = [_row(c.name, c.summary, width, columns) for c in members]
            lines += [family.upper(), *(line for row in rows for line in row), ""]
    last = "help COMMAND shows its options and examples; F1 does so while you type."
    return "\n".join([*lines, *_wrapped(last, columns)])


def page(command: Command, columns: int | None = None) -> str:
    """One command's page. `columns` are the terminal's; None is none."""
    described = command.description.split("\n") if command.description else []
    shorts = ", ".join(short.word for short in command.shorts)
    sections = [
        _wrapped(f"{command.name}: {command.summary}", columns),
        _wrapped(f"usage: {usage(command)}", columns, indent=7),
        [line for each in described for line in _wrapped(each, columns)],
        _wrapped(f"short forms: {shorts}", columns) if shorts else [],
        _table("ARGUMENTS", map(_argument_row, command.arguments), columns),
        _table("OPTIONS", map(_option_row, _visible(command.options)), columns),
        _table("ALWAYS", map(_option_row, _common(command)), columns),
        list(_examples(command.examples, columns)),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _visible(options: Iterable[Option]) -> list[Option]:
    return [option for option in options if not option.hidden]


def _common(command: Command) -> list[Option]:
    """The options every command has, less the spellings that this one means otherwise."""
    found = []
    for option in _visible(common_options(command.effect)):
        names = [name for name in (option.name, *option.aliases) if command.option(name) is None]
        if names:
            found.append(replace(option, name=names[0], aliases=tuple(names[1:])))
    return found


def program_page(registry: Sequence[Command], columns: int | None = None) -> str:
    """What `kafka.sh --help` prints: the ways to run it, its options, its commands."""
    ways = [
        "usage: kafka.sh [--broker HOST:PORT]               a prompt",
        "       kafka.sh [--broker HOST:PORT] COMMAND ...   one command, then exit",
        "       kafka.sh [--broker HOST:PORT] < SCRIPT      a script",
        "",
        *_wrapped(
            "Without --broker or --profile: the default profile, else localhost:9092.", columns
        ),
    ]
    known = _visible((*CONNECTION, *PROGRAM, *RUNNING))
    options = _table("OPTIONS", map(_option_row, known), columns)
    return "\n".join([*ways, "", *options, "", overview(registry, columns)]) + "\n"


def _argument_row(argument: Argument) -> tuple[str, str]:
    name = argument.name.upper() + ("..." if argument.many else "")
    spelled = f"  (also {argument.option})" if argument.option else ""
    return name, argument.help + spelled


def _option_row(option: Option) -> tuple[str, str]:
    names = ", ".join((option.name, *option.aliases))
    if option.kind is not Kind.FLAG and not option.value_optional:
        names += f" {metavar(option)}"
    return names, option.help


def _table(heading: str, rows: Iterable[tuple[str, str]], columns: int | None) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    width = min(max(len(name) for name, _ in rows), 34) + 2
    return [heading, *(line for row in rows for line in _row(*row, width, columns))]


def _row(name: str, text: str, width: int, columns: int | None) -> list[str]:
    """Two columns; a long name, or a narrow terminal, has the text on the next lines."""
    narrow = columns is not None and columns - width - 2 < _NARROW
    indent = 6 if narrow else width + 2
    if narrow or len(name) + 2 > width:
        lines = _wrapped(f"  {name}", columns, indent=4)
        return [*lines, *_wrapped(" " * indent + text, columns, indent=indent)]
    return _wrapped(f"  {name:<{width}}{text}", columns, indent=indent)


def _examples(examples: Sequence[Example], columns: int | None) -> Iterator[str]:
    """Each whole: where a line is too long it goes on after a backslash, and can be copied."""
    if examples:
        yield "EXAMPLES"
    for example in examples:
        yield from _wrapped(f"  # {example.about}", columns, indent=4, more="  # ")
        *first, last = _broken(example.line, columns)
        yield from (f"{line} \\" for line in first)
        yield last


def _broken(line: str, columns: int | None) -> list[str]:
    """The command line in rows, broken between its words."""
    starts = [word.span[0] for word in tokenize(line).words][1:]
    rows, begin, indent = [], 0, 2
    for start, end in pairwise([*starts, len(line)]):
        if columns is not None and start > begin and indent + len(line[begin:end]) + 2 > columns:
            rows.append(" " * indent + line[begin:start].rstrip())
            begin, indent = start, 4
    return [*rows, " " * indent + line[begin:]]


def _wrapped(text: str, columns: int | None, *, indent: int = 0, more: str = "") -> list[str]:
    """The text in lines that the terminal does not break; words stay whole."""
    if columns is None or len(text) <= columns:
        return [text]
    from textwrap import wrap

    return wrap(
        text,
        max(columns, indent + 8),
        subsequent_indent=more or " " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )


def _found(
    word: str, registry: Sequence[Command], invocation: Invocation, columns: int | None
) -> str:
    """Commands whose name, summary or search words hold `word`."""
    needle = word.lower()
    hits = [
        command
        for command in registry
        if needle in command.name
        or needle in command.summary.lower()
        or any(needle in term for term in command.search)
    ]
    if hits:
        return overview(hits, columns)
    names = [command.name for command in registry]
    raise UsageError(
        f"no command has to do with {word}",
        hint=did_you_mean(word, names, "help alone lists every command."),
        span=invocation.span("command"),
        text=invocation.text,
    )


def reference(registry: Sequence[Command]) -> str:
    """README's table: every command with its arguments and options, by family."""
    rows = ["| command | short | what it does | options |", "|---|---|---|---|"]
    for family in FAMILIES:
        for command in registry:
            if command.family == family:
                rows.append(_reference_row(command))
    return "\n".join(rows)


def _reference_row(command: Command) -> str:
    words = [_reference_word(argument) for argument in command.arguments]
    options = " ".join(f"`{option.name}`" for option in _visible(command.options))
    shorts = " ".join(f"`{short.word}`" for short in command.shorts)
    name = " ".join([command.name, *words])
    return f"| `{name}` | {shorts} | {command.summary} | {options} |"


def _reference_word(argument: Argument) -> str:
    word = argument.name.upper() + ("..." if argument.many else "")
    return word if argument.required else f"[{word}]"


COMMANDS = (
    Command(
        name="help",
        summary="Every command, or one with its options and examples.",
        family="shell",
        run=show_help,
        needs_cluster=False,
        arguments=(
            Argument("command", Kind.COMMAND, "A command, or a word to search for.",
                     required=False),
        ),
        examples=(
            Example("help", "every command"),
            Example("help alter-configs", "one command"),
            Example("help retention", "commands that have to do with a word"),
        ),
    ),
)  # fmt: skip
