"""Read what a twin copies from a cluster, over a connection that changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.configs.known import of_some_broker
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.topics.model import format_assignment
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.admin.wire.requests import ANY
from kafka_shell.commands.state.model import ASSIGNMENT, CONFIG_KINDS, KINDS, SHAPE, Fields, State
from kafka_shell.commands.state.read import StateRequest, read_state
from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted
from kafka_shell.errors import ShellError
from kafka_shell.language.selectors import select
from kafka_shell.plan.model import Report
from kafka_shell.plan.results import Failure, as_failure
from kafka_shell.sandbox.twin.model import Original

STATIC_CONFIGS = "static broker configs"
MOST_TOPICS = 50_000
_TOPICS_PER_GIB = 10_000
_AUTHORIZER = "authorizer.class.name"
# The data of dynamic client configs is records.
COPIED_KINDS = tuple(kind for kind in KINDS if kind != "client_configs")


class OriginalState(Struct, frozen=True):
    """An original, and what the twin lacks of it: topics that were `left_out`, what could not be
    read (`unread`, by kind or resource), and what cannot be copied (`notes`). `state` is that of
    the twin when it starts, and `broker` are the configs of one of the brokers."""

    original: Original
    state: State
    left_out: frozenset[str]
    unread: Mapping[str, Failure]
    notes: Sequence[str]
    broker: Mapping[str, ConfigEntry] = {}


def read_original(cluster: Cluster, words: Sequence[str], report: Report) -> OriginalState:
    """Read the metadata of a cluster: of all topics, or of those that `words` select.

    Raises ShellError if there are too many topics, or no broker can be reached.
    """
    report("Reading the cluster", 0, None)
    metadata = scan(cluster)
    topics = _selected(metadata, words)
    unread: dict[str, Failure] = {}
    state = read_state(
        cluster, StateRequest(COPIED_KINDS, topics=frozenset(topics) if words else None)
    )
    unread.update(state.unread)
    supported = features.describe(cluster)
    unread.update({f"features of broker {id}": why for id, why in supported.unread})
    brokers, broker = tuple(metadata.brokers), _broker(cluster, unread)
    original = Original(
        release=cluster.release(ANY),
        brokers=brokers,
        down=tuple(_down(cluster, metadata, unread)),
        metadata=metadata,
        topics=topics,
        moving=_moving(cluster, unread),
        configs=dict(_configs(state, frozenset(topics))),
        acls=tuple(state.part("acls")),
        quotas={e: {k: float(v) for k, v in own.items()} for e, own in _part(state, "quotas")},
        users={u: {m: int(n) for m, n in own.items()} for u, own in _part(state, "users")},
        features=supported.features,
        settings=_settings(broker, state),
    )
    left_out = frozenset(metadata.names) - set(topics)
    return OriginalState(
        original, _of_twin(state, original), left_out, unread, tuple(state.notes), broker
    )


def _of_twin(state: State, original: Original) -> State:
    """The state of a twin: with replicas, and without the configs of single brokers."""
    topics = {
        name: {**state.part("topics").get(name, {}), ASSIGNMENT: format_assignment(
            partition.replicas for partition in original.metadata.topic(name).partitions
        )}
        for name in original.topics
    }  # fmt: skip
    defaults = {
        resource: fields
        for resource, fields in state.part("broker_configs").items()
        if not resource.name
    }
    parts = {**state.parts, "topics": topics, "broker_configs": defaults}
    unread = {name: why for name, why in state.unread.items() if not name.startswith("broker ")}
    return replace(state, parts=parts, unread=unread)


def _selected(metadata: MetadataScan, words: Sequence[str]) -> list[str]:
    names = sorted(metadata.names)
    if words:
        chosen = select(words, names)
        if chosen.unmatched:
            raise ShellError(
                f"no topic matches '{chosen.unmatched[0][1]}'",
                hint="Run list-topics to see the names.",
                code="no-match",
            )
        names = sorted(chosen.names)
    if len(names) > MOST_TOPICS:
        memory = -(-len(names) // _TOPICS_PER_GIB)
        raise ShellError(
            f"{counted(len(names), 'topic')} are too many for a twin on this machine, which would"
            f" need about {memory:,} GiB of memory (at most {MOST_TOPICS:,} topics)",
            hint="Use --topics to copy fewer: --topics 'orders.*'",
            code="too-many-topics",
        )
    return names


def _down(cluster: Cluster, metadata: MetadataScan, unread: dict[str, Failure]) -> Iterable[Broker]:
    """Brokers that are registered or have replicas, but do not run."""
    running = {broker.id for broker in metadata.brokers}
    try:
        known = registered_brokers(cluster) or {}
    except ShellError as error:
        unread["fenced brokers"] = as_failure(error)
        known = {}
    for id in sorted((metadata.replica_ids() | known.keys()) - running):
        yield known.get(id) or Broker(id, "", 0)


def _moving(cluster: Cluster, unread: dict[str, Failure]) -> Mapping[TopicPartition, Reassignment]:
    try:
        return under_way(cluster).values
    except ShellError as error:
        unread["partition reassignments"] = as_failure(error)
        return {}


def _part(state: State, kind: str) -> Iterable[tuple[Any, Fields]]:
    return state.part(kind).items()


def _configs(
    state: State, topics: Collection[str]
) -> Iterable[tuple[ConfigResource, Mapping[str, str]]]:
    """The configs by resource; of these topics, as one may have been created meanwhile."""
    for name, fields in state.part("topics").items():
        own = {key: str(value) for key, value in fields.items() if key not in SHAPE}
        if own and name in topics:
            yield ConfigResource(ResourceType.TOPIC, name), own
    for kind in CONFIG_KINDS:
        for resource, fields in state.part(kind).items():
            yield resource, {key: str(value) for key, value in fields.items()}


def _broker(cluster: Cluster, unread: dict[str, Failure]) -> Mapping[str, ConfigEntry]:
    """The configs of a broker; none if they cannot be read."""
    try:
        return of_some_broker(cluster, synonyms=True)
    except ShellError as error:
        unread[STATIC_CONFIGS] = as_failure(error)
        return {}


def _settings(broker: Mapping[str, ConfigEntry], state: State) -> Mapping[str, str]:
    """The static configs of a broker. ACLs are proof that there is an authorizer."""
    found = {
        entry.name: entry.value
        for entry in broker.values()
        if entry.source is ConfigSource.STATIC_BROKER and entry.value is not None
    }
    if "acls" in state.absent:
        found[_AUTHORIZER] = ""
    elif not found.get(_AUTHORIZER):
        found.pop(_AUTHORIZER, None)
    return found
