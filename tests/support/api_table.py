"""Kafka's APIs and the commands that use them, for docs/apis.md."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.language.command import Command

# What every command may use.
COMMON = {
    3: "brokers, and the topics of a selector",
    10: "the coordinator of a group or a transactional ID",
    17: "authentication",
    18: "the API versions and features of a broker",
    36: "authentication",
}

_CLIENTS = "for producers and consumers"
_MEMBERS = "for the members of a group"
_BROKERS = "between brokers"

# API keys of brokers that no command uses, and why.
EXCLUDED = {
    11: _MEMBERS,
    12: _MEMBERS,
    14: _MEMBERS,
    23: _CLIENTS,
    24: _CLIENTS,
    25: _CLIENTS,
    26: _CLIENTS,
    28: _CLIENTS,
    33: "deprecated, replaced by IncrementalAlterConfigs (44)",
    68: _MEMBERS,
    71: _CLIENTS,
    72: _CLIENTS,
    75: "Metadata (3) returns the same for all topics in one response",
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
    """The commands that declare each API key; those of COMMON are not declared."""
    keys = sorted({key for command in registry for key in command.apis})
    return {key: tuple(c.name for c in registry if key in c.apis) for key in keys}
