"""The requests that change topics: create, delete, add partitions (KIP-4; API keys 19, 20, 37).

A controller responds before the brokers have applied a change. Each step waits, within its own
timeout, until a broker's metadata shows it, so that the next command sees the change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct

from kafka_shell.admin.configs.read import of_some_broker
from kafka_shell.admin.steps import BaseStep, changed, keeping_results, row_failure
from kafka_shell.admin.topics.model import NewTopic, format_assignment
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource, StepInterrupted
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType, counted, format_config_value
from kafka_shell.base.waits import CHANGE_MS, LOCAL_POLL_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    REQUEST_TIMED_OUT,
    THROTTLING_QUOTA_EXCEEDED,
    UNKNOWN_TOPIC_ID,
)
from kafka_shell.wire.failures import failure
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
    incomplete = [new for new in step.items if has_default(new)][:_ASKED]
    if not incomplete:
        return step
    request = messages.CreateTopicsRequest(
        topics=[creatable(messages.CreateTopicsRequest, NewTopic(new.name)) for new in incomplete],
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
        for new in step.items
    )
    configs = {config.name: config.value or "" for row in accepted for config in row.configs or ()}
    return replace(step, items=topics, min_isr=configs.get("min.insync.replicas", ""))


def _configured(cluster: Cluster) -> tuple[int, int]:
    """The defaults in the configs of a broker. Raises ShellError."""
    keys = ("num.partitions", "default.replication.factor")
    entries = of_some_broker(cluster, keys)
    values = [entries[key].value if key in entries else None for key in keys]
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


class TopicsStep(Struct, BaseStep, Generic[_Item], frozen=True):
    """A request for many topics, and the wait until a broker's metadata shows its changes.

    `timeout_ms` bounds the wait; zero or less does not wait. The controller then gets the default
    timeout, as Kafka 4.x creates nothing within a timeout of 0.
    """

    items: tuple[_Item, ...]
    timeout_ms: int = CHANGE_MS
    operation: ClassVar[str] = ""  # required on each topic
    late: ClassVar[str] = ""  # what happened to a topic if brokers do not show the change in time

    @property
    def changes(self) -> tuple[Change, ...]:
        raise NotImplementedError

    @property
    def versions(self) -> tuple[int | None, int | None]:
        """The lowest and highest version of the request."""
        return None, None

    def request(self, items: Sequence[_Item], timeout_ms: int, validate_only: bool) -> Any:
        """The request for some of the topics."""
        raise NotImplementedError

    def rows(self, response: Any) -> Rows:
        """The rows of a response, which have the names of topics."""
        raise NotImplementedError

    def outcomes(self, rows: Mapping[str, Any]) -> Outcomes:
        """The outcome of each change by the row or Failure of its topic."""
        changes = self.changes
        return Results.of(changes, (self._failure(change.resource, rows) for change in changes))

    def _failure(self, topic: Resource, rows: Mapping[str, Any]) -> Failure | None:
        requires = f"{self.operation} on {topic}"
        return row_failure(rows.get(topic.name), topic, requires=requires, see=topic)

    def is_visible(self, seen: MetadataScan, item: _Item) -> bool:
        """Whether the metadata shows the change of a topic."""
        raise NotImplementedError

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Raises StepInterrupted with the outcomes that were received at Ctrl-C. A change that is
        not visible in time is a REQUEST_TIMED_OUT."""
        broker_ms = self.timeout_ms if self.timeout_ms > 0 else CHANGE_MS
        lowest, highest = self.versions
        until = 0.0

        def ask(items: Sequence[_Item]) -> tuple[int, Rows]:
            nonlocal until
            until = time.monotonic() + broker_ms / 1000
            response = cluster.send(
                self.request(items, broker_ms, validate_only),
                to=CONTROLLER,
                lowest=lowest,
                highest=highest,
                timeout=response_timeout(broker_ms),
            )
            return getattr(response, "throttle_time_ms", 0), self.rows(response)

        if validate_only:
            _, rows = ask(self.items)
            results = self.outcomes({row.name: row for row in rows})
            kept = {c: why for c, why in results.failures.items() if not _is_throttled(why)}
            return Results(results.values, kept)
        try:
            results = self.outcomes(
                send_within_quota(cluster, self.items, lambda item: item.name, ask)
            )
        except RestInterrupted as interrupted:
            raise StepInterrupted(self.outcomes(interrupted.rows)) from None
        with keeping_results(results):
            return self._wait(cluster, results, until) if self.timeout_ms > 0 else results

    def shown(self, cluster: Cluster) -> Set[Change]:
        """The changes that a broker's metadata shows."""
        items = {item.name: item for item in self.items}
        seen = scan(cluster, list(items))
        return {each for each in self.changes if self.is_visible(seen, items[each.resource.name])}

    def _wait(self, cluster: Cluster, results: Outcomes, until: float) -> Outcomes:
        items = {item.name: item for item in self.items}
        waiting = {change.resource.name: change for change in results.values}
        while waiting:
            try:
                seen = scan(cluster, list(waiting))
            except ShellError as error:  # the change is made: only reading it back failed
                why = f"was changed, but its new state could not be read: {error.message}"
                return _late(results, waiting.values(), why)
            for name in [name for name in waiting if self.is_visible(seen, items[name])]:
                del waiting[name]
            if waiting and time.monotonic() > until:
                return _late(results, waiting.values(), self.late)
            if waiting:
                time.sleep(LOCAL_POLL_S)
        return results


def _is_throttled(why: Failure) -> bool:
    """Whether the change is sent again after a pause."""
    return why.code == THROTTLING_QUOTA_EXCEEDED


def _late(results: Outcomes, changes: Iterable[Change], what: str) -> Outcomes:
    for change in changes:
        name = change.resource.name
        del results.values[change]
        results.failures[change] = failure(
            REQUEST_TIMED_OUT, text=f"topic {name} {what}", see=change.resource
        )
    return results


_PARTITIONS_BY_DEFAULT = 10  # an estimate, used if the broker decides


def records_of(new: NewTopic) -> int:
    """The number of metadata records that creating this topic writes."""
    partitions = len(new.assignment) or new.partitions or _PARTITIONS_BY_DEFAULT
    return 1 + partitions + len(new.configs)


# -- create ----------------------------------------------------------------------------------------


class CreateTopics(TopicsStep[NewTopic], frozen=True):
    """One CreateTopics request (KIP-4, API key 19). Done when every partition has a leader."""

    min_isr: str = ""  # the default of the cluster, if the controller returned it
    validates = True
    operation = "CREATE"
    late = "was created, but a partition has no leader yet"

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(Resource("topic", new.name), "create", after=_shape(new)) for new in self.items
        )

    def resolved(self, cluster: Cluster) -> CreateTopics:
        return with_defaults(self, cluster)

    @property
    def versions(self) -> tuple[int | None, int | None]:
        return 4 if any(map(has_default, self.items)) else 1, None

    def request(self, items: Sequence[NewTopic], timeout_ms: int, validate_only: bool) -> Any:
        return messages.CreateTopicsRequest(
            topics=[creatable(messages.CreateTopicsRequest, new) for new in items],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        )

    def rows(self, response: Any) -> Rows:
        return list(response.topics)

    def outcomes(self, rows: Mapping[str, Any]) -> Outcomes:
        """The outcome of each creation, with the IDs of the new topics."""
        ids = {
            name: _id_note(format_uuid(row.topic_id.bytes))
            for name, row in rows.items()
            if getattr(row, "topic_id", None)  # since Kafka 2.8
        }
        results = super().outcomes(rows)
        return results.map(lambda change: replace(change, note=ids.get(change.resource.name, "")))

    def is_visible(self, seen: MetadataScan, item: NewTopic) -> bool:
        return item.name in seen and not seen.summary(item.name).offline


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


class DeleteTopics(TopicsStep[Topic], frozen=True):
    """One DeleteTopics request (KIP-4, KIP-516, API key 20), by topic ID if topics have one.

    A topic that was deleted and created again since has another ID and is not deleted.
    """

    operation = "DELETE"
    late = "is deleted, but some brokers still list it, usually for some seconds"

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
            for topic in self.items
        )

    @property
    def _by_id(self) -> bool:
        return all(topic.id for topic in self.items)

    @property
    def versions(self) -> tuple[int | None, int | None]:
        return (6, 6) if self._by_id else (0, 5)

    def request(self, items: Sequence[Topic], timeout_ms: int, validate_only: bool) -> Any:
        state = messages.DeleteTopicsRequest.DeleteTopicState
        by_id = self._by_id
        return messages.DeleteTopicsRequest(
            topics=[state(name=None, topic_id=uuid_of(topic.id)) for topic in items if by_id],
            topic_names=[topic.name for topic in items],
            timeout_ms=timeout_ms,
        )

    def rows(self, response: Any) -> Rows:
        rows = list(response.responses)
        if self._by_id:
            names = {topic.id: topic.name for topic in self.items}
            for row in rows:
                row.name = names.get(format_uuid(row.topic_id.bytes), row.name)
        return rows

    def outcomes(self, rows: Mapping[str, Any]) -> Outcomes:
        results = super().outcomes(rows)
        ids = {topic.name: topic.id for topic in self.items}
        for change, why in results.failures.items():
            if why.code == UNKNOWN_TOPIC_ID:
                results.failures[change] = _already_deleted(change.resource.name, ids)
        return results

    def is_visible(self, seen: MetadataScan, item: Topic) -> bool:
        return item.name not in seen or seen.summary(item.name).id not in ("", item.id)


def _already_deleted(name: str, ids: dict[str, str]) -> Failure:
    return failure(
        UNKNOWN_TOPIC_ID,
        text=f"topic {name} with ID {ids[name]} no longer exists: another client deleted it"
        " (a topic that was created since is kept)",
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
            partition.leader is not None
            for partition in seen.topic(self.name).partitions
            if partition.partition >= self.before
        )


class CreatePartitions(TopicsStep[Growth], frozen=True):
    """One CreatePartitions request (KIP-195, API key 37)."""

    validates = True
    operation = "ALTER"
    late = "has its new partitions, but one has no leader yet"

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                Resource("topic", growth.name), "alter", "partitions", growth.before, growth.after,
                note=f"new on {format_assignment(growth.placed)}" if growth.placed else "",
                reversible=False,
            )
            for growth in self.items
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> CreatePartitions:
        now = scan(cluster, [growth.name for growth in self.items])
        growths = []
        for growth in self.items:
            if growth.name not in now:
                raise changed(f"topic {growth.name} was deleted", Resource("topic"))
            before = now.summary(growth.name).partitions
            growths.append(Growth(growth.name, before, growth.after, growth.placed))
        return CreatePartitions(tuple(growths), self.timeout_ms)

    def request(self, items: Sequence[Growth], timeout_ms: int, validate_only: bool) -> Any:
        kind = messages.CreatePartitionsRequest.CreatePartitionsTopic
        return messages.CreatePartitionsRequest(
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
                for growth in items
            ],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        )

    def rows(self, response: Any) -> Rows:
        return list(response.results)

    def is_visible(self, seen: MetadataScan, item: Growth) -> bool:
        return item.name in seen and item.is_visible(seen)
