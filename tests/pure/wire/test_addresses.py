"""Addresses that mean the same host are equal."""

from __future__ import annotations

import pickle

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.connection_options import same_cluster
from kafka_shell.wire.client_properties import Property
from kafka_shell.wire.endpoint import Address, is_loopback, normalize_url, parse_addresses


@pytest.mark.parametrize(
    "host", ["kafka-1.example.com", "kafka-1.example.com.", "KAFKA-1.Example.Com"]
)
def test_host_has_no_final_dot_and_no_capitals(host: str) -> None:
    (address,) = parse_addresses(f"{host}:9092")
    assert address == Address(host, 9092) == ("kafka-1.example.com", 9092)
    assert str(address) == "kafka-1.example.com:9092"
    assert pickle.loads(pickle.dumps(address)) == address
    assert same_cluster(Property(f"{host}:9092", ""), Property("kafka-1.example.com:9092", ""))


def test_zone_of_ipv6_address_is_kept() -> None:
    (address,) = parse_addresses("[fe80::1%Eth0]:9092")
    assert address.host == "fe80::1%Eth0"


def test_dot_is_no_host() -> None:
    with pytest.raises(UsageError, match="missing host"):
        parse_addresses(".:9092")


@pytest.mark.parametrize(
    ("url", "normalized"),
    [
        ("https://Registry.:8081/a.?b=C.", "https://registry:8081/a.?b=C."),
        ("https://al:pw.@idp.example.com./t", "https://al:pw.@idp.example.com/t"),
        ("https://[FE80::1]:8081/", "https://[FE80::1]:8081/"),
        ("sc://Spark.:15002/;token=A.", "sc://spark:15002/;token=A."),
    ],
)
def test_host_of_url_has_no_final_dot_either(url: str, normalized: str) -> None:
    assert normalize_url(url) == normalized


def test_name_of_this_machine_with_final_dot_is_loopback() -> None:
    assert is_loopback("LocalHost.")
