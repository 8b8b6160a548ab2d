"""The section of dynamic client configs, by entity: `user alice client-id app` (KIP-649)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_shell.admin.client_configs import read as client_config_reads
from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity
from kafka_shell.admin.quotas.model import DEFAULT
from kafka_shell.base.results import Failure
from kafka_shell.base.units import shorten
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, State
from kafka_shell.commands.state.schema import by_name
from kafka_shell.commands.state.section import (
    Content,
    Loaded,
    Loading,
    Read,
    Section,
    StateRequest,
)
from kafka_shell.commands.state.sections.configs import CONFIGS_SCHEMA, load_values, write_scalar
from kafka_shell.commands.state.sections.quotas import by_entity, entity_selector, parts_of
from kafka_shell.wire.connection import Cluster


class ClientConfigs(Section):
    """Dynamic client configs."""

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        config_log = client_config_reads.read_log(cluster)
        for about, why in config_log.unread.items():
            hint = "Upgrade kafka.sh." if "version" in why else ""
            state.unread[about] = Failure("unknown-format", why, hint=hint)
        return by_entity(
            ClientConfig(entity, key, value) for (entity, key), value in config_log.values.items()
        )

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        parts = parts_of(text, at, ("user", "client-id"))
        if not isinstance(parts.get("user"), str) or parts.get("client-id") is DEFAULT:
            raise at.error(f"expected user NAME or user NAME client-id ID, got {shorten(text)}")
        given = {key.name(): value for key, value in place.pairs(f"client configs of {text}")}
        entity = ClientEntity(str(parts["user"]), parts.get("client-id"))
        yield entity, load_values(loading, given), at

    def selector(self, text: str, place: DocumentValue) -> str:
        return entity_selector(text, place)

    def write(self, resources: Mapping[ClientEntity, Fields], lists: Collection[str]) -> Content:
        return {
            str(entity): {key: write_scalar(str(value)) for key, value in fields.items()}
            for entity, fields in resources.items()
        }

    def schema(self) -> Content:
        return by_name(
            "Dynamic client configs by entity: user alice client-id app.", CONFIGS_SCHEMA
        )
