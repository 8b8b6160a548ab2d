"""The altered configs of a plan, and how warnings name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.losses import (
    DELETED_BY,
    OF_BROKER,
    POLICY,
    REMOTE,
    TOPIC_KEYS,
    DataLoss,
    is_tiered,
)
from kafka_shell.admin.configs.read import by_name, inherited
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.base.plans import Change, Plan, Resource
from kafka_shell.base.units import some

DEFAULT = "broker-default"
MAX_MESSAGE_BYTES = "max.message.bytes"
_NAMED = 5  # brokers that a warning names


class AlteredConfig(Struct, frozen=True):
    """One altered config."""

    change: Change
    value: str | None  # that applies afterwards; None if unknown
    loss: DataLoss | None = None  # what it deletes
    tiered: bool = False  # it is a config of a topic with records in remote storage

    @property
    def key(self) -> str:
        """The altered key."""
        return self.change.field

    @property
    def of_broker(self) -> bool:
        """Whether it is a config of a broker, or the default of all brokers."""
        return self.change.resource.kind in (DEFAULT, "broker")

    @property
    def is_default(self) -> bool:
        """Whether it is the default of all brokers."""
        return self.change.resource.kind == DEFAULT

    @property
    def topic_key(self) -> str:
        """The key of topics that it alters, or that inherits it; empty if none does."""
        if self.change.resource.kind == "topic":
            return self.key
        return TOPIC_KEYS.get(self.key, "")

    @property
    def verb(self) -> str:
        """`lowering`, `changing` or `removing`."""
        if self.change.after is None:
            return "removing"
        limited = OF_BROKER.get(self.key, self.key) in DELETED_BY
        return "lowering" if limited or self.topic_key == MAX_MESSAGE_BYTES else "changing"


def altered_configs(plan: Plan) -> list[AlteredConfig]:
    """Return the configs that a plan alters."""
    altered = []
    for step in plan.steps:
        if not isinstance(step, AlterConfigs):
            continue
        now = {Resource(of.kind, of.name): by_name(entries) for of, entries in step.now}
        for change, loss in step.with_losses:
            entries = now[change.resource]
            value = None if change.after is None else str(change.after)
            if value is None and change.field in entries:
                value = inherited(entries[change.field])
            altered.append(AlteredConfig(change, value, loss, is_tiered(entries)))
    return altered


def inherited_keys(altered: Iterable[AlteredConfig]) -> tuple[list[str], Collection[str]]:
    """Return the altered keys of brokers that topics inherit, and the keys of topics that show
    which topics do, and whether they lose records."""
    of_topics = [
        config
        for config in altered
        if config.topic_key and (config.is_default or (config.loss and config.of_broker))
    ]
    keys = {config.topic_key for config in of_topics}
    if any(config.loss for config in of_topics):
        keys |= {POLICY, REMOTE}
    return sorted({config.key for config in of_topics}), keys


def owners(resources: Iterable[Resource]) -> str:
    """Return ` of topic a` or ` of brokers 1, 2`, whose configs they are; nothing for the default
    of all brokers. In a merged plan, nothing else tells which change a warning is about."""
    by_kind: dict[str, list[str]] = {}
    for resource in resources:
        by_kind.setdefault(resource.kind, []).append(resource.name)
    parts = [
        named_topics(names) if kind == "topic" else named_brokers(names)
        for kind, names in by_kind.items()
        if kind != DEFAULT
    ]
    return f" of {' and '.join(parts)}" if parts else ""


def named_brokers(ids: Sequence[str]) -> str:
    """Return `broker 1` or `brokers 1, 2`."""
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {some(ids, _NAMED)}"
