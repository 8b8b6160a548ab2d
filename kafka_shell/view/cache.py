"""The current view of one cluster, refreshed by a thread of its own and swapped in whole.

The thread sleeps until somebody types, wishes or changes something: it never polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.errors import ShellError, Status
from kafka_shell.plan.results import Failure

from . import names, readers
from .disk import HasCache, Shelf
from .view import NAMES, PARTS, ClusterView, Docs, Part, TopicsOf

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.admin.wire.endpoint import ConnectionConfig

TOPICS = "topics"
CONFIGS = "configs"
GROUPS = "groups"
Want = str | ConfigResource | ResourceType | TopicsOf

FRESH_S = 30.0
DEADLINE_S = 15.0  # one refresh; commands have deadlines of their own
BACKOFF_S = 1.0
BACKOFF_MAX_S = 30.0
KEEP_CONFIGS = 200
_CLOSE_S = 0.25
_AT_HAND = (ResourceType.TOPIC, ResourceType.BROKER)  # read without being asked for


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the toolbar says: what is being read, or why nothing can be and since when."""

    reading: tuple[str, ...] = ()
    failure: Failure | None = None
    since: float = 0.0
    retry_at: float = 0.0
    attempts: int = 0


class Cache:
    """The view of the cluster at `connection`, kept current while somebody types.

    Listeners are called on the cache's thread after each swap or change of state.
    """

    def __init__(
        self,
        connection: ConnectionConfig,
        paths: HasCache,
        clock: Callable[[], float] = time.time,
        *,
        name: str = "",
        open_cluster: Callable[[ConnectionConfig], Cluster] | None = None,
    ) -> None:
        self.bootstrap = ",".join(map(str, connection.bootstrap))
        self._connection = connection
        self._clock = clock
        self._open = open_cluster or _open
        self._notes: list[str] = []
        self._shelf = Shelf(paths.cache, self._notes.append)
        self._view = ClusterView(name=name, bootstrap=self.bootstrap)
        self._state = CacheState()
        self._listeners: list[Callable[[], None]] = []
        self._bell = threading.Condition()
        self._wanted: dict[Want, None] = {}
        self._doing: frozenset[Want] = frozenset()
        self._thread: threading.Thread | None = None
        self._cluster: Cluster | None = None
        self._closed = False
        self._on_disk: tuple[tuple[str, ...], str] = ((), "")  # topics, and their cluster's id
        self._names_on_disk: dict[str, tuple[str, ...]] = {}
        self._docs_version = ""

    # -- for the prompt's thread: nothing here waits ----------------------------------------------

    @property
    def view(self) -> ClusterView:
        """What is known now."""
        return self._view

    @property
    def state(self) -> CacheState:
        """What is being read, or what fails."""
        return self._state

    def on_swap(self, listener: Callable[[], None]) -> None:
        """Call `listener` (on the cache's thread) after each new view or state."""
        self._listeners.append(listener)

    def notes(self) -> list[str]:
        """Things to say once, such as a broken file that was set aside; each is given once."""
        said, self._notes[:] = list(self._notes), []
        return said

    def touch(self) -> None:
        """Somebody types: read the cluster again if the view is older than 30 s."""
        topics = self._view.topics
        if topics.older_than(FRESH_S, self._clock()) and not self._backing_off():
            self._want([TOPICS])

    def refresh(self, parts: frozenset[str] = frozenset()) -> None:
        """Read these parts again, whatever their age: `topics`, `configs`, those of PARTS that were
        read before; none means all.

        A part that nobody reads is no error: a plan may touch what the view does not hold.
        """
        wants: list[Want] = []
        if not parts or TOPICS in parts or "brokers" in parts:
            wants.append(TOPICS)
        if not parts or CONFIGS in parts:
            wants += self._view.configs
        if not parts or GROUPS in parts:
            wants += self._view.group_topics
        wants += [part for part in PARTS if part in (parts or PARTS) and self._was_read(part)]
        self._want(wants, again=True)

    def _was_read(self, part: str) -> bool:
        held = self._view.part(part)
        return bool(held.read_at) or held.error is not None

    def wish(self, want: Want) -> None:
        """The completer lacks these configs, the documentation of this kind's keys, the topics of
        a group, or one of PARTS."""
        held = self._held(want)
        lasting = float("inf") if isinstance(want, ResourceType) else FRESH_S
        if held is not None and held.error is not None:
            lasting = FRESH_S
        if held is not None and held.read_at and not held.older_than(lasting, self._clock()):
            return
        if not self._backing_off():
            self._want([want])

    def _held(self, want: Want) -> Part[Any] | None:
        if isinstance(want, ConfigResource):
            return self._view.configs.get(want)
        if isinstance(want, ResourceType):
            return self._view.documentation.get(want)
        if isinstance(want, TopicsOf):
            return self._view.group_topics.get(want)
        return self._view.part(want)

    def retry(self) -> None:
        """Something else has reached the cluster: if reading failed, try again now."""
        if self._state.failure is not None:
            self._want([TOPICS])

    def close(self) -> None:
        """End the thread, at once where it is idle; what is in flight is left to itself."""
        with self._bell:
            self._closed = True
            self._listeners.clear()
            self._bell.notify()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)
            if self._thread.is_alive() and self._cluster is not None:
                self._cluster.close()

    def _backing_off(self) -> bool:
        return self._state.failure is not None and self._clock() < self._state.retry_at

    def _want(self, wants: Iterable[Want], *, again: bool = False) -> None:
        """Wake the thread. `again`: what is being read just now may be from before a change."""
        with self._bell:
            new = [want for want in wants if again or want not in self._doing]
            if not new or self._closed:
                return
            self._wanted.update(dict.fromkeys(new))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="view", daemon=True)
                self._thread.start()
            self._bell.notify()

    # -- the cache's thread ------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._take_from_disk()
        except Exception as error:  # whatever is on disk, the cluster is still to be read
            self._notes.append(f"what the last session knew is not used: {readers.why_of(error)}")
        while True:
            with self._bell:
                self._doing = frozenset()
                while not self._wanted and not self._closed:
                    self._bell.wait()
                if self._closed:
                    break
                wants, self._wanted = list(self._wanted), {}
                self._doing = frozenset(wants)
            self._serve(wants)
        if self._cluster is not None:
            self._cluster.close()

    def _take_from_disk(self) -> None:
        kept = self._shelf.view(self.bootstrap)
        self._on_disk = (kept.topics.value.names, kept.cluster_id)
        self._names_on_disk = {name: kept.part(name).value.names for name in NAMES}
        self._swap(replace(kept, name=self._view.name))

    def _serve(self, wants: list[Want]) -> None:
        if not self._view.read_at and TOPICS not in wants:
            wants.append(TOPICS)  # what else is wanted needs to know brokers and topics
        self._say(replace(self._state, reading=tuple(map(_spoken, wants))))
        try:
            if self._cluster is None:
                self._cluster = self._open(self._connection)
            with self._cluster.within(DEADLINE_S):
                self._read(self._cluster, wants)
        except Exception as error:  # whatever it is, the prompt goes on and says so
            self._failed(readers.why_of(error))
        else:
            self._say(CacheState())

    def _read(self, cluster: Cluster, wants: list[Want]) -> None:
        if TOPICS in wants:
            known = self._view.cluster_id
            view = readers.read_topics(cluster, self._view, self._clock())
            self._swap(view if known in ("", view.cluster_id) else self._of_another(view))
            self._keep_topics()
        resources = [want for want in wants if isinstance(want, ConfigResource)]
        if resources:
            found = readers.read_configs(cluster, resources, self._clock())
            self._swap(self._view.with_configs(found, KEEP_CONFIGS))
        if groups := [want for want in wants if isinstance(want, TopicsOf)]:
            topics = readers.read_group_topics(cluster, groups, self._clock())
            self._swap(self._view.with_group_topics(topics, KEEP_CONFIGS))
        if parts := [want for want in wants if isinstance(want, str) and want in PARTS]:
            found_parts = names.read(cluster, parts, self._view.part, self._clock())
            view = self._view
            for name, part in found_parts.items():
                view = view.with_part(name, part)
            self._swap(view)
            self._keep_names()
        kinds = {want for want in wants if isinstance(want, ResourceType)}
        if self._view.version != self._docs_version:
            self._docs_version = self._view.version
            kinds |= {*_AT_HAND, *self._view.documentation}
        if TOPICS in wants:  # what could not be documented perhaps can be now
            kinds |= {kind for kind, part in self._view.documentation.items() if part.error}
        for kind in sorted(kinds):
            self._document(cluster, kind)

    def _document(self, cluster: Cluster, kind: ResourceType) -> None:
        """The keys of this kind: from disk where this broker version was met before."""
        docs: Docs | Failure = self._shelf.documentation(self._docs_version, kind)
        if not docs:
            try:
                docs = readers.read_documentation(cluster, self._view, kind)
            except ShellError as error:
                if error.status is Status.UNREACHABLE:
                    raise
                docs = readers.why_of(error)
            if not isinstance(docs, Failure):
                self._shelf.keep_documentation(self._docs_version, kind, docs)
        now = self._clock()
        if isinstance(docs, Failure):
            held = self._view.documentation.get(kind, Part(MappingProxyType({})))
            part = replace(held, read_at=now, error=docs)
        else:
            part = Part(MappingProxyType(dict(docs)), now)
        self._swap(self._view.with_documentation(kind, part))

    def _of_another(self, view: ClusterView) -> ClusterView:
        """The view without what was kept of the cluster that was at this address before."""
        self._names_on_disk = {}
        self._shelf.keep_names(self.bootstrap, {})
        for name in PARTS:
            view = view.with_part(name, getattr(ClusterView(), name))
        return replace(view, configs=ClusterView().configs, group_topics=ClusterView().group_topics)

    def _keep_topics(self) -> None:
        names, cluster_id = self._view.topics.value.names, self._view.cluster_id
        if (names, cluster_id) != self._on_disk:
            self._on_disk = (names, cluster_id)
            self._shelf.keep_topics(self.bootstrap, cluster_id, names)

    def _keep_names(self) -> None:
        known = {name: self._view.part(name).value.names for name in NAMES}
        if known != self._names_on_disk:
            self._names_on_disk = known
            self._shelf.keep_names(self.bootstrap, known)

    def _failed(self, why: Failure) -> None:
        now, state = self._clock(), self._state
        attempts = state.attempts + 1
        pause = min(BACKOFF_S * 2 ** (attempts - 1), BACKOFF_MAX_S)
        self._view = replace(self._view, topics=self._view.topics.failed(why))
        self._say(
            CacheState(
                failure=why,
                since=state.since if state.failure is not None else now,
                retry_at=now + pause,
                attempts=attempts,
            )
        )

    def _swap(self, view: ClusterView) -> None:
        self._view = view
        self._tell()

    def _say(self, state: CacheState) -> None:
        self._state = state
        self._tell()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            with suppress(Exception):  # a prompt that is just ending must not end this thread
                listener()


def _spoken(want: Want) -> str:
    if isinstance(want, ResourceType):
        return f"{want.name.lower().replace('_', '-')} documentation"
    if isinstance(want, TopicsOf):
        return f"topics of {want.group}"
    return want.replace("_", " ") if isinstance(want, str) else f"configs of {want}"


def _open(connection: ConnectionConfig) -> Cluster:
    from kafka_shell.admin.wire.connection import Cluster

    return Cluster(connection)
