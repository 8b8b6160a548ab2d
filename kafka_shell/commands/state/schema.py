"""The JSON Schema of state files, for editors."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.users.model import MAX_ITERATIONS, MIN_ITERATIONS
from kafka_shell.commands.state.model import (
    ASSIGNMENT_PATTERN,
    FACTOR,
    KINDS,
    MAXIMUM,
    PARTITIONS,
    TOPIC_NAME,
)
from kafka_shell.common.quota_units import QUOTAS

_VALUE = "A value as in alter-configs: 7d, 1GiB, true, or the raw value."
_SCALAR = {"type": ["string", "number", "boolean"]}
_CONFIGS = {
    "type": ["object", "null"],
    "additionalProperties": {
        "description": _VALUE,
        "anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}],
    },
}
_WORDS = {"type": ["array", "null"], "items": {**_SCALAR, "pattern": "\\S"}}
_LIMIT = {
    "description": "A limit as in alter-quotas: 5MB/s, 50%, 10/s.",
    "type": ["string", "number"],
    "exclusiveMinimum": 0,
    "pattern": "^ *[0-9.]",
}
_BROKER_ID = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
_LISTED = {"type": "string", "pattern": "^[0-9]+(:[0-9]+)*$"}


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12). The loader accepts the same documents, except that it also checks
    the syntax of names, ACLs, units and entities."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "State of a Kafka cluster",
        **_fields(
            {
                "version": {"const": 1},
                "scope": _fields(
                    dict.fromkeys(KINDS, _WORDS),
                    "Selectors of the resources that the file covers. apply --prune deletes nothing"
                    " else.",
                ),
                "topics": {
                    **_by_name("Topics by name.", _topic()),
                    "propertyNames": {"pattern": f"^(?![.][.]?$){TOPIC_NAME.pattern}$"},
                },
                "acls": _by_name(
                    "ACLs by resource: topic orders, prefixed group payments-, cluster.",
                    {
                        "type": ["array", "null"],
                        "items": {
                            "type": "string",
                            "description": "allow|deny PRINCIPAL OPERATIONS [from HOSTS]",
                            "pattern": "^([Aa][Ll][Ll][Oo][Ww]|[Dd][Ee][Nn][Yy])\\s",
                        },
                    },
                ),
                "quotas": _by_name(
                    "Client quotas by entity: user alice, user alice client-id app, ip 10.0.0.1,"
                    " user-default.",
                    _fields(dict.fromkeys(QUOTAS, _LIMIT)),
                ),
                "users": _by_name("SCRAM users by name.", _user()),
                "client_configs": _by_name(
                    "Dynamic client configs by entity: user alice client-id app.", _CONFIGS
                ),
                "broker_configs": {
                    **_by_name("Broker configs by broker ID, or default.", _CONFIGS),
                    "propertyNames": {"pattern": "^(default|0|[1-9][0-9]*)$"},
                },
                "client_metrics": _by_name("Client metrics subscriptions by name.", _CONFIGS),
                "group_configs": _by_name("Group configs by group ID.", _CONFIGS),
            }
        ),
        "type": "object",
        "required": ["version"],
    }


def _fields(known: dict[str, Any], description: str = "") -> dict[str, Any]:
    """An object with these fields, and private ones."""
    return {
        **({"description": description} if description else {}),
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": known,
        "patternProperties": {"^x-": True},
    }


def _by_name(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": items,
    }


def _topic() -> dict[str, Any]:
    return _fields(
        {
            "partitions": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[PARTITIONS]},
            "replication_factor": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[FACTOR]},
            "replica_assignment": {
                "description": "The replicas of each partition: 1:2,2:3, or [[1, 2], [2, 3]].",
                "anyOf": [
                    {"type": "string", "pattern": f"^{ASSIGNMENT_PATTERN}$"},
                    _BROKER_ID,
                    {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "anyOf": [
                                _LISTED,
                                _BROKER_ID,
                                {"type": "array", "minItems": 1, "items": _BROKER_ID},
                            ]
                        },
                    },
                ],
            },
            "configs": _CONFIGS,
        }
    )


def _user() -> dict[str, Any]:
    credential = _fields(
        {
            "iterations": {"type": "integer", "minimum": MIN_ITERATIONS, "maximum": MAX_ITERATIONS},
            "password_file": {
                "description": "The file with the password of a new user, relative to this file.",
                "type": ["string", "number", "boolean"],
                "minLength": 1,
            },
            "generate": {
                "description": "Generate the password of a new user, and show it once.",
                "type": "boolean",
            },
        }
    )
    both = {"required": ["password_file", "generate"], "properties": {"generate": {"const": True}}}
    credential["not"] = {"type": "object", **both}
    return _fields({"SCRAM-SHA-256": credential, "SCRAM-SHA-512": credential})
