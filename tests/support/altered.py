"""Altered configs for tests of advice, from given entries."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ResourceType,
    own_source,
)
from kafka_shell.advice.altered_configs import AlteredConfig, altered_configs
from kafka_shell.advice.reads import TopicValues
from kafka_shell.base.plans import Effect, Plan

DEFAULTS = {
    "retention.ms": "604800000", "retention.bytes": "-1", "cleanup.policy": "delete",
    "delete.retention.ms": "86400000", "local.retention.ms": "-2", "local.retention.bytes": "-2",
    "remote.storage.enable": "false", "remote.log.delete.on.disable": "false",
    "min.insync.replicas": "1", "max.message.bytes": "1048588",
    "unclean.leader.election.enable": "false",
    "log.retention.ms": "604800000", "log.retention.bytes": "-1", "log.cleanup.policy": "delete",
    "log.cleaner.delete.retention.ms": "86400000", "message.max.bytes": "1048588",
    "compression.type": "producer",
}  # fmt: skip


def entry(resource: ConfigResource, key: str, value: str | None = None) -> ConfigEntry:
    """The entry of a key that is set to this value, or that has Kafka's default."""
    default = ConfigSynonym(key, DEFAULTS.get(key), ConfigSource.DEFAULT)
    if value is None:
        return ConfigEntry(resource, key, DEFAULTS.get(key), ConfigSource.DEFAULT,
                           synonyms=(default,))  # fmt: skip
    source = own_source(resource)
    own = ConfigSynonym(key, value, source)
    return ConfigEntry(resource, key, value, source, synonyms=(own, default))


def altered(
    resource: ConfigResource, *alterations: ConfigAlteration, now: Mapping[str, str] | None = None
) -> list[AlteredConfig]:
    """These altered configs of a resource that has the values `now`, and Kafka's defaults."""
    return altered_configs(plan_of(resource, *alterations, now=now))


def plan_of(
    resource: ConfigResource, *alterations: ConfigAlteration, now: Mapping[str, str] | None = None
) -> Plan:
    """The plan of these alterations of a resource that has the values `now`."""
    prefix = resource.type is ResourceType.BROKER
    keys = {key for key in DEFAULTS if (key.startswith(("log.", "message.")) is prefix)}
    keys |= {alteration.key for alteration in alterations} | {*(now or {})}
    entries = tuple(entry(resource, key, (now or {}).get(key)) for key in sorted(keys))
    step = AlterConfigs(((resource, alterations),), ((resource, entries),))
    return Plan(Effect.CHANGE, (step,))


def topic_values(values: Mapping[str, Mapping[str, str]], *keys: str) -> TopicValues:
    """The values of these keys in topics that set the given values themselves."""
    return TopicValues(
        {
            name: {
                key: entry(ConfigResource(ResourceType.TOPIC, name), key, own.get(key))
                for key in (*keys, *own)
            }
            for name, own in values.items()
        }
    )
