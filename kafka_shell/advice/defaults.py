"""What inherits a default: the topics and brokers that have no value of their own, and the record
batches that a lower limit rejects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry
from kafka_shell.admin.configs.read import own_values
from kafka_shell.advice.altered_configs import (
    MAX_MESSAGE_BYTES,
    AlteredConfig,
    named_brokers,
    owners,
)
from kafka_shell.advice.reads import Reads, TopicValues
from kafka_shell.base.plans import Advice, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted, format_limit


class Facts(Struct, frozen=True):
    """The altered configs, and who inherits those that are defaults."""

    altered: Sequence[AlteredConfig]
    topics: TopicValues | None = None
    own: Sequence[tuple[str, ConfigEntry]] = ()  # broker ID, and its value
    unread: Mapping[str, Failure] = {}  # by broker ID


def read(reads: Reads) -> Facts | None:
    """Read which topics and brokers have a value of their own."""
    defaults = [config.key for config in reads.altered if config.is_default]
    if not defaults:
        lowered = any(config.topic_key == MAX_MESSAGE_BYTES for config in reads.altered)
        return Facts(reads.altered) if lowered else None
    about = "brokers that override the default"
    brokers = reads.attempt(about, lambda: own_values(reads.cluster, defaults))
    own, unread = brokers or ((), {})
    return Facts(reads.altered, reads.topic_values, own, unread)


def say(facts: Facts) -> Advice:
    """Say who inherits the defaults, and which record batches are rejected."""
    warnings = (*_rejected(facts.altered), *_overriding(facts), *_inheriting(facts))
    return Advice(warnings=warnings)


def _overriding(facts: Facts) -> Iterator[str]:
    by_value: dict[str, list[str]] = {}
    for broker, entry in facts.own:
        value = "" if entry.sensitive else f"={entry.value}"
        by_value.setdefault(f"{entry.name}{value}", []).append(broker)
    for config, brokers in by_value.items():
        yield f"{named_brokers(brokers)} override{'s' if len(brokers) == 1 else ''} {config}"
    if facts.unread:
        why = next(iter(facts.unread.values())).message
        its = "its" if len(facts.unread) == 1 else "their"
        yield (
            f"{named_brokers(list(facts.unread))} may override the cluster-wide default, as {its}"
            f" configs could not be read: {why}"
        )


def _inheriting(facts: Facts) -> Iterator[str]:
    """How many topics inherit each default that deletes nothing; `deleted_records` counts those of
    the others."""
    if facts.topics is None:
        return
    every = counted(len(facts.topics.values), "topic")
    for config in facts.altered:
        if config.is_default and config.topic_key and not config.loss:
            count = len(facts.topics.inheriting(config.topic_key))
            yield f"{count:,} of {every} {'inherits' if count == 1 else 'inherit'} {config.key}"


def _rejected(altered: Sequence[AlteredConfig]) -> Iterator[str]:
    """A warning for each lower limit of the size of record batches."""
    groups: dict[tuple[str, str, str], list[Resource]] = {}
    for config in altered:
        if config.topic_key == MAX_MESSAGE_BYTES and _is_lower(
            config.value, str(config.change.replaced)
        ):
            limit = format_limit(config.key, str(config.value))
            groups.setdefault((config.verb, config.key, limit), []).append(config.change.resource)
    for (verb, key, limit), resources in groups.items():
        yield (
            f"{verb} {key}{owners(resources)} makes brokers reject record batches larger than"
            f" {limit}: producers get MESSAGE_TOO_LARGE"
        )


def _is_lower(after: str | None, before: str) -> bool:
    """Whether a number is lower than the previous one; not if one of them is unknown."""
    known = after is not None and after.isdecimal() and before.isdecimal()
    return known and int(after or 0) < int(before)
