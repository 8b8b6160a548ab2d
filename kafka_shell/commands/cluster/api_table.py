"""The table of Kafka APIs and the commands that use them, generated for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.wire.versions import api_name
from kafka_shell.language.command import Command

# APIs that any command may use: to find brokers and to log in.
COMMON = {
    3: "finds the brokers and the selected topics",
    10: "finds the coordinator of a group or transaction",
    17: "login",
    18: "API versions and features of a broker",
    36: "login",
}

_CLIENTS = "data plane of producers and consumers"
_MEMBERS = "sent by members of a group"
_BROKERS = "used between brokers"

# API keys that no command uses, and why.
EXCLUDED = {
    11: _MEMBERS,
    12: _MEMBERS,
    14: _MEMBERS,
    23: _CLIENTS,
    24: _CLIENTS,
    25: _CLIENTS,
    26: _CLIENTS,
    28: _CLIENTS,
    33: "replaced by IncrementalAlterConfigs (44)",
    68: _MEMBERS,
    71: _CLIENTS,
    72: _CLIENTS,
    75: "Metadata (3) returns the same for all topics at once",
    76: _MEMBERS,
    78: _CLIENTS,
    79: _CLIENTS,
    83: _BROKERS,
    84: _BROKERS,
    85: _BROKERS,
    86: _BROKERS,
    87: _BROKERS,
    88: _MEMBERS,
}


def commands_by_api(registry: Sequence[Command]) -> dict[int, tuple[str, ...]]:
    """API key -> the commands that declare it, sorted by key."""
    keys = sorted({key for command in registry for key in command.apis})
    return {key: tuple(c.name for c in registry if key in c.apis) for key in keys}


def table(registry: Sequence[Command]) -> str:
    """The table in Markdown, then the APIs that no command uses."""
    rows = {
        key: " ".join(f"`{name}`" for name in names)
        for key, names in commands_by_api(registry).items()
    }
    for key, why in COMMON.items():
        rows[key] = f"every command: {why}"
    lines = [f"| {key} | {api_name(key)} | {rows[key]} |" for key in sorted(rows)]
    reasons: dict[str, list[str]] = {}
    for key, why in EXCLUDED.items():
        reasons.setdefault(why, []).append(f"{api_name(key)} ({key})")
    without = [f"- {', '.join(names)}: {why}." for why, names in reasons.items()]
    return "\n".join(
        ["| key | API | commands |", "|---|---|---|", *lines, "", "APIs that no command uses:",
         "", *without]
    )  # fmt: skip
