"""Group members of each protocol, which join and leave by heartbeats or JoinGroup."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from kafka.protocol.api_message import ApiMessage

from kafka_shell.base.errors import ShellError
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Coordinator, CoordinatorKind
from tests.support.waiting import wait_for

_HERE = __package__
_JOIN, _LEAVE = 0, -1


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=_HERE): ...


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=_HERE): ...


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=_HERE): ...


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=_HERE): ...


@contextmanager
def _beating(what: str, beat: Callable[[], bool]) -> Iterator[None]:
    """Until it holds, and then every five seconds: a silent member is put out after 45 s."""
    wait_for(what, beat)
    left = threading.Event()

    def go_on() -> None:
        while not left.wait(5):
            with suppress(ShellError):  # it may have been put out by the test
                beat()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join()


def _to(group: str) -> Coordinator:
    return Coordinator(CoordinatorKind.GROUP, group)


@contextmanager
def consumer(
    cluster: Cluster, group: str, topic: str, *, instance: str | None = None
) -> Iterator[str]:
    """A member of the new protocol (KIP-848), once it has partitions of the topic; its id."""
    id, epoch, has = uuid4().hex, _JOIN, False

    def beat() -> bool:
        nonlocal id, epoch, has
        request = ConsumerGroupHeartbeatRequest(
            group_id=group, member_id=id, instance_id=instance, member_epoch=epoch,
            rebalance_timeout_ms=60_000, subscribed_topic_names=[topic], topic_partitions=[],
        )  # fmt: skip
        answer = cluster.send(request, to=_to(group), change=False)
        id, epoch = answer.member_id, answer.member_epoch
        has = has or bool(answer.assignment and answer.assignment.topic_partitions)
        return has

    try:
        with _beating(f"the member of group {group} has partitions", beat):
            yield id
    finally:
        leave = ConsumerGroupHeartbeatRequest(
            group_id=group, member_id=id, instance_id=instance, member_epoch=_LEAVE
        )
        cluster.send(leave, to=_to(group), change=False, check=False)


@contextmanager
def share(cluster: Cluster, group: str, topic: str) -> Iterator[str]:
    """A member of a share group (KIP-932), once it has partitions; its id."""
    id, epoch, has = uuid4().hex, _JOIN, False

    def beat() -> bool:
        nonlocal epoch, has
        request = messages.ShareGroupHeartbeatRequest(
            group_id=group, member_id=id, member_epoch=epoch, subscribed_topic_names=[topic]
        )
        answer = cluster.send(request, to=_to(group), change=False)
        epoch = answer.member_epoch
        has = has or bool(answer.assignment and answer.assignment.topic_partitions)
        return has

    try:
        with _beating(f"the member of share group {group} has partitions", beat):
            yield id
    finally:
        leave = messages.ShareGroupHeartbeatRequest(
            group_id=group, member_id=id, member_epoch=_LEAVE
        )
        cluster.send(leave, to=_to(group), change=False, check=False)


@contextmanager
def streams(cluster: Cluster, group: str, topic: str) -> Iterator[str]:
    """A member of a streams group (KIP-1071) that maps one topic, once it has tasks; its id."""
    id, epoch, has = uuid4().hex, _JOIN, False
    kind = StreamsGroupHeartbeatRequest.Topology

    def beat() -> bool:
        nonlocal epoch, has
        first: dict[str, Any] = {}
        if epoch == _JOIN:
            first = {
                "topology": kind(
                    epoch=0,
                    subtopologies=[
                        kind.Subtopology(
                            subtopology_id="0", source_topics=[topic], source_topic_regex=[],
                            state_changelog_topics=[], repartition_sink_topics=[],
                            repartition_source_topics=[], copartition_groups=[],
                        )
                    ],
                ),
                "active_tasks": [], "standby_tasks": [], "warmup_tasks": [],
                "process_id": uuid4().hex, "client_tags": [], "rebalance_timeout_ms": 60_000,
            }  # fmt: skip
        request = StreamsGroupHeartbeatRequest(
            group_id=group, member_id=id, member_epoch=epoch, endpoint_information_epoch=-1,
            **first,
        )  # fmt: skip
        answer = cluster.send(request, to=_to(group), change=False)
        epoch = answer.member_epoch
        has = has or bool(answer.active_tasks)
        return has

    try:
        with _beating(f"the member of streams group {group} has tasks", beat):
            yield id
    finally:
        leave = StreamsGroupHeartbeatRequest(
            group_id=group, member_id=id, member_epoch=_LEAVE, endpoint_information_epoch=-1
        )
        cluster.send(leave, to=_to(group), change=False, check=False)


@contextmanager
def classic(bootstrap: str, group: str, *topics: str, instance: str | None = None) -> Iterator[Any]:
    """A kafka-python consumer in the group, once it has partitions."""
    from kafka import KafkaConsumer

    reader = KafkaConsumer(
        bootstrap_servers=bootstrap, group_id=group, client_id="reader",
        group_instance_id=instance, auto_offset_reset="earliest", enable_auto_commit=False,
    )  # fmt: skip
    # A leader that joins before it knows the topic's partitions assigns none, and stays so.
    for topic in topics:
        wait_for(f"{topic} has partitions", lambda name=topic: reader.partitions_for_topic(name))
    reader.subscribe(topics)

    def has() -> bool:
        reader.poll(timeout_ms=1_000)  # a join that ends between two polls is repeated
        return bool(reader.assignment())

    wait_for(f"the member of group {group} has partitions", has)
    try:
        yield reader
    finally:
        reader.close(autocommit=False)
