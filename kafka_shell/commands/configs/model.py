"""What `config-command --describe` answers (KIP-248, KIP-649)."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.plan.model import Value


@dataclass(frozen=True, slots=True)
class ConfigTable:
    """One resource's configs, printed with raw values in KIP-248's layout."""

    resource: ConfigResource
    entries: tuple[ConfigEntry, ...]


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """What is set for one entity, as Kafka's tool prints it.

    `what` begins the line: `Quota configs`, `SCRAM credential configs`.
    """

    what: str
    entity: QuotaEntity
    configs: dict[str, Value]
