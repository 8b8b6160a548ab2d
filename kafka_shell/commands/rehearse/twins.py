"""The folders of twins: each is used by one rehearsal, and removed when it ends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from signal import SIGHUP, SIGTERM
from types import SimpleNamespace
from typing import Any

from msgspec import Struct

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.read import PartReader
from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.configs.model import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ResourceType,
)
from kafka_shell.admin.configs.read import by_name, describe, of_some_broker
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.topics.model import format_assignment
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Report, Resource
from kafka_shell.base.processes import exiting_on
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands.state.model import Fields, State
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.section import StateRequest, section_of
from kafka_shell.commands.state.sections.configs import Configs
from kafka_shell.commands.state.sections.topics import ASSIGNMENT, SHAPE
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.language.kinds import select
from kafka_shell.sandbox.cluster import attach, in_use_by_others
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import Original, build, remove, take
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.coordinators import OFFSETS_TOPIC
from kafka_shell.wire.endpoint import ConnectionConfig
from kafka_shell.wire.error_codes import (
    CLUSTER_AUTHORIZATION_FAILED,
    GROUP_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
)
from kafka_shell.wire.failures import as_error, failure, raise_first
from kafka_shell.wire.metadata_scan import MetadataScan, is_missing, scan
from kafka_shell.wire.model import Broker
from kafka_shell.wire.requests import ANY, Target, as_request

_NEW_S = 60.0  # a folder that is younger may not be in use yet


@contextmanager
def running_twin(root: Path, original: Original, report: Report) -> Iterator[Sandbox]:
    """A twin below `root`: the spare one if there is one of this metadata, or a new one. It is
    removed at the end, however it ends."""
    remove_abandoned(root)
    with exiting_on(SIGTERM, SIGHUP):
        ready = take(root, original, report)
        folder = ready.folder if ready is not None else root / secrets.token_hex(8)
        with attach(folder):
            try:
                yield ready or build(folder, original, report)
            finally:
                remove(folder)


def remove_abandoned(root: Path) -> None:
    """Remove the twins of rehearsals that were killed."""
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _NEW_S and not in_use_by_others(folder):
                remove(folder)


# The connection to a twin, which refuses what the original would refuse for lack of permission.

_DELETE_TOPICS, _CREATE_PARTITIONS, _ALTER_CONFIGS = 20, 37, 44
_OF_CLUSTER = (ResourceType.BROKER, ResourceType.BROKER_LOGGER, ResourceType.CLIENT_METRICS)
# API key -> the fields of the request with one item for each resource, and that of the response.
_ITEMS = {
    _DELETE_TOPICS: (("topics", "topic_names"), "responses"),
    _CREATE_PARTITIONS: (("topics",), "results"),
    _ALTER_CONFIGS: (("resources",), "responses"),
}


class TwinCluster(Cluster):
    """A twin, on which everything is allowed. What the user may not change on the original is not
    sent and fails with the error of a broker, so that it is missing from the twin afterwards."""

    def __init__(self, config: ConnectionConfig, rights: Rights) -> None:
        super().__init__(config)
        self._rights = rights

    def send(self, request: Any, to: Target = ANY, **options: Any) -> Any:
        """Send the part of a request that the user may send to the original."""
        key = as_request(request).api_key
        if key in ON_CLUSTER and self._rights.lacks(ON_CLUSTER[key]):
            self.sent.add(key)  # the line is judged as if it had been sent
            needed = f"{ON_CLUSTER[key].name} on the cluster"
            raise as_error(failure(CLUSTER_AUTHORIZATION_FAILED, requires=needed))
        refused = dict(self._refused(key, request)) if key in _ITEMS else {}
        if not refused:
            return super().send(request, to, **options)
        self.sent.add(key)
        fields, rows = _ITEMS[key]
        count = max(len(getattr(request, field)) for field in fields)
        for field in fields:
            items = getattr(request, field)
            setattr(request, field, [each for at, each in enumerate(items) if at not in refused])
        if len(refused) == count:
            return SimpleNamespace(throttle_time_ms=0, **{rows: list(refused.values())})
        response = super().send(request, to, **options)
        setattr(response, rows, [*getattr(response, rows), *refused.values()])
        return response

    def _refused(self, key: int, request: Any) -> Iterator[tuple[int, Any]]:
        """The positions of the items that the original would refuse, with the row of each."""
        if key == _ALTER_CONFIGS:
            for at, each in enumerate(request.resources):
                if code := self._refusal_of_configs(each.resource_type, each.resource_name):
                    yield at, _row(code, each)
            return
        items: Sequence[Any] = request.topics
        names = [item.name for item in items]
        if key == _DELETE_TOPICS:
            items, names = items or request.topic_names, request.topic_names  # by ID, or by name
        for at, (each, name) in enumerate(zip(items, names, strict=True)):
            if self._rights.lacks(ON_TOPICS[key], name):
                yield at, _row(TOPIC_AUTHORIZATION_FAILED, each, name)

    def _refusal_of_configs(self, kind: int, name: str) -> int:
        """The error code of changing the configs of a resource, or 0 if it may be allowed."""
        if kind == ResourceType.TOPIC:
            lacks = self._rights.lacks(AclOperation.ALTER_CONFIGS, name)
            return TOPIC_AUTHORIZATION_FAILED if lacks else 0
        if kind == ResourceType.GROUP:
            return GROUP_AUTHORIZATION_FAILED if self._rights.lacks_on_group(name) else 0
        lacks = kind in _OF_CLUSTER and self._rights.lacks(AclOperation.ALTER_CONFIGS)
        return CLUSTER_AUTHORIZATION_FAILED if lacks else 0


def _row(code: int, item: Any, name: str = "") -> Any:
    """The row of a response for an item of a request."""
    return SimpleNamespace(
        error_code=code,
        error_message=None,
        name=name,
        topic_id=getattr(item, "topic_id", None),
        resource_type=getattr(item, "resource_type", None),
        resource_name=getattr(item, "resource_name", None),
    )


# The configs of a broker on a twin, whose brokers have no process that returns them.

_DEFAULT = ConfigResource(ResourceType.BROKER, "")


class BrokerConfigs(Struct, frozen=True, eq=False):
    """Returns the configs of a broker of the original (with synonyms), with the cluster-wide
    defaults that are set on the twin now."""

    original: Mapping[str, ConfigEntry]

    def __call__(self, twin: Cluster) -> Mapping[str, ConfigEntry]:
        entries = describe(twin, [_DEFAULT])
        raise_first(entries.failures)
        now = by_name(entries[_DEFAULT])
        return {key: _with_default(each, now.get(key)) for key, each in self.original.items()}


def _with_default(entry: ConfigEntry, default: ConfigEntry | None) -> ConfigEntry:
    """The config with this cluster-wide default instead of that of the original."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER
    other = tuple(synonym for synonym in entry.synonyms if synonym.source is not source)
    if default is None and len(other) == len(entry.synonyms):
        return entry
    own = tuple(synonym for synonym in other if synonym.source is ConfigSource.DYNAMIC_BROKER)
    new = () if default is None else (ConfigSynonym(entry.name, default.value, source),)
    synonyms = (*own, *new, *other[len(own) :])
    if not synonyms:
        return replace(entry, value=None, source=ConfigSource.DEFAULT, synonyms=())
    return replace(entry, value=synonyms[0].value, source=synonyms[0].source, synonyms=synonyms)


# Read what a twin copies from a cluster, over a connection that changes nothing.

STATIC_CONFIGS = "static broker configs"
MOST_TOPICS = 50_000
_TOPICS_PER_GIB = 10_000
_AUTHORIZER = "authorizer.class.name"
# The data of dynamic client configs is records.
COPIED_KINDS = tuple(kind for kind in KINDS if kind not in ("client_configs", "subjects"))


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
    known = PartReader(cluster, unread, None)("fenced brokers", registered_brokers) or {}
    for id in sorted((metadata.replica_ids() | known.keys()) - running):
        yield known.get(id) or Broker(id, "", 0)


def _moving(cluster: Cluster, unread: dict[str, Failure]) -> Mapping[TopicPartition, Reassignment]:
    moves = PartReader(cluster, unread, None)("partition reassignments", under_way)
    return moves.values if moves is not None else {}


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
    for kind, part in state.parts.items():
        for resource, fields in part.items() if isinstance(section_of(kind), Configs) else ():
            yield resource, {key: str(value) for key, value in fields.items()}


def _broker(cluster: Cluster, unread: dict[str, Failure]) -> Mapping[str, ConfigEntry]:
    """The configs of a broker; none if they cannot be read."""
    read = PartReader(cluster, unread, None)
    return read(STATIC_CONFIGS, partial(of_some_broker, synonyms=True)) or {}


def _settings(broker: Mapping[str, ConfigEntry], state: State) -> Mapping[str, str]:
    """The static configs of a broker. ACLs are proof that there is an authorizer."""
    static = {
        entry.name: entry.value
        for entry in broker.values()
        if entry.source is ConfigSource.STATIC_BROKER and entry.value is not None
    }
    if "acls" in state.absent:
        static[_AUTHORIZER] = ""
    elif not static.get(_AUTHORIZER):
        static.pop(_AUTHORIZER, None)
    return static


# -- What the user may do on the original: a twin allows everything --------------------------------

# API key -> the operation that it requires on the cluster, or on each topic.
ON_CLUSTER = {
    30: AclOperation.ALTER,
    31: AclOperation.ALTER,
    43: AclOperation.ALTER,
    45: AclOperation.ALTER,
    49: AclOperation.ALTER_CONFIGS,
    51: AclOperation.ALTER,
    57: AclOperation.ALTER,
    64: AclOperation.ALTER,
}
ON_TOPICS = {
    20: AclOperation.DELETE,
    37: AclOperation.ALTER,
    44: AclOperation.ALTER_CONFIGS,
}
# On the cluster: together, only super users have them, and everyone if there is no authorizer.
_OF_SUPER_USERS = (AclOperation.CLUSTER_ACTION, AclOperation.ALTER)
_CREATE_TOPICS, _ALTER_CONFIGS = 19, 44
_CLUSTER_PARTS = ("broker", "broker-default", "client-metrics")  # kinds of resources with configs


class Rights:
    """The rights of the user on the original. They are read when first needed."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read: dict[str, rights.Operations] = {}
        self._of_groups: dict[str, rights.Operations] = {}

    def missing(self, sent: Iterable[int], changed: Iterable[Resource]) -> tuple[str, bool]:
        """The right that a line lacks that sent these requests for these changes: `ALTER on the
        cluster`, or an empty string; and whether it is certain. Raises ShellError if the rights
        cannot be read."""
        keys, resources = set(sent), set(changed)
        for operation in _on_cluster(keys, resources):
            if not self._allows("", operation):
                return f"{operation.name} on the cluster", True
        topics = sorted({resource.name for resource in resources if resource.kind == "topic"})
        for key in sorted(keys & ON_TOPICS.keys()):
            for topic in topics:
                if not self._allows(topic, ON_TOPICS[key]):
                    return f"{ON_TOPICS[key].name} on topic {topic}", True
        if _ALTER_CONFIGS in keys:
            for group in sorted({each.name for each in resources if each.kind == "group"}):
                if (allowed := self._on_group(group)) is not True:
                    right = f"{AclOperation.ALTER_CONFIGS.name} on group {group}"
                    return right, allowed is False
        if _CREATE_TOPICS in keys and not self._allows("", AclOperation.CREATE):
            return "CREATE on the cluster or on the topic", False
        return "", True

    def lacks(self, operation: AclOperation, topic: str = "") -> bool:
        """Whether the user certainly lacks an operation on a topic, or on the cluster."""
        try:
            return not self._allows(topic, operation)
        except ShellError:  # `missing` raises it again
            return False

    def lacks_on_group(self, group: str) -> bool:
        """Whether the user certainly may not alter the configs of a group."""
        try:
            return self._on_group(group) is False
        except ShellError:  # `missing` raises it again
            return False

    def _on_group(self, group: str) -> bool | None:
        """Whether the user may alter the configs of a group; None if unknown."""
        if group not in self._of_groups:
            self._of_groups[group] = rights.on_group(self._cluster, group)
        operations = self._of_groups[group]
        if operations is not None:
            return AclOperation.ALTER_CONFIGS in operations
        # No broker reports the rights on groups before the first group of a cluster.
        own = all(self._allows("", operation) for operation in _OF_SUPER_USERS)
        return True if own and is_missing(self._cluster, OFFSETS_TOPIC) else None

    def _allows(self, topic: str, operation: AclOperation) -> bool:
        if topic not in self._read:
            self._read[topic] = (
                rights.on_topic(self._cluster, topic) if topic else rights.on_cluster(self._cluster)
            )
        operations = self._read[topic]
        return operations is None or operation in operations


def _on_cluster(keys: set[int], resources: set[Resource]) -> Iterator[AclOperation]:
    """The operations on the cluster that these requests require."""
    for key in sorted(keys & ON_CLUSTER.keys()):
        yield ON_CLUSTER[key]
    if _ALTER_CONFIGS in keys and any(resource.kind in _CLUSTER_PARTS for resource in resources):
        yield AclOperation.ALTER_CONFIGS
