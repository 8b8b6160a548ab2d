"""Kafka's APIs and the commands that speak them, derived from the declarations: README's table."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.wire.versions import api_name
from kafka_shell.language.command import Command

# What every command may need to find its way and to log in.
COMMON = {
    3: "who the brokers are, and the topics of a selection",
    10: "which broker coordinates a group or a transaction",
    17: "the login",
    18: "what a broker speaks, and its features",
    36: "the login",
}

_CLIENTS = "the data plane of producers and consumers"
_MEMBERS = "what members of a group say to stay in it"
_BROKERS = "spoken between brokers"

# Keys that brokers answer and no command speaks, and why.
EXCLUDED = {
    11: _MEMBERS,
    12: _MEMBERS,
    14: _MEMBERS,
    23: _CLIENTS,
    24: _CLIENTS,
    25: _CLIENTS,
    26: _CLIENTS,
    28: _CLIENTS,
    33: "replaces all configs at once: IncrementalAlterConfigs (44) took its place",
    68: _MEMBERS,
    71: _CLIENTS,
    72: _CLIENTS,
    75: "Metadata (3) says the same, of all topics in one answer",
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


def spoken(registry: Sequence[Command]) -> dict[int, tuple[str, ...]]:
    """The commands that declare each API key, by key; the common ones are not declared."""
    keys = sorted({key for command in registry for key in command.apis})
    return {key: tuple(c.name for c in registry if key in c.apis) for key in keys}


def table(registry: Sequence[Command]) -> str:
    """README's table: each API key with the commands that use it, then those that none does."""
    rows = {key: " ".join(f"`{name}`" for name in names) for key, names in spoken(registry).items()}
    for key, why in COMMON.items():
        rows[key] = f"every command: {why}"
    lines = [f"| {key} | {api_name(key)} | {rows[key]} |" for key in sorted(rows)]
    reasons: dict[str, list[str]] = {}
    for key, why in EXCLUDED.items():
        reasons.setdefault(why, []).append(f"{api_name(key)} ({key})")
    without = [f"- {', '.join(names)}: {why}." for why, names in reasons.items()]
    return "\n".join(
        ["| key | API | commands |", "|---|---|---|", *lines, "", "Brokers also answer these,"
         " which no command speaks:", "", *without]
    )  # fmt: skip
