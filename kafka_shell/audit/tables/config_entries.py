"""The configs that several tables read."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, ReadFailure, readable

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.wire.connection import Cluster


def config_entries(
    cluster: Cluster, kind: str, names: Names, *, synonyms: bool = False, besides: str = ""
) -> Generator[ReadFailure, None, list[tuple[str, tuple[ConfigEntry, ...]]]]:
    """Yield what could not be read, and return the configs of each resource of this ResourceType
    (DescribeConfigs, API key 32)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType[kind], name) for name in names]
    described = configs.describe(cluster, resources, synonyms=synonyms)
    found = yield from readable(described, besides=besides)
    return [(resource.name, entries) for resource, entries in found.items()]
