"""Topics: list, describe, create, delete, add partitions (KIP-4; API keys 3, 19, 20, 37)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.errors import ShellError
from kafka_shell.nouns import (
    Change,
    Effect,
    Failure,
    NewTopic,
    Plan,
    Resource,
    Results,
    Topic,
)

from .connection import CONTROLLER, Cluster, failure
from .scan import API_KEY, HIGHEST_VERSION, LOWEST_VERSION, MetadataScan, encode_request, uuid_of

DEFAULT_TIMEOUT_MS = 30_000
_REQUEST_TIMED_OUT = 7
_ANSWER_GRACE_S = 5.0  # a broker that waits its whole timeout still needs time to answer
_READY_POLL_S = 0.05


def scan(cluster: Cluster, names: Sequence[str] | None = None) -> MetadataScan:
    """The cluster's metadata: of these topics, of none (an empty sequence), or of all (None)."""
    version = cluster.negotiate(API_KEY, LOWEST_VERSION, HIGHEST_VERSION)
    body = cluster.send_raw(API_KEY, version, encode_request(version, names))
    return MetadataScan(body, version)


def describe(cluster: Cluster, names: Sequence[str]) -> Results[str, Topic]:
    """Each topic with its partitions, or why it cannot be described."""
    found = scan(cluster, list(dict.fromkeys(names)))
    results: Results[str, Topic] = Results()
    for name in dict.fromkeys(names):
        if name in found:
            results.values[name] = found.topic(name)
        else:
            results.failures[name] = failure(found.errors.get(name, 3), about=f"topic {name}")
    return results


# -- create ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CreateTopics:
    """One CreateTopics request (KIP-4, API key 19).

    `timeout_ms` bounds the wait for the topics to be complete: every partition has a leader. Zero
    or less does not wait; the broker still gets its usual time, as one of 4.x does nothing in none.
    """

    topics: tuple[NewTopic, ...]
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One creation a topic."""
        return tuple(
            Change(Resource("topic", new.name), "create", after=_shape(new)) for new in self.topics
        )

    def again(self, cluster: Cluster) -> CreateTopics:
        """Nothing was there before: the broker refuses a name that exists by now."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Create, or only validate."""
        from kafka.protocol.admin import CreateTopicsRequest

        broker_ms = self.timeout_ms if self.timeout_ms > 0 else DEFAULT_TIMEOUT_MS
        request = CreateTopicsRequest(
            topics=[_creatable(CreateTopicsRequest, new) for new in self.topics],
            timeout_ms=broker_ms,
            validate_only=validate_only,
        )
        lowest = 4 if any(new.partitions is None and not new.assignment for new in self.topics) else 1
        started = time.monotonic()
        response = cluster.send(
            request, to=CONTROLLER, lowest=lowest, timeout=broker_ms / 1000 + _ANSWER_GRACE_S
        )
        results = _by_topic(self.changes, response.topics, _may_still("appear"))
        if validate_only or self.timeout_ms <= 0:
            return results
        return _when_ready(cluster, results, started + self.timeout_ms / 1000)


def plan_create(
    topics: Sequence[NewTopic], *, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> Plan:
    """Create topics. A name that stands twice in the batch is refused, and it alone (KIP-4)."""
    count = Counter(new.name for new in topics)
    twice = {
        Resource("topic", name): Failure(
            "INVALID_REQUEST", f"topic {name} stands {times} times in one request", 42,
            hint="Name it once; nothing was created for it.",
        )
        for name, times in count.items() if times > 1
    }  # fmt: skip
    once = tuple(new for new in topics if count[new.name] == 1)
    names = [new.name for new in once]
    return Plan(
        Effect.CHANGE,
        (CreateTopics(once, timeout_ms),) if once else (),
        touches=frozenset({"topics"}),
        fresh=lambda cluster: describe(cluster, names) if timeout_ms > 0 else None,
        refused=Results({}, twice),
    )


def _shape(new: NewTopic) -> str:
    """What a topic is created with, in a line."""
    if new.assignment:
        parts = [f"{len(new.assignment)} partitions on {_spell(new.assignment)}"]
    else:
        count, factor = new.partitions, new.replication_factor
        parts = [
            "the broker's number of partitions" if count is None else f"{count} partitions",
            "the broker's replication factor"
            if factor is None
            else f"replication factor {factor}",
        ]
    return ", ".join([*parts, *(f"{key}={value}" for key, value in new.configs)])


def _spell(assignment: Iterable[Sequence[int]]) -> str:
    return ",".join(":".join(map(str, replicas)) for replicas in assignment)


def _creatable(request: Any, new: NewTopic) -> Any:
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


def _when_ready(
    cluster: Cluster, results: Results[Change, Change], until: float
) -> Results[Change, Change]:
    """Wait until every created topic has all its leaders; what has not by `until` says so."""
    waiting = {change.resource.name: change for change in results.values.values()}
    while waiting:
        seen = scan(cluster, list(waiting))
        for name in list(waiting):
            if name in seen and not seen.summary(name).offline:
                del waiting[name]
        if not waiting:
            break
        if time.monotonic() > until:
            for name, change in waiting.items():
                del results.values[change]
                results.failures[change] = Failure(
                    "REQUEST_TIMED_OUT",
                    f"topic {name} is created but not complete: a partition has no leader yet",
                    _REQUEST_TIMED_OUT,
                    hint=f"Look again: describe-topic {name} --unavailable-partitions",
                )
            break
        time.sleep(_READY_POLL_S)
    return results


# -- delete ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeleteTopics:
    """One DeleteTopics request (KIP-4, KIP-516, API key 20), by topic id where there is one.

    A topic that was deleted and created again meanwhile has another id and is not lost.
    """

    topics: tuple[Topic, ...]
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One deletion a topic."""
        return tuple(
            Change(
                Resource("topic", topic.name),
                "delete",
                before=f"{len(topic.partitions)} partitions,"
                f" replication factor {topic.replication_factor}",
                note=f"topic id {topic.id}" if topic.id else "",
                reversible=False,
            )
            for topic in self.topics
        )

    def again(self, cluster: Cluster) -> DeleteTopics:
        """The ids hold: what is deleted is what was shown."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Delete. The API cannot only validate."""
        from kafka.protocol.admin import DeleteTopicsRequest

        broker_ms = self.timeout_ms if self.timeout_ms > 0 else DEFAULT_TIMEOUT_MS
        by_id = all(topic.id for topic in self.topics)
        request = DeleteTopicsRequest(
            topics=[
                DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=uuid_of(topic.id))
                for topic in self.topics
                if by_id
            ],
            topic_names=[topic.name for topic in self.topics],
            timeout_ms=broker_ms,
        )
        response = cluster.send(
            request,
            to=CONTROLLER,
            lowest=6 if by_id else 0,
            highest=6 if by_id else 5,
            timeout=broker_ms / 1000 + _ANSWER_GRACE_S,
        )
        names = {topic.id: topic.name for topic in self.topics}
        for row in response.responses:
            if row.name is None:
                row.name = names.get(_id_text(row.topic_id), "")
        return _by_topic(self.changes, response.responses, _may_still("vanish"))


def plan_delete(
    cluster: Cluster, names: Sequence[str], *, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> Plan:
    """Delete topics. A name given twice is sent once; one that is not there is refused."""
    found = describe(cluster, names)
    warnings = tuple(
        f"{topic.name} is internal: Kafka itself keeps its state there"
        for topic in found
        if topic.internal
    )
    topics = tuple(found)
    return Plan(
        Effect.DESTROY,
        (DeleteTopics(topics, timeout_ms),) if topics else (),
        touches=frozenset({"topics"}),
        warnings=warnings,
        refused=_as_refused(found),
    )


# -- more partitions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class CreatePartitions:
    """One CreatePartitions request (KIP-195, API key 37).

    `counts` are (topic, partitions before, partitions after). `assignment` places the new
    partitions only; empty leaves that to the controller.
    """

    counts: tuple[tuple[str, int, int], ...]
    assignment: tuple[tuple[int, ...], ...] = ()
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One raised count a topic."""
        note = f"new on {_spell(self.assignment)}" if self.assignment else ""
        return tuple(
            Change(
                Resource("topic", name), "alter", "partitions", before, after,
                note=note, reversible=False,
            )
            for name, before, after in self.counts
        )  # fmt: skip

    def again(self, cluster: Cluster) -> CreatePartitions:
        """The counts as they are now."""
        now = scan(cluster, [name for name, _, _ in self.counts])
        counts = []
        for name, _, after in self.counts:
            if name not in now:
                raise ShellError(
                    f"topic {name} vanished while the question was open",
                    hint="Nothing was sent. Look: list-topics",
                    code="UNKNOWN_TOPIC_OR_PARTITION",
                )
            counts.append((name, now.summary(name).partitions, after))
        return CreatePartitions(tuple(counts), self.assignment, self.timeout_ms)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Add the partitions, or only validate."""
        from kafka.protocol.admin import CreatePartitionsRequest

        kind = CreatePartitionsRequest.CreatePartitionsTopic
        broker_ms = self.timeout_ms if self.timeout_ms > 0 else DEFAULT_TIMEOUT_MS
        request = CreatePartitionsRequest(
            topics=[
                kind(
                    name=name,
                    count=after,
                    assignments=[
                        kind.CreatePartitionsAssignment(broker_ids=list(replicas))
                        for replicas in self.assignment
                    ]
                    or None,
                )
                for name, _, after in self.counts
            ],
            timeout_ms=broker_ms,
            validate_only=validate_only,
        )
        response = cluster.send(
            request, to=CONTROLLER, timeout=broker_ms / 1000 + _ANSWER_GRACE_S
        )
        return _by_topic(self.changes, response.results, _may_still("grow"))


def plan_partitions(
    cluster: Cluster,
    names: Sequence[str],
    count: int,
    *,
    assignment: Sequence[Sequence[int]] = (),
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Plan:
    """Raise the number of partitions to `count`.

    `assignment`, where given, lists every partition as Kafka's tool has it: those that exist must
    be as they are, the rest places the new ones.
    """
    found = describe(cluster, names)
    refused = _as_refused(found)
    counts, placed = [], tuple(tuple(replicas) for replicas in assignment)
    for topic in found:
        wrong = _cannot_grow(topic, count, placed)
        if wrong is None:
            counts.append((topic.name, len(topic.partitions), count))
        else:
            refused.failures[Resource("topic", topic.name)] = wrong
    new = placed[counts[0][1] :] if placed and counts else ()
    return Plan(
        Effect.CHANGE,
        (CreatePartitions(tuple(counts), new, timeout_ms),) if counts else (),
        touches=frozenset({"topics"}),
        refused=refused,
        fresh=lambda later: describe(later, [name for name, _, _ in counts]),
    )


def _cannot_grow(
    topic: Topic, count: int, assignment: tuple[tuple[int, ...], ...]
) -> Failure | None:
    have = len(topic.partitions)
    if count <= have:
        return Failure(
            "INVALID_PARTITIONS",
            f"topic {topic.name} has {have} partitions: {count} is not more",
            37,
            hint="Partitions can only be added.",
        )
    if not assignment:
        return None
    now = tuple(partition.replicas for partition in topic.partitions)
    if len(assignment) != count:
        said = f"the assignment lists {len(assignment)} partitions, --partitions says {count}"
        return Failure("INVALID_REPLICA_ASSIGNMENT", said, 39)
    if assignment[:have] != now:
        return Failure(
            "INVALID_REPLICA_ASSIGNMENT",
            f"the first {have} partitions of topic {topic.name} must stay on {_spell(now)}",
            39,
            hint="List every partition: the ones that exist as they are, then the new ones.",
        )
    return None


# -- shared ----------------------------------------------------------------------------------------


def _as_refused(found: Results[str, Topic]) -> Results[Resource, Any]:
    return Results({}, {Resource("topic", name): why for name, why in found.failures.items()})


def _may_still(verb: str) -> Callable[[str], str]:
    def hint(name: str) -> str:
        return f"It may still {verb}. Look: describe-topic {name}"

    return hint


def _by_topic(
    changes: Iterable[Change], rows: Iterable[Any], after_timeout: Callable[[str], str]
) -> Results[Change, Change]:
    """Each change with the outcome of its topic's row; a topic without a row is unknown."""
    outcomes = {row.name: row for row in rows}
    results: Results[Change, Change] = Results()
    for change in changes:
        name = change.resource.name
        row = outcomes.get(name)
        if row is None:
            results.failures[change] = Failure(
                "UNKNOWN", f"the broker's answer does not mention topic {name}",
                hint=f"Look: describe-topic {name}",
            )  # fmt: skip
        elif row.error_code == 0:
            results.values[change] = change
        else:
            hint = after_timeout(name) if row.error_code == _REQUEST_TIMED_OUT else ""
            results.failures[change] = failure(
                row.error_code, row.error_message, about=f"topic {name}", hint=hint
            )
    return results


def _id_text(topic_id: Any) -> str:
    import base64

    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")
