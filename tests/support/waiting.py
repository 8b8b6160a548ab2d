"""Wait for a condition, and for what brokers apply later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar
from uuid import uuid4

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import done, make_topic

T = TypeVar("T")


def wait_for(what: str | Callable[[], str], condition: Callable[[], T], seconds: float = 30) -> T:
    """Return what the condition returns once it is true. The error says what never came."""
    until, pause = time.monotonic() + seconds, 0.005
    while not (found := condition()):
        if time.monotonic() > until:
            told = what if isinstance(what, str) else what()
            raise AssertionError(f"in {seconds:.0f} s it never came that {told}")
        time.sleep(pause)
        pause = min(1.5 * pause, 0.1)
    return found


def applied(cluster: Cluster) -> None:
    """Return when every broker has applied all changes made so far: any may be asked next.

    Metadata is one log: a broker that shows a new topic has applied what was changed before it.
    """
    name = make_topic(cluster, f"applied.{uuid4().hex[:8]}")
    for one in each_broker(cluster):
        wait_for(f"{one!r} shows {name}", lambda one=one: name in scan(one).names)
    done(topic_changes.plan_delete(cluster, [name]), cluster)


def each_broker(cluster: Cluster) -> Iterator[Cluster]:
    """A connection to each broker alone."""
    for broker in cluster.brokers(refresh=True):
        with Cluster(ConnectionConfig((Address(broker.host, broker.port),))) as one:
            yield one
