"""List the topics, brokers and groups of each cluster to split the collection into tasks."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.audit.collect import Opener, Read, open_target, status_row
from kafka_shell.audit.read_tasks import SAMPLING, ClusterNames, ReadTask, Sampling, Target, split
from kafka_shell.audit.table import ReadFailure, Table, read_failure
from kafka_shell.audit.threads import in_threads
from kafka_shell.common.units import counted
from kafka_shell.errors import ShellError

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

_AT_ONCE = 16
DEADLINE_S = 60.0  # per cluster
_HIDDEN_GROUPS = ReadFailure(
    "", "CLUSTER_AUTHORIZATION_FAILED",
    "some groups may not be visible: requires DESCRIBE on the cluster",
)  # fmt: skip
_OF_TOPICS = ("group_offsets",)  # beside the tables that are sliced by topics


class ClusterTasks(Struct, frozen=True):
    """The tasks of one cluster, and its size. `lost` are the tables that cannot be read, with the
    reason."""

    target: Target
    tasks: tuple[ReadTask, ...]
    lost: tuple[tuple[str, ReadFailure], ...] = ()
    unreached: str = ""  # why, if there was no connection
    topics: int = 0
    partitions: int = 0
    groups: int = 0

    def status_rows(self, snapshot_id: str) -> Read:
        """Return `lost` as rows of collection_status."""
        rows = [
            status_row(table, ReadTask(self.target, (table,)), snapshot_id, 0, 0.0, why)
            for table, why in self.lost
        ]
        return Read("collection_status", rows)


def list_tasks(
    targets: Sequence[Target],
    tables: Sequence[Table],
    open_cluster: Opener = open_target,
    sampling: Sampling = SAMPLING,
) -> tuple[ClusterTasks, ...]:
    """Return the tasks of all targets, in parallel. Failures are part of the result."""
    from kafka_shell.admin.wire.codec import import_messages

    import_messages()  # before the threads begin

    def one(target: Target) -> ClusterTasks:
        return _list_tasks(target, tables, open_cluster, sampling)

    return tuple(in_threads(one, targets, _AT_ONCE))


def _list_tasks(
    target: Target, tables: Sequence[Table], open_cluster: Opener, sampling: Sampling
) -> ClusterTasks:
    by: dict[str, list[str]] = {}
    for table in tables:
        by.setdefault(table.by, []).append(table.name)
    try:
        with open_cluster(target) as cluster, cluster.within(DEADLINE_S):
            from kafka_shell.admin.cluster.registrations import registered
            from kafka_shell.admin.wire import metadata_scan

            found = metadata_scan.scan(cluster)
            brokers = tuple(
                str(broker.id) for broker in sorted(found.brokers, key=lambda broker: broker.id)
            )
            groups, lost = _groups(cluster, by.get("groups", ()))
            names = ClusterNames(tuple(sorted(found.names)), brokers, groups)
            of_topics = [*by.get("topics", ()), *(t.name for t in tables if t.name in _OF_TOPICS)]
            lost += tuple((table, why) for why in _hidden(cluster, names) for table in of_topics)
            known = found.replica_ids() | (registered(cluster) or frozenset())
            down = known - {broker.id for broker in found.brokers}
            lost += tuple(
                (table, _not_running(broker))
                for broker in sorted(down)
                for table in by.get("brokers", ())
            )
    except ShellError as error:
        why = read_failure("", error)
        failed = tuple((table.name, why) for table in tables if table.by != "none")
        return ClusterTasks(target, (), failed, why.reason)
    sizes = len(names.topics), found.partitions, len(groups)
    return ClusterTasks(target, split(target, names, by, sampling), lost, "", *sizes)


def _not_running(broker: int) -> ReadFailure:
    """No task reads the tables of a broker that is down, so that they would seem complete."""
    return ReadFailure(
        f"broker {broker}", "BROKER_NOT_AVAILABLE", f"broker {broker} is not running"
    )


def _hidden(cluster: Cluster, names: ClusterNames) -> list[ReadFailure]:
    """What the principal of the connection may not see of the topics."""
    from kafka_shell.admin.topics.visibility import hidden

    found = hidden(cluster, frozenset(names.topics))
    topics = [about for about in found if about.startswith("topic ")]
    failures = [read_failure(about, why) for about, why in found.items() if about not in topics]
    if topics:
        text = f"{counted(len(topics), 'topic')} not visible: requires DESCRIBE on the topics"
        failures.append(ReadFailure("", found[topics[0]].name, text))
    return failures


def _groups(
    cluster: Cluster, tables: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ReadFailure], ...]]:
    """Return the groups, and what is lost of the group tables if brokers do not list theirs."""
    if not tables:
        return (), ()
    from kafka_shell.admin.groups import read as groups

    try:
        found = groups.list_groups(cluster)
        hidden = groups.hidden(cluster)
    except ShellError as error:
        return (), tuple((name, read_failure("", error)) for name in tables)
    lost = tuple(
        (name, read_failure(str(about), why))
        for about, why in found.failures.items()
        for name in tables
    )
    if hidden:
        lost += tuple((name, _HIDDEN_GROUPS) for name in tables)
    return tuple(sorted(found.values)), lost


def new_id(clock: float) -> str:
    """Return a snapshot ID: its start time, sortable, and what sets it apart from others."""
    started = time.strftime("%Y%m%dT%H%M%S", time.gmtime(clock))
    return f"{started}.{int(clock * 1000) % 1000:03}Z-{os.urandom(2).hex()}"
