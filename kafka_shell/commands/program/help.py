"""`help`: the pages are generated from the declarations of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import wrap

from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    CHANGING,
    CONNECTION,
    PROGRAM,
    RUNNING,
    SANDBOX,
    Argument,
    Command,
    Example,
    Invocation,
    Option,
)
from kafka_shell.language.tokens import tokenize
from kafka_shell.language.usage import metavar, usage
from kafka_shell.output.styled_stream import columns_of

_NARROWEST = 40  # columns; a narrower terminal breaks the lines itself
_NO_BREAK = "\x00"  # stands for a blank where a line is not broken
_SENTENCE = 24  # columns; where fewer are left beside the names, texts go below them
_NAMES = 28  # columns of a list for the names of commands; a longer name has a row of its own


def show_help(invocation: Invocation, context: Context) -> str:
    """The list of commands, one command's page, or the commands found by a word."""
    columns = columns_of(context.out)
    word = " ".join(invocation["command"])
    if not word:
        return overview(REGISTRY, columns)
    if word == "options":
        known = visible((*CONNECTION, *RUNNING, *CHANGING))
        return "\n".join(_table("COMMON OPTIONS", map(option_row, known), columns)) + "\n"
    for command in REGISTRY:
        if word == command.name or word in (short.word for short in command.shorts):
            return page(command, columns)
    return _found(word, REGISTRY, invocation, columns)


def families(registry: Iterable[Command]) -> tuple[str, ...]:
    """The families, in the order of their commands."""
    return tuple(dict.fromkeys(command.family for command in registry))


def overview(registry: Sequence[Command], columns: int | None = None) -> str:
    """Every command with its short forms and summary, by family. `columns` None: no wrapping."""
    shorts = {command.name: ", ".join(s.word for s in command.shorts) for command in registry}
    longest = max((len(name) for name in shorts if len(name) <= _NAMES - 2), default=0) + 2
    width = longest + max(map(len, shorts.values())) + 2
    lines = []
    usual = [command for command in registry if not command.rare]
    parts = [(family, [c for c in usual if c.family == family]) for family in families(registry)]
    for heading, members in (*parts, ("less common", [c for c in registry if c.rare])):
        if members:
            names = [f"{c.name:<{longest}}{shorts[c.name]}".rstrip() for c in members]
            rows = [_row(n, c.summary, width, columns) for n, c in zip(names, members, strict=True)]
            lines += [heading.upper(), *(line for row in rows for line in row), ""]
    last = "Column 2: short forms. Details: help COMMAND, or F1. Common options: help options."
    return "\n".join([*lines, *_wrapped(last, columns)])


def page(command: Command, columns: int | None = None) -> str:
    """The help of one command. `columns` None: no wrapping."""
    described = re.split(r"\n|(?<=[.)]) (?=[A-Z`-])", command.description)
    notes = [f"- {note}" for note in described if note]
    shorts = ", ".join(short.word for short in command.shorts)
    sections = [
        _wrapped(f"{command.name}: {command.summary}", columns),
        usage_lines(command, columns),
        _wrapped(f"short forms: {shorts}", columns) if shorts else [],
        _table("ARGUMENTS", map(argument_row, command.arguments), columns),
        _table("OPTIONS", map(option_row, visible(command.options)), columns),
        ["Common options: help options"],
        [
            line
            for note in (["NOTES"] * bool(notes) + notes)
            for line in _wrapped(note, columns, indent=2)
        ],
        list(_examples(command.examples, columns)),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def usage_lines(command: Command, columns: int | None) -> list[str]:
    """The usage, wrapped; an option stays on one line with its value where there is room."""
    words = re.split(r" (?!(?:[A-Z{]|options\]))", f"usage: {usage(command)}")
    room = (columns or 0) - 7
    text = " ".join(word.replace(" ", _NO_BREAK) if len(word) <= room else word for word in words)
    return [line.replace(_NO_BREAK, " ") for line in _wrapped(text, columns, indent=7)]


def visible(options: Iterable[Option]) -> list[Option]:
    """The options that help lists."""
    return [option for option in options if not option.hidden]


def program_page(registry: Sequence[Command], columns: int | None = None) -> str:
    """The output of `kafka.sh --help`: usage, options, commands."""
    ways = {"": "open the prompt", " COMMAND ...": "run one command", " < SCRIPT": "run a script"}
    usages = [(f"kafka.sh [--broker HOST:PORT]{way}", about) for way, about in ways.items()]
    where = "Without --broker or --profile, kafka.sh uses the default profile or localhost:9092."
    known = [each for each in visible((*CONNECTION, *PROGRAM, *RUNNING)) if each not in SANDBOX]
    options = _table("OPTIONS", map(option_row, known), columns)
    options += ["", *_table("OPTIONS OF THE SANDBOX", map(option_row, SANDBOX), columns)]
    rows = [line for each in usages for line in _row(*each, 43, columns)]
    lines = ["USAGE", *rows, "", *_wrapped(where, columns), "", *options, ""]
    return "\n".join([*lines, overview(registry, columns)]) + "\n"


def argument_row(argument: Argument) -> tuple[str, str]:
    """How the argument is written, and its help."""
    name = argument.name.upper() + ("..." if argument.many else "")
    spelled = f"  (also {argument.option})" if argument.option else ""
    return name, argument.help + spelled


def option_row(option: Option) -> tuple[str, str]:
    """How the option is written with its value, and its help."""
    names = ", ".join((option.name, *option.aliases))
    if option.kind is not kinds.FLAG and not option.value_optional:
        names += f" {metavar(option)}"
    return names, option.help


def _table(heading: str, rows: Iterable[tuple[str, str]], columns: int | None) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    width = min(max(len(name) for name, _ in rows), 34) + 2
    return [heading, *(line for row in rows for line in _row(*row, width, columns))]


def _row(name: str, text: str, width: int, columns: int | None) -> list[str]:
    """Two columns. After a long name, or on a narrow terminal, the text is on the next lines."""
    narrow = columns is not None and columns - width - 2 < _SENTENCE
    indent = 6 if narrow else width + 2
    if narrow or len(name) + 2 > width:
        lines = _wrapped(f"  {name}", columns, indent=4)
        return [*lines, *_wrapped(" " * indent + text, columns, indent=indent)]
    return _wrapped(f"  {name:<{width}}{text}", columns, indent=indent)


def _examples(examples: Sequence[Example], columns: int | None) -> Iterator[str]:
    """Each example; a line that is too long is continued with a backslash, so it can be copied."""
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
    """The text in lines of at most `columns`, broken between words."""
    if columns is None or len(text) <= columns:
        return [text]

    return wrap(
        text,
        max(columns, _NARROWEST),
        subsequent_indent=more or " " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )


def _found(
    word: str, registry: Sequence[Command], invocation: Invocation, columns: int | None
) -> str:
    """The overview of the commands whose name, summary or search words contain `word`."""
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
        f"no command matches '{word}'",
        hint=did_you_mean(word, names, "Run help to list every command."),
        span=invocation.span("command"),
    )
