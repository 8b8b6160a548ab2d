"""The text of a value <-> what an Invocation holds, by Kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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

Pairs = tuple[tuple[str, str], ...]

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_REPLICAS = re.compile(r"\s*[0-9]{1,9}\s*(?::\s*[0-9]{1,9}\s*)*")
# Groups and client-metrics subscriptions may be called /a: a name that there is comes first.
_SELECTORS = (Kind.TOPIC, Kind.BROKER)
# What an empty word cannot mean: in a change, nothing named must never become everything. A list of
# names is empty with blanks and commas, which a group may be called.
_NAMES = frozenset((*_SELECTORS, Kind.TOPIC_PARTITIONS, Kind.NEW_TOPIC, Kind.CLIENT_METRICS))
_NAME = frozenset((Kind.GROUP, Kind.TRANSACTIONAL_ID, Kind.FILE))
_MEASURED = (Kind.DURATION, Kind.BYTES, Kind.RATE)  # with a unit: 18 digits can be too many
_INT64 = 2**63 - 1
_LISTS = (Kind.CONFIG_PAIRS, Kind.CONFIG_KEYS, Kind.CLIENT_CONFIG_KEYS)


def label(parameter: Argument | Option) -> str:
    """How a message names it: --partitions, TOPIC."""
    return parameter.name if isinstance(parameter, Option) else parameter.name.upper()


def is_list(parameter: Argument | Option) -> bool:
    """Whether one word gives several values: repeated, they make one tuple."""
    return parameter.kind in _LISTS


def convert(parameter: Argument | Option, text: str) -> tuple[Any, tuple[Span, ...]]:
    """The value of the text, and where in the text each of its parts stands.

    A UsageError's span is within the text.
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
        wanted = "a positive integer" if positive else f"at least {spell(parameter, least)}"
    elif most is not None and value > most:
        wanted = f"at most {spell(parameter, most)}"
    else:
        return
    raise UsageError(
        f"{label(parameter)} must be {wanted}, got {_shown(text)}",
        code="bad-value",
        span=(0, len(text)),
    )


def config_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of KIP-248's `k1=v1,k2=[v1,v2]`. A UsageError's span is within the text."""
    option = Option("configs", Kind.CONFIG_PAIRS, "")
    return tuple(pair for pair, _ in _pairs_of(option, text))


def spell(parameter: Argument | Option, value: Any) -> str:
    """The text of one value, unquoted. `convert` reads it back."""
    kind = parameter.kind
    if kind is Kind.DURATION:
        return units.format_duration(value)
    if kind is Kind.BYTES:
        return units.format_bytes(value)
    if kind is Kind.NUMBER:
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if kind is Kind.RATE:
        return units.format_rate(value)
    if kind is Kind.TOPIC_PARTITIONS:
        topic, partitions = value
        return topic if partitions is None else f"{topic}:{_ranges(partitions)}"
    if kind in (
        Kind.CONFIG_PAIR,
        Kind.PROPERTY,
        Kind.QUOTA_PAIR,
        Kind.FEATURE_LEVEL,
        Kind.CLIENT_CONFIG_PAIR,
    ):
        return f"{value[0]}={value[1]}"
    if kind is Kind.SECRET:
        return "***"
    if kind is Kind.CONFIG_PAIRS:
        return spell_pairs(value)
    if kind in (Kind.CONFIG_KEYS, Kind.CLIENT_CONFIG_KEYS):
        return ",".join(value)
    if kind is Kind.ASSIGNMENT:
        return "-" if value == "-" else ",".join(":".join(map(str, each)) for each in value)
    return str(value)


def _ranges(numbers: Sequence[int]) -> str:
    """`0,3-5`: runs of three and more as a range, in the order given."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )


def spell_pairs(pairs: Pairs) -> str:
    """`k1=v1,k2=[v1,v2]` (KIP-248): brackets where a value holds a comma or could be misread."""
    return ",".join(f"{key}={_grouped(value)}" for key, value in pairs)


def _grouped(value: str) -> str:
    if "," in value or value.startswith("[") or value != value.strip():
        return "[" + re.sub(r"[\\\]]", r"\\\g<0>", value) + "]"
    return value


# -- by kind ---------------------------------------------------------------------------------------


def _wrong(
    parameter: Argument | Option, wanted: str, text: str, *, hint: str = "", at: Span | None = None
) -> UsageError:
    message = f"{label(parameter)} wants {wanted}; got {_shown(text)}"
    return UsageError(message, hint=hint, code="bad-value", span=at or (0, len(text)))


def _shown(text: str) -> str:
    shown = quote(text if len(text) <= 60 else text[:57] + "...")
    return shown if shown.startswith("'") else f"'{shown}'"


def _integer(parameter: Argument | Option, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _wrong(parameter, "a whole number", text)
    return int(text)


def _number(parameter: Argument | Option, text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else float("inf")
    if not isfinite(number):
        raise _wrong(parameter, "a number", text)
    return number


def _duration(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a duration such as 30s or 7d", units.parse_duration)


def _bytes(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a size such as 512MiB or 50MB", units.parse_size)


def _measured(
    parameter: Argument | Option, text: str, wanted: str, read: Callable[[str], int]
) -> int:
    try:
        return read(text)
    except ShellError as error:
        raise _wrong(parameter, wanted, text, hint=error.hint) from None


def _choice(parameter: Argument | Option, text: str) -> str:
    for choice in parameter.choices:
        if choice.lower() == text.lower():  # Kafka's tools do not mind either
            return choice
    wanted = "one of " + ", ".join(parameter.choices)
    raise _wrong(parameter, wanted, text, hint=did_you_mean(text, parameter.choices))


def _pair(parameter: Argument | Option, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise _wrong(parameter, "key=value", text)
    return key, value


def _rate(parameter: Argument | Option, text: str) -> int:
    return _measured(parameter, text, "a rate such as 50MB/s", units.parse_size)


_KAFKAS_NUMBER = re.compile("-[1-6]")  # of ListOffsets: -1 is latest, -2 earliest ...


def _time(parameter: Argument | Option, text: str) -> str:
    """The text itself: only who runs the line knows what time it is. `choices` stand beside."""
    for choice in parameter.choices:
        if choice.lower() == text.lower():
            return choice
    if parameter.choices and _KAFKAS_NUMBER.fullmatch(text):
        return text
    others = f", or one of {', '.join(parameter.choices)}" if parameter.choices else ""
    wanted = f"a time such as 2026-01-31T10:00 or -1h{others}"
    _measured(parameter, text, wanted, lambda moment: units.parse_time(moment, now=0))
    return text


_PARTITIONS = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*")
_MOST_PARTITIONS = 1_000_000


def _topic_partitions(
    parameter: Argument | Option, text: str
) -> tuple[str, tuple[int, ...] | None]:
    """`orders:0,3-5` -> (orders, (0, 3, 4, 5)); without a colon every partition: (orders, None)."""
    topic, colon, listed = text.rpartition(":")
    if not colon or (text.startswith("/") and text.endswith("/")):
        selectors.check(text)
        return text, None
    selectors.check(topic)
    if ":" in topic and not topic.startswith("/"):
        raise _wrong(parameter, "one topic a word, such as orders:0,3-5", text,
                     hint="Several are words of their own: orders:0 invoices:1")  # fmt: skip
    if not topic or not _PARTITIONS.fullmatch(listed):
        raise _wrong(parameter, "a topic and partitions such as orders:0,3-5", text)
    numbers: dict[int, None] = {}
    for part in listed.split(","):
        first, _, last = part.partition("-")
        begin, end = int(first), int(last or first)
        if end < begin or end - begin > _MOST_PARTITIONS:
            raise _wrong(parameter, "a range of partitions such as 3-5", part)
        numbers.update(dict.fromkeys(range(begin, end + 1)))
    return topic, tuple(numbers)


def _assignment(parameter: Argument | Option, text: str) -> tuple[tuple[int, ...], ...] | str:
    """Replicas of partition 0, of partition 1 ...: `1:2,2:3`. A `-` is standard input, which
    `assignment` reads later."""
    return text if text == "-" else assignment(parameter, text)


def assignment(parameter: Argument | Option, text: str) -> tuple[tuple[int, ...], ...]:
    """The assignment that a text spells. A UsageError's span is within the text."""
    partitions: list[tuple[int, ...]] = []
    at = 0
    for part in text.split(","):
        place = (at, at + len(part))
        at += len(part) + 1
        if not _REPLICAS.fullmatch(part):
            raise _wrong(parameter, "broker ids such as 1:2,2:3", part or text, at=place,
                         hint="One list a partition, the preferred leader first.")  # fmt: skip
        replicas = tuple(int(each) for each in part.split(":"))
        if len(set(replicas)) < len(replicas):
            raise _wrong(parameter, "each broker once for a partition", part, at=place)
        if partitions and len(replicas) != len(partitions[0]):
            raise _wrong(parameter, "as many replicas for every partition", part, at=place)
        partitions.append(replicas)
    return tuple(partitions)


def _acl_rule(parameter: Argument | Option, text: str) -> str:
    """The rule itself: it is only read here to point at what is wrong with it."""
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
            raise _wrong(parameter, "operations such as Read,Write", part or text,
                         hint=did_you_mean(part, OPERATIONS, f"Known: {', '.join(OPERATIONS)}."),
                         at=(at, at + len(part)))  # fmt: skip
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
            hint = "Only the key: removal takes no value." if "=" in key else ""
            raise _wrong(parameter, "keys such as k1,k2", part or text, hint=hint,
                         at=(at, at + len(part)))  # fmt: skip
        found.append((key, (start, start + len(key))))
        at += len(part) + 1
    return found


def _pairs_of(parameter: Argument | Option, text: str) -> list[tuple[tuple[str, str], Span]]:
    try:
        return _pairs(parameter, text)
    except UsageError as error:
        if (shown := masked(text)) == text:
            raise
        raise _wrong(parameter, "k1=v1,k2=[v1,v2]", shown, hint=error.hint, at=error.span) from None


def _pairs(parameter: Argument | Option, text: str) -> list[tuple[tuple[str, str], Span]]:
    found, at = [], 0
    while True:
        start = at
        comma = text.find(",", at)
        equals = text.find("=", at, comma if comma >= 0 else len(text))
        key = text[start:equals].strip() if equals >= 0 else ""
        if not key:
            end = comma if comma >= 0 else len(text)
            raise _wrong(parameter, "k1=v1,k2=[v1,v2]", text[start:end] or text, at=(start, end),
                         hint="Group a value that holds commas: k=[v1,v2].")  # fmt: skip
        value, at = _pair_value(parameter, text, equals + 1)
        found.append(((key, value), (start, at)))
        if at >= len(text):
            return found
        at += 1


def _pair_value(parameter: Argument | Option, text: str, start: int) -> tuple[str, int]:
    """The value that starts here, without its brackets, and where the pair ends."""
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
        raise _wrong(parameter, "a ] for each [", text[begin:], at=(begin, begin + 1))
    end = at + 1
    while text[end : end + 1].isspace():
        end += 1
    if end < len(text) and text[end] != ",":
        raise _wrong(parameter, "a comma after ]", text[end:], at=(end, end + 1),
                     hint="Inside [...] a backslash escapes: [\\[::1\\]:9092]")  # fmt: skip
    return "".join(parts), end
