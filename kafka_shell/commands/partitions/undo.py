"""Commands that undo reassignments and moves between log directories."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional, with_option

_ON_BROKER = " on broker "


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-log-dirs` command, or `reassign-partitions` with the rollback file, which also
    reverts a running reassignment. An election cannot be undone."""
    if resource.kind == "rollback-file":
        return f"reassign-partitions {with_option('--reassignment-json-file', resource.name)}"
    partition, on_broker, broker = resource.name.partition(_ON_BROKER)
    if resource.kind != "replica" or not on_broker:
        return ""
    words = [positional("--topic", partition), with_option("--broker-id", broker)]
    return " ".join(["alter-log-dirs", *words, with_option("--log-dir", str(changes[0].before))])
