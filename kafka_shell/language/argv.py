"""Split argv into options of the program, options of the connection, and the command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    CHANGING,
    CONNECTION,
    PROGRAM,
    RUNNING,
    SANDBOX,
    TIMEOUT,
    Command,
    Option,
    Registry,
)
from kafka_shell.language.parse import corrections
from kafka_shell.language.scan import (
    FoundCommand,
    Role,
    Scope,
    Use,
    WordProblem,
    bare,
    find_command,
    scan,
)
from kafka_shell.language.tokens import Word, words_of
from kafka_shell.language.usage import value_hint

# A line of another tool: its options are its own, though some are spelled as commands here.
PASTED = re.compile(
    r"(?:.*[/\\])?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|rpk|kcat|kafkacat|kcl|kaf|kafkactl)"
)


_PREFIX = re.compile(r"(?:.*/)?(?:sudo|doas|env)|[A-Za-z_]\w*=.*", re.DOTALL)
_OF_SANDBOX = (*(bare(option.name) for option in SANDBOX), "keep")
_WITHOUT_COMMAND = ("shell", "keep-going", "check", "version", "completion")


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

    def check(self) -> None:
        """Raise UsageError for an option of the program that would have no effect."""
        for name in self.program:
            if name in _OF_SANDBOX and "sandbox" not in self.program:
                hint = "Did you mean --broker?" if name == "brokers" else ""
                raise UsageError(f"--{name} requires --sandbox", hint=hint)
            if name in _WITHOUT_COMMAND and self.command:
                raise UsageError(f"--{name} cannot be used with a command")


def split(argv: Sequence[str], registry: Registry) -> Split:
    """Split argv. The command may be anywhere: `--broker x --list-topics`.

    A command's own options take precedence. Without a command, the options that commands have in
    common are options of the program, too: they apply to every line of a script.
    Raises UsageError for an unknown option if there is no command.
    """
    words = words_of(argv).words
    at = _place(words, registry)
    if at is not None and PASTED.fullmatch(argv[at]):
        return Split(command=tuple(argv[at:]))  # a pasted line: all of it
    command = _found(words, at, registry)
    common = (TIMEOUT, *RUNNING, *CHANGING) if command.command is None else ()
    taken = _take(command, CONNECTION + PROGRAM + common, registry)
    gone = {use.word.span for _, uses in taken for use in uses}
    left = [word.text for word in words if word not in command.name and word.span not in gone]
    if at is None and left:
        raise _unknown_option(left[0], registry)
    program: dict[str, Any] = {}
    connection: dict[str, Any] = {}
    for option, uses in taken:
        target = connection if option in CONNECTION else program
        _put(target, option, [use.value for use in uses if use.role is Role.VALUE])
    name = [word.text for word in command.name]
    if name and registry.with_flag(name[0]) is not None:
        name[0] = bare(name[0])
    return Split(program, connection, (*name, *left))


def _place(words: Sequence[Word], registry: Registry) -> int | None:
    """The index of the command's name: the first `--verb-noun`, else the first bare word."""
    skip = False
    place: int | None = None
    dashed = ""  # `--export`, whose command has no flag spelling
    for index, word in enumerate(words):
        text = word.text
        if skip:
            skip = False
        elif text == "--":
            break
        elif registry.with_flag(text) is not None:
            return index
        elif text.startswith("-"):
            name, equals, _ = text.partition("=")
            known = _SCOPE.find(name)
            skip = known is not None and known.parameter.kind is not kinds.FLAG and not equals
            if known is None and registry.named(text[2:]) is not None:
                dashed = dashed or text
        elif place is None:
            place = index
            if registry.has_first(text) or PASTED.fullmatch(text):
                return index
    if dashed:
        raise UsageError(
            f"unknown option {dashed}",
            hint=f"{dashed[2:]} is a command without dashes: kafka.sh {dashed[2:]}",
            code="unknown-option",
        )
    return place


def _found(words: Sequence[Word], at: int | None, registry: Registry) -> FoundCommand:
    """The command; `rest` are the words before and after its name."""
    if at is None:
        return FoundCommand(None, (), tuple(words))
    flag = registry.with_flag(words[at].text)
    if flag is not None:
        return FoundCommand(flag, (words[at],), (*words[:at], *words[at + 1 :]))
    command = find_command(words[at:], registry)
    return FoundCommand(command.command, command.name, (*words[:at], *command.rest))


def _take(
    command: FoundCommand, options: Sequence[Option], registry: Registry
) -> list[tuple[Option, list[Use]]]:
    """The uses of these options, unless the command has its own of the same name.

    A line that the command runs has options of its own: only the connection is taken out of it.
    Raises UsageError if a value is missing or not allowed.
    """
    scope = Scope(command.command, PROGRAM) if command.command else _SCOPE
    own = command.command.options if command.command else ()
    options = [option for option in options if option not in own]
    result = scan(command.rest, scope)
    for problem in result.problems:
        known = scope.find(problem.name)
        if known and isinstance(known.parameter, Option) and known.parameter in options:
            raise _wrong(problem, known.parameter)
    taken = [
        (option, uses)
        for uses in result.used.values()
        for option in options
        if option == uses[0].parameter
    ]
    line = [use.word for use in result.uses if use.role is Role.LINE]
    return taken + (_take(find_command(line, registry), CONNECTION, registry) if line else [])


def _put(target: dict[str, Any], option: Option, values: Sequence[str]) -> None:
    """Store the option's value; a flag may have none."""
    name = bare(option.name)
    if option.many:
        target[name] = (*target.get(name, ()), *values)
        return
    for value in values:
        if option.kind is kinds.CHOICE and value not in option.choices:
            raise UsageError(
                f"{option.name} must be one of {', '.join(option.choices)}, got {value!r}"
            )
        if target.setdefault(name, value) != value:
            raise UsageError(f"{option.name} is set twice")
    target.setdefault(name, True)


def _wrong(problem: WordProblem, option: Option) -> UsageError:
    if problem.code == "flag-value":
        return UsageError(
            f"{problem.name} does not take a value", hint=f"Use {problem.name} without a value."
        )
    hint = value_hint(problem.name, option)
    return UsageError(f"{problem.name} requires a value", hint=hint, code=problem.code)


def _unknown_option(word: str, registry: Registry) -> UsageError:
    near = {*corrections(word.removeprefix("--"), registry)}
    flags = [f"--{c.name}" for c in registry if c.verb_noun and c.name in near]
    names = [*flags, *(option.name for option in CONNECTION + RUNNING + PROGRAM)]
    return UsageError(
        f"unknown option {word}",
        hint=did_you_mean(word, names, "Run kafka.sh help to list the commands."),
        code="unknown-option",
    )


_SCOPE = Scope(Command("", "", "", effect=Effect.CHANGE), (TIMEOUT, *PROGRAM))
