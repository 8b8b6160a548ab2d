"""A command of the shell changes the configs of two running programs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from kafka import KafkaAdminClient

from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.clients import DynamicKafkaProducer
from tests.support.followed_clients import SOON, USER, Store, Wire, dynamic, everything, running
from tests.support.program import Program
from tests.support.waiting import wait_for
from tests.system.clients.test_consumer import MEMBER, calm, plain, seconds_to_evict
from tests.system.clients.test_follow import registered
from tests.system.clients.test_producer import Sender, acks_seen


def test_one_line_changes_a_running_producer_and_a_running_consumer(
    store: Store, topic: str, name: str, wire: Wire, tmp_path: Path
) -> None:
    shell = Program(tmp_path, store.connection["bootstrap_servers"])
    entity = ("--user", USER, "--client-id", name)
    producer = DynamicKafkaProducer(
        **store.connection, client_id=name, metadata_max_age_ms=SOON, acks=1,
        enable_idempotence=False,
    )  # fmt: skip
    with (
        closing(producer),
        KafkaAdminClient(**store.connection) as admin,
        running(
            plain(store.connection, topic, name),
            dynamic(store.connection, topic, name, client_id=name, **MEMBER),
        ) as (leader, frozen),
    ):
        sender = Sender(producer, topic)
        calm(leader, frozen)
        wait_for("records flow", lambda: acks_seen(wire, name) == [1])
        wait_for("both are registered", lambda: len(registered(store, name)) == 2)
        shell.ok("alter-client-configs", *entity, "acks=all", "session.timeout.ms=9s", "--yes")
        wait_for("all replicas are waited for", lambda: acks_seen(wire, name) == [1, -1])
        wait_for(
            "it joins with its session",
            lambda: wire.last(name, "JoinGroup").session_timeout_ms == 9_000,
        )
        calm(leader, frozen)
        sent = sender.stop()
        wait_for(
            "each record is read",
            lambda: len(leader.polled + frozen.polled) >= sent,
        )
        assert 7 < seconds_to_evict(admin, name, frozen) < 25, "its session is of 9 s, not of 45"
    values = [int(value or b"-1") for _, value in everything(store.connection, topic)]
    assert values == list(range(sent)), "records were lost, doubled or out of order"
    assert set(leader.polled + frozen.polled) == set(values)


def test_who_is_forgotten_registers_again_with_the_next_look(
    store: Store, name: str, tmp_path: Path
) -> None:
    shell = Program(tmp_path, store.connection["bootstrap_servers"])
    entity = ("--user", USER, "--client-id", name)
    producer = DynamicKafkaProducer(**store.connection, client_id=name, metadata_max_age_ms=SOON)
    with closing(producer):
        wait_for("it is registered", lambda: len(registered(store, name)) == 1)
        for _ in range(2):
            since = [each.at for each in store.registrations()[ClientEntity(USER, name)].values()]
            shell.ok("alter-client-configs", *entity, "--delete-config", "supported.configs")

            def anew(since: list[int] = since) -> bool:
                now = store.registrations().get(ClientEntity(USER, name), {})
                return [each.at for each in now.values()] > since

            wait_for("it has registered again", anew)
        rows = shell("describe-client-configs", *entity, "--output", "json")
        assert "supported.configs" not in rows.stdout, "the request is no config"
