"""Filters of records: conditions on keys, values and headers, and regular expressions.

    key=4711   key!=a   value.amount>=10   value.user.name=~'^a'   header.reason=~'5..'

A field is `key`, `value`, `header.NAME`, or a path into JSON: `value.user.name`, and a number for
an element of an array: `value.items.0`. Operators: = != < <= > >= =~ (contains a match of the
regular expression) and !~. Numbers are compared as numbers, anything else as text. `null` is a null
key or value, or JSON's null. A field that does not exist has no value: only != and !~ hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from kafka_shell.admin.records.formats import AUTO, Decoded, Formats
from kafka_shell.admin.records.mask import Mask
from kafka_shell.admin.records.model import Record
from kafka_shell.base.errors import ShellError, UsageError, near_miss
from kafka_shell.base.regex import compile_re2

Values = Callable[[Record], Iterator[Any]]  # of a field: none if it does not exist

_CONDITION = re.compile(
    r"\s*(?P<field>(?:key|value)(?:\.[^=!<>~]+?)?|header\.[^=!<>~]+?)\s*"
    r"(?P<operator>!=|=~|!~|<=|>=|=|<|>)\s*(?P<value>.*)",
    re.DOTALL,
)
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,999})")
_INDEX = re.compile(r"\d{1,9}")  # Python refuses numbers of thousands of digits
_PLAIN = re.compile(r'[^"\\/\x00-\x1f\x7f]+')  # JSON text without escapes except \u
_EXPONENT = r"\d[eE][-+]?\d"
_LITERAL = re.compile(r"[\w @:,;=<>/'\"!#%&~`-]+")  # a regular expression that is its own match
_EXPECTED = "Examples: key=4711  'value.amount>10'  header.reason=~'5..' (quote < and >)"


class RecordFilter:
    """Keeps the records that match all conditions, and all regular expressions in the bytes of
    their key, value or a header's value. Raises UsageError.

    With `schemas`, keys and values are decoded with something else than their bytes (a schema
    registry, an internal topic), so that whole batches cannot be skipped.
    """

    def __init__(
        self,
        where: Sequence[str],
        grep: Sequence[str],
        formats: Formats | None = None,
        *,
        schemas: bool = False,
    ) -> None:
        formats = Formats() if formats is None else formats
        tests = [_condition(text, formats, schemas) for text in where] + [_grep(t) for t in grep]
        self._may = [may for _, may in tests if may is not None]
        self._matches = [matches for matches, _ in tests]

    def may_keep(self, data: bytes) -> bool:
        """Whether the bytes of a batch may have a record to keep."""
        return all(may(data) for may in self._may)

    def keeps(self, record: Record) -> bool:
        """Whether a record is kept. Raises ShellError if its schema could not be read."""
        return all(matches(record) for matches in self._matches)


Test = tuple[Callable[[Record], bool], Callable[[bytes], bool] | None]


def _grep(expression: str) -> Test:
    if not expression:
        raise UsageError("the regular expression is empty", code="bad-pattern")
    search = compile_re2(expression, data=True).search

    def matches(record: Record) -> bool:
        return (
            (record.value is not None and search(record.value) is not None)
            or (record.key is not None and search(record.key) is not None)
            or any(value is not None and search(value) for _, value in record.headers)
        )

    if _LITERAL.fullmatch(expression):
        needle = expression.encode()
        return matches, lambda data: needle in data
    return matches, None


def check_masked(
    where: Sequence[str], grep: Sequence[str], mask: Mask, topics: Iterable[str]
) -> None:
    """Raise UsageError if a condition selects by what is masked in a topic: it would tell whether a
    guess is right. It may ask for null, which is not masked."""
    for topic in topics:
        if grep and mask.of(topic):
            raise _masked("a regular expression cannot search", topic)
        for text in where:
            match = _parse(text)
            part, _, rest = match["field"].partition(".")
            path = (part, *([rest] if part == "header" else rest.split(".") if rest else []))
            null = match["operator"] in ("=", "!=") and match["value"] == "null"
            if not null and (masked := mask.covers(path, topic)):
                raise _masked(f"'{text}' cannot select by {masked}", topic)


def _masked(what: str, topic: str) -> UsageError:
    return UsageError(
        f"{what}: the profile masks fields of topic {topic}",
        hint="Remove it, or unmask the fields if the profile allows it.",
        code="masked",
    )


def _parse(text: str) -> re.Match[str]:
    match = _CONDITION.fullmatch(text)
    if match is None:
        name, dot, rest = text.strip().partition(".")
        near = near_miss(name, ("key", "value", "header")) if dot else None
        hint = f"Did you mean {near}.{rest}?" if near and near != name else _EXPECTED
        raise UsageError(f"invalid condition '{text}'", hint=hint, code="bad-condition")
    return match


def _condition(text: str, formats: Formats, schemas: bool) -> Test:
    match = _parse(text)
    field, operator, value = match["field"], match["operator"], match["value"]
    values = _values(field, formats)
    if operator in ("=~", "!~"):
        return _matching(values, value, negated=operator == "!~"), None
    if operator in ("<", "<=", ">", ">="):
        return _ordered(values, operator, value), None
    equal = _equal(value)
    if operator == "!=":
        return lambda record: not any(map(equal, values(record))), None
    may = None if schemas else _prefilter(field, value, formats)

    def matches(record: Record) -> bool:
        if may is not None and not field.startswith("header"):  # decoding JSON takes longer
            raw = record.key if field.startswith("key") else record.value
            if raw is None or not may(raw):
                return False
        return any(map(equal, values(record)))

    return matches, may


# -- fields ----------------------------------------------------------------------------------------


def _values(field: str, formats: Formats) -> Values:
    name, _, rest = field.partition(".")
    if name == "header":
        return lambda record: (_text(value) for key, value in record.headers if key == rest)
    raw: Callable[[Record], bytes | None]
    if name == "key":
        decode, raw = formats.key, lambda record: record.key
    else:
        decode, raw = formats.value, lambda record: record.value

    def decoded(record: Record) -> Decoded:
        found = decode(record)
        if found.unknown:  # whether the record matches is not known either
            raise ShellError(
                f"the condition on the {name} at offset {record.offset} cannot be evaluated:"
                f" {found.problem}",
                code="unavailable-schema",
            )
        return found

    def whole(record: Record) -> Iterator[Any]:
        found = decoded(record)
        structured = isinstance(found.data, dict | list | bytes)
        yield found.text(raw(record) or b"") if structured else found.data

    if not rest:
        return whole
    path = rest.split(".")
    return lambda record: _at(decoded(record).data, path)


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode(errors="replace")


def _at(data: Any, path: Iterable[str]) -> Iterator[Any]:
    """The value at a path into JSON; none if it does not exist."""
    for name in path:
        if isinstance(data, dict) and name in data:
            data = data[name]
        elif isinstance(data, list) and _INDEX.fullmatch(name) and int(name) < len(data):
            data = data[int(name)]
        else:
            return
    yield data


# -- operators -------------------------------------------------------------------------------------


def _equal(value: str) -> Callable[[Any], bool]:
    number = _number(value)

    def equal(found: Any) -> bool:
        if isinstance(found, str):
            return found == value
        if isinstance(found, int | float) and not isinstance(found, bool):
            return number is not None and found == number
        return _as_text(found) == value

    return equal


def _ordered(values: Values, operator: str, value: str) -> Callable[[Record], bool]:
    number = _number(value)

    def compare(found: Any) -> bool:
        if found is None or isinstance(found, bool | dict | list):
            return False
        left: Any = found
        right: Any = value
        if number is not None:
            left = _number(found) if isinstance(found, str) else found
            right = number
            if left is None:
                return False
        left = str(left) if isinstance(right, str) else left
        if operator[0] == "<":
            return bool(left < right or (left == right and operator == "<="))
        return bool(left > right or (left == right and operator == ">="))

    return lambda record: any(map(compare, values(record)))


def _matching(values: Values, expression: str, *, negated: bool) -> Callable[[Record], bool]:
    search = compile_re2(expression).search

    def matches(found: Any) -> bool:
        return found is not None and search(_as_text(found)) is not None

    return lambda record: any(map(matches, values(record))) != negated


def _as_text(found: Any) -> str:
    return found if isinstance(found, str) else msgspec.json.encode(found).decode()


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    with suppress(ValueError):
        number = float(text)
        if number - number == 0 and "_" not in text:
            return number
    return None


# -- whole batches ---------------------------------------------------------------------------------


def _prefilter(field: str, value: str, formats: Formats) -> Callable[[bytes], bool] | None:
    """Whether the bytes of a batch may have a field with this value: only for fields whose bytes
    are known from it."""
    name, _, path = field.partition(".")
    needle = value.encode(errors="surrogateescape")
    if not needle or value == "null":
        return None
    if name == "header":
        return None if "\ufffd" in value else lambda data: needle in data
    format = formats.key_format if name == "key" else formats.value_format
    if format != AUTO or "\ufffd" in value:
        return None
    if path:
        return _json_prefilter(value, needle)
    number = _number(value)
    if number is None:
        return lambda data: needle in data
    if not isinstance(number, int):
        return None
    needles = [needle] + [
        number.to_bytes(size, "big", signed=True)
        for size in (4, 8)
        if -(1 << 8 * size - 1) <= number < 1 << 8 * size - 1
    ]
    return lambda data: any(each in data for each in needles)


def _json_prefilter(value: str, needle: bytes) -> Callable[[bytes], bool] | None:
    if _INTEGER.fullmatch(value):  # 4711 may be written as 47.11e2
        exponent = compile_re2(_EXPONENT, data=True).search
        return lambda data: needle in data or b"\\u" in data or exponent(data) is not None
    if _number(value) is not None or value[0] in "[{" or not _PLAIN.fullmatch(value):
        return None
    return lambda data: needle in data or b"\\u" in data
