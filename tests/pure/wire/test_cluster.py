"""The connection to a real broker: parallel requests, targets, API versions, deadlines."""

from __future__ import annotations

import pytest
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

from kafka_shell.base.errors import ShellError
from kafka_shell.wire import requests as versions
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig, Tls
from kafka_shell.wire.failures import failure


def test_nothing_is_sent_before_the_first_call() -> None:
    Cluster(ConnectionConfig((Address("nowhere.invalid", 1),))).close()


@pytest.mark.parametrize("release", [r for r in BROKER_API_VERSIONS if r >= (0, 10, 0)])
def test_releases_are_derived_from_api_versions(release: tuple[int, ...]) -> None:
    expected = {"0.10.0": "0.10"}.get(text := ".".join(map(str, release)), text)
    assert versions.release(BROKER_API_VERSIONS[release]) == expected


def test_a_missing_api_names_the_release_that_added_it() -> None:
    old = BROKER_API_VERSIONS[(2, 2)]
    with pytest.raises(ShellError) as caught:
        versions.choose(44, (0, 1), old, "broker 1 (a:9092)")
    assert caught.value.code == "unsupported-api"
    assert caught.value.message == (
        "broker 1 (a:9092) (Kafka 2.2) does not support IncrementalAlterConfigs,"
        " which requires Kafka 2.3"
    )


@pytest.mark.parametrize(
    ("api_key", "low", "words"),
    [
        (32, 3, "documentation of configs, which requires Kafka 2.6"),
        (20, 6, "deleting topics by ID, which requires Kafka 2.8"),
        (55, 0, "DescribeQuorum, which requires Kafka 3.3 in KRaft mode"),
        (89, 0, "StreamsGroupDescribe, which requires Kafka 4.1"),
        (1, 13, "Fetch v13, which requires Kafka 3.1"),
    ],
)
def test_a_missing_version_names_the_release_that_added_it(
    api_key: int, low: int, words: str
) -> None:
    with pytest.raises(ShellError, match=words.replace("(", r"\(")):
        versions.choose(api_key, (low, 99), BROKER_API_VERSIONS[(2, 5)], "it")


def test_failures_have_kafka_s_name_and_a_description() -> None:
    assert failure(3, about="topic orders").message == (
        "topic orders does not exist, or you are not authorized to DESCRIBE it"
    )
    assert failure(3, "Topic orders is gone.", about="topic orders").message == (
        '"Topic orders is gone."'
    )
    unknown = failure(9999, None, about="topic orders")
    assert (unknown.name, unknown.code) == ("UNKNOWN_ERROR_9999", 9999)
    assert "9999" in unknown.message


def test_reprs_mask_secrets() -> None:
    from kafka_shell.base.plans import Secret
    from kafka_shell.wire.endpoint import OAuth, Sasl

    secret = Secret("s3cret")
    config = ConnectionConfig(
        sasl=Sasl("PLAIN", "al", secret, OAuth(token=secret, client_secret=secret)),
        tls=Tls(key_text=secret, key_password=secret),
    )
    assert "s3cret" not in f"{config!r} {Cluster(config)!r}"
