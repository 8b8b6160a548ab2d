"""Clients with few permissions, on a broker with an authorizer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka import errors as kafka_errors
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
)
from kafka.admin import ResourceType as AclResource

from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
    config_record,
)
from kafka_shell.clients import DynamicKafkaProducer
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from tests.support.followed_clients import SOON, Connection, Looks, Store, followers, said
from tests.support.waiting import wait_for

ALICE = "User:alice"
READ, WRITE = ACLOperation.READ, ACLOperation.WRITE


def log_in(sandbox: Sandbox, user: str) -> Connection:
    return {
        "bootstrap_servers": sandbox.bootstraps["SASL_PLAINTEXT"],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_plain_username": user,
        "sasl_plain_password": passwords(sandbox)[user],
    }


class Rights:
    """What alice may, besides writing to a topic of her own."""

    def __init__(self, connection: Connection) -> None:
        self._admin = KafkaAdminClient(**connection)

    def allow(self, operation: ACLOperation, topic: str) -> None:
        pattern = ResourcePattern(AclResource.TOPIC, topic)
        allowed = ACL(ALICE, "*", operation, ACLPermissionType.ALLOW, pattern)
        self._admin.create_acls([allowed])

    def take_all(self) -> None:
        every = ResourcePatternFilter(AclResource.ANY, None, ACLResourcePatternType.ANY)
        self._admin.delete_acls(
            [ACLFilter(ALICE, None, ACLOperation.ANY, ACLPermissionType.ANY, every)]
        )

    def close(self) -> None:
        self._admin.close()


@pytest.fixture
def rights(secure_sandbox: Sandbox) -> Iterator[Rights]:
    found = Rights(log_in(secure_sandbox, "admin"))
    yield found
    found.take_all()
    found.close()


@pytest.fixture
def store(secure_sandbox: Sandbox) -> Iterator[Store]:
    """The two topics, written to by an administrator; gone afterwards."""
    store = Store(log_in(secure_sandbox, "admin"))
    store.make()
    yield store
    store.delete()
    store.close()


@pytest.fixture
def topic(store: Store, rights: Rights, name: str) -> str:
    rights.allow(WRITE, store.make_topic(name))
    return name


def of_alice(sandbox: Sandbox, **configs: Any) -> DynamicKafkaProducer:
    return DynamicKafkaProducer(
        **log_in(sandbox, "alice"), client_id="app", metadata_max_age_ms=SOON, **configs
    )


def test_who_may_register_and_read_may_not_override(
    secure_sandbox: Sandbox, store: Store, rights: Rights, topic: str
) -> None:
    rights.allow(READ, CONFIGS_TOPIC)
    rights.allow(WRITE, REGISTRATIONS_TOPIC)
    app = ClientEntity("alice", "app")
    with of_alice(secure_sandbox) as producer:
        store.alter("app", "alice", linger_ms="3")
        wait_for("alice is followed", lambda: producer.config["linger_ms"] == 3)
        wait_for("alice has registered", lambda: app in store.registrations())
        producer.send(topic, b"1").get(10)
    with KafkaProducer(**log_in(secure_sandbox, "alice"), max_block_ms=5000) as herself:
        key, value = config_record(ClientConfigAlteration(app, "linger.ms", "9"))
        with pytest.raises(kafka_errors.TopicAuthorizationFailedError):
            herself.send(CONFIGS_TOPIC, value, key).get(10)


def of_kafka_python(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What kafka-python itself has warned of."""
    return [
        f"{record.name}: {record.getMessage()}"
        for record in caplog.records
        if record.name.startswith("kafka.")
        # logins are of the test's own clients; a busy machine runs tasks of the selector late
        and not record.name.startswith(("kafka.net.sasl", "kafka.net.selector"))
        and record.levelno >= logging.WARNING
    ]


def test_who_may_not_read_has_a_working_client_and_one_line(
    secure_sandbox: Sandbox,
    store: Store,
    rights: Rights,
    topic: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)
    store.alter("app", "alice", linger_ms="3")
    with of_alice(secure_sandbox) as producer:
        producer.send(topic, b"1").get(10)
        looks.wait(2)
        assert producer.config["linger_ms"] == 0
        assert len(said(caplog, "")) == 1
        assert len(said(caplog, f"requires READ on topic {CONFIGS_TOPIC}")) == 1
        assert not of_kafka_python(caplog), "the looks of this program say what came of them"
        rights.allow(READ, CONFIGS_TOPIC)
        wait_for("she may, and it follows", lambda: producer.config["linger_ms"] == 3)
        refused = f"requires WRITE on topic {REGISTRATIONS_TOPIC}"
        wait_for("she may still not register", lambda: bool(said(caplog, refused)))
        producer.send(topic, b"2").get(10)
        looks.wait(2)
        assert len(said(caplog, "requires WRITE")) == 1


def test_who_may_describe_but_not_read_has_one_too(
    secure_sandbox: Sandbox,
    store: Store,
    rights: Rights,
    topic: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)
    store.alter("app", "alice", linger_ms="3")
    rights.allow(ACLOperation.DESCRIBE, CONFIGS_TOPIC)
    with of_alice(secure_sandbox) as producer:
        producer.send(topic, b"1").get(10)
        looks.wait(2)
        assert len(said(caplog, "requires READ")) == 1
        assert not of_kafka_python(caplog)


def test_a_login_without_a_user_name_requires_dynamic_config_user(
    secure_sandbox: Sandbox,
    store: Store,
    rights: Rights,
    topic: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = secure_sandbox.folder / "tls"
    tls = {
        "bootstrap_servers": secure_sandbox.bootstraps["SSL"],
        "security_protocol": "SSL",
        "ssl_cafile": str(keys / "ca.pem"),
        "ssl_certfile": str(keys / "alice.pem"),
        "ssl_keyfile": str(keys / "alice.pem"),
    }
    rights.allow(READ, CONFIGS_TOPIC)
    store.alter("app", "CN=alice", linger_ms="3")
    with DynamicKafkaProducer(**tls, client_id="app") as producer:
        assert len(said(caplog, "Pass dynamic_config_user")) == 1
        assert not followers()
        assert producer.config["linger_ms"] == 0
    with DynamicKafkaProducer(**tls, client_id="app", dynamic_config_user="CN=alice") as producer:
        assert producer.config["linger_ms"] == 3
