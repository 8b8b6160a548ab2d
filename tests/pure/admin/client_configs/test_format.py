"""The record formats of the two topics of dynamic client configs; unknown formats are reported."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.client_configs.model import (
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
    Forgotten,
    Unreadable,
    config_record,
    forgetting_record,
    read_config,
    read_registration,
    registration_record,
)

names = st.text(max_size=12)
entities = st.builds(ClientEntity, names, st.none() | names)


def test_the_bytes_are_as_documented() -> None:
    of = ClientConfigAlteration(ClientEntity("alicé", "app"), "acks", "all")
    assert config_record(of) == (
        '{"version":1,"user":"alicé","client_id":"app","key":"acks"}'.encode(),
        b'{"version":1,"value":"all"}',
    )
    default = ClientConfigAlteration(ClientEntity("alice"), "acks", None)
    assert config_record(default) == (
        b'{"version":1,"user":"alice","client_id":null,"key":"acks"}',
        None,
    )
    said = ClientRegistration(ClientEntity("alice", "app"), "lib", "1.0", ("acks",), 17)
    assert registration_record(said) == (
        b'{"version":1,"user":"alice","client_id":"app","software_name":"lib",'
        b'"software_version":"1.0"}',
        b'{"version":1,"supported":["acks"],"at":17}',
    )


@given(st.builds(ClientConfigAlteration, entities, names, st.none() | names))
def test_configs_read_back(of: ClientConfigAlteration) -> None:
    assert read_config(*config_record(of)) == of


@given(
    st.builds(
        ClientRegistration, entities, names, names, st.lists(names).map(tuple), st.integers(0)
    )
)
def test_registrations_read_back(of: ClientRegistration) -> None:
    assert read_registration(*registration_record(of)) == of
    gone = Forgotten(of.entity, of.software_name, of.software_version)
    assert read_registration(*forgetting_record(of)) == gone


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"version":2,"user":"a","client_id":null,"key":"acks"}', "version is 2"),
        (b'{"user":"a","client_id":null,"key":"acks"}', "version is None"),
        (b'{"version":1,"client_id":null,"key":"acks"}', "has no user"),
        (b'{"version":1,"user":"a","client_id":7,"key":"acks"}', "has no user"),
    ],
)
def test_what_is_not_understood_is_told(key: bytes | None, why: str) -> None:
    for found in (read_config(key, b'{"version":1,"value":"x"}'), read_registration(key, b"{}")):
        assert isinstance(found, Unreadable) and why in found.why


def test_a_value_of_a_newer_version_is_not_understood_but_its_tombstone_is() -> None:
    key, _ = config_record(ClientConfigAlteration(ClientEntity("a"), "acks", "1"))
    newer = json.dumps({"version": 2, "value": {"text": "1"}}).encode()
    assert isinstance(read_config(key, newer), Unreadable)
    assert read_config(key, None) == ClientConfigAlteration(ClientEntity("a"), "acks", None)
