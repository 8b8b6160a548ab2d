"""Clusters that modules of tests use one after another. If a module leaves its cluster changed, the
next module gets a new one: nothing is repaired."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.cluster import features, quorum
from kafka_shell.admin.groups.read import list_groups
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.section import StateRequest
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.sandbox.cluster import status
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.brokers import running
from tests.support.changes import connect, done
from tests.support.frozen_process import is_frozen
from tests.support.group_data import forget
from tests.support.outages import processes, wait_until_back
from tests.support.waiting import applied


class Lender:
    """Lends a cluster of so many brokers."""

    def __init__(self, folders: pytest.TempPathFactory, brokers: int) -> None:
        self._folders, self._brokers = folders, brokers
        self._running: Iterator[Sandbox] | None = None

    def lend(self) -> Iterator[Sandbox]:
        """Yield the cluster: all replicas are in sync, and there are no topics or groups."""
        if self._running is None:
            folder = self._folders.mktemp(f"brokers-{self._brokers}")
            self._running = running(SandboxOptions(folder, brokers=self._brokers, port=0))
            self._folder = next(self._running).folder
            try:
                with connect(self._sandbox()) as client:
                    self._new = facts(client)
            except BaseException:
                self.close()
                raise
        yield self._sandbox()
        if not self._is_as_new():
            self.close()

    def close(self) -> None:
        """Delete the cluster."""
        for _ in self._running or ():
            pass
        self._running = None

    def _sandbox(self) -> Sandbox:
        sandbox = status(self._folder)
        assert sandbox is not None
        return sandbox

    def _is_as_new(self) -> bool:
        pids = processes(self._sandbox()).values()
        if not all(pid and not is_frozen(pid) for pid in pids):
            return False
        try:
            with connect(self._sandbox()) as cluster:
                if not _dirs_are_whole(cluster):
                    return False
                empty(cluster)
                wait_until_back(self._sandbox())
                factor = min(3, self._brokers)
                return facts(cluster) == self._new and _internal_have(cluster, factor)
        except (ShellError, AssertionError):
            return False


def _dirs_are_whole(cluster: Cluster) -> bool:
    found = log_dirs.describe(cluster, None, [])
    return found.ok and not any(dir.error or dir.cordoned for dirs in found for dir in dirs)


def _internal_have(cluster: Cluster, replicas: int) -> bool:
    """Whether the topics of Kafka, which come with their first use, have so many replicas."""
    internal = [topic for topic in scan(cluster).summaries() if topic.internal]
    factors = {(topic.replication_factor, topic.max_replication_factor) for topic in internal}
    return factors <= {(replicas, replicas)}


def empty(cluster: Cluster) -> None:
    """Delete all groups, and all topics but Kafka's own."""
    applied(cluster)  # every broker knows all of them
    names = [topic.name for topic in scan(cluster).summaries() if not topic.internal]
    if names:
        done(topic_changes.plan_delete(cluster, names), cluster)
    if groups := [group.name for group in list_groups(cluster)]:
        forget(cluster, *groups)


def facts(cluster: Cluster) -> tuple[object, ...]:
    """What tests must not leave changed."""
    state = read_state(cluster, StateRequest([kind for kind in KINDS if kind != "topics"]))
    listed = list_groups(cluster)
    return (
        state.parts,
        state.unread,
        {topic.name for topic in scan(cluster).summaries() if not topic.internal},
        (set(listed.values), set(listed.failures)),
        {(voter.id, voter.directory_id) for voter in quorum.describe(cluster).voters},
        {(each.name, each.level) for each in features.describe(cluster).features},
    )


@pytest.fixture(scope="package")
def lender_of_three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lender]:
    """Three brokers in three racks, for the modules of a folder."""
    lender = Lender(tmp_path_factory, 3)
    yield lender
    lender.close()


@pytest.fixture(scope="package")
def lender_of_five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lender]:
    """Five brokers, of which brokers 1 to 3 vote, in three racks, for the modules of a folder."""
    lender = Lender(tmp_path_factory, 5)
    yield lender
    lender.close()
