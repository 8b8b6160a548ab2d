"""The configs of a broker on a twin, whose brokers have no process that returns them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kafka_shell.admin.configs.model import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ResourceType,
)
from kafka_shell.admin.configs.read import by_name, describe
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.common.structs import replace

_DEFAULT = ConfigResource(ResourceType.BROKER, "")


class BrokerConfigs(Struct, frozen=True, eq=False):
    """Returns the configs of a broker of the original (with synonyms), with the cluster-wide
    defaults that are set on the twin now."""

    original: Mapping[str, ConfigEntry]

    def __call__(self, twin: Cluster) -> Mapping[str, ConfigEntry]:
        found = describe(twin, [_DEFAULT])
        for why in found.failures.values():
            raise as_error(why)
        now = by_name(found[_DEFAULT])
        return {key: _with_default(each, now.get(key)) for key, each in self.original.items()}


def _with_default(entry: ConfigEntry, default: ConfigEntry | None) -> ConfigEntry:
    """The config with this cluster-wide default instead of that of the original."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER
    other = tuple(each for each in entry.synonyms if each.source is not source)
    if default is None and len(other) == len(entry.synonyms):
        return entry
    own = tuple(each for each in other if each.source is ConfigSource.DYNAMIC_BROKER)
    new = () if default is None else (ConfigSynonym(entry.name, default.value, source),)
    synonyms = (*own, *new, *other[len(own) :])
    if not synonyms:
        return replace(entry, value=None, source=ConfigSource.DEFAULT, synonyms=())
    return replace(entry, value=synonyms[0].value, source=synonyms[0].source, synonyms=synonyms)
