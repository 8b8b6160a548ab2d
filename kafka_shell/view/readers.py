"""How each part of the view is read. The only place of `metadata` that asks the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.topics.model import TopicSummary
from kafka_shell.errors import ShellError, Status
from kafka_shell.plan.results import Failure, Results

from .html_text import plain
from .match import NameIndex
from .view import ClusterView, ConfigDoc, Docs, Entries, Part, TopicIndex, TopicsOf

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.admin.wire.metadata_scan import MetadataScan

# A name that need not exist: brokers answer with the defaults of every key.
_ANY_NAME = "kafka-sh"
_SPECIMENS = 10


def read_topics(cluster: Cluster, view: ClusterView, now: float) -> ClusterView:
    """Topics, brokers, controller and cluster id: one Metadata request. Raises ShellError."""
    from kafka_shell.admin.wire import metadata_scan

    found = metadata_scan.scan(cluster)
    versions = {broker.id: broker.version for broker in view.brokers.value}
    versions |= {broker.id: broker.version for broker in cluster.brokers() if broker.version}
    brokers = tuple(
        replace(broker, version=versions.get(broker.id, "")) for broker in found.brokers
    )
    if not any(broker.version for broker in brokers):
        brokers = _with_release(brokers, cluster)
    index = TopicIndex(
        NameIndex(found.names), found.partitions, found.offline, found.under_replicated,
        partial(_summary, found),
    )  # fmt: skip
    return replace(
        view,
        cluster_id=found.cluster_id,
        controller=found.controller_id if found.controller_id >= 0 else None,
        brokers=Part(brokers, now),
        topics=Part(index, now),
    )


def _with_release(brokers: tuple[Broker, ...], cluster: Cluster) -> tuple[Broker, ...]:
    """Where nothing told which broker is which (another address was used), one release for all."""
    release = cluster.release()
    return tuple(replace(broker, version=release) for broker in brokers)


def _summary(found: MetadataScan, name: str) -> TopicSummary | None:
    return found.summary(name) if name in found else None


def read_configs(
    cluster: Cluster, resources: Iterable[ConfigResource], now: float
) -> dict[ConfigResource, Part[Entries]]:
    """The configs of each resource, or why they cannot be read. Raises ShellError."""
    from kafka_shell.admin.configs import read as configs

    found = configs.describe(cluster, resources)
    parts: dict[ConfigResource, Part[Entries]] = {
        resource: Part(_by_name(entries), now) for resource, entries in found.values.items()
    }
    nothing: Entries = MappingProxyType({})
    parts |= {resource: Part(nothing, now, why) for resource, why in found.failures.items()}
    return parts


def read_group_topics(
    cluster: Cluster, wanted: Iterable[TopicsOf], now: float
) -> dict[TopicsOf, Part[tuple[str, ...]]]:
    """The topics of each group, or why they cannot be read. Raises ShellError where no broker can
    be reached."""
    from kafka_shell.admin.groups import resets as group_resets

    found: dict[TopicsOf, Part[tuple[str, ...]]] = {}
    for each in wanted:
        try:
            offsets = group_resets.offsets_of(cluster, each.group)
        except ShellError as error:
            if error.status is Status.UNREACHABLE:
                raise
            found[each] = Part((), now, why_of(error))
        else:
            found[each] = Part(tuple(dict.fromkeys(at.topic for at in offsets)), now)
    return found


def read_documentation(cluster: Cluster, view: ClusterView, kind: ResourceType) -> Docs | Failure:
    """Every key of this kind of resource with its documentation (KIP-569). Raises ShellError."""
    from kafka_shell.admin.configs import read as configs

    specimens = _specimens(view, kind)
    if not specimens:
        return Failure("NOTHING_THERE", f"there is no {kind.name.lower()} to read the keys of")
    found = configs.describe(cluster, specimens[:1], synonyms=True, documentation=True)
    if found.failures:
        return found.failures[specimens[0]]
    docs = {entry.name: _doc(entry) for entry in found[specimens[0]]}
    if any(entry.overridden and docs[entry.name].default is None for entry in found[specimens[0]]):
        docs = _with_defaults(docs, configs.describe(cluster, specimens[1:]))
    return docs


def _specimens(view: ClusterView, kind: ResourceType) -> list[ConfigResource]:
    """Resources of this kind, whichever: only their keys matter."""
    if kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        names = [str(broker.id) for broker in view.brokers.value[:1]]
    elif kind is ResourceType.TOPIC:
        names = list(view.topics.value.names[:_SPECIMENS])
    else:
        names = [_ANY_NAME]
    return [ConfigResource(kind, name) for name in names]


def _with_defaults(
    docs: Docs, others: Results[ConfigResource, tuple[ConfigEntry, ...]]
) -> dict[str, ConfigDoc]:
    """The keys that the first specimen sets, with the defaults that others of its kind have:
    the broker does not always name the default below a value that is set."""
    told = {
        entry.name: entry.value
        for entries in others
        for entry in entries
        if entry.source is ConfigSource.DEFAULT and not entry.sensitive
    }
    return {
        name: replace(doc, default=told.get(name)) if doc.default is None else doc
        for name, doc in docs.items()
    }


def _doc(entry: ConfigEntry) -> ConfigDoc:
    default = next(
        (s.value for s in entry.synonyms if s.source is ConfigSource.DEFAULT),
        entry.value if entry.source is ConfigSource.DEFAULT else None,
    )
    return ConfigDoc(
        entry.name, entry.type, plain(entry.documentation), default, entry.read_only,
        entry.sensitive,
    )  # fmt: skip


def _by_name(entries: Iterable[ConfigEntry]) -> Mapping[str, ConfigEntry]:
    return MappingProxyType({entry.name: entry for entry in entries})


def why_of(error: Exception) -> Failure:
    """An exception as data."""
    if isinstance(error, ShellError):
        return Failure(error.code, error.message, hint=error.hint, see=error.see)
    return Failure("internal", f"{type(error).__name__}: {error}")
