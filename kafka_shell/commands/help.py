"""`help`: every page is derived from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.language.common import CONNECTION, PROGRAM, RUNNING, common_options
from kafka_shell.language.usage import metavar, usage

if TYPE_CHECKING:
    from kafka_shell.context import Context

FAMILIES = ("topics", "configs", "clients", "access", "partitions", "groups", "cluster",
            "transactions", "audit", "shell")  # fmt: skip


def show_help(invocation: Invocation, context: Context) -> str:
    """The list of commands, one command's page, or commands that have to do with a word."""
    from . import REGISTRY

    word = invocation["command"]
    if word is None:
        return overview(REGISTRY)
    for command in REGISTRY:
        if word == command.name or word in (short.word for short in command.shorts):
            return page(command)
    return _found(word, REGISTRY, invocation)


def overview(registry: Sequence[Command]) -> str:
    """Every command with its summary, by family."""
    width = max(len(command.name) for command in registry) + 2
    lines = []
    for family in FAMILIES:
        members = [command for command in registry if command.family == family]
        if members:
            lines += [family.upper(), *(f"  {c.name:<{width}}{c.summary}" for c in members), ""]
    lines.append("help COMMAND shows its options and examples; F1 does so while you type.")
    return "\n".join(lines)


def page(command: Command) -> str:
    """One command's page."""
    sections = [
        [f"{command.name}: {command.summary}"],
        [f"usage: {usage(command)}"],
        [command.description] if command.description else [],
        ["short forms: " + ", ".join(short.word for short in command.shorts)]
        if command.shorts
        else [],
        _table("ARGUMENTS", map(_argument_row, command.arguments)),
        _table("OPTIONS", map(_option_row, _visible(command.options))),
        _table("ALWAYS", map(_option_row, _common(command))),
        list(_examples(command.examples)),
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


def program_page(registry: Sequence[Command]) -> str:
    """What `kafka.sh --help` prints: the ways to run it, its options, its commands."""
    ways = [
        "usage: kafka.sh [--broker HOST:PORT]               a prompt",
        "       kafka.sh [--broker HOST:PORT] COMMAND ...   one command, then exit",
        "       kafka.sh [--broker HOST:PORT] < SCRIPT      a script",
        "",
        "Without --broker or --profile: the default profile, else localhost:9092.",
    ]
    options = _table("OPTIONS", map(_option_row, _visible((*CONNECTION, *PROGRAM, *RUNNING))))
    return "\n".join([*ways, "", *options, "", overview(registry)]) + "\n"


def _argument_row(argument: Argument) -> tuple[str, str]:
    name = argument.name.upper() + ("..." if argument.many else "")
    spelled = f"  (also {argument.option})" if argument.option else ""
    return name, argument.help + spelled


def _option_row(option: Option) -> tuple[str, str]:
    names = ", ".join((option.name, *option.aliases))
    if option.kind is not Kind.FLAG and not option.value_optional:
        names += f" {metavar(option)}"
    return names, option.help


def _table(heading: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """Two columns; a long name has its help on the next line."""
    rows = list(rows)
    if not rows:
        return []
    width = min(max(len(name) for name, _ in rows), 34) + 2
    lines = [heading]
    for name, text in rows:
        if len(name) + 2 > width:
            lines += [f"  {name}", f"  {'':<{width}}{text}"]
        else:
            lines.append(f"  {name:<{width}}{text}")
    return lines


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    if examples:
        yield "EXAMPLES"
    for example in examples:
        yield f"  # {example.about}"
        yield f"  {example.line}"


def _found(word: str, registry: Sequence[Command], invocation: Invocation) -> str:
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
        return overview(hits)
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
