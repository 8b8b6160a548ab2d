"""Taking back moves of replicas."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.nouns import Change, Resource


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """Not yet."""
    return ""
