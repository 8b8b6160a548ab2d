"""The cached view of a cluster, refreshed by a background thread.

The thread waits until the user types, a completion needs data, or a command changes something. It
never polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import text_of_html
from kafka_shell.base.waits import GRACE_S, REFRESH_S
from kafka_shell.view.disk import DiskCache
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import (
    NAMES,
    NO_PROPERTIES,
    PARTS,
    ClusterView,
    ConfigDoc,
    Docs,
    Entries,
    Key,
    Part,
    Properties,
    TopicIndex,
    TopicsOf,
)
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Broker, TopicSummary

if TYPE_CHECKING:
    from kafka_shell.view.parts import LastRead
    from kafka_shell.wire.endpoint import ConnectionConfig
    from kafka_shell.wire.metadata_scan import MetadataScan


# Read topics, configs and their documentation as parts of the view.


# Does not need to exist: brokers return the defaults of all keys.
_ANY_NAME = "kafka-sh"
_SAMPLES = 10


def read_topics(cluster: Cluster, view: ClusterView, now: float) -> ClusterView:
    """Read topics, brokers and the cluster ID with one Metadata request, and reassignments
    if replicas are not in sync."""
    metadata = scan_reassigned(cluster)
    versions = {broker.id: broker.version for broker in view.brokers.value}
    versions |= {broker.id: broker.version for broker in cluster.brokers() if broker.version}
    brokers = tuple(
        replace(broker, version=versions.get(broker.id, "")) for broker in metadata.brokers
    )
    if not any(broker.version for broker in brokers):
        brokers = _with_release(brokers, cluster)
    index = TopicIndex(
        NameIndex(metadata.names), metadata.offline, metadata.under_replicated,
        partial(_summary, metadata), metadata.reassignments_unread is not None,
    )  # fmt: skip
    return replace(
        view,
        cluster_id=metadata.cluster_id,
        brokers=Part(brokers, now),
        topics=Part(index, now),
    )


def _with_release(brokers: tuple[Broker, ...], cluster: Cluster) -> tuple[Broker, ...]:
    """Set the same version for all brokers if their versions are unknown."""
    release = cluster.release()
    return tuple(replace(broker, version=release) for broker in brokers)


def _summary(metadata: MetadataScan, name: str) -> TopicSummary | None:
    return metadata.summary(name) if name in metadata else None


def read_configs(
    cluster: Cluster, resources: Iterable[ConfigResource], now: float
) -> dict[ConfigResource, Part[Entries]]:
    """Read the configs of resources; errors are per resource. Raises ShellError if no broker is
    reachable."""
    wanted = list(resources)
    try:
        described = configs.describe(cluster, wanted)
    except ShellError as error:
        if error.status is Status.UNREACHABLE:
            raise
        described = Results({}, dict.fromkeys(wanted, as_failure(error)))
    parts: dict[ConfigResource, Part[Entries]] = {
        resource: Part(_by_name(entries), now) for resource, entries in described.values.items()
    }
    nothing: Entries = MappingProxyType({})
    parts |= {resource: Part(nothing, now, why) for resource, why in described.failures.items()}
    return parts


def read_documentation(cluster: Cluster, view: ClusterView, kind: ResourceType) -> Docs | Failure:
    """Read the documentation of the configs of a resource type (KIP-569). Raises ShellError."""
    samples = _samples(view, kind)
    if not samples:
        return Failure("NOTHING_THERE", f"cannot read config keys: no {kind.name.lower()} exists")
    entries = configs.describe(cluster, samples[:1], synonyms=True, documentation=True)
    if entries.failures:
        return entries.failures[samples[0]]
    docs = {entry.name: _doc(entry) for entry in entries[samples[0]]}
    if any(entry.overridden and docs[entry.name].default is None for entry in entries[samples[0]]):
        docs = _with_defaults(docs, configs.describe(cluster, samples[1:]))
    return docs


def _samples(view: ClusterView, kind: ResourceType) -> list[ConfigResource]:
    """Return any resources of this type: only their keys are used."""
    if kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        names = [str(broker.id) for broker in view.brokers.value[:1]]
    elif kind is ResourceType.TOPIC:
        names = list(view.topics.value.names[:_SAMPLES])
    else:
        names = [_ANY_NAME]
    return [ConfigResource(kind, name) for name in names]


def _with_defaults(
    docs: Docs, others: Results[ConfigResource, tuple[ConfigEntry, ...]]
) -> dict[str, ConfigDoc]:
    """Fill in missing defaults from other resources: for an overridden config, brokers do not
    always return the default."""
    defaults = {
        entry.name: entry.value
        for entries in others
        for entry in entries
        if entry.source is ConfigSource.DEFAULT and not entry.sensitive
    }
    return {
        name: replace(doc, default=defaults.get(name)) if doc.default is None else doc
        for name, doc in docs.items()
    }


def _doc(entry: ConfigEntry) -> ConfigDoc:
    default = next(
        (s.value for s in entry.synonyms if s.source is ConfigSource.DEFAULT),
        entry.value if entry.source is ConfigSource.DEFAULT else None,
    )
    return ConfigDoc(
        entry.name, entry.type, text_of_html(entry.documentation), default, entry.read_only,
        entry.sensitive,
    )  # fmt: skip


def _by_name(entries: Iterable[ConfigEntry]) -> Mapping[str, ConfigEntry]:
    return MappingProxyType({entry.name: entry for entry in entries})


def failure_of(error: Exception) -> Failure:
    """Convert an exception to a Failure."""
    if isinstance(error, ShellError):
        return as_failure(error)
    return Failure("internal", f"{type(error).__name__}: {error}")


TOPICS = "topics"
CONFIGS = "configs"
GROUPS = "groups"

FRESH_S = 30.0
BACKOFF_S = 1.0
BACKOFF_MAX_S = 30.0
KEEP_CONFIGS = 200
_ALWAYS_READ = (ResourceType.TOPIC, ResourceType.BROKER)  # always read


class CacheState(Struct, frozen=True):
    """The state shown in the toolbar: what is being read, or the failure and its time, and whether
    it is that no broker was reachable."""

    reading: tuple[str, ...] = ()
    failure: Failure | None = None
    unreachable: bool = False
    since: float = 0.0
    retry_at: float = 0.0
    attempts: int = 0


class Cache:
    """The view of the cluster at `connection`, kept up to date while the user types. `properties`
    are those of its schema registry.

    Listeners are called in the background thread after each change of view or state.
    """

    def __init__(
        self,
        connection: ConnectionConfig,
        folder: Path,
        clock: Callable[[], float] = time.time,
        *,
        name: str = "",
        properties: Properties = NO_PROPERTIES,
        open_cluster: Callable[[ConnectionConfig], Cluster] | None = None,
    ) -> None:
        self.bootstrap = ",".join(map(str, connection.bootstrap))
        self._connection, self._properties = connection, properties
        self._clock = clock
        self._open = open_cluster or _open
        self._notes: list[str] = []
        self._disk_cache = DiskCache(folder, self._notes.append)
        self._view = ClusterView(name=name)
        self._state = CacheState()
        self._listeners: list[Callable[[], None]] = []
        self._condition = threading.Condition()
        self._wanted: dict[Key, None] = {}
        self._doing: frozenset[Key] = frozenset()
        self._thread: threading.Thread | None = None
        self._cluster: Cluster | None = None
        self._closed = False
        self._on_disk: tuple[tuple[str, ...], str] = ((), "")  # topics and cluster ID
        self._names_on_disk: dict[str, tuple[str, ...]] = {}
        self._last_read: LastRead = {}
        self._docs_version = ""

    # -- for the thread of the prompt: never blocks ----------------------------------------------

    @property
    def view(self) -> ClusterView:
        """The current view."""
        return self._view

    @property
    def state(self) -> CacheState:
        """The current state."""
        return self._state

    def on_swap(self, listener: Callable[[], None]) -> None:
        """Call `listener` (in the background thread) after each new view or state."""
        self._listeners.append(listener)

    def notes(self) -> list[str]:
        """Return and clear the notes to print, about cache files that cannot be read or written."""
        notes, self._notes[:] = list(self._notes), []
        return notes

    def touch(self, max_age: float = FRESH_S) -> None:
        """Refresh the view if it is older than these seconds. Called when the user types."""
        topics = self._view.topics
        if topics.older_than(max_age, self._clock()) and not self._backing_off():
            self._enqueue([TOPICS])

    def refresh(self, parts: frozenset[str] = frozenset()) -> None:
        """Reload these parts: `topics`, `configs`, or PARTS that were read before; empty means all.

        Unknown parts are ignored: a plan may change something the view does not contain.
        """
        wants: list[Key] = []
        if not parts or TOPICS in parts or "brokers" in parts:
            wants.append(TOPICS)
        if not parts or CONFIGS in parts:
            wants += self._view.configs
        if not parts or GROUPS in parts:
            wants += self._view.group_topics
        wants += [part for part in PARTS if part in (parts or PARTS) and self._was_read(part)]
        self._enqueue(wants, again=True)

    def _was_read(self, part: str) -> bool:
        current = self._view.part(part)
        return bool(current.read_at) or current.error is not None

    def request(self, want: Key) -> bool:
        """Read topics, configs, config documentation, the topics of a group or one of PARTS if
        needed. Returns whether it is being read."""
        part = self._view.lookup(want)
        max_age = float("inf") if isinstance(want, ResourceType) else FRESH_S
        if part is not None and part.error is not None:
            max_age = FRESH_S
        if part is not None and part.read_at and not part.older_than(max_age, self._clock()):
            return False
        return not self._backing_off() and self._enqueue([want])

    def retry(self) -> None:
        """Try again now if reading failed. Called when a command has reached the cluster."""
        if self._state.failure is not None:
            self._enqueue([TOPICS])

    def close(self) -> None:
        """Stop the thread without waiting for requests in flight."""
        with self._condition:
            self._closed = True
            self._listeners.clear()
            self._condition.notify()
        if self._thread is not None:
            self._thread.join(GRACE_S)
            if self._thread.is_alive() and self._cluster is not None:
                self._cluster.close()

    def _backing_off(self) -> bool:
        return self._state.failure is not None and self._clock() < self._state.retry_at

    def _enqueue(self, wants: Iterable[Key], *, again: bool = False) -> bool:
        """Wake the thread. `again` also repeats reads in progress, which may be out of date.
        Returns False if the cache is closed."""
        with self._condition:
            if self._closed:
                return False
            new = [want for want in wants if again or want not in self._doing]
            self._wanted.update(dict.fromkeys(new))
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="view", daemon=True)
                self._thread.start()
            self._condition.notify()
            return True

    # -- background thread ------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._load_from_disk()
        except Exception as error:  # the cluster can still be read
            self._notes.append(f"the cache on disk cannot be used: {failure_of(error)}")
        while True:
            with self._condition:
                while not self._wanted and not self._closed:
                    self._condition.wait()
                if self._closed:
                    break
                wants, self._wanted = list(self._wanted), {}
                self._doing = frozenset(wants)
            self._read_requested(wants)
        if self._cluster is not None:
            self._cluster.close()

    def _load_from_disk(self) -> None:
        kept = self._disk_cache.view(self.bootstrap)
        self._on_disk = (kept.topics.value.names, kept.cluster_id)
        self._names_on_disk = {name: kept.part(name).value.names for name in NAMES}
        self._swap(replace(kept, name=self._view.name))

    def _read_requested(self, wants: list[Key]) -> None:
        if not self._view.read_at and TOPICS not in wants:
            wants.append(TOPICS)  # other parts require brokers and topics
        self._set_state(replace(self._state, reading=tuple(map(label, wants))))
        try:
            if self._cluster is None:
                self._cluster = self._open(self._connection)
            with self._cluster.within(REFRESH_S):
                self._read(self._cluster, wants)
        except Exception as error:  # shown in the toolbar
            unreachable = isinstance(error, ShellError) and error.status is Status.UNREACHABLE
            self._failed(failure_of(error), unreachable)
        else:
            self._set_state(CacheState())

    def _read(self, cluster: Cluster, wants: list[Key]) -> None:
        if TOPICS in wants:
            known = self._view.cluster_id
            view = read_topics(cluster, self._view, self._clock())
            self._swap(view if known in ("", view.cluster_id) else self._without_old_cluster(view))
            self._save_topics()
        resources = [want for want in wants if isinstance(want, ConfigResource)]
        if resources:
            entries = read_configs(cluster, resources, self._clock())
            self._swap(self._view.with_configs(entries, KEEP_CONFIGS))
        groups = [want for want in wants if isinstance(want, TopicsOf)]
        names = [want for want in wants if isinstance(want, str) and want in PARTS]
        if groups or names:  # which take much to import
            self._read_parts(cluster, groups, names)
        kinds = {want for want in wants if isinstance(want, ResourceType)}
        if self._view.version != self._docs_version:
            self._docs_version = self._view.version
            kinds |= {*_ALWAYS_READ, *self._view.documentation}
        if TOPICS in wants:  # retry failed documentation
            kinds |= {kind for kind, part in self._view.documentation.items() if part.error}
        for kind in sorted(kinds):
            self._document(cluster, kind)

    def _read_parts(self, cluster: Cluster, groups: list[TopicsOf], names: list[str]) -> None:
        from kafka_shell.view import parts

        if groups:
            topics = parts.read_group_topics(cluster, groups, self._clock())
            self._swap(self._view.with_group_topics(topics, KEEP_CONFIGS))
        if names:
            now = self._clock()
            results = parts.read(
                cluster, names, self._view.part, now, self._last_read, self._properties
            )
            view = self._view
            for name, part in results.items():
                view = view.with_part(name, part)
            self._swap(view)
            self._save_names()

    def _document(self, cluster: Cluster, kind: ResourceType) -> None:
        """Read config documentation from disk, or from a broker for a new version."""
        docs: Docs | Failure = self._disk_cache.documentation(self._docs_version, kind)
        if not docs:
            try:
                docs = read_documentation(cluster, self._view, kind)
            except ShellError as error:
                if error.status is Status.UNREACHABLE:
                    raise
                docs = as_failure(error)
            if not isinstance(docs, Failure):
                self._disk_cache.save_documentation(self._docs_version, kind, docs)
        now = self._clock()
        if isinstance(docs, Failure):
            current = self._view.documentation.get(kind, Part(MappingProxyType({})))
            part = replace(current, read_at=now, error=docs)
        else:
            part = Part(MappingProxyType(dict(docs)), now)
        self._swap(self._view.with_documentation(kind, part))

    def _without_old_cluster(self, view: ClusterView) -> ClusterView:
        """Drop the data of another cluster that had this address before."""
        self._names_on_disk, self._last_read = {}, {}
        self._disk_cache.save_names(self.bootstrap, {})
        for name in PARTS:
            view = view.with_part(name, getattr(ClusterView(), name))
        return replace(view, configs=ClusterView().configs, group_topics=ClusterView().group_topics)

    def _save_topics(self) -> None:
        names, cluster_id = self._view.topics.value.names, self._view.cluster_id
        if (names, cluster_id) != self._on_disk:
            self._on_disk = (names, cluster_id)
            self._disk_cache.save_topics(self.bootstrap, cluster_id, names)

    def _save_names(self) -> None:
        known = {name: self._view.part(name).value.names for name in NAMES}
        if known != self._names_on_disk:
            self._names_on_disk = known
            self._disk_cache.save_names(self.bootstrap, known)

    def _failed(self, why: Failure, unreachable: bool) -> None:
        now, state = self._clock(), self._state
        attempts = state.attempts + 1
        pause = min(BACKOFF_S * 2 ** (attempts - 1), BACKOFF_MAX_S)
        self._view = replace(self._view, topics=self._view.topics.failed(why))
        self._set_state(
            CacheState(
                failure=why,
                unreachable=unreachable,
                since=state.since if state.failure is not None else now,
                retry_at=now + pause,
                attempts=attempts,
            )
        )

    def _swap(self, view: ClusterView) -> None:
        self._view = view
        self._notify()

    def _set_state(self, state: CacheState) -> None:
        if not state.reading:
            with self._condition:  # before others see the state: they may ask for the same again
                self._doing = frozenset()
        self._state = state
        self._notify()

    def _notify(self) -> None:
        for listener in list(self._listeners):
            with suppress(Exception):  # a prompt that is closing must not stop this thread
                listener()


def label(want: Key) -> str:
    """Return the name of what is read, for messages."""
    if isinstance(want, ResourceType):
        return f"{want.name.lower().replace('_', '-')} documentation"
    if isinstance(want, TopicsOf):
        return f"topics of {want.group}"
    if isinstance(want, ConfigResource):
        return f"configs of {want}"
    return want.replace("_", " ").replace(" ids", " IDs").replace(" dirs", " directories")


def _open(connection: ConnectionConfig) -> Cluster:
    return Cluster(connection)
