"""The view of a cluster: an immutable value made of independent parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct, field

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType
from kafka_shell.view.match import NameIndex
from kafka_shell.wire.model import Broker, TopicSummary

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import Feature
    from kafka_shell.admin.quotas.model import Quota
    from kafka_shell.wire.client_properties import Property

K = TypeVar("K")
T = TypeVar("T")

NOTHING: Mapping[Any, Any] = MappingProxyType({})


def _nothing() -> Mapping[Any, Any]:
    return NOTHING


class Part(Struct, Generic[T], frozen=True):
    """A part of the view: the last value, when it was read (epoch seconds), and the last error.

    `read_at` is 0 if it was not read from the cluster: the value is empty or from disk.
    """

    value: T
    read_at: float = 0.0
    error: Failure | None = None

    def failed(self, why: Failure) -> Part[T]:
        """Return the part with an error; the value may be out of date."""
        return replace(self, error=why)

    def older_than(self, seconds: float, now: float) -> bool:
        """Return whether the part was read longer ago, or never."""
        return now - self.read_at > seconds


class ConfigDoc(Struct, frozen=True):
    """The documentation of a config key. `text` is the plain text of the broker.

    `default` is None if there is no default or it is not returned (sensitive configs).
    """

    name: str
    type: ConfigType = ConfigType.UNKNOWN
    text: str = ""
    default: str | None = None
    read_only: bool = False
    sensitive: bool = False


def _no_summary(name: str) -> TopicSummary | None:
    return None


class TopicIndex(Struct, frozen=True):
    """All topics: a searchable index, totals, and the summary of each topic on demand.

    `under_replicated` includes partitions that are being reassigned if `reassignments_unread`.
    """

    index: NameIndex = field(default_factory=NameIndex)
    offline: int = 0
    under_replicated: int = 0
    summary_of: Callable[[str], TopicSummary | None] = _no_summary
    reassignments_unread: bool = False

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, name: object) -> bool:
        return name in self.index

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted case-insensitively."""
        return self.index.names


class TopicsOf(Struct, frozen=True):
    """Identifies the topics in which a group has offsets."""

    group: str


# What can be read on demand: documentation, configs, the topics of a group, or one of PARTS.
Key = str | ResourceType | ConfigResource | TopicsOf
Properties = Mapping[str, "Property"]  # of the schema registry
NO_PROPERTIES: Properties = MappingProxyType({})
Docs = Mapping[str, ConfigDoc]
Entries = Mapping[str, ConfigEntry]
EMPTY_INDEX = NameIndex()

# Parts of the view that are read on demand. Those in NAMES contain only names and are saved on
# disk.
NAMES = ("groups", "principals", "users", "client_ids", "client_metrics", "transactional_ids",
         "log_dirs", "tokens", "subjects")  # fmt: skip
PARTS = (*NAMES, "quotas", "features")


class ClusterView(Struct, frozen=True):
    """The last known state of a cluster. Each part has its own age and error.

    `documentation` is by resource type (key -> ConfigDoc). `configs`, `group_topics` and PARTS are
    empty until a completion needs them.
    """

    name: str = ""
    cluster_id: str = ""
    brokers: Part[tuple[Broker, ...]] = Part(())
    topics: Part[TopicIndex] = Part(TopicIndex())
    documentation: Mapping[ResourceType, Part[Docs]] = field(default_factory=_nothing)
    configs: Mapping[ConfigResource, Part[Entries]] = field(default_factory=_nothing)
    group_topics: Mapping[TopicsOf, Part[tuple[str, ...]]] = field(default_factory=_nothing)
    groups: Part[NameIndex] = Part(EMPTY_INDEX)
    principals: Part[NameIndex] = Part(EMPTY_INDEX)
    users: Part[NameIndex] = Part(EMPTY_INDEX)
    client_ids: Part[NameIndex] = Part(EMPTY_INDEX)
    client_metrics: Part[NameIndex] = Part(EMPTY_INDEX)
    transactional_ids: Part[NameIndex] = Part(EMPTY_INDEX)
    log_dirs: Part[NameIndex] = Part(EMPTY_INDEX)
    tokens: Part[NameIndex] = Part(EMPTY_INDEX)
    subjects: Part[NameIndex] = Part(EMPTY_INDEX)
    quotas: Part[tuple[Quota, ...]] = Part(())
    features: Part[tuple[Feature, ...]] = Part(())

    @property
    def read_at(self) -> float:
        """When the cluster was last read (epoch seconds), or 0."""
        return self.topics.read_at

    @property
    def version(self) -> str:
        """The Kafka version of the first broker whose version is known, or empty."""
        return next((broker.version for broker in self.brokers.value if broker.version), "")

    def docs(self, kind: ResourceType) -> Docs:
        """Return the known documentation of a resource type."""
        part = self.documentation.get(kind)
        return part.value if part else NOTHING

    def entries(self, resource: ConfigResource) -> Entries:
        """Return the known configs of a resource."""
        part = self.configs.get(resource)
        return part.value if part else NOTHING

    def with_configs(self, parts: Mapping[ConfigResource, Part[Entries]], keep: int) -> ClusterView:
        """Return the view with these configs added; keeps the most recent ones."""
        return replace(self, configs=_renewed(self.configs, parts, keep))

    def with_group_topics(
        self, parts: Mapping[TopicsOf, Part[tuple[str, ...]]], keep: int
    ) -> ClusterView:
        """Return the view with the topics of these groups added; keeps the most recent ones."""
        return replace(self, group_topics=_renewed(self.group_topics, parts, keep))

    def part(self, name: str) -> Part[Any]:
        """Return one of PARTS."""
        part: Part[Any] = getattr(self, name)
        return part

    def lookup(self, key: Key) -> Part[Any] | None:
        """Return the part with this key, or None if it was never read."""
        if isinstance(key, ConfigResource):
            return self.configs.get(key)
        if isinstance(key, ResourceType):
            return self.documentation.get(key)
        if isinstance(key, TopicsOf):
            return self.group_topics.get(key)
        return self.part(key)

    def with_part(self, name: str, part: Part[Any]) -> ClusterView:
        """Return the view with one of PARTS replaced."""
        changed: dict[str, Any] = {name: part}
        return replace(self, **changed)

    def with_documentation(self, kind: ResourceType, part: Part[Docs]) -> ClusterView:
        """Return the view with the documentation of a resource type."""
        return replace(self, documentation=MappingProxyType({**self.documentation, kind: part}))


def _renewed(current: Mapping[K, T], fresh: Mapping[K, T], keep: int) -> Mapping[K, T]:
    """Return `current` updated with `fresh`, limited to the last `keep` entries."""
    merged = {**{key: part for key, part in current.items() if key not in fresh}, **fresh}
    return MappingProxyType(dict(list(merged.items())[-keep:]))
