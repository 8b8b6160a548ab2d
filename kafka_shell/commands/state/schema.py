"""The JSON Schema of state files, for editors."""

from __future__ import annotations

from typing import Any

from kafka_shell.commands.state.section import Content, section_of
from kafka_shell.commands.state.spec import KINDS

SCALAR = {"type": ["string", "number", "boolean"]}
_WORDS = {"type": ["array", "null"], "items": {**SCALAR, "pattern": "\\S"}}


def schema() -> Content:
    """The schema (draft 2020-12). The loader accepts the same documents, except that it also checks
    the syntax of names, ACLs, units and entities."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "State of a Kafka cluster",
        **known_fields(
            {
                "version": {"const": 1},
                "scope": known_fields(
                    dict.fromkeys(KINDS, _WORDS),
                    "Selectors of the resources that the file covers. apply --prune deletes nothing"
                    " else.",
                ),
                **{kind: section_of(kind).schema() for kind in KINDS},
            }
        ),
        "type": "object",
        "required": ["version"],
    }


def known_fields(known: dict[str, Any], description: str = "") -> Content:
    """An object with these fields, and private ones."""
    return {
        **({"description": description} if description else {}),
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": known,
        "patternProperties": {"^x-": True},
    }


def by_name(description: str, items: Content) -> Content:
    """An object whose values are such items."""
    return {
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": items,
    }
