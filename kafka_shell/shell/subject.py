"""Find out which resource the configs of a line belong to."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.admin.configs.model import ENTITY_TYPES, ConfigResource, ResourceType
from kafka_shell.language.command import Kind
from kafka_shell.language.cursor import Wanted
from kafka_shell.language.selectors import is_pattern
from kafka_shell.view.view import ClusterView, TopicsOf

# Name of an argument or option -> resource type of its value.
_NAMED = {
    "broker-id": ResourceType.BROKER,
    "logger": ResourceType.BROKER_LOGGER,
    "broker-logger": ResourceType.BROKER_LOGGER,
    "group": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}


def subject_of(wanted: Wanted, view: ClusterView) -> tuple[ResourceType, ConfigResource | None]:
    """Return the resource type, and the resource if the line names exactly one."""
    words = wanted.words
    if "broker-default" in words:
        return ResourceType.BROKER, ConfigResource(ResourceType.BROKER, "")
    if words.get("entity-type"):
        return _entity(words)
    for name, kind in _NAMED.items():
        if name in words:
            return kind, _one(kind, words[name])
    if any(map(str.isdecimal, words.get("broker", ()))):  # otherwise --broker is the connection
        return ResourceType.BROKER, _one(ResourceType.BROKER, words["broker"])
    resource = _one(ResourceType.TOPIC, words.get("topic", ()))
    if resource is not None and view.read_at and resource.name not in view.topics.value:
        resource = None
    return ResourceType.TOPIC, resource


def group_of(wanted: Wanted) -> TopicsOf | None:
    """Return the group whose partitions are completed, as in `reset-offsets G --topic`, or None."""
    kinds = {option.kind for option in wanted.command.options} if wanted.command else set()
    names = wanted.words.get("group", ())
    if Kind.TOPIC_PARTITIONS not in kinds or len(names) != 1 or not names[0]:
        return None
    return TopicsOf(names[0])


def _entity(
    words: Mapping[str, tuple[str, ...]],
) -> tuple[ResourceType, ConfigResource | None]:
    kind = ENTITY_TYPES.get(words["entity-type"][0], ResourceType.TOPIC)
    if "entity-default" in words and kind is ResourceType.BROKER:
        return kind, ConfigResource(kind, "")
    return kind, _one(kind, words.get("entity-name", ()))


def _one(kind: ResourceType, names: tuple[str, ...]) -> ConfigResource | None:
    if len(names) != 1 or is_pattern(names[0]) or not names[0]:
        return None
    numbered = kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER)
    if numbered and not names[0].isdecimal():
        return None
    return ConfigResource(kind, names[0])
