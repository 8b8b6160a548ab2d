"""The class of each part of a line, for colors. Words and roles are those of the parser."""

from __future__ import annotations

import re

from kafka_shell.errors import ShellError
from kafka_shell.language import kinds
from kafka_shell.language.kind import convert
from kafka_shell.language.logical_lines import Span
from kafka_shell.language.registry import Registry
from kafka_shell.language.scan import FoundCommand, Role, Scope, Use, find_command, scan
from kafka_shell.language.selectors import is_pattern
from kafka_shell.language.tokens import Line, Word, commands

Classified = list[tuple[Span, str]]

LONGEST = 20_000
DEEPEST = 8

_NUMBER = re.compile(r"[+-]?[0-9][0-9.]*(?:[A-Za-z]{1,3}(?:/s)?)?")


def classify(text: str, registry: Registry, *, depth: int = 0) -> Classified:
    """Return (span, class) of each part, in order and without overlaps. Never raises.

    Classes: command, unknown-command, option, unknown-option, value, number, string, pattern,
    operator, comment, shell, error.
    """
    if len(text) > LONGEST or depth > DEEPEST:
        return []
    return _without_overlaps(
        [each for line in commands(text) for each in _command(line, registry, depth)]
    )


def _command(line: Line, registry: Registry, depth: int) -> Classified:
    found: Classified = [(span, "operator") for span in line.operators]
    if line.joint_span:
        found.append((line.joint_span, "operator"))
    if line.shell is not None:
        return [*found, ((line.operators[0][1], len(line.text)), "shell")]
    if line.pipe_span:
        found.append((line.pipe_span, "shell"))
    if line.comment:
        found.append((line.comment, "comment"))
    if line.redirect:
        found.append((line.redirect.word.span, "value"))
    if line.problem:
        found = [*(each for each in found if not _overlaps(each[0], line.problem.span)),
                 (line.problem.span, "error")]  # fmt: skip
    return found + _words(line, registry, depth)


def _overlaps(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _without_overlaps(found: Classified) -> Classified:
    """Sort the parts, without those that overlap an earlier one."""
    kept: Classified = []
    for span, name in sorted(found):
        if span[0] < span[1] and (not kept or span[0] >= kept[-1][0][1]):
            kept.append((span, name))
    return kept


def _words(line: Line, registry: Registry, depth: int) -> Classified:
    named = find_command(line.words, registry)
    if named.command is None:
        return _no_command(named, registry)
    classified: Classified = [(word.span, "command") for word in named.name]
    for use in scan(named.rest, Scope(named.command)).uses:
        if use.role is Role.LINE:
            return classified + _nested(line, use.word, registry, depth)
        classified += _use(use)
    return classified


def _no_command(named: FoundCommand, registry: Registry) -> Classified:
    if not named.name:
        return [(word.span, "option") for word in named.rest if word.text.startswith("-")]
    word = named.name[0]
    begun = registry.continues(f"{word.text} ")
    return [(word.span, "command" if begun else "unknown-command")]


def _nested(line: Line, first: Word, registry: Registry, depth: int) -> Classified:
    """The classes of a line within the line, or of a text if it does not start with a command."""
    start, end = first.span[0], line.words[-1].span[1]
    words = [word for word in line.words if word.span[0] >= start]
    if find_command(words, registry).command is None:
        return [((start, end), "string" if first.quoted else "value")]
    inner = classify(line.text[start:end], registry, depth=depth + 1)
    return [((a + start, b + start), name) for (a, b), name in inner]


def _use(use: Use) -> Classified:
    word = use.word
    if use.role is Role.WRONG:
        return [(word.span, "unknown-option" if word.text.startswith("-") else "error")]
    if use.role is Role.DASHES:
        return [(word.span, "operator")]
    if use.role is Role.OPTION:
        name, equals, _ = word.text.partition("=")
        if not equals or word.quoted:
            return [(word.span, "option")] if not equals else []
        return [(word.at(0, len(name)), "option"), (word.at(len(name), len(name) + 1), "operator")]
    return _value(use)


def _value(use: Use) -> Classified:
    """The classes of one value, which may be incomplete: `error` if it is invalid."""
    word, parameter = use.word, use.parameter
    span = (word.at(use.start)[0], word.span[1]) if use.start and not word.quoted else word.span
    if parameter is None or not _is_valid(use):
        return [(span, "error")]
    if isinstance(parameter.kind, kinds.Pair) and not word.quoted:
        key, _, value = use.value.partition("=")
        at = use.start + len(key)
        return [
            (word.at(use.start, at), "value"),
            (word.at(at, at + 1), "operator"),
            (word.at(at + 1), _plain(value)),
        ]
    if parameter.kind.pattern and is_pattern(use.value):
        return [(span, "pattern")]
    return [(span, "string" if word.quoted else _plain(use.value))]


def _is_valid(use: Use) -> bool:
    try:
        if use.parameter is not None:
            convert(use.parameter, use.value)
    except ShellError:
        return False
    return True


def _plain(text: str) -> str:
    return "number" if _NUMBER.fullmatch(text) else "value"
