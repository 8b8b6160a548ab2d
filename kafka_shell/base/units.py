"""Durations, sizes, rates, times and counts as text, also as values of configs and quotas."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum
from math import gcd, isfinite
from pathlib import Path

from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.structs import CodedEnum
from kafka_shell.base.text import short

# Durations, sizes, rates, times and counts as text: `7d`, `1GiB`, `2026-01-31T10:00`. Paths.
#
# Every conversion is exact, or raises ShellError.

Fraction = tuple[int, int]  # numerator, denominator; fractions.Fraction is slow to import

INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_AMOUNT = r"([0-9]{1,30})(?:\.([0-9]{1,30}))?"
_PART = re.compile(_AMOUNT + r"\s*([a-z]+)\s*")
_MONTHS = re.compile(r"[0-9]\s*M(?![A-Za-z])")
_ISO = re.compile(
    rf"p(?:{_AMOUNT}w)?(?:{_AMOUNT}d)?(?:t(?=[0-9])(?:{_AMOUNT}h)?(?:{_AMOUNT}m)?(?:{_AMOUNT}s)?)?"
)
_EPOCH_MS = re.compile(r"[0-9]{12,15}")
_SIZE = re.compile(_AMOUNT + r"\s*([A-Za-z]+)(/s)?")

SECOND, MINUTE, HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_WEEK = 7 * _DAY
_LONG_COMMAND, _SHORT_COMMAND = 500, 120  # characters
_MIN_ELAPSED_S = 2.0  # no estimate of the remaining time before
_NO_LIMIT = 1 << 62  # numbers from here on mean "forever" or "no limit"
_DURATIONS = {
    word: size
    for size, words in (
        (1, "ms millis millisecond milliseconds"),
        (SECOND, "s sec secs second seconds"),
        (MINUTE, "m min mins minute minutes"),
        (HOUR, "h hour hours"),
        (_DAY, "d day days"),
        (_WEEK, "w week weeks"),
    )
    for word in words.split()
}
_SIZES = {"B": 1, "KB": 1000} | {
    f"{letter}{suffix}": base ** (power + 1)
    for base, suffix in ((1000, "B"), (1024, "iB"))
    for power, letter in enumerate("kMGTPE" if base == 1000 else "KMGTPE")
}
_FORMAT_SIZES = tuple((n, s) for n, s in _SIZES.items() if n in ("kB", "KiB") or n[0] in "MGTP")
# Lower case is accepted, too. Mb is not a size: it means megabits.
_SIZES |= {name.lower(): size for name, size in _SIZES.items()}
_DECIMAL = ("B", "kB", "MB", "GB", "TB")
_BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class ConfigType(CodedEnum):
    """Types of config values (KIP-569)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Unit(Enum):
    """The unit of a number in a config, by the key's name."""

    NONE = ""
    BYTES = "bytes"
    MILLISECONDS = "ms"
    SECONDS = "s"
    MINUTES = "min"
    HOURS = "h"
    BYTES_PER_SECOND = "bytes/s"


class Bytes(int):
    """A number of bytes. Progress shows it with units."""


def to_path(text: str) -> Path:
    """The path of a typed text: `~` is the home directory. The `~` of an unknown user is kept."""
    return Path(os.path.expanduser(text))  # noqa: PTH111  pathlib's raises for an unknown user


# -- durations, sizes, times -----------------------------------------------------------------------


def counted(count: int, noun: str) -> str:
    """`1 topic`, `3 topics`, `2 directories`, `2 addresses`, `2 batches`, `1,000 topics`."""
    if count != 1:
        noun = re.sub("(s|ch)$", r"\1e", re.sub("(?<![aeiou])y$", "ie", noun)) + "s"
    return f"{count:,} {noun}"


def times(count: int) -> str:
    """`twice`, `3 times`."""
    return "twice" if count == 2 else f"{count:,} times"


def parse_duration(text: str) -> int:
    """Milliseconds of `500ms`, `7d`, `1d12h`, `PT2H` or `-1h`, or of a number of milliseconds."""
    if INTEGER.fullmatch(text):
        return int(text)
    fraction = duration_fraction(text)
    if fraction is None:
        raise ShellError(
            f"expected a duration such as 30s or 7d, got {shorten(text)}",
            hint=month_hint(text)
            or "Use a unit: ms, s, m, h, d, w. A number without a unit is in milliseconds.",
            code="bad-duration",
        )
    if fraction[1] != 1:
        raise ShellError(f"{text} is not a whole number of milliseconds", code="bad-duration")
    return fraction[0]


def month_hint(text: str) -> str:
    """A hint if the text has the unit M, which means months, not minutes, in many tools."""
    return "m is minutes; months are not supported: use 30d." if _MONTHS.search(text) else ""


def parse_size(text: str) -> int:
    """Bytes of `1GiB`, `512MiB` or `50MB/s` (MB is 10^6, MiB is 2^20), or of a number of bytes."""
    if INTEGER.fullmatch(text):
        return int(text)
    fraction = size_fraction(text)
    if fraction is None:
        raise ShellError(
            f"expected a size such as 512MiB or 50MB, got {shorten(text)}",
            hint="Use a unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024).",
            code="bad-size",
        )
    if fraction[1] != 1:
        raise ShellError(f"{text} is not a whole number of bytes", code="bad-size")
    return fraction[0]


OFFSET = "offset:"
_OFFSET_DIGITS = 11


def as_offset(word: str) -> str:
    """Return the word as a position, of which a number is always an offset: one with the digits of
    a time is marked."""
    return f"{OFFSET}{word}" if word.isdecimal() and len(word) > _OFFSET_DIGITS else word


def parse_time(text: str, *, now: int, zone: tzinfo | None = None) -> int:
    """Milliseconds since the epoch of `2026-01-31T10:00[Z|+01:00]`, `yesterday 14:00`, `today`,
    `now`, or `-1h` before `now`.

    A number of 12 to 15 digits is milliseconds since the epoch; a shorter one is an error, because
    it is probably seconds or a day. A time without a zone is in `zone`, or in local time if None.
    """
    if text == "now":
        return now
    if _EPOCH_MS.fullmatch(text):
        return int(text)
    if text[:1] in ("+", "-") and not INTEGER.fullmatch(text):
        return now + parse_duration(text)
    try:
        if INTEGER.fullmatch(text):
            raise ValueError
        moment = datetime.fromisoformat(_dated(text, now, zone))
        if moment.tzinfo is None and zone is not None:
            moment = moment.replace(tzinfo=zone)
        seconds = moment.replace(microsecond=0).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ShellError(
            f"expected a time such as 2026-01-31T10:00, got {shorten(text)}",
            hint="Append Z or +01:00 for a time zone. Also: -1h (one hour ago), 'yesterday 14:00',"
            " today, milliseconds since 1970-01-01 UTC.",
            code="bad-time",
        ) from None
    return round(seconds) * 1000 + moment.microsecond // 1000


_DAYS = {"today": 0, "yesterday": 1}  # days ago


def _dated(text: str, now: int, zone: tzinfo | None) -> str:
    """The text with a date instead of `today` and `yesterday`, at midnight if it has no hour."""
    day, blank, clock = text.partition(" ")
    if day not in _DAYS or (blank and not clock):
        return text
    date = datetime.fromtimestamp(now / 1000, zone).date() - timedelta(days=_DAYS[day])
    return f"{date}T{'0' if clock[1:2] == ':' else ''}{clock or '00:00'}"


def odd_hour(text: str, time: int, now: int) -> str:
    """A note on a typed time without a zone in an hour that local time skips or repeats; else
    empty. `time` is what it was parsed to, `now`."""
    try:
        moment = datetime.fromisoformat(_dated(text, now, None))
        odd = moment.tzinfo is None and moment.timestamp() != moment.replace(fold=1).timestamp()
    except (ValueError, OverflowError, OSError):
        return ""
    if not odd:
        return ""
    repeats = datetime.fromtimestamp(moment.timestamp()) == moment
    how = "is ambiguous (clock change), first:" if repeats else "is skipped (clock change), used:"
    return f"{text} {how} {format_time(time)}"


def format_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """The time with its zone, in `zone` or in local time. `parse_time` reads it back.

    Producers may set any timestamp: one after the year 9999 is returned as a number.
    """
    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
        return moment.astimezone(zone).isoformat(timespec=precision)
    except (OverflowError, ValueError):
        return str(milliseconds)


def format_duration(milliseconds: int) -> str:
    """`7d`, `1h30m`, `1500ms`: exact. Zero, negative numbers and "forever" have no unit."""
    if milliseconds <= 0 or milliseconds >= _NO_LIMIT:
        return str(milliseconds)
    if milliseconds % SECOND:
        return f"{milliseconds}ms"
    parts, rest = [], milliseconds
    for size, name in ((_DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{name}")
    return "".join(parts)


def format_remaining(done: int, total: int, elapsed: float) -> str:
    """`1m30s left`, estimated from `done` of `total` in `elapsed` seconds, or an empty string."""
    if elapsed < _MIN_ELAPSED_S or not 0 < done < total:
        return ""
    return f"{format_duration(max(1, round(elapsed * (total - done) / done)) * 1000)} left"


def format_bytes(count: int) -> str:
    """`1GiB`, `50MB`: exact. A number without a unit if no unit makes it shorter."""
    text, amount = str(count), abs(count)
    if count <= 0 or count >= _NO_LIMIT:
        return text
    for name, size in _FORMAT_SIZES:
        if count % size == 0 and count // size < amount:
            text, amount = f"{count // size}{name}", count // size
    return text


def format_rate(count: int) -> str:
    """`50MB/s`: exact. A number without a unit if no unit makes it shorter."""
    text = format_bytes(count)
    return text if text == str(count) else f"{text}/s"


def approximate_bytes(count: int) -> str:
    """`213 KiB`, `1.4 GiB`: rounded to two or three digits. JSON has the exact number."""
    if count < 1024:
        return f"{count} B"
    power = 1
    while count >= 999.5 * 1024**power and power < len(_BINARY):
        power += 1
    size = count / 1024**power
    return f"{size:.{0 if size >= 99.95 else 1}f} {_BINARY[power - 1]}"


def approximate_rate(rate: float) -> str:
    """`980B/s`, `873kB/s`, `1.4MB/s`: rounded, in the units in which throttles are typed."""
    if 0 < rate < 0.5:
        return "<1B/s"
    power = 0
    while rate >= 999.5 * 1000**power and power < len(_DECIMAL) - 1:
        power += 1
    size = rate / 1000**power
    decimals = 0 if power == 0 or size >= 99.95 else 1
    return f"{size:.{decimals}f}{_DECIMAL[power]}/s"


def approximate_duration(seconds: float) -> str:
    """`45s`, `3m20s`, `5h10m`, `12d`: rounded to two units."""
    if seconds < 1:
        return "<1s"
    left, parts = int(seconds), list[str]()
    for size, name in ((_DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")):
        count, left = divmod(left, size // SECOND)
        if count or parts:
            parts.append(f"{count:,}{name}" if count else "")
    return "".join(parts[:2])


def some(names: Sequence[object], most: int) -> str:
    """`a, b, c and 2 more`: the first names, at most so many."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def shorten_command(line: str) -> str:
    """A command line, or its first words and the number of the others if it is very long."""
    if len(line) <= _LONG_COMMAND:
        return line
    kept = line[:_SHORT_COMMAND].rpartition(" ")[0] or line[:_SHORT_COMMAND]
    return f"{kept} ... and {counted(len(line[len(kept) :].split()), 'more word')}"


def shorten(text: str) -> str:
    """The text in quotes, at most 60 characters of it, for an error message."""
    return f"'{short(text)}'"


# -- exact fractions -------------------------------------------------------------------------------


def duration_fraction(text: str) -> Fraction | None:
    """Milliseconds as a reduced fraction, or None if the text is not a duration with units."""
    body = text.strip().lower()
    sign = -1 if body.startswith("-") else 1
    body = body[1:] if body[:1] in ("-", "+") else body
    iso = _ISO.fullmatch(body)
    if iso:
        groups = iso.groups()
        sizes = (_WEEK, _DAY, HOUR, MINUTE, SECOND)
        parts = [
            _scale(groups[2 * i], groups[2 * i + 1], size)
            for i, size in enumerate(sizes)
            if groups[2 * i] is not None
        ]
        return _sum(parts, sign) if parts else None
    if _MONTHS.search(text):
        return None
    parts, at = [], 0
    while at < len(body):
        part = _PART.match(body, at)
        if not part or part[3] not in _DURATIONS:
            return None
        parts.append(_scale(part[1], part[2], _DURATIONS[part[3]]))
        at = part.end()
    return _sum(parts, sign) if parts else None


def size_fraction(text: str, *, allow_rate: bool = True) -> Fraction | None:
    """Bytes as a reduced fraction, or None if the text is not a size with a unit. `allow_rate`
    accepts a trailing `/s`."""
    match = _SIZE.fullmatch(text.strip())
    if not match or match[3] not in _SIZES or (match[4] and not allow_rate):
        return None
    return reduce_fraction(*_scale(match[1], match[2], _SIZES[match[3]]))


def reduce_fraction(numerator: int, denominator: int) -> Fraction:
    """The same fraction in lowest terms."""
    divisor = gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor


def _scale(whole: str, decimals: str | None, size: int) -> Fraction:
    """`whole.decimals` times size, not reduced."""
    digits = decimals or ""
    return int(whole + digits) * size, 10 ** len(digits)


def _sum(parts: list[Fraction], sign: int) -> Fraction:
    """The sum of fractions whose denominators are powers of ten."""
    denominator = max(part[1] for part in parts)
    total = sum(numerator * (denominator // each) for numerator, each in parts)
    return reduce_fraction(sign * total, denominator)


# Config values as text: `7d` <-> `604800000` for a key that ends in `.ms`, and so on.

_TIME_UNITS = {
    Unit.MILLISECONDS: (1, "milliseconds"),
    Unit.SECONDS: (SECOND, "seconds"),
    Unit.MINUTES: (MINUTE, "minutes"),
    Unit.HOURS: (HOUR, "hours"),
}
_BYTE_UNITS = (Unit.BYTES, Unit.BYTES_PER_SECOND)
_SUFFIXES = {
    "ms": Unit.MILLISECONDS,
    "seconds": Unit.SECONDS,
    "minutes": Unit.MINUTES,
    "hours": Unit.HOURS,
    "bytes": Unit.BYTES,
}
# Keys whose last word is not their unit.
_ENDINGS = (
    (".bytes.per.second", Unit.BYTES_PER_SECOND),
    (".replication.throttled.rate", Unit.BYTES_PER_SECOND),
    ("_byte_rate", Unit.BYTES_PER_SECOND),
    (".record.bytes.between.snapshots", Unit.BYTES),
    ("log.cleaner.dedupe.buffer.size", Unit.BYTES),
    ("log.cleaner.io.buffer.size", Unit.BYTES),
    ("offsets.load.buffer.size", Unit.BYTES),
    ("sasl.server.max.receive.size", Unit.BYTES),
    ("sasl.kerberos.min.time.before.relogin", Unit.MILLISECONDS),
    ("max.request.size", Unit.BYTES),
    ("batch.size", Unit.BYTES),
    ("buffer.memory", Unit.BYTES),
)
# Brokers do not publish the values of their enumerations. Broker keys have the prefix `log.`.
ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "cleanup.policy": ("delete", "compact"),
    "compression.type": ("producer", "uncompressed", "zstd", "lz4", "snappy", "gzip"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "share.auto.offset.reset": ("earliest", "latest"),
    "share.isolation.level": ("read_uncommitted", "read_committed"),
    "ssl.client.auth": ("none", "requested", "required"),
}
_OTHER_FORMS = ("by_duration:",)  # share.auto.offset.reset=by_duration:P1D (KIP-1106)
# Lists whose order has no meaning.
SETS = frozenset((
    "cleanup.policy", "log.cleanup.policy", "cordoned.log.dirs", "metrics", "match",
    "leader.replication.throttled.replicas", "follower.replication.throttled.replicas",
    "sasl.enabled.mechanisms", "ssl.enabled.protocols",
))  # fmt: skip
_TEXTS = (ConfigType.STRING, ConfigType.CLASS, ConfigType.PASSWORD)
_EXACT = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")  # longer ones are not exact as a double
_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
_NUMERIC = frozenset((*_BITS, ConfigType.DOUBLE))


def unit_of(key: str) -> Unit:
    """The unit of a config key's numbers, derived from the key's name."""
    for ending, unit in _ENDINGS:
        if key.endswith(ending):
            return unit
    return _SUFFIXES.get(key.rpartition(".")[2], Unit.NONE) if "." in key else Unit.NONE


def convert_unit(value: str, key: str, to: str) -> str | None:
    """The value of one key in the unit of another (`168` hours are `604800000` ms), or None if
    it cannot be converted."""
    if key == to:
        return value
    unit, target = unit_of(key), unit_of(to)
    if unit is target or value.startswith("-"):  # -1 is "no limit" in every unit
        return value
    if unit not in _TIME_UNITS or target not in _TIME_UNITS or not value.isdecimal():
        return None
    number, rest = divmod(int(value) * _TIME_UNITS[unit][0], _TIME_UNITS[target][0])
    return None if rest else str(number)


def same_value(key: str, one: object, other: object, type: ConfigType = ConfigType.UNKNOWN) -> bool:
    """Whether two values of a config, or of another field, mean the same to a broker: `0.50` is
    0.5, `TRUE` is true, `a, b` is `a,b`, and `delete,compact` is `compact,delete`, a set. Strings
    are compared as they are."""
    if one == other or one is None or other is None or type in _TEXTS:
        return one == other
    return _meaning(key, str(one)) == _meaning(key, str(other))


def _meaning(key: str, text: str) -> object:
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower()
    if _EXACT.fullmatch(text):
        return float(text)
    items = [item.strip() for item in text.split(",")]
    return set(items) if key in SETS else items


def allowed_values(key: str) -> tuple[str, ...]:
    """The values of a config key that is a known enumeration, or an empty tuple."""
    return ENUMERATIONS.get(key) or ENUMERATIONS.get(key.removeprefix("log."), ())


def check_enumeration(key: str, type: ConfigType, text: str) -> None:
    """Raise ShellError for a value that a known enumeration does not have. Each item of a list is
    checked. Values in another case are left to the broker, which accepts some of them."""
    choices = allowed_values(key)
    if not choices or type not in (ConfigType.STRING, ConfigType.LIST):
        return
    lower_choices = {choice.lower() for choice in choices}
    for item in map(str.strip, text.split(",") if type is ConfigType.LIST else [text]):
        if item and item.lower() not in lower_choices and not item.startswith(_OTHER_FORMS):
            raise ShellError(
                f"{key} must be one of {', '.join(choices)}, got {shorten(item)}",
                hint=did_you_mean(item, choices),
                code="bad-value",
            )


def parse_config_value(key: str, type: ConfigType, text: str) -> str:
    """The value as the broker expects it. Raises ShellError with the expected form.

    Numbers may have a unit if the key has one. Numbers without a unit are returned as typed.
    """
    if type is ConfigType.BOOLEAN:
        if text.strip().lower() not in ("true", "false"):
            raise _invalid(key, "true or false", text)
        return text
    if type not in _NUMERIC:
        return text
    if (NUMBER if type is ConfigType.DOUBLE else INTEGER).fullmatch(text.strip()):
        _check_range(key, type, text)
        return text
    unit = unit_of(key)
    fraction = _read_with_unit(unit, text)
    if fraction is None:
        hint = month_hint(text) if unit in _TIME_UNITS else ""
        raise _invalid(key, _expected(type, unit), text, hint=hint)
    numerator, denominator = fraction
    if denominator != 1:
        whole = _TIME_UNITS[unit][1] if unit in _TIME_UNITS else "bytes"
        why = f", which is not a whole number of {whole}"
        raise _invalid(key, _expected(type, unit), text, why)
    _check_range(key, type, str(numerator), text)
    return str(numerator)


def format_config_value(key: str, type: ConfigType, raw: str) -> str:
    """`604800000` of a `.ms` key as `7d`, or the raw value if `7d` would not be parsed to the same.

    Values of UNKNOWN type are treated as integers if the key's name has a unit.
    """
    if type is ConfigType.UNKNOWN:
        type = ConfigType.LONG
    unit = unit_of(key)
    if type not in _NUMERIC or unit is Unit.NONE or not INTEGER.fullmatch(raw):
        return raw
    text = _format(unit, int(raw))
    try:
        return text if parse_config_value(key, type, text) == raw else raw
    except ShellError:
        return raw


def format_limit(key: str, raw: str) -> str:
    """The value of a size or duration for a sentence: `100 bytes`, `1GiB`, `7d`."""
    text = format_config_value(key, ConfigType.LONG, raw)
    return counted(int(text), "byte") if unit_of(key) is Unit.BYTES and text.isdecimal() else text


def _format(unit: Unit, number: int) -> str:
    if unit is Unit.BYTES:
        return format_bytes(number)
    if unit is Unit.BYTES_PER_SECOND:
        return format_rate(number)
    return format_duration(number * _TIME_UNITS[unit][0])


def _read_with_unit(unit: Unit, text: str) -> Fraction | None:
    """The number in the key's own unit, or None if the text has no valid unit.

    Only numbers without a unit may have a sign: -1 is Kafka's "no limit", -7d is a mistake.
    """
    if text.strip()[:1] in ("-", "+"):
        return None
    if unit in _TIME_UNITS:
        fraction = duration_fraction(text)
        return fraction and reduce_fraction(fraction[0], fraction[1] * _TIME_UNITS[unit][0])
    if unit in _BYTE_UNITS:
        return size_fraction(text, allow_rate=unit is Unit.BYTES_PER_SECOND)
    return None


def _check_range(key: str, type: ConfigType, number: str, typed: str = "") -> None:
    bits = _BITS.get(type)
    if bits is None:
        return
    value = int(number)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    if not low <= value <= high:
        shown = f"{value} ({typed})" if typed else str(value)
        message = f"{key} must be between {low} and {high}, got {shown}"
        raise ShellError(message, code="bad-value")


def _expected(type: ConfigType, unit: Unit) -> str:
    number = "a number" if type is ConfigType.DOUBLE else "an integer"
    if unit in _TIME_UNITS:
        return f"{number} ({_TIME_UNITS[unit][1]}) or a duration such as 7d"
    if unit is Unit.BYTES:
        return f"{number} (bytes) or a size such as 512MiB"
    if unit is Unit.BYTES_PER_SECOND:
        return f"{number} (bytes per second) or a rate such as 50MB/s"
    return number


def _invalid(key: str, expected: str, text: str, why: str = "", hint: str = "") -> ShellError:
    hint = hint if text.strip() else f"Use --delete-config {key} to restore the default."
    message = f"{key} must be {expected}, got {shorten(text)}{why}"
    return ShellError(message, hint=hint, code="bad-value")


# Client quota limits as text: `5MB/s`, `50%`, `10/s` <-> the doubles of Kafka.

_BYTE_RATES = ("producer_byte_rate", "consumer_byte_rate")
_EXPECTED = {
    **dict.fromkeys(_BYTE_RATES, "a number of bytes per second such as 5MB/s"),
    "request_percentage": "a percentage of one thread such as 50%",
    "controller_mutation_rate": "a number of partitions per second such as 10/s",
    "connection_creation_rate": "a number of connections per second such as 10/s",
}
QUOTAS = tuple(_EXPECTED)


def parse_quota(key: str, text: str) -> float:
    """`5MB/s` for a byte rate, `50%` for request_percentage, `10/s` for the others, or a number.

    Raises ShellError if the text is not a limit, and UsageError if the limit is not positive or
    cannot be represented exactly by a double.
    """
    text = text.strip()
    number = text.removesuffix("%" if key == "request_percentage" else "/s").rstrip()
    number = number.removesuffix("B").rstrip() if key in _BYTE_RATES else number
    if NUMBER.fullmatch(number):
        value = float(number)
        if not isfinite(value) or (INTEGER.fullmatch(number) and int(value) != int(number)):
            raise UsageError(f"{key} cannot represent {shorten(text)} exactly", code="bad-value")
        return _positive(key, value, text)
    size = size_fraction(text) if key in _BYTE_RATES else None
    if size is None:
        raise ShellError(
            f"{key} must be {_EXPECTED.get(key, 'a number')}, got {shorten(text)}",
            hint="" if text else _remove_hint(key),
            code="bad-value",
        )
    if size[1] != 1:
        raise ShellError(f"{text} is not a whole number of bytes", code="bad-value")
    return _positive(key, float(size[0]), text)


def _positive(key: str, value: float, text: str) -> float:
    if value > 0:
        return value
    raise UsageError(
        f"{key} must be greater than 0, got {shorten(text)}",
        hint=_remove_hint(key),
        code="bad-value",
    )


def _remove_hint(key: str) -> str:
    return f"Use --delete-config {key} to remove the quota."


def format_quota(key: str, value: float) -> str:
    """A limit with its unit, such as `5MiB/s`, `50%` or `10/s`. `parse_quota` reads it back."""
    number = format_number(value)
    if key == "request_percentage":
        return f"{number}%"
    if key not in _BYTE_RATES:
        return f"{number}/s"
    if not value.is_integer() or value >= 1 << 53:
        return f"{number}B/s"
    rate = format_rate(int(value))
    return rate if rate.endswith("/s") else f"{rate}B/s"


def format_number(value: float) -> str:
    """The shortest exact text of a double: `5242880`, `0.5`."""
    return str(int(value)) if value.is_integer() and abs(value) < 1 << 53 else repr(value)


# -- lists of numbers ------------------------------------------------------------------------------


def ranges(numbers: Iterable[int]) -> str:
    """`0,3-5`: ranges for three or more consecutive numbers, in the given order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )


def numbers_in(text: object) -> frozenset[int]:
    """The numbers of a text such as `versions 1-3,5`; none of None."""
    pairs = re.findall(r"(\d+)(?:-(\d+))?", str(text or ""))
    return frozenset(number for a, b in pairs for number in range(int(a), int(b or a) + 1))
