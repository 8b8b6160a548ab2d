"""Macros in the SQL of controls: `{duration value}` is shown as `7d`, `{word name}` is quoted.

| in SQL | for | shown as |
|---|---|---|
| `{duration X}` | a config in milliseconds | `7d`, `1h30m`, exact |
| `{bytes X}` | a config in bytes | `1MiB`, exact |
| `{config X}` | `key=value` of any config | the value, as describe-configs prints it |
| `{quota X}` | `key=value` of a quota | the value, as describe-quotas prints it |
| `{age X}` | a measured time in milliseconds | `3m20s`, rounded |
| `{size X}` | a measured size in bytes | `1.4 GiB`, rounded |
| `{number X}` | a count | `1,234` |
| `{word X}` | a name in a remedy | one word of a command, quoted if needed |
| `{override KEY = X}` | a config of a topic in a remedy | `KEY=X`, or its deletion if inherited |

The query only marks the value; `render` formats it, with the functions of all other output. Marks
in the value are replaced by another control character, with which a command is no remedy.
`{override ...}` needs the columns `overridden` and `inherited` of topic_configs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kafka_shell.admin.configs.model import ConfigType
from kafka_shell.common import quota_units, units
from kafka_shell.common.config_units import format_config_value
from kafka_shell.common.quoting import quote

_MACRO = re.compile(r"\{([a-z]+)\s+([^{}]+)\}")
_OVERRIDE = re.compile(r"\{override\s+([\w.]+)\s*=\s*([^{}]+)\}")
_MARK = re.compile("\x02([a-z]+) ([^\x02\x03]*)\x03")


def expand(sql: str) -> str:
    """Replace `{duration X}` in a query with the SQL of a marked value. Raises ValueError for an
    unknown unit."""

    def one(found: re.Match[str]) -> str:
        if found[1] not in _FORMATS:
            raise ValueError(f"unknown unit {{{found[1]} ...}} (expected {', '.join(_FORMATS)})")
        value = f"translate({found[2].strip()}, '\x02\x03', '\x01\x01')"
        return f"concat('\x02{found[1]} ', {value}, '\x03')"

    return _MACRO.sub(one, _OVERRIDE.sub(_override, sql))


def _override(found: re.Match[str]) -> str:
    """An override that equals the inherited value would be another finding."""
    key, value = found[1], found[2].strip()
    return (
        f"CASE WHEN overridden AND inherited = CAST({value} AS STRING)"
        f" THEN '--delete-config={key}' ELSE concat('{key}=', {value}) END"
    )


def sql_text(value: str) -> str:
    """Quote a string for Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def render(text: str) -> str:
    """Format the values that a query has marked, in a reason or a remedy."""

    def one(found: re.Match[str]) -> str:
        format_value = _FORMATS.get(found[1])
        if format_value is None:
            return found[0]
        try:
            return format_value(found[2])
        except (ValueError, OverflowError):
            return found[2]

    return _MARK.sub(one, text) if "\x02" in text else text


def _config(pair: str) -> str:
    key, _, value = pair.partition("=")
    return format_config_value(key, ConfigType.UNKNOWN, value)


def _quota(pair: str) -> str:
    key, _, value = pair.partition("=")
    return quota_units.format_quota(key, float(value))


_FORMATS: dict[str, Callable[[str], str]] = {
    "duration": lambda value: units.format_duration(int(value)),
    "bytes": lambda value: units.format_bytes(int(value)),
    "config": _config,
    "quota": _quota,
    "age": lambda value: units.approximate_duration(round(float(value)) / 1000),
    "size": lambda value: units.approximate_bytes(round(float(value))),
    "number": lambda value: f"{round(float(value)):,}",
    "word": quote,
}
