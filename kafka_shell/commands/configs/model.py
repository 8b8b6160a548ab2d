"""What `config-command --describe` returns (KIP-248, KIP-649)."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.plan.model import Value


class ConfigTable(Struct, frozen=True):
    """The configs of one resource, printed with raw values in KIP-248's layout."""

    resource: ConfigResource
    entries: tuple[ConfigEntry, ...]


class ConfigLine(Struct, frozen=True):
    """The configs of one quota entity, printed as kafka-configs does.

    `what` starts the line: `Quota configs`, `SCRAM credential configs`.
    """

    what: str
    entity: QuotaEntity
    configs: dict[str, Value]
