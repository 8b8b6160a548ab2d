"""7d, 1GiB, 50MB/s, 2026-01-31T10:00 <-> the numbers Kafka wants, exact or refused. Paths."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.admin.configs.model import ConfigType, Unit

from .errors import ShellError, UsageError, did_you_mean

if TYPE_CHECKING:
    from datetime import tzinfo

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_AMOUNT = r"([0-9]{1,30})(?:\.([0-9]{1,30}))?"
_PART = re.compile(_AMOUNT + r"\s*([a-z]+)\s*")
_ISO = re.compile(
    rf"p(?:{_AMOUNT}w)?(?:{_AMOUNT}d)?(?:t(?=[0-9])(?:{_AMOUNT}h)?(?:{_AMOUNT}m)?(?:{_AMOUNT}s)?)?"
)
_EPOCH_MS = re.compile(r"[0-9]{12,15}")
_SIZE = re.compile(_AMOUNT + r"\s*([A-Za-z]+)(/s)?")

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_WEEK = 7 * _DAY
_TELLING = 2.0  # seconds after which the speed of some work says how long the rest takes
_DURATIONS = {
    word: size
    for size, words in (
        (1, "ms millis millisecond milliseconds"),
        (_SECOND, "s sec secs second seconds"),
        (_MINUTE, "m min mins minute minutes"),
        (_HOUR, "h hour hours"),
        (_DAY, "d day days"),
        (_WEEK, "w week weeks"),
    )
    for word in words.split()
}
_SIZES = {"B": 1, "KB": 1000} | {
    f"{letter}{mark}": base ** (power + 1)
    for base, mark in ((1000, "B"), (1024, "iB"))
    for power, letter in enumerate("kMGTPE" if base == 1000 else "KMGTPE")
}
# All lower case is plain haste; Mb is left out because it means bits.
_SIZES |= {name.lower(): size for name, size in _SIZES.items()}

_BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_TIME_UNITS = {
    Unit.MILLISECONDS: (1, "milliseconds"),
    Unit.SECONDS: (_SECOND, "seconds"),
    Unit.MINUTES: (_MINUTE, "minutes"),
    Unit.HOURS: (_HOUR, "hours"),
}
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
# The broker does not tell the values of its enumerations. Keys of brokers have a `log.` before.
ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "cleanup.policy": ("delete", "compact"),
    "compression.type": ("producer", "uncompressed", "zstd", "lz4", "snappy", "gzip"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "share.auto.offset.reset": ("earliest", "latest"),
    "share.isolation.level": ("read_uncommitted", "read_committed"),
    "ssl.client.auth": ("none", "requested", "required"),
}
_MORE_FORMS = ("by_duration:",)  # share.auto.offset.reset=by_duration:P1D (KIP-1106)
_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
_NUMERIC = frozenset((*_BITS, ConfigType.DOUBLE))


# -- paths -----------------------------------------------------------------------------------------


def to_path(text: str) -> Path:
    """A path as it is typed: `~` is the home folder. `~nobody/f` stays as it is."""
    return Path(os.path.expanduser(text))  # noqa: PTH111  pathlib's raises for an unknown user


# -- durations, sizes, times -----------------------------------------------------------------------


def to_milliseconds(text: str) -> int:
    """`500ms`, `7d`, `1d12h`, `PT2H`, `-1h`; a bare number is milliseconds."""
    if _WHOLE.fullmatch(text):
        return int(text)
    found = _duration(text)
    if found is None:
        raise ShellError(f"a duration such as 30s or 7d is wanted; got {_shown(text)}",
                         hint="Units: ms s m h d w; a bare number is milliseconds.",
                         code="bad-duration")  # fmt: skip
    if found[1] != 1:
        raise ShellError(f"{text} is not a whole number of milliseconds", code="bad-duration")
    return found[0]


def to_bytes(text: str) -> int:
    """`1GiB`, `512MiB`, `50MB/s`; MB is 10^6 and MiB is 2^20; a bare number is bytes."""
    if _WHOLE.fullmatch(text):
        return int(text)
    found = _size(text)
    if found is None:
        raise ShellError(f"a size such as 512MiB or 50MB is wanted; got {_shown(text)}",
                         hint="Units: B kB MB GB TB (1000), KiB MiB GiB TiB (1024).",
                         code="bad-size")  # fmt: skip
    if found[1] != 1:
        raise ShellError(f"{text} is not a whole number of bytes", code="bad-size")
    return found[0]


def to_time(text: str, *, now: int, zone: tzinfo | None = None) -> int:
    """Milliseconds since the epoch of `2026-01-31T10:00[Z|+01:00]`, `now`, or `-1h` before `now`.

    A bare number of 12 digits or more is such milliseconds: one of fewer is a slip (seconds, a
    day's number). A time without a zone is in `zone`; None is the machine's own.
    """
    from datetime import datetime

    if text == "now":
        return now
    if _EPOCH_MS.fullmatch(text):
        return int(text)
    if text[:1] in ("+", "-") and not _WHOLE.fullmatch(text):
        return now + to_milliseconds(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None and zone is not None:
            moment = moment.replace(tzinfo=zone)
        seconds = moment.replace(microsecond=0).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ShellError(f"a time such as 2026-01-31T10:00 is wanted; got {_shown(text)}",
                         hint="Add Z or +01:00 for a zone; -1h is an hour ago; a bare number is"
                         " milliseconds since 1970.", code="bad-time") from None  # fmt: skip
    return round(seconds) * 1000 + moment.microsecond // 1000


def in_utc(text: str) -> str:
    """A time as Kafka's own tools read it: without a zone it is in UTC."""
    _, t, clock = text.partition("T")
    return f"{text}Z" if t and not any(mark in clock for mark in "Z+-") else text


def spell_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """The time with its zone, in `zone` or the machine's own. `to_time` reads it back.

    Records carry what their producers say: what is beyond the year 9999 stays a number.
    """
    from datetime import UTC, datetime, timedelta

    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
        return moment.astimezone(zone).isoformat(timespec=precision)
    except (OverflowError, ValueError):
        return str(milliseconds)


def spell_duration(milliseconds: int) -> str:
    """`7d`, `1h30m`, `1500ms`: exact. Zero, negative numbers and "for ever" stay bare."""
    if milliseconds <= 0 or milliseconds >= 1 << 62:
        return str(milliseconds)
    if milliseconds % _SECOND:
        return f"{milliseconds}ms"
    parts, rest = [], milliseconds
    for size, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m"), (_SECOND, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{name}")
    return "".join(parts)


def spell_left(done: int, total: int, elapsed: float) -> str:
    """`1m30s left`, as `done` of `total` took `elapsed` seconds; empty where that says nothing."""
    if elapsed < _TELLING or not 0 < done < total:
        return ""
    return f"{spell_duration(max(1, round(elapsed * (total - done) / done)) * 1000)} left"


def spell_bytes(count: int) -> str:
    """`1GiB`, `50MB`: exact; a bare number where no unit makes it shorter."""
    best, mantissa = str(count), abs(count)
    if count <= 0 or count >= 1 << 62:
        return best
    for name, size in _SPELLED:
        if count % size == 0 and count // size < mantissa:
            best, mantissa = f"{count // size}{name}", count // size
    return best


def about_bytes(count: int) -> str:
    """`213 KiB`, `1.4 GiB`: three figures, for people; the exact number is for JSON."""
    if count < 1024:
        return f"{count} B"
    power = 1
    while count >= 999.5 * 1024**power and power < len(_BINARY):
        power += 1
    size = count / 1024**power
    return f"{size:.{0 if size >= 99.95 else 1}f} {_BINARY[power - 1]}"


def spell_rate(count: int) -> str:
    """`50MB/s`: exact; a bare number where no unit makes it shorter."""
    spoken = spell_bytes(count)
    return spoken if spoken == str(count) else f"{spoken}/s"


_SPELLED = tuple((n, s) for n, s in _SIZES.items() if n in ("kB", "KiB") or n[0] in "MGTP")


def _scaled(whole: str, fraction: str | None, size: int) -> tuple[int, int]:
    """whole.fraction * size as an exact fraction, not reduced."""
    digits = fraction or ""
    return int(whole + digits) * size, 10 ** len(digits)


def _sum(parts: list[tuple[int, int]], sign: int) -> tuple[int, int]:
    bottom = max(each[1] for each in parts)
    return _reduced(sign * sum(top * (bottom // each) for top, each in parts), bottom)


def _reduced(top: int, bottom: int) -> tuple[int, int]:
    from math import gcd

    common = gcd(top, bottom)
    return top // common, bottom // common


def _duration(text: str) -> tuple[int, int] | None:
    """Milliseconds as a reduced fraction; None where the text is no duration with units."""
    body = text.strip().lower()
    sign = -1 if body.startswith("-") else 1
    body = body[1:] if body[:1] in ("-", "+") else body
    iso = _ISO.fullmatch(body)
    if iso:
        groups = iso.groups()
        sizes = (_WEEK, _DAY, _HOUR, _MINUTE, _SECOND)
        parts = [
            _scaled(groups[2 * i], groups[2 * i + 1], size)
            for i, size in enumerate(sizes)
            if groups[2 * i] is not None
        ]
        return _sum(parts, sign) if parts else None
    parts, at = [], 0
    while at < len(body):
        found = _PART.match(body, at)
        if not found or found[3] not in _DURATIONS:
            return None
        parts.append(_scaled(found[1], found[2], _DURATIONS[found[3]]))
        at = found.end()
    return _sum(parts, sign) if parts else None


def _size(text: str, *, rate: bool | None = None) -> tuple[int, int] | None:
    """Bytes as a reduced fraction. `rate` False refuses `/s`; None takes both."""
    found = _SIZE.fullmatch(text.strip())
    if not found or found[3] not in _SIZES or (rate is False and found[4]):
        return None
    return _reduced(*_scaled(found[1], found[2], _SIZES[found[3]]))


# -- quotas ----------------------------------------------------------------------------------------

_BYTE_RATES = ("producer_byte_rate", "consumer_byte_rate")


def to_quota(key: str, text: str) -> float:
    """`5MB/s` of a byte rate, `50%` of request_percentage, `10/s` of the others; or a bare number.

    A ShellError where the text is none; a UsageError where it is not greater than 0, or where a
    double cannot hold it exactly.
    """
    typed = text.strip()
    plain = typed.removesuffix("%" if key == "request_percentage" else "/s").rstrip()
    if _NUMBER.fullmatch(plain):
        number = float(plain)
        if not isfinite(number) or (_WHOLE.fullmatch(plain) and int(number) != int(plain)):
            raise UsageError(f"{key} cannot hold {_shown(text)} exactly", code="bad-value")
        return _positive(key, number, text)
    found = _size(typed) if key in _BYTE_RATES else None
    if found is None:
        raise ShellError(f"{key} wants {_QUOTA_FORMS.get(key, 'a number')}; got {_shown(text)}",
                         hint=f"--delete-config {key} removes it." if not typed else "",
                         code="bad-value")  # fmt: skip
    if found[1] != 1:
        raise ShellError(f"{text} is not a whole number of bytes", code="bad-value")
    return _positive(key, float(found[0]), text)


def _positive(key: str, number: float, text: str) -> float:
    if number > 0:
        return number
    raise UsageError(
        f"{key} must be greater than 0, got {_shown(text)}",
        hint=f"--delete-config {key} removes it.",
        code="bad-value",
    )


def spell_quota(key: str, value: float) -> str:
    """A limit for people, which `to_quota` reads back exactly: `5MiB/s`, `50%`, `10/s`."""
    plain = spell_number(value)
    if key == "request_percentage":
        return f"{plain}%"
    if key not in _BYTE_RATES or not value.is_integer() or value >= 1 << 53:
        return f"{plain}/s"
    rate = spell_rate(int(value))
    return rate if rate.endswith("/s") else f"{rate}B/s"


def spell_number(value: float) -> str:
    """A double as short as it can be typed exactly: `5242880`, `0.5`."""
    return str(int(value)) if value.is_integer() and abs(value) < 1 << 53 else repr(value)


_QUOTA_FORMS = {
    **dict.fromkeys(_BYTE_RATES, "bytes per second such as 5MB/s"),
    "request_percentage": "a percentage of one thread such as 50%",
    "controller_mutation_rate": "partitions per second such as 10/s",
    "connection_creation_rate": "connections per second such as 10/s",
}


# -- config values ---------------------------------------------------------------------------------


def unit_of(key: str) -> Unit:
    """What a number under this config key counts, read from the key's name."""
    for ending, unit in _ENDINGS:
        if key.endswith(ending):
            return unit
    return _SUFFIXES.get(key.rpartition(".")[2], Unit.NONE) if "." in key else Unit.NONE


def carried_over(value: str, key: str, to: str) -> str | None:
    """The value of one key in the unit of another (`168` hours are `604800000` ms); None where
    that cannot be."""
    given, wanted = unit_of(key), unit_of(to)
    if given is wanted or value.startswith("-"):  # -1 is "no limit" in every unit
        return value
    if given not in _TIME_UNITS or wanted not in _TIME_UNITS or not value.isdecimal():
        return None
    number, rest = divmod(int(value) * _TIME_UNITS[given][0], _TIME_UNITS[wanted][0])
    return None if rest else str(number)


def choices_of(key: str) -> tuple[str, ...]:
    """The values that a config key may have, where it is a known enumeration; else none."""
    return ENUMERATIONS.get(key) or ENUMERATIONS.get(key.removeprefix("log."), ())


def check_choice(key: str, type: ConfigType, text: str) -> None:
    """Refuse what is no value of a known enumeration, a list item by item; others pass.

    Values in another case are left to the broker: some it takes.
    """
    choices = choices_of(key)
    if not choices or type not in (ConfigType.STRING, ConfigType.LIST):
        return
    given = text.split(",") if type is ConfigType.LIST else [text]
    known = {choice.lower() for choice in choices}
    for item in map(str.strip, given):
        if item and item.lower() not in known and not item.startswith(_MORE_FORMS):
            raise ShellError(
                f"{key} is one of {', '.join(choices)}; got {_shown(item)}",
                hint=did_you_mean(item, choices),
                code="bad-value",
            )


def to_raw(key: str, type: ConfigType, text: str) -> str:
    """The value as the broker wants it; a ShellError names the form that was expected.

    Numbers of a key that has a unit may carry one. Bare numbers stay as typed.
    """
    if type is ConfigType.BOOLEAN:
        if text.strip().lower() not in ("true", "false"):
            raise _refused(key, "true or false", text)
        return text
    if type not in _NUMERIC:
        return text
    unit = unit_of(key)
    plain = text.strip()
    if (_NUMBER if type is ConfigType.DOUBLE else _WHOLE).fullmatch(plain):
        _check_range(key, type, text)
        return text
    found = _with_unit(unit, text)
    if found is None:
        raise _refused(key, _expected(type, unit), text)
    top, bottom = found
    if bottom != 1:
        raise _refused(key, _expected(type, unit), text, " which is not whole")
    _check_range(key, type, str(top), text)
    return str(top)


def for_people(key: str, type: ConfigType, raw: str) -> str:
    """`604800000` of a `.ms` key -> `7d`; raw where that would not read back exactly.

    An UNKNOWN type is taken for a whole number where the key's name has a unit.
    """
    known = ConfigType.LONG if type is ConfigType.UNKNOWN else type
    unit = unit_of(key)
    if known not in _NUMERIC or unit is Unit.NONE or not _WHOLE.fullmatch(raw):
        return raw
    spoken = _spoken(unit, int(raw))
    try:
        return spoken if to_raw(key, known, spoken) == raw else raw
    except ShellError:
        return raw


def _spoken(unit: Unit, number: int) -> str:
    if unit is Unit.BYTES:
        return spell_bytes(number)
    if unit is Unit.BYTES_PER_SECOND:
        return spell_rate(number)
    return spell_duration(number * _TIME_UNITS[unit][0])


def _with_unit(unit: Unit, text: str) -> tuple[int, int] | None:
    """The number in the key's own unit as a reduced fraction; None where the text has none.

    A sign is only for bare numbers: -1 is Kafka's "no limit", -7d is a slip.
    """
    if text.strip()[:1] in ("-", "+"):
        return None
    if unit in _TIME_UNITS:
        found = _duration(text)
        return _reduced(found[0], found[1] * _TIME_UNITS[unit][0]) if found else None
    if unit in (Unit.BYTES, Unit.BYTES_PER_SECOND):
        return _size(text, rate=unit is Unit.BYTES_PER_SECOND or False)
    return None


def _check_range(key: str, type: ConfigType, number: str, typed: str = "") -> None:
    bits = _BITS.get(type)
    if bits is None:
        return
    value = int(number)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    if not low <= value <= high:
        became = f" ({typed})" if typed else ""
        raise ShellError(
            f"{key} holds whole numbers from {low} to {high}; {value}{became} is beyond them",
            code="bad-value",
        )


def _expected(type: ConfigType, unit: Unit) -> str:
    whole = "a number" if type is ConfigType.DOUBLE else "a whole number"
    if unit in _TIME_UNITS:
        return f"{whole} of {_TIME_UNITS[unit][1]} or a duration such as 7d"
    if unit is Unit.BYTES:
        return f"{whole} of bytes or a size such as 512MiB"
    if unit is Unit.BYTES_PER_SECOND:
        return f"{whole} of bytes per second or a rate such as 50MB/s"
    return whole


def _refused(key: str, expected: str, text: str, why: str = "") -> ShellError:
    hint = f"--delete-config {key} goes back to the default." if not text.strip() else ""
    message = f"{key} wants {expected}; got {_shown(text)}{',' if why else ''}{why}"
    return ShellError(message, hint=hint, code="bad-value")


def _shown(text: str) -> str:
    return f"'{text}'" if len(text) <= 60 else f"'{text[:57]}...'"
