"""Format values for people: units, counts, times. JSON has the exact values."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.configs.model import ConfigEntry, ConfigType
from kafka_shell.plan.model import Change, Value


def comma_list(items: Iterable[object]) -> str:
    """`1,2,3`: replicas and brokers in a table."""
    return ",".join(map(str, items))


def config_value(entry: ConfigEntry) -> str:
    """The value of a config with its unit: `7d`; `(sensitive)` if the broker hides it."""
    if entry.sensitive:
        return "(sensitive)"
    if entry.value is None:
        return ""
    return format_raw(entry.name, entry.type, entry.value)


def format_raw(key: str, kind: ConfigType, raw: str) -> str:
    """A raw config value with its unit; `""` for the empty string."""
    if not raw:
        return '""'
    from kafka_shell.common.config_units import format_config_value

    return format_config_value(key, kind, raw)


def change_values(change: Change) -> tuple[str, str]:
    """(before, after) of a change with units; "" is absent. `before` is the effective value.

    Raw values if both would read the same.
    """
    before = change.replaced
    formatted = _value(change, before), _value(change, change.after)
    if formatted[0] != formatted[1] or before == change.after:
        return formatted
    return str(before), str(change.after)


def _value(change: Change, value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and change.field:
        return quota_value(change.field, value)
    if isinstance(value, str) and change.field:
        return format_raw(change.field, ConfigType.UNKNOWN, value)
    return str(value)


def quota_value(key: str, value: float) -> str:
    """The value of a quota with its unit: `5MiB/s`, `50%`, `10/s`."""
    from kafka_shell.common.quota_units import format_quota

    return format_quota(key, value)


def local_time(milliseconds: int) -> str:
    """Milliseconds since the epoch as local time with its zone; "" if negative."""
    if milliseconds < 0:
        return ""
    from kafka_shell.common.units import format_time

    return format_time(milliseconds)
