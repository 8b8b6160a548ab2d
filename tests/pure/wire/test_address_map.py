"""Addresses to connect to instead of advertised ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.structs import replace
from kafka_shell.settings import load
from kafka_shell.wire.endpoint import ConnectionConfig, parse_address_map, parse_addresses


@pytest.mark.parametrize(
    ("given", "advertised", "reached"),
    [
        ("broker-2.internal:9092=localhost:19092", "broker-2.internal:9092", "localhost:19092"),
        ("broker-2.internal:9092=localhost:19092", "Broker-2.Internal.:9092", "localhost:19092"),
        ("broker-2.internal:9092=localhost:19092", "broker-3.internal:9092", ""),
        ("broker-2.internal:9092=localhost:19092", "broker-2.internal:9093", ""),
        ("*.internal:*=localhost:{port+10000}", "broker-2.internal:9092", "localhost:19092"),
        ("broker-*.internal:9092=localhost:{*+19090}", "broker-2.internal:9092", "localhost:19092"),
        ("k-*.*:9092=localhost:{*+19090}", "k-2.k-brokers.ns.svc:9092", "localhost:19092"),
        ("*.internal:9092={*}.example.com:443", "b.internal:9092", "b.example.com:443"),
        ("a:1=b:1,*:1=c:1", "a:1", "b:1"),
        ("a:1=b:1,*:1=c:1", "x:1", "c:1"),
        ("[::1]:9092=localhost:1", "[::1]:9092", "localhost:1"),
    ],
)
def test_address_is_mapped(given: str, advertised: str, reached: str) -> None:
    config = replace(ConnectionConfig(), address_map=parse_address_map(given))
    [address] = parse_addresses(advertised)
    [expected] = parse_addresses(reached or advertised)
    assert config.reachable(address) == expected


def test_map_is_from_option_variable_and_profile(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[profiles.p]\nbootstrap = "h:1"\naddress-map = ["a:1=b:1", "a:2=b:2"]\n')
    of_profile = load({"profile": "p"}, {}, config).connection.address_map
    assert of_profile == (("a:1", "b:1"), ("a:2", "b:2"))
    environ = {"KAFKA_SH_ADDRESS_MAP": "a:1=c:1"}
    assert load({"profile": "p"}, environ, config).connection.address_map == (("a:1", "c:1"),)
    flags = {"profile": "p", "address-map": (("a:1", "d:1"),)}
    assert load(flags, environ, config).connection.address_map == (("a:1", "d:1"),)


@pytest.mark.parametrize("given", ["a", "a:1", "a:1=b", "a=b:1", "a:1=b:x", "=b:1"])
def test_malformed_map_names_its_place(tmp_path: Path, given: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.p]\nbootstrap = "h:1"\naddress-map = ["{given}"]\n')
    with pytest.raises(ShellError) as caught:
        load({"profile": "p"}, {}, config)
    assert caught.value.status is Status.WRONG
    assert caught.value.message.startswith(f"{config}:3: "), caught.value.message
