"""Taking back moves of replicas: the file with where they were is written before they start."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.nouns import Change, Resource
from kafka_shell.quoting import with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """`reassign-partitions` with the rollback file; a running move is turned round by it too."""
    return f"reassign-partitions {with_option('--reassignment-json-file', resource.name)}"
