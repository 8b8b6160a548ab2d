"""Helpers for tests that alter configs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.base.plans import Change
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done

BROKER = ConfigResource(ResourceType.BROKER, "1")
DEFAULT = ConfigResource(ResourceType.BROKER, "")
LOGGER = ConfigResource(ResourceType.BROKER_LOGGER, "1")


def topic_of(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def set_(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SET, value)


def delete(key: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.DELETE)


def append(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.APPEND, value)


def subtract(key: str, value: str) -> ConfigAlteration:
    return ConfigAlteration(key, ConfigOp.SUBTRACT, value)


def alter(
    cluster: Cluster, resource: ConfigResource, *alterations: ConfigAlteration
) -> tuple[Change, ...]:
    """Carry out and return what the plan said."""
    plan = config_changes.plan_alter(cluster, {resource: alterations})
    done(plan, cluster)
    return plan.changes


def entry(cluster: Cluster, resource: ConfigResource, key: str) -> ConfigEntry | None:
    found = configs.describe(cluster, [resource], [key])
    assert found.ok, found.failures
    return next((each for each in found[resource] if each.name == key), None)


def own(cluster: Cluster, resource: ConfigResource, key: str) -> str | None:
    """The value that is set at the resource itself, or None."""
    found = entry(cluster, resource, key)
    return found.value if found is not None and found.overridden else None


@contextmanager
def restored(cluster: Cluster, resource: ConfigResource, *keys: str) -> Iterator[None]:
    """Take settings of the shared broker away at the end."""
    try:
        yield
    finally:
        alter(cluster, resource, *map(delete, keys))
