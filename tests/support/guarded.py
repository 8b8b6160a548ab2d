"""Commands about a topic of a guarded cluster, and what they must not change."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pexpect

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.wire.connection import Cluster

GUARDS = ("confirm", "typed", "read-only")


def guarded_topic(cluster: Cluster) -> Iterator[str]:
    name = f"guarded.{uuid.uuid4().hex[:8]}"
    assert not apply(topic_changes.plan_create([NewTopic(name)]), cluster).failures
    yield name
    apply(topic_changes.plan_delete(cluster, [name]), cluster)


ALTER = ("alter-configs", "{}", "segment.ms=1h")


DELETE = ("delete-topic", "{}")


Terminal = Callable[..., "pexpect.spawn[str]"]
