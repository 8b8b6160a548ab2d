"""What the shell knows of one cluster: immutable, made of independent parts, swapped whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigType, ResourceType
from kafka_shell.admin.topics.model import TopicSummary
from kafka_shell.plan.results import Failure

from .match import NameIndex

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import Feature
    from kafka_shell.admin.quotas.model import Quota

K = TypeVar("K")
T = TypeVar("T")

NOTHING: Mapping[Any, Any] = MappingProxyType({})


def _nothing() -> Mapping[Any, Any]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """One part: the last value that could be read, when (epoch seconds), and why it is not newer.

    `read_at` is 0 where nothing was read from the cluster: the value is then empty, or from disk.
    """

    value: T
    read_at: float = 0.0
    error: Failure | None = None

    def failed(self, why: Failure) -> Part[T]:
        """The same value, no longer known to hold."""
        return replace(self, error=why)

    def older_than(self, seconds: float, now: float) -> bool:
        """Whether it was read longer ago than that, or never."""
        return now - self.read_at > seconds


@dataclass(frozen=True, slots=True)
class ConfigDoc:
    """What a config key is, whatever resource it is set on. `text` is the broker's, as plain text.

    `default` is the value that holds where no level sets one; None where there is none or it is
    not told (sensitive keys).
    """

    name: str
    type: ConfigType = ConfigType.UNKNOWN
    text: str = ""
    default: str | None = None
    read_only: bool = False
    sensitive: bool = False


@dataclass(frozen=True)
class TopicIndex:
    """Every topic: names ready to be searched, counts of each on demand, sums."""

    index: NameIndex = field(default_factory=NameIndex)
    partitions: int = 0
    offline: int = 0
    under_replicated: int = 0
    summary_of: Callable[[str], TopicSummary | None] = field(
        default=lambda name: None, repr=False, compare=False
    )

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, name: object) -> bool:
        return name in self.index

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, sorted without regard to case."""
        return self.index.names


@dataclass(frozen=True, slots=True)
class TopicsOf:
    """The topics that a group has offsets in."""

    group: str


Docs = Mapping[str, ConfigDoc]
Entries = Mapping[str, ConfigEntry]
EMPTY_INDEX = NameIndex()

# Parts of the view that are read when a line wants them. Those in NAMES are names and no more, and
# kept on disk.
NAMES = ("groups", "principals", "users", "client_ids", "client_metrics", "transactional_ids",
         "log_dirs", "tokens")  # fmt: skip
PARTS = (*NAMES, "quotas", "features")


@dataclass(frozen=True)
class ClusterView:
    """One cluster as it was last seen. Each part has its own age and its own error.

    `documentation` is by resource type (key -> ConfigDoc); `configs` are the resources somebody
    looked at, `group_topics` the groups whose offsets somebody is about to change. The parts in
    PARTS are empty until a line wants such a name.
    """

    name: str = ""
    bootstrap: str = ""
    cluster_id: str = ""
    controller: int | None = None
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
    quotas: Part[tuple[Quota, ...]] = Part(())
    features: Part[tuple[Feature, ...]] = Part(())

    @property
    def read_at(self) -> float:
        """When the cluster was last read (epoch seconds); 0 where it never was."""
        return self.topics.read_at

    @property
    def version(self) -> str:
        """The release of the brokers (the first one that tells), or empty."""
        return next((broker.version for broker in self.brokers.value if broker.version), "")

    def docs(self, kind: ResourceType) -> Docs:
        """What is known of the keys of this kind of resource."""
        part = self.documentation.get(kind)
        return part.value if part else NOTHING

    def entries(self, resource: ConfigResource) -> Entries:
        """The configs of one resource, as far as they are known."""
        part = self.configs.get(resource)
        return part.value if part else NOTHING

    def with_configs(self, found: Mapping[ConfigResource, Part[Entries]], keep: int) -> ClusterView:
        """The view with these resources' configs; the ones read longest ago are forgotten."""
        return replace(self, configs=_renewed(self.configs, found, keep))

    def with_group_topics(
        self, found: Mapping[TopicsOf, Part[tuple[str, ...]]], keep: int
    ) -> ClusterView:
        """The view with the topics of these groups; likewise."""
        return replace(self, group_topics=_renewed(self.group_topics, found, keep))

    def part(self, name: str) -> Part[Any]:
        """One of PARTS."""
        found: Part[Any] = getattr(self, name)
        return found

    def with_part(self, name: str, part: Part[Any]) -> ClusterView:
        """The view with this one of PARTS."""
        changed: dict[str, Any] = {name: part}
        return replace(self, **changed)

    def with_documentation(self, kind: ResourceType, part: Part[Docs]) -> ClusterView:
        """The view with what is known of this kind's keys."""
        return replace(self, documentation=MappingProxyType({**self.documentation, kind: part}))


def _renewed(held: Mapping[K, T], found: Mapping[K, T], keep: int) -> Mapping[K, T]:
    """Both, what was found last; no more than `keep`, without the first."""
    merged = {**{key: part for key, part in held.items() if key not in found}, **found}
    return MappingProxyType(dict(list(merged.items())[-keep:]))
