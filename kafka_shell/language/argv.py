"""Split argv into options of the program, options of the connection, and the command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.errors import UsageError, did_you_mean

from . import kinds
from .command import Command, Option
from .common import CHANGING, CONNECTION, PROGRAM, RUNNING
from .parse import corrections
from .registry import Registry
from .tokens import Word
from .usage import metavar

# A line of another tool: its options are its own, though some are spelled as commands here.
PASTED = re.compile(
    r"(?:.*[/\\])?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|rpk|kcat|kafkacat|kcl|kaf|kafkactl)"
)


_PREFIX = re.compile(r"(?:.*/)?(?:sudo|doas|env)|[A-Za-z_]\w*=.*", re.DOTALL)


def without_prefix(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words without `sudo -u kafka` and `KAFKA_OPTS=...` before the name of another tool."""
    if not words or not _PREFIX.fullmatch(words[0].text):
        return words
    tool = next((at for at, word in enumerate(words) if PASTED.fullmatch(word.text)), 0)
    return words[tool:]


class Split(Struct, frozen=True):
    """`program` and `connection` hold values by bare name; `command` is a line for the parser."""

    program: dict[str, Any] = field(default_factory=dict)
    connection: dict[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()


def split(argv: Sequence[str], registry: Registry) -> Split:
    """Split argv. The command may be anywhere: `--broker x --list-topics`.

    Raises UsageError for an unknown option if there is no command.
    """
    command, at, count = _command(argv, registry)
    if at is not None and PASTED.fullmatch(argv[at]):
        return Split(command=tuple(argv[at:]))  # a pasted line: all of it
    rest = argv if at is None else [*argv[:at], *argv[at + count :]]
    own = {option.name for option in command.options} if command else set()
    program: dict[str, Any] = {}
    connection: dict[str, Any] = {}
    left: list[str] = []
    words = iter(rest)
    for word in words:
        if word == "--":
            left += [word, *words]
            break
        name, equals, value = word.partition("=")
        option = _known(name, command, own)
        if option is None:
            left.append(word)
            continue
        if option.kind is kinds.FLAG and equals and not option.value_optional:
            raise UsageError(f"{name} does not take a value", hint=f"Use {name} without a value.")
        if option.kind is not kinds.FLAG and not equals:
            following = next(words, None)
            if following is None or _is_own(command, option, following):
                if command is None:
                    raise UsageError(
                        f"{name} requires a value", hint=f"Expected: {metavar(option)}."
                    )
                left += [word, *([following] if following is not None else [])]
                continue
            value = following
        elif equals and _is_own(command, option, value):
            left.append(word)
            continue
        target = connection if option in CONNECTION else program
        _put(target, option, value if equals or option.kind is not kinds.FLAG else None)
    if at is None and left:
        raise _unknown_option(left[0], registry)
    if at is None:
        return Split(program, connection)
    spelled = (argv[at].removeprefix("--"), *argv[at + 1 : at + count])
    return Split(program, connection, (*spelled, *left))


def _command(argv: Sequence[str], registry: Registry) -> tuple[Command | None, int | None, int]:
    """The command, where its name starts and how many words it has: the first `--verb-noun`, else
    the first bare word, or two (`spark audit`)."""
    skip = False
    bare: int | None = None
    dashed = ""  # `--export`, whose command has no flag spelling
    for index, word in enumerate(argv):
        if skip:
            skip = False
        elif word == "--":
            break
        elif (flag := registry.with_flag(word)) is not None:
            return flag, index, 1
        elif word.startswith("-"):
            option = _find(word, CONNECTION + RUNNING + PROGRAM)
            skip = option is not None and option.kind is not kinds.FLAG and "=" not in word
            if option is None and registry.named(word[2:]) is not None:
                dashed = dashed or word
        elif bare is None:
            bare = index
            if registry.has_first(word) or PASTED.fullmatch(word):
                break
    if dashed and (bare is None or not registry.has_first(argv[bare])):
        raise UsageError(
            f"unknown option {dashed}",
            hint=f"{dashed[2:]} is a command without dashes: kafka.sh {dashed[2:]}",
            code="unknown-option",
        )
    if bare is None:
        return None, None, 0
    pair = registry.named(" ".join(argv[bare : bare + 2]))
    if pair is not None:
        return pair, bare, 2
    return registry.with_first(argv[bare]), bare, 1


def _known(name: str, command: Command | None, own: set[str]) -> Option | None:
    """The option of the program or the connection by this name, unless the command has its own.

    Without a command, they are options of the program, too: they apply to every line of the script.
    """
    options = CONNECTION + PROGRAM + (RUNNING + CHANGING if command is None else ())
    option = _find(name, options)
    if option is None or (name in own and option not in CONNECTION):
        return None
    return option


def _is_own(command: Command | None, option: Option, value: str) -> bool:
    """Whether the command's own option of this name is meant: a broker by its bare number."""
    own = command.option(option.name) if command else None
    return own is not None and own.kind is kinds.BROKER and value.isdigit()


def _put(target: dict[str, Any], option: Option, value: str | None) -> None:
    """Store the option's value; None is a flag without a value."""
    name = option.name.removeprefix("--")
    if value is None:
        target[name] = True
    elif option.kind is kinds.FLAG:
        target[name] = value
    elif option.many:
        target[name] = (*target.get(name, ()), value)
    else:
        if option.kind is kinds.CHOICE and value not in option.choices:
            raise UsageError(
                f"{option.name} must be one of {', '.join(option.choices)}, got {value!r}"
            )
        if target.setdefault(name, value) != value:
            raise UsageError(f"{option.name} is set twice", hint="Remove one of them.")


def _find(name: str, options: Sequence[Option]) -> Option | None:
    name = name.partition("=")[0]
    for option in options:
        if name == option.name or name in option.aliases:
            return option
    return None


def _unknown_option(word: str, registry: Registry) -> UsageError:
    near = {*corrections(word.removeprefix("--"), registry)}
    flags = [f"--{c.name}" for c in registry if c.verb_noun and c.name in near]
    names = [*flags, *(option.name for option in CONNECTION + RUNNING + PROGRAM)]
    return UsageError(
        f"unknown option {word}",
        hint=did_you_mean(word, names, "Run kafka.sh help to list the commands."),
        code="unknown-option",
    )
