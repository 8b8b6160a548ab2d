"""Dynamic configs of clients (KIP-649): entities, configs, and what clients support."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from kafka_shell.admin.quotas.model import ANY_NAME, AnyName, Default
from kafka_shell.base.plans import Resource
from kafka_shell.base.structs import limited
from kafka_shell.base.text import quote


class ClientEntity(Struct, frozen=True, order=True):
    """A client ID of a user, or, if `client_id` is None, the default of all clients of the user.

    There is always a user, as no user may change the configs of another user's clients (KIP-649).
    """

    user: str
    client_id: str | None = None

    @property
    def resource(self) -> Resource:
        """The resource of its configs: `client-config user alice client-id app`."""
        return Resource("client-config", str(self))

    @property
    def order(self) -> tuple[str, bool, str]:
        """The sort key: a user before its client IDs."""
        return self.user, self.client_id is not None, self.client_id or ""

    def __str__(self) -> str:
        of = f" client-id {quote(self.client_id)}" if self.client_id is not None else ""
        return f"user {quote(self.user)}{of}"


class ClientConfig(Struct, frozen=True):
    """One config of one entity. `value` is text as in a properties file."""

    entity: ClientEntity
    key: str
    value: str


class ClientConfigAlteration(Struct, frozen=True):
    """One config to set, or to remove if `value` is None."""

    entity: ClientEntity
    key: str
    value: str | None


class ClientRegistration(Struct, frozen=True):
    """The configs that a running client of one software version can change.

    `at` is when a client of this version last registered (epoch milliseconds).
    """

    entity: ClientEntity
    software_name: str
    software_version: str
    supported: tuple[str, ...]
    at: int


class ClientConfigFilter(Struct, frozen=True):
    """Which entities to describe. `user` is a name or ANY_NAME; DEFAULT is refused.

    `client_id` is a name, DEFAULT (the user's default), ANY_NAME (all client IDs), or None for no
    condition; then `strict` leaves client IDs out.
    """

    user: str | Default | AnyName | None = ANY_NAME
    client_id: str | Default | AnyName | None = None
    strict: bool = False

    def takes(self, entity: ClientEntity) -> bool:
        """Whether the entity matches."""
        if isinstance(self.user, str) and entity.user != self.user:
            return False
        if self.client_id is None:
            return entity.client_id is None or not self.strict
        if isinstance(self.client_id, Default):
            return entity.client_id is None
        if isinstance(self.client_id, AnyName):
            return entity.client_id is not None
        return entity.client_id == self.client_id


# The records of the two topics: JSON, one config or one registration a record, format version 1.
#
# `__client_configs` (administrators write, clients read):
#     key    {"version":1,"user":"alice","client_id":"app","key":"acks"}
#     value  {"version":1,"value":"all"}
# A client_id of null is the user's default; no value (a tombstone) removes the config.
# `__client_config_registrations` (clients write, administrators read):
#     key    {"version":1,"user":"alice","client_id":"app",
#             "software_name":"...","software_version":"..."}
#     value  {"version":1,"supported":["acks","linger.ms"],"at":1790000000000}
#
# A record of `__client_configs` with the key supported.configs is not a config. It asks the running
# clients of exactly that user and client ID to register again; its value is different for each such
# request.
#
# Keys are UTF-8 without spaces, with the fields in this order and non-ASCII characters unescaped:
# compaction compares bytes, so all writers must spell a key alike.

CONFIGS_TOPIC = "__client_configs"
REGISTRATIONS_TOPIC = "__client_config_registrations"
VERSION = 1
REGISTER_AGAIN = "supported.configs"
# A registration expires if clients do not renew it. Both in milliseconds.
EXPIRES_MS = 7 * 24 * 3_600_000
RENEW_MS = 24 * 3_600_000  # how often a running client registers again, with jitter


class Unreadable(Struct, frozen=True):
    """A record that cannot be decoded, and why: a newer format, or invalid JSON."""

    why: str


class Forgotten(Struct, frozen=True):
    """A tombstone of a registration."""

    entity: ClientEntity
    software_name: str
    software_version: str


def config_record(alteration: ClientConfigAlteration) -> tuple[bytes, bytes | None]:
    """Key and value of the record that sets a config, or removes it."""
    key = _json({**_of(alteration.entity), "key": alteration.key})
    if alteration.value is None:
        return key, None
    return key, _json({"version": VERSION, "value": alteration.value})


def registration_record(of: ClientRegistration) -> tuple[bytes, bytes]:
    """Key and value of the record that a client registers with."""
    return _registration_key(of.entity, of.software_name, of.software_version), _json(
        {"version": VERSION, "supported": list(of.supported), "at": of.at}
    )


def forgetting_record(of: ClientRegistration) -> tuple[bytes, None]:
    """Key and tombstone that delete a registration; a running client creates it again."""
    return _registration_key(of.entity, of.software_name, of.software_version), None


def read_config(key: bytes | None, value: bytes | None) -> ClientConfigAlteration | Unreadable:
    """A decoded record of `__client_configs`: a config that is set, or removed (value None)."""
    named = _read(key)
    if isinstance(named, Unreadable):
        return named
    entity, name = _entity(named), named.get("key")
    if entity is None or not isinstance(name, str):
        return Unreadable("its key has no user, client_id and key")
    if value is None:
        return ClientConfigAlteration(entity, name, None)
    fields = _read(value)
    if isinstance(fields, Unreadable):
        return fields
    text = fields.get("value")
    if not isinstance(text, str):
        return Unreadable(f"the value of {name} is not a string")
    return ClientConfigAlteration(entity, name, text)


def read_registration(
    key: bytes | None, value: bytes | None
) -> ClientRegistration | Forgotten | Unreadable:
    """A decoded record of `__client_config_registrations`."""
    named = _read(key)
    if isinstance(named, Unreadable):
        return named
    entity = _entity(named)
    name, version = named.get("software_name"), named.get("software_version")
    if entity is None or not isinstance(name, str) or not isinstance(version, str):
        return Unreadable("its key has no user, client_id and software")
    if value is None:
        return Forgotten(entity, name, version)
    fields = _read(value)
    if isinstance(fields, Unreadable):
        return fields
    supported, at = fields.get("supported"), fields.get("at")
    if not isinstance(at, int) or not isinstance(supported, list):
        return Unreadable("its value has no list `supported` and time `at`")
    return ClientRegistration(entity, name, version, tuple(map(str, supported)), at)


def _registration_key(entity: ClientEntity, name: str, version: str) -> bytes:
    return _json({**_of(entity), "software_name": name, "software_version": version})


def _of(entity: ClientEntity) -> dict[str, Any]:
    return {"version": VERSION, "user": entity.user, "client_id": entity.client_id}


def _entity(named: dict[str, Any]) -> ClientEntity | None:
    user, client_id = named.get("user"), named.get("client_id")
    if not isinstance(user, str) or not (client_id is None or isinstance(client_id, str)):
        return None
    return ClientEntity(user, client_id)


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _read(text: bytes | None) -> dict[str, Any] | Unreadable:
    try:
        value = limited(json.loads(text or b""))
    except (ValueError, RecursionError):
        return Unreadable("it is not JSON")
    if not isinstance(value, dict):
        return Unreadable("it is not a JSON object")
    version = value.get("version")
    if version != VERSION:
        return Unreadable(f"its format version is {version!r}, expected {VERSION}")
    return value


# The effective configs of one client: those of its client ID override those of its user.


def resolve(configs: Iterable[ClientConfig], user: str, client_id: str) -> dict[str, ClientConfig]:
    """The configs of one client by key, each from the level that applies (KIP-649)."""
    levels = (ClientEntity(user), ClientEntity(user, client_id))
    effective: dict[str, ClientConfig] = {}
    for level in levels:
        effective.update((config.key, config) for config in configs if config.entity == level)
    return dict(sorted(effective.items()))
