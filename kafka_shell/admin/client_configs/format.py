"""The records of the two topics: JSON, one config or one registration a record, format version 1.

`__client_configs` (administrators write, clients read):
    key    {"version":1,"user":"alice","client_id":"app","key":"acks"}     client_id null: the user's default
    value  {"version":1,"value":"all"}                                     no value (a tombstone): removed
`__client_config_registrations` (clients write, administrators read):
    key    {"version":1,"user":"alice","client_id":"app","software_name":"...","software_version":"..."}
    value  {"version":1,"supported":["acks","linger.ms"],"at":1790000000000}

A record of `__client_configs` with the key supported.configs is not a config. It asks the running clients of exactly
that user and client ID to register again; its value is different for each such request.

Keys are UTF-8 without spaces, with the fields in this order and non-ASCII characters unescaped: compaction compares
bytes, so all writers must spell a key alike.
"""  # noqa: E501 - one record per line

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from kafka_shell.admin.client_configs.model import (
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
)
from kafka_shell.common.nesting import limited

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
