"""Values as people say them; the exact ones are in JSON."""

from __future__ import annotations

from kafka_shell.admin.configs.model import ConfigEntry, ConfigType
from kafka_shell.plan.model import Change, Value


def config_value(entry: ConfigEntry) -> str:
    """A config's value for people: `7d`; `(sensitive)` where the broker keeps it to itself."""
    if entry.sensitive:
        return "(sensitive)"
    if entry.value is None:
        return ""
    return spoken(entry.name, entry.type, entry.value)


def spoken(key: str, kind: ConfigType, raw: str) -> str:
    """One raw config value for people; the empty string is `""`."""
    if not raw:
        return '""'
    from kafka_shell.config_units import format_config_value

    return format_config_value(key, kind, raw)


def change_values(change: Change) -> tuple[str, str]:
    """Before (what held, at any level) and after, for people; "" is absent.

    Exact ones where the friendly ones would look the same.
    """
    before = change.effective if change.before is None else change.before
    friendly = _value(change, before), _value(change, change.after)
    if friendly[0] != friendly[1] or before == change.after:
        return friendly
    return str(before), str(change.after)


def _value(change: Change, value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and change.field:
        return quota_value(change.field, value)
    if isinstance(value, str) and change.field:
        return spoken(change.field, ConfigType.UNKNOWN, value)
    return str(value)


def quota_value(key: str, value: float) -> str:
    """A limit for people: `5MiB/s`, `50%`, `10/s`."""
    from kafka_shell.quota_units import format_quota

    return format_quota(key, value)


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 topic`, `3 topics`, `2 entries`; thousands apart."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def local_time(milliseconds: int) -> str:
    """Milliseconds since the epoch as local time with its zone; "" for a negative one."""
    if milliseconds < 0:
        return ""
    from kafka_shell.units import format_time

    return format_time(milliseconds)
