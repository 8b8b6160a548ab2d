"""The JSON Schema of state files, for editors."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.users.model import MAX_ITERATIONS, MIN_ITERATIONS

from .model import FACTOR, KINDS, MAXIMUM, PARTITIONS

_VALUE = "A value as in alter-configs: 7d, 1GiB, true, or the raw value."
_SCALAR = {"type": ["string", "number", "boolean"], "description": _VALUE}
_CONFIGS = {
    "type": "object",
    "additionalProperties": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
}
_WORDS = {"type": "array", "items": {"type": "string"}}


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "State of a Kafka cluster",
        "type": "object",
        "required": ["version"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "scope": {
                "description": "Selectors of the resources that the file covers. apply --prune"
                " deletes nothing else.",
                "type": "object",
                "additionalProperties": False,
                "properties": dict.fromkeys(KINDS, _WORDS),
            },
            "topics": _by_name("Topics by name.", _topic()),
            "acls": _by_name(
                "ACLs by resource: topic orders, prefixed group payments-, cluster.",
                {
                    "type": "array",
                    "items": {
                        "type": "string",
                        "description": "allow|deny PRINCIPAL OPERATIONS [from HOSTS]",
                        "pattern": "^(?i:allow|deny)\\s",
                    },
                },
            ),
            "quotas": _by_name(
                "Client quotas by entity: user alice, user alice client-id app, ip 10.0.0.1,"
                " user-default.",
                {
                    "type": "object",
                    "additionalProperties": {"type": ["string", "number"]},
                },
            ),
            "users": _by_name("SCRAM users by name.", _user()),
            "client_configs": _by_name(
                "Dynamic client configs by entity: user alice client-id app.", _CONFIGS
            ),
            "broker_configs": _by_name("Broker configs by broker ID, or default.", _CONFIGS),
            "client_metrics": _by_name("Client metrics subscriptions by name.", _CONFIGS),
            "group_configs": _by_name("Group configs by group ID.", _CONFIGS),
        },
    }


def _by_name(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": items,
    }


def _topic() -> dict[str, Any]:
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "partitions": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[PARTITIONS]},
            "replication_factor": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[FACTOR]},
            "replica_assignment": {
                "description": "The replicas of each partition: 1:2,2:3, or [[1, 2], [2, 3]].",
                "type": ["string", "array"],
            },
            "configs": _CONFIGS,
        },
    }


def _user() -> dict[str, Any]:
    credential = {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "iterations": {"type": "integer", "minimum": MIN_ITERATIONS, "maximum": MAX_ITERATIONS},
            "password_file": {
                "description": "The file with the password of a new user, relative to this file.",
                "type": "string",
            },
            "generate": {
                "description": "Generate the password of a new user, and show it once.",
                "type": "boolean",
            },
        },
        "not": {"required": ["password_file", "generate"]},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {"SCRAM-SHA-256": credential, "SCRAM-SHA-512": credential},
    }
