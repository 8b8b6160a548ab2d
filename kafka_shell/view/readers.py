"""Read the topics, configs and documentation of a view from the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import is_printable
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import (
    ClusterView,
    ConfigDoc,
    Docs,
    Entries,
    Part,
    TopicIndex,
)
from kafka_shell.wire.model import Broker, TopicSummary

if TYPE_CHECKING:
    from kafka_shell.wire.connection import Cluster
    from kafka_shell.wire.metadata_scan import MetadataScan


# Convert the HTML documentation of configs to plain text.

_BREAK = re.compile(r"<\s*(?:br|/?p|/?ul|/?ol|/?dl|/?table|/tr|/?div)\b[^>]*>", re.IGNORECASE)
_ITEM = re.compile(r"<\s*(?:li|dt|dd|tr)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")


def plain(html: str) -> str:
    """Return the text without tags: a line per paragraph, a dash per item. `a < b` is kept."""
    text = html.replace("\n", " ")
    text = _ITEM.sub("\n- ", _BREAK.sub("\n", text))
    text = _BLANKS.sub(" ", unescape(_TAG.sub("", text)))
    text = "".join(char for char in text if char == "\n" or is_printable(char))
    return _LINE_BREAKS.sub("\n", text).strip()


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
        found = configs.describe(cluster, wanted)
    except ShellError as error:
        if error.status is Status.UNREACHABLE:
            raise
        found = Results({}, dict.fromkeys(wanted, as_failure(error)))
    parts: dict[ConfigResource, Part[Entries]] = {
        resource: Part(_by_name(entries), now) for resource, entries in found.values.items()
    }
    nothing: Entries = MappingProxyType({})
    parts |= {resource: Part(nothing, now, why) for resource, why in found.failures.items()}
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
        entry.name, entry.type, plain(entry.documentation), default, entry.read_only,
        entry.sensitive,
    )  # fmt: skip


def _by_name(entries: Iterable[ConfigEntry]) -> Mapping[str, ConfigEntry]:
    return MappingProxyType({entry.name: entry for entry in entries})


def failure_of(error: Exception) -> Failure:
    """Convert an exception to a Failure."""
    if isinstance(error, ShellError):
        return as_failure(error)
    return Failure("internal", f"{type(error).__name__}: {error}")
