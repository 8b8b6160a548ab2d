"""Config values as text: `7d` <-> `604800000` for a key that ends in `.ms`, and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_shell.admin.configs.model import ConfigType, Unit
from kafka_shell.common.units import (
    HOUR,
    INTEGER,
    MINUTE,
    NUMBER,
    SECOND,
    Fraction,
    counted,
    duration_fraction,
    format_bytes,
    format_duration,
    format_rate,
    month_hint,
    reduce_fraction,
    shorten,
    size_fraction,
)
from kafka_shell.errors import ShellError, did_you_mean

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
