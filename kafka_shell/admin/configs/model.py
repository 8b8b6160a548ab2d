"""Configs of topics, brokers, loggers, groups and client metrics (KIP-133, 226, 569)."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from kafka_shell.base.structs import CodedEnum, Resource
from kafka_shell.base.units import ConfigType


class ResourceType(IntEnum):
    """ConfigResource.Type codes of DescribeConfigs (API key 32)."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(CodedEnum):
    """Where a value comes from (KIP-226); `label` is its name in KIP-248."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8

    @property
    def label(self) -> str:
        """KIP-248's words: "Dynamic topic config", "Default config" ..."""
        return "Unknown" if self is ConfigSource.UNKNOWN else f"{self.words.capitalize()} config"

    @property
    def words(self) -> str:
        """Its name in a sentence: "static broker", "default" ..."""
        return self.name.replace("_", " ").lower()


class ConfigOp(IntEnum):
    """Operations of IncrementalAlterConfigs (API key 44, KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigResource(Struct, frozen=True, order=True):
    """The resource of a config. A BROKER with an empty name is the cluster-wide broker default."""

    type: ResourceType
    name: str

    @staticmethod
    def of(resource: Resource) -> ConfigResource:
        """The resource of configs that changes of `resource` alter."""
        types = {kind: type for type, kind in _KINDS.items()}
        return ConfigResource(types.get(resource.kind, ResourceType.BROKER), resource.name)

    @property
    def kind(self) -> str:
        """Its kind as users type it: topic, broker, broker-default, logger, group,
        client-metrics."""
        if self.type is ResourceType.BROKER and not self.name:
            return "broker-default"
        return _KINDS[self.type]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()

    def as_data(self) -> str:
        """The resource in JSON."""
        return str(self)


_KINDS = {
    ResourceType.TOPIC: "topic",
    ResourceType.BROKER: "broker",
    ResourceType.BROKER_LOGGER: "logger",
    ResourceType.CLIENT_METRICS: "client-metrics",
    ResourceType.GROUP: "group",
}


# The values of --entity-type in Kafka's tools (KIP-248), except users, clients and ips.
ENTITY_TYPES = {
    "topics": ResourceType.TOPIC,
    "brokers": ResourceType.BROKER,
    "broker-loggers": ResourceType.BROKER_LOGGER,
    "groups": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}


class ConfigSynonym(Struct, frozen=True):
    """One level that can provide the value."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(Struct, frozen=True):
    """One config of one resource. `value` is raw; None if it is sensitive or not set."""

    resource: ConfigResource
    name: str
    value: str | None
    source: ConfigSource
    read_only: bool = False
    sensitive: bool = False
    type: ConfigType = ConfigType.UNKNOWN
    documentation: str = ""
    synonyms: tuple[ConfigSynonym, ...] = ()

    @property
    def overridden(self) -> bool:
        """Whether the value is set on this resource itself."""
        return self.source is own_source(self.resource)


class ConfigAlteration(Struct, frozen=True):
    """One operation on one key: SET and DELETE, and APPEND and SUBTRACT for lists."""

    key: str
    op: ConfigOp
    value: str | None = None


def own_source(resource: ConfigResource) -> ConfigSource:
    """The source of a value that is set on the resource itself."""
    if resource.type is ResourceType.BROKER:
        return ConfigSource.DYNAMIC_BROKER if resource.name else ConfigSource.DYNAMIC_DEFAULT_BROKER
    return {
        ResourceType.TOPIC: ConfigSource.DYNAMIC_TOPIC,
        ResourceType.BROKER_LOGGER: ConfigSource.DYNAMIC_BROKER_LOGGER,
        ResourceType.CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS,
        ResourceType.GROUP: ConfigSource.DYNAMIC_GROUP,
    }[resource.type]


DELETE_ALL = ConfigAlteration("*", ConfigOp.DELETE)
HIDDEN = "[hidden]"  # shown for a sensitive value, as Kafka's tools do
