"""Convert the text of arguments and options to values, by Kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from kafka_shell import units
from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.masking import masked
from kafka_shell.plan.model import Secret
from kafka_shell.quoting import quote

from . import selectors
from .command import Argument, Kind, Option
from .logical_lines import Span
from .spelling import spell

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_REPLICAS = re.compile(r"\s*[0-9]{1,9}\s*(?::\s*[0-9]{1,9}\s*)*")
# Not groups and client-metrics subscriptions, whose names may look like /a/.
_SELECTORS = (Kind.TOPIC, Kind.BROKER)
# Kinds that must not be empty, so that an empty word never selects everything. Lists of names are
# also empty if they contain only blanks and commas.
_NAMES = frozenset((*_SELECTORS, Kind.TOPIC_PARTITIONS, Kind.NEW_TOPIC, Kind.CLIENT_METRICS))
_NAME = frozenset((Kind.GROUP, Kind.TRANSACTIONAL_ID, Kind.FILE))
_MEASURED = (Kind.DURATION, Kind.BYTES, Kind.RATE)  # with a unit, 18 digits can overflow
_INT64 = 2**63 - 1
_LISTS = (Kind.CONFIG_PAIRS, Kind.CONFIG_KEYS, Kind.CLIENT_CONFIG_KEYS)


def label(parameter: Argument | Option) -> str:
    """Return the name for messages: --partitions, TOPIC."""
    return parameter.name if isinstance(parameter, Option) else parameter.name.upper()


def is_list(parameter: Argument | Option) -> bool:
    """Return whether one word contains several values."""
    return parameter.kind in _LISTS


def convert(parameter: Argument | Option, text: str) -> tuple[Any, tuple[Span, ...]]:
    """Return the value of a text, and the span of each of its parts.

    The span of a UsageError is relative to the text.
    """
    whole = ((0, len(text)),)
    names, name = parameter.kind in _NAMES, parameter.kind in _NAME
    if (names and not text.strip(", ")) or (name and not text):
        raise UsageError(f"{label(parameter)} must not be empty", code="empty", span=(0, len(text)))
    if parameter.kind is Kind.CONFIG_PAIRS:
        found = _pairs_of(parameter, text)
        return tuple(pair for pair, _ in found), tuple(place for _, place in found)
    if parameter.kind in (Kind.CONFIG_KEYS, Kind.CLIENT_CONFIG_KEYS):
        keys = _keys(parameter, text)
        return tuple(key for key, _ in keys), tuple(place for _, place in keys)
    if parameter.kind in _CONVERTERS:
        value = _CONVERTERS[parameter.kind](parameter, text)
        _check_range(parameter, value, text)
        return value, whole
    if parameter.kind in _SELECTORS:
        selectors.check(text)
    return text, whole


def _check_range(parameter: Argument | Option, value: Any, text: str) -> None:
    if not isinstance(parameter, Option):
        return
    least, most = parameter.least, parameter.most
    if most is None and parameter.kind in _MEASURED:
        most = _INT64
    if least is not None and value < least:
        positive = least == 1 and parameter.kind is Kind.INTEGER
        expected = "a positive integer" if positive else f"at least {spell(parameter, least)}"
    elif most is not None and value > most:
        expected = f"at most {spell(parameter, most)}"
    else:
        return
    raise UsageError(
        f"{label(parameter)} must be {expected}, got {_shown(text)}",
        code="bad-value",
        span=(0, len(text)),
    )


def config_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of `k1=v1,k2=[v1,v2]` (KIP-248)."""
    option = Option("configs", Kind.CONFIG_PAIRS, "")
    return tuple(pair for pair, _ in _pairs_of(option, text))


# -- by kind ---------------------------------------------------------------------------------------


def _invalid(
    parameter: Argument | Option,
    expected: str,
    text: str,
    *,
    hint: str = "",
    at: Span | None = None,
) -> UsageError:
    message = f"{label(parameter)} must be {expected}, got {_shown(text)}"
    return UsageError(message, hint=hint, code="bad-value", span=at or (0, len(text)))


def _shown(text: str) -> str:
    shown = quote(text if len(text) <= 60 else text[:57] + "...")
    return shown if shown.startswith("'") else f"'{shown}'"


def _integer(parameter: Argument | Option, text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _invalid(parameter, "an integer", text)
    return int(text)


def _number(parameter: Argument | Option, text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else float("inf")
    if not isfinite(number):
        raise _invalid(parameter, "a number", text)
    return number


def _duration(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a duration such as 30s or 7d", units.parse_duration)


def _bytes(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a size such as 512MiB or 50MB", units.parse_size)


def _measured(
    parameter: Argument | Option, text: str, expected: str, read: Callable[[str], int]
) -> int:
    try:
        return read(text)
    except ShellError as error:
        raise _invalid(parameter, expected, text, hint=error.hint) from None


def _choice(parameter: Argument | Option, text: str) -> str:
    for choice in parameter.choices:
        if choice.lower() == text.lower():  # like the tools of Kafka
            return choice
    expected = "one of " + ", ".join(parameter.choices)
    raise _invalid(parameter, expected, text, hint=did_you_mean(text, parameter.choices))


def _pair(parameter: Argument | Option, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise _invalid(parameter, "key=value", text)
    return key, value


def _rate(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a rate such as 50MB/s", units.parse_size)


_SPECIAL_TIMESTAMP = re.compile("-[1-6]")  # ListOffsets: -1 is latest, -2 earliest ...


def _time(parameter: Argument | Option, text: str) -> str:
    """Return the text: relative times are evaluated when the command runs."""
    for choice in parameter.choices:
        if choice.lower() == text.lower():
            return choice
    if parameter.choices and _SPECIAL_TIMESTAMP.fullmatch(text):
        return text
    others = f", or one of {', '.join(parameter.choices)}" if parameter.choices else ""
    expected = f"a time such as 2026-01-31T10:00 or -1h{others}"
    _measured(parameter, text, expected, lambda moment: units.parse_time(moment, now=0))
    return text


_PARTITIONS = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*")
_MOST_PARTITIONS = 1_000_000


def _topic_partitions(
    parameter: Argument | Option, text: str
) -> tuple[str, tuple[int, ...] | None]:
    """Convert `orders:0,3-5` to (orders, (0, 3, 4, 5)), and `orders` to (orders, None)."""
    topic, colon, listed = text.rpartition(":")
    if not colon or (text.startswith("/") and text.endswith("/")):
        selectors.check(text)
        return text, None
    selectors.check(topic)
    if ":" in topic and not topic.startswith("/"):
        raise _invalid(
            parameter,
            "a single topic such as orders:0,3-5",
            text,
            hint="Separate several topics with spaces: orders:0 invoices:1",
        )
    if not topic or not _PARTITIONS.fullmatch(listed):
        raise _invalid(parameter, "a topic and partitions such as orders:0,3-5", text)
    numbers: dict[int, None] = {}
    for part in listed.split(","):
        first, _, last = part.partition("-")
        begin, end = int(first), int(last or first)
        if end < begin or end - begin > _MOST_PARTITIONS:
            raise _invalid(parameter, "a range of partitions such as 3-5", part)
        numbers.update(dict.fromkeys(range(begin, end + 1)))
    return topic, tuple(numbers)


def _assignment(parameter: Argument | Option, text: str) -> tuple[tuple[int, ...], ...] | str:
    """Return the replicas of each partition of `1:2,2:3`. A `-` means standard input, which is read
    later."""
    return text if text == "-" else assignment(parameter, text)


def assignment(parameter: Argument | Option, text: str) -> tuple[tuple[int, ...], ...]:
    """Return the replicas of each partition."""
    partitions: list[tuple[int, ...]] = []
    at = 0
    for part in text.split(","):
        place = (at, at + len(part))
        at += len(part) + 1
        if not _REPLICAS.fullmatch(part):
            raise _invalid(
                parameter,
                "broker IDs such as 1:2,2:3",
                part or text,
                at=place,
                hint="Give one list per partition, with the preferred leader first.",
            )
        replicas = tuple(int(each) for each in part.split(":"))
        if len(set(replicas)) < len(replicas):
            raise _invalid(parameter, "a list of distinct brokers per partition", part, at=place)
        if partitions and len(replicas) != len(partitions[0]):
            raise _invalid(parameter, "lists with the same number of replicas", part, at=place)
        partitions.append(replicas)
    return tuple(partitions)


def _acl_rule(parameter: Argument | Option, text: str) -> str:
    """Return the text of the rule; raise UsageError if it is invalid."""
    from .acl_rules import parse_rule

    if text:
        parse_rule(text, remove=parameter.name == "--remove")
    return text


def _acl_operation(parameter: Argument | Option, text: str) -> str:
    from .acl_rules import OPERATIONS, find_operation

    found, at = [], 0
    for part in text.split(","):
        operation = find_operation(part.strip())
        if operation is None:
            raise _invalid(
                parameter,
                "operations such as Read,Write",
                part or text,
                hint=did_you_mean(part, OPERATIONS, f"Operations: {', '.join(OPERATIONS)}."),
                at=(at, at + len(part)),
            )
        found.append(operation.label)
        at += len(part) + 1
    return ",".join(found)


_CONVERTERS: dict[Kind, Callable[[Argument | Option, str], Any]] = {
    Kind.ACL_RULE: _acl_rule,
    Kind.ACL_OPERATION: _acl_operation,
    Kind.SECRET: lambda _, text: Secret(text),
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.DURATION: _duration,
    Kind.BYTES: _bytes,
    Kind.CHOICE: _choice,
    Kind.CONFIG_PAIR: _pair,
    Kind.PROPERTY: _pair,
    Kind.ASSIGNMENT: _assignment,
    Kind.TOPIC_PARTITIONS: _topic_partitions,
    Kind.TIME: _time,
    Kind.RATE: _rate,
    Kind.QUOTA_PAIR: _pair,
    Kind.CLIENT_CONFIG_PAIR: _pair,
    Kind.FEATURE_LEVEL: _pair,
}


# -- lists in one word -----------------------------------------------------------------------------


def _keys(parameter: Argument | Option, text: str) -> list[tuple[str, Span]]:
    found, at = [], 0
    for part in text.split(","):
        key = part.strip()
        start = at + len(part) - len(part.lstrip())
        if not key or "=" in key:
            hint = "Give the key without a value to delete it." if "=" in key else ""
            raise _invalid(
                parameter, "keys such as k1,k2", part or text, hint=hint, at=(at, at + len(part))
            )
        found.append((key, (start, start + len(key))))
        at += len(part) + 1
    return found


def _pairs_of(parameter: Argument | Option, text: str) -> list[tuple[tuple[str, str], Span]]:
    try:
        return _pairs(parameter, text)
    except UsageError as error:
        if (shown := masked(text)) == text:
            raise
        raise _invalid(
            parameter, "k1=v1,k2=[v1,v2]", shown, hint=error.hint, at=error.span
        ) from None


def _pairs(parameter: Argument | Option, text: str) -> list[tuple[tuple[str, str], Span]]:
    found, at = [], 0
    while True:
        start = at
        comma = text.find(",", at)
        equals = text.find("=", at, comma if comma >= 0 else len(text))
        key = text[start:equals].strip() if equals >= 0 else ""
        if not key:
            end = comma if comma >= 0 else len(text)
            raise _invalid(
                parameter,
                "k1=v1,k2=[v1,v2]",
                text[start:end] or text,
                at=(start, end),
                hint="Put values with commas in brackets: k=[v1,v2].",
            )
        value, at = _pair_value(parameter, text, equals + 1)
        found.append(((key, value), (start, at)))
        if at >= len(text):
            return found
        at += 1


def _pair_value(parameter: Argument | Option, text: str, start: int) -> tuple[str, int]:
    """Return the value without brackets, and the end of the pair."""
    begin = start
    while text[begin : begin + 1].isspace():
        begin += 1
    if not text.startswith("[", begin):
        comma = text.find(",", start)
        end = comma if comma >= 0 else len(text)
        return text[start:end].strip(), end
    parts, at = [], begin + 1
    while text[at : at + 1] not in ("]", ""):
        at += text[at] == "\\" and at + 1 < len(text)
        parts.append(text[at])
        at += 1
    if at >= len(text):
        raise _invalid(parameter, "k=[v1,v2] with a closing ]", text[begin:], at=(begin, begin + 1))
    end = at + 1
    while text[end : end + 1].isspace():
        end += 1
    if end < len(text) and text[end] != ",":
        raise _invalid(
            parameter,
            "k=[v1,v2] with a comma after ]",
            text[end:],
            at=(end, end + 1),
            hint="Escape brackets inside [...] with a backslash: [\\[::1\\]:9092]",
        )
    return "".join(parts), end
