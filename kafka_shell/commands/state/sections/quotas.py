"""Sections by entity, `user alice, client-id app`: client quotas and dynamic client configs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kafka_shell.admin.client_configs import read as client_config_reads
from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity
from kafka_shell.admin.quotas import read as quota_reads
from kafka_shell.admin.quotas.model import DEFAULT, Default, Quota, QuotaEntity
from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.results import Failure
from kafka_shell.base.units import QUOTAS, format_quota, parse_quota, shorten
from kafka_shell.commands.acls.rules import split_words
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, State
from kafka_shell.commands.state.schema import by_name, known_fields
from kafka_shell.commands.state.section import Content, Loaded, Loading, Read, Section, StateRequest
from kafka_shell.commands.state.sections.configs import (
    CONFIGS_SCHEMA,
    load_values,
    write_number,
    write_scalar,
)
from kafka_shell.language.kinds import is_pattern
from kafka_shell.wire.cluster import Cluster

_LIMIT = {
    "description": "A limit as in alter-quotas: 5MB/s, 50%, 10/s.",
    "type": ["string", "number"],
    "exclusiveMinimum": 0,
    "pattern": "^ *[0-9.]",
}


class Quotas(Section):
    """Client quotas (KIP-546)."""

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        return by_entity(quota_reads.describe(cluster))

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        entity = quota_entity(text, at)
        fields: Fields = {}
        for name, value in place.fields(f"the quotas of {text}", QUOTAS).items():
            with loading.mistakes.collecting():
                try:
                    fields[name] = parse_quota(name, value.text(name))
                except ShellError as error:
                    raise value.error(error.message) from None
        yield entity, fields, at

    def selector(self, text: str, place: DocumentValue) -> str:
        return entity_selector(text, place)

    def write(self, resources: Mapping[QuotaEntity, Fields], lists: Collection[str]) -> Content:
        return {
            str(entity): {
                key: write_number(format_quota(key, float(value))) for key, value in own.items()
            }
            for entity, own in resources.items()
        }

    def schema(self) -> Content:
        return by_name(
            "Client quotas by entity: user alice, user alice client-id app, ip 10.0.0.1,"
            " user-default.",
            known_fields(dict.fromkeys(QUOTAS, _LIMIT)),
        )


def by_entity(rows: Iterable[Quota | ClientConfig]) -> Read:
    """The values of each entity, in order."""
    fields: Read = {}
    for row in sorted(rows, key=lambda row: (row.entity.order, row.key)):
        fields.setdefault(row.entity, {})[row.key] = row.value
    return fields


def entity_selector(text: str, place: DocumentValue) -> str:
    """A selector of entities, spelled as this program does."""
    return text if is_pattern(text.replace(",", " ")) else str(quota_entity(text, place))


def quota_entity(text: str, at: DocumentValue) -> QuotaEntity:
    """The entity of a quota, written at this place."""
    parts = parts_of(text, at, ("user", "client-id", "ip"))
    if not parts or ("ip" in parts and len(parts) > 1):
        raise at.error(
            f"expected user NAME, client-id ID, user NAME client-id ID or ip ADDRESS, got"
            f" {shorten(text)}",
            "Defaults are user-default, client-id-default and ip-default.",
        )
    return QuotaEntity(parts.get("user"), parts.get("client-id"), parts.get("ip"))


def parts_of(text: str, at: DocumentValue, known: tuple[str, ...]) -> dict[str, Any]:
    """The parts of an entity by type; DEFAULT for `user-default`. A comma between is optional."""
    try:
        words = split_words(text)
    except ShellError as error:
        raise at.error(error.message, error.hint) from None
    parts: dict[str, Any] = {}
    while words:
        kind = words.pop(0).text
        name: str | Default = DEFAULT
        if kind.removesuffix(",").endswith("-default"):
            kind = kind.removesuffix(",").removesuffix("-default")
        elif words:
            word = words.pop(0)
            last = not words or word.quoted
            name = word.text if last else word.text.removesuffix(",")
        else:
            raise at.error(f"{shorten(text)}: the name after {kind!r} is missing")
        if kind not in known or kind in parts:
            hint = did_you_mean(kind, known, f"Use {', '.join(known)}.")
            raise at.error(f"{shorten(text)}: unexpected {kind!r}", hint)
        parts[kind] = name
    return parts


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
