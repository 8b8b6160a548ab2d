"""The requests that change topics: create, delete, add partitions (KIP-4; API keys 19, 20, 37).

A controller responds before the brokers have applied a change. Each step waits, within its own
timeout, until a broker's metadata shows it, so that the next command sees the change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.admin.topics.model import NewTopic, format_assignment
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource, StepInterrupted
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType, counted, format_config_value
from kafka_shell.base.waits import CHANGE_MS, LOCAL_POLL_S
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import (
    REQUEST_TIMED_OUT,
    THROTTLING_QUOTA_EXCEEDED,
    UNKNOWN_TOPIC_ID,
)
from kafka_shell.wire.frames import format_uuid, uuid_of
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Topic
from kafka_shell.wire.requests import CONTROLLER, response_timeout
from kafka_shell.wire.rounds import RestInterrupted, Rows, send_within_quota

# New topics as requests, and the defaults of a cluster for them.

_ASKED = 20  # topics of which the controller is asked for the defaults


def with_defaults(step: CreateTopics, cluster: Cluster) -> CreateTopics:
    """The step with the cluster's default number of partitions and replication factor, where a
    topic has none and the controller reports them (CreateTopics, validated only; Kafka 2.4). If it
    refuses the topics, because they exist, a broker's configs are read."""
    incomplete = [new for new in step.topics if has_default(new)][:_ASKED]
    if not incomplete:
        return step
    from kafka.protocol.admin import CreateTopicsRequest

    request = CreateTopicsRequest(
        topics=[creatable(CreateTopicsRequest, NewTopic(new.name)) for new in incomplete],
        timeout_ms=CHANGE_MS,
        validate_only=True,
    )
    try:
        rows = cluster.send(request, to=CONTROLLER, lowest=5).topics
    except ShellError as error:
        if error.code == "deadline":  # as what follows would
            raise
        return step  # the defaults apply anyway, and the plan says so
    accepted = [row for row in rows if not row.error_code and row.num_partitions > 0]
    if accepted:
        count, factor = accepted[0].num_partitions, accepted[0].replication_factor
    else:
        try:
            count, factor = _configured(cluster)
        except ShellError:
            return step
    topics = tuple(
        replace(
            new,
            partitions=new.partitions or count,
            replication_factor=new.replication_factor or factor,
        )
        if has_default(new)
        else new
        for new in step.topics
    )
    configs = {each.name: each.value or "" for row in accepted for each in row.configs or ()}
    return replace(step, topics=topics, min_isr=configs.get("min.insync.replicas", ""))


def _configured(cluster: Cluster) -> tuple[int, int]:
    """The defaults in the configs of a broker. Raises ShellError."""
    from kafka_shell.admin.configs.read import of_some_broker

    keys = ("num.partitions", "default.replication.factor")
    found = of_some_broker(cluster, keys)
    values = [found[key].value if key in found else None for key in keys]
    if not all(value and value.isdecimal() for value in values):
        raise ShellError("the broker does not report the defaults of new topics", code="UNKNOWN")
    return int(values[0] or 0), int(values[1] or 0)


def has_default(new: NewTopic) -> bool:
    """Whether the cluster decides on the number of partitions or the replication factor."""
    return not new.assignment and None in (new.partitions, new.replication_factor)


def creatable(request: Any, new: NewTopic) -> Any:
    """A topic of a CreateTopics request."""
    kind = request.CreatableTopic
    return kind(
        name=new.name,
        num_partitions=-1 if new.partitions is None else new.partitions,
        replication_factor=-1 if new.replication_factor is None else new.replication_factor,
        assignments=[
            kind.CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in enumerate(new.assignment)
        ],
        configs=[kind.CreatableTopicConfig(name=key, value=value) for key, value in new.configs],
    )


# How requests that change topics are sent, and how long to wait for their effect.


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Item = TypeVar("_Item", bound=_Named)


def send_items(
    cluster: Cluster,
    items: Sequence[_Item],
    ask: Callable[[Sequence[_Item]], tuple[int, Rows]],
    outcomes_of: Callable[[Mapping[str, Any]], Outcomes],
) -> Outcomes:
    """The outcomes of the items, by the rows of their topics. Ctrl-C raises StepInterrupted with
    those that were received."""
    try:
        rows = send_within_quota(cluster, items, lambda item: item.name, ask)
    except RestInterrupted as interrupted:
        raise StepInterrupted(outcomes_of(interrupted.rows)) from None
    return outcomes_of(rows)


class Timeout:
    """The timeout of a request at the broker, and of the wait for its effect."""

    def __init__(self, cluster: Cluster, timeout_ms: int) -> None:
        self._cluster = cluster
        self._waits = timeout_ms > 0
        self.broker_ms = timeout_ms if self._waits else CHANGE_MS
        self._until = 0.0

    def begin(self) -> float:
        """Start the timeout, and return how long the response may take (seconds)."""
        self._until = time.monotonic() + self.broker_ms / 1000
        return response_timeout(self.broker_ms)

    def wait(
        self, results: Outcomes, visible: Callable[[MetadataScan, str], bool], otherwise: str
    ) -> Outcomes:
        """Wait until brokers show the changes. A change not visible in time is a
        REQUEST_TIMED_OUT. Ctrl-C does not change the outcomes."""
        try:
            return self._wait(results, visible, otherwise)
        except KeyboardInterrupt:
            raise StepInterrupted(results) from None

    def _wait(
        self, results: Outcomes, visible: Callable[[MetadataScan, str], bool], otherwise: str
    ) -> Outcomes:
        waiting = {change.resource.name: change for change in results.values}
        while self._waits and waiting:
            try:
                seen = scan(self._cluster, list(waiting))
            except ShellError as error:  # the change is made: only reading it back failed
                return _late(
                    results,
                    waiting.values(),
                    f"was changed, but could not be read back: {error.message}",
                )
            for name in [name for name in waiting if visible(seen, name)]:
                del waiting[name]
            if waiting and time.monotonic() > self._until:
                return _late(results, waiting.values(), otherwise)
            if waiting:
                time.sleep(LOCAL_POLL_S)
        return results


def validated(results: Outcomes) -> Outcomes:
    """The outcomes of a validation, without those that failed for an exhausted quota only."""
    return Results(
        results.values,
        {
            c: failure
            for c, failure in results.failures.items()
            if failure.code != THROTTLING_QUOTA_EXCEEDED
        },
    )


def _late(results: Outcomes, changes: Iterable[Change], what: str) -> Outcomes:
    for change in changes:
        name = change.resource.name
        del results.values[change]
        results.failures[change] = Failure(
            "REQUEST_TIMED_OUT",
            f"topic {name} {what}",
            REQUEST_TIMED_OUT,
            see=change.resource,
        )
    return results


def by_name(answer: tuple[int, Rows]) -> dict[str, Any]:
    """The rows of a response, given with its throttle time, by topic."""
    _, rows = answer
    return {row.name: row for row in rows}


def by_topic(changes: Iterable[Change], rows: Mapping[str, Any], operation: str) -> Outcomes:
    """The outcome of each change by the row or Failure of its topic. `operation` is required on
    the topic."""
    topics = [change.resource for change in changes]
    return Results.of(
        changes,
        (row_failure(rows.get(t.name), t, requires=f"{operation} on {t}", see=t) for t in topics),
    )


_PARTITIONS_BY_DEFAULT = 10  # an estimate, used if the broker decides


def records_of(new: NewTopic) -> int:
    """The number of metadata records that creating this topic writes."""
    partitions = len(new.assignment) or new.partitions or _PARTITIONS_BY_DEFAULT
    return 1 + partitions + len(new.configs)


# -- create ----------------------------------------------------------------------------------------


class CreateTopics(Struct, BaseStep, frozen=True):
    """One CreateTopics request (KIP-4, API key 19).

    `timeout_ms` bounds the wait until every partition has a leader; zero or less does not wait. The
    broker then gets the default timeout, as Kafka 4.x creates nothing within a timeout of 0.
    """

    topics: tuple[NewTopic, ...]
    timeout_ms: int = CHANGE_MS
    min_isr: str = ""  # the default of the cluster, if the controller returned it
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(Resource("topic", new.name), "create", after=_shape(new)) for new in self.topics
        )

    def resolved(self, cluster: Cluster) -> CreateTopics:
        return with_defaults(self, cluster)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import CreateTopicsRequest

        timeout = Timeout(cluster, self.timeout_ms)
        by_default = any(map(has_default, self.topics))

        def ask(topics: Sequence[NewTopic]) -> tuple[int, Rows]:
            request = CreateTopicsRequest(
                topics=[creatable(CreateTopicsRequest, new) for new in topics],
                timeout_ms=timeout.broker_ms,
                validate_only=validate_only,
            )
            response = cluster.send(
                request,
                to=CONTROLLER,
                lowest=4 if by_default else 1,
                timeout=timeout.begin(),
            )
            return getattr(response, "throttle_time_ms", 0), response.topics

        if validate_only:
            return validated(by_topic(self.changes, by_name(ask(self.topics)), "CREATE"))
        results = send_items(cluster, self.topics, ask, lambda rows: _created(self.changes, rows))
        return timeout.wait(
            results,
            lambda seen, name: name in seen and not seen.summary(name).offline,
            "was created, but a partition has no leader yet",
        )


def _created(changes: Sequence[Change], rows: Mapping[str, Any]) -> Outcomes:
    """The outcome of each creation, with the IDs of the new topics."""
    ids = {
        name: _id_note(format_uuid(row.topic_id.bytes))
        for name, row in rows.items()
        if getattr(row, "topic_id", None)  # since Kafka 2.8
    }
    results = by_topic(changes, rows, "CREATE")
    return results.map(lambda each: replace(each, note=ids.get(each.resource.name, "")))


def _id_note(topic_id: str) -> str:
    """The note of a created or deleted topic. Undo compares them: a topic that was deleted and
    created again is another one."""
    return f"topic ID {topic_id}"


def _shape(new: NewTopic) -> str:
    """Partitions, replication factor and configs of a new topic in one line."""
    if new.assignment:
        count = counted(len(new.assignment), "partition")
        parts = [f"{count} on {format_assignment(new.assignment)}"]
    else:
        number, factor = new.partitions, new.replication_factor
        parts = [
            "the default number of partitions" if number is None else counted(number, "partition"),
            "the default replication factor" if factor is None else f"replication factor {factor}",
        ]
    return ", ".join([*parts, *spell_configs(new.configs)])


def spell_configs(configs: Iterable[tuple[str, str]]) -> list[str]:
    """Each config with the unit of its key: `retention.ms=7d`."""
    return [f"{key}={format_config_value(key, ConfigType.UNKNOWN, raw)}" for key, raw in configs]


# -- delete ----------------------------------------------------------------------------------------


class DeleteTopics(Struct, BaseStep, frozen=True):
    """One DeleteTopics request (KIP-4, KIP-516, API key 20), by topic ID if topics have one.

    A topic that was deleted and created again since has another ID and is not deleted.
    """

    topics: tuple[Topic, ...]
    timeout_ms: int = CHANGE_MS

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                Resource("topic", topic.name),
                "delete",
                before=f"{counted(len(topic.partitions), 'partition')},"
                f" replication factor {topic.replication_factor}",
                note=_id_note(topic.id) if topic.id else "",
                reversible=False,
            )
            for topic in self.topics
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import DeleteTopicsRequest

        timeout = Timeout(cluster, self.timeout_ms)
        ids = {topic.name: topic.id for topic in self.topics}
        names = {topic_id: name for name, topic_id in ids.items()}
        by_id = all(ids.values())
        state = DeleteTopicsRequest.DeleteTopicState

        def ask(topics: Sequence[Topic]) -> tuple[int, Rows]:
            request = DeleteTopicsRequest(
                topics=[state(name=None, topic_id=uuid_of(each.id)) for each in topics if by_id],
                topic_names=[each.name for each in topics],
                timeout_ms=timeout.broker_ms,
            )
            answer = cluster.send(
                request,
                to=CONTROLLER,
                lowest=6 if by_id else 0,
                highest=6 if by_id else 5,
                timeout=timeout.begin(),
            )
            for row in answer.responses:
                if by_id:
                    row.name = names.get(format_uuid(row.topic_id.bytes), row.name)
            return getattr(answer, "throttle_time_ms", 0), answer.responses

        def deleted(rows: Mapping[str, Any]) -> Outcomes:
            results = by_topic(self.changes, rows, "DELETE")
            for change, failure in results.failures.items():
                if failure.code == UNKNOWN_TOPIC_ID:
                    results.failures[change] = _already_deleted(change.resource.name, ids)
            return results

        results = send_items(cluster, self.topics, ask, deleted)
        return timeout.wait(
            results,
            lambda seen, name: name not in seen or seen.summary(name).id not in ("", ids[name]),
            "was deleted, but brokers still list it",
        )


def _already_deleted(name: str, ids: dict[str, str]) -> Failure:
    return Failure(
        "UNKNOWN_TOPIC_ID",
        f"topic {name} with ID {ids[name]} no longer exists",
        UNKNOWN_TOPIC_ID,
        hint=f"Another client deleted it. A topic {name} that exists now is a new one and was not"
        " deleted.",
    )


# -- more partitions -------------------------------------------------------------------------------


class Growth(Struct, frozen=True):
    """A topic's partitions before and after; `placed` lists the replicas of new ones,
    or is empty."""

    name: str
    before: int
    after: int
    placed: tuple[tuple[int, ...], ...] = ()

    def is_visible(self, seen: MetadataScan) -> bool:
        """Whether the new partitions exist and have leaders; others may have had none before."""
        summary = seen.summary(self.name)
        if summary.partitions < self.after:
            return False
        return not summary.offline or all(
            each.leader is not None
            for each in seen.topic(self.name).partitions
            if each.partition >= self.before
        )


class CreatePartitions(Struct, BaseStep, frozen=True):
    """One CreatePartitions request (KIP-195, API key 37)."""

    growths: tuple[Growth, ...]
    timeout_ms: int = CHANGE_MS
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                Resource("topic", growth.name), "alter", "partitions", growth.before, growth.after,
                note=f"new on {format_assignment(growth.placed)}" if growth.placed else "",
                reversible=False,
            )
            for growth in self.growths
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> CreatePartitions:
        now = scan(cluster, [growth.name for growth in self.growths])
        growths = []
        for growth in self.growths:
            if growth.name not in now:
                raise ShellError(
                    f"topic {growth.name} was deleted while waiting for confirmation",
                    code="UNKNOWN_TOPIC_OR_PARTITION",
                    see=Resource("topic"),
                )
            before = now.summary(growth.name).partitions
            growths.append(Growth(growth.name, before, growth.after, growth.placed))
        return CreatePartitions(tuple(growths), self.timeout_ms)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import CreatePartitionsRequest

        kind = CreatePartitionsRequest.CreatePartitionsTopic
        timeout = Timeout(cluster, self.timeout_ms)

        def ask(growths: Sequence[Growth]) -> tuple[int, Rows]:
            request = CreatePartitionsRequest(
                topics=[
                    kind(
                        name=growth.name,
                        count=growth.after,
                        assignments=[
                            kind.CreatePartitionsAssignment(broker_ids=list(replicas))
                            for replicas in growth.placed
                        ]
                        or None,
                    )
                    for growth in growths
                ],
                timeout_ms=timeout.broker_ms,
                validate_only=validate_only,
            )
            answer = cluster.send(request, to=CONTROLLER, timeout=timeout.begin())
            return answer.throttle_time_ms, answer.results

        if validate_only:
            return validated(by_topic(self.changes, by_name(ask(self.growths)), "ALTER"))
        results = send_items(
            cluster, self.growths, ask, lambda rows: by_topic(self.changes, rows, "ALTER")
        )
        wanted = {growth.name: growth for growth in self.growths}
        return timeout.wait(
            results,
            lambda seen, name: name in seen and wanted[name].is_visible(seen),
            "has its new partitions, but one has no leader yet",
        )
