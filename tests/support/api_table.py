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
    83: _BROKERS,
    84: _BROKERS,
    85: _BROKERS,
    86: _BROKERS,
    87: _BROKERS,
    88: _MEMBERS,
}

# The operations that an authorizer checks for each API. Metadata (3) stands for what every command
# needs; FindCoordinator (10) requires what the request after it requires.
PERMISSIONS = {
    0: ("WRITE topic",),
    1: ("READ topic",),
    2: ("DESCRIBE topic",),
    3: ("DESCRIBE topic",),
    8: ("READ topic", "READ group"),
    9: ("DESCRIBE topic", "DESCRIBE group"),
    13: ("READ group",),
    15: ("DESCRIBE group",),
    16: ("DESCRIBE group",),
    19: ("CREATE topic",),
    20: ("DELETE topic",),
    21: ("DELETE topic",),
    22: ("WRITE transactional ID",),
    27: ("ALTER cluster",),
    29: ("DESCRIBE cluster",),
    30: ("ALTER cluster",),
    31: ("ALTER cluster",),
    32: ("DESCRIBE_CONFIGS cluster", "DESCRIBE_CONFIGS topic"),
    34: ("ALTER cluster",),
    35: ("DESCRIBE cluster",),
    37: ("ALTER topic",),
    42: ("DELETE group",),
    43: ("ALTER cluster",),
    44: ("ALTER_CONFIGS cluster", "ALTER_CONFIGS topic"),
    45: ("ALTER cluster",),
    46: ("DESCRIBE cluster",),
    47: ("READ topic", "DELETE group"),
    48: ("DESCRIBE_CONFIGS cluster",),
    49: ("ALTER_CONFIGS cluster",),
    50: ("DESCRIBE cluster",),
    51: ("ALTER cluster",),
    55: ("DESCRIBE cluster",),
    57: ("ALTER cluster",),
    61: ("READ topic",),
    64: ("ALTER cluster",),
    65: ("DESCRIBE topic", "DESCRIBE transactional ID"),
    66: ("DESCRIBE transactional ID",),
    69: ("DESCRIBE group",),
    74: ("DESCRIBE_CONFIGS cluster",),
    76: ("READ group", "DESCRIBE topic"),
    77: ("DESCRIBE group",),
    78: ("READ group", "READ topic"),
    79: ("READ group", "READ topic"),
    80: ("ALTER cluster",),
    81: ("ALTER cluster",),
    89: ("DESCRIBE group",),
    90: ("DESCRIBE topic", "DESCRIBE group"),
    91: ("READ topic", "READ group"),
    92: ("READ topic", "DELETE group"),
}
# For everybody, or the owner of a delegation token.
WITHOUT_PERMISSION = {38, 39, 40, 41, 60}
RESOURCES = ("cluster", "topic", "group", "transactional ID")


def permissions(command: Command) -> list[str]:
    """The operations that a command may require on each of RESOURCES: `DESCRIBE, READ`."""
    keys = {3, *command.apis}
    if 0 in keys:
        keys.discard(22)  # records are written without a transactional ID
    required = {each for key in keys for each in PERMISSIONS.get(key, ())}
    pairs = sorted((of, operation) for operation, _, of in (r.partition(" ") for r in required))
    return [
        ", ".join(what for of, what in pairs if of == resource) or "-" for resource in RESOURCES
    ]


def commands_by_api(registry: Sequence[Command]) -> dict[int, tuple[str, ...]]:
    """The commands that declare each API key; those of COMMON are not declared."""
    keys = sorted({key for command in registry for key in command.apis})
    return {key: tuple(c.name for c in registry if key in c.apis) for key in keys}
