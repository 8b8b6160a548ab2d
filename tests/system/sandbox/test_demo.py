"""The demo data on real brokers: it is deterministic, and failures are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclFilter, AclResourceType, PatternType
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.users import scram
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.demo import company, make_demo, records
from kafka_shell.sandbox.session import connection_to
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses

PROMISED = [
    *("orders.placed", "orders.shipped", "payments.authorized", "payments.captured"),
    *("payments.refunds", "customers.profile", "web.clickstream", "shipping.parcels"),
    *("tmp.backfill", "tmp.replay"),
]


def quiet(_task: str, _done: int, _total: int | None) -> None:
    """Progress nobody looks at."""


@pytest.fixture(scope="module")
def reports() -> list[tuple[str, int, int | None]]:
    return []


@pytest.fixture(scope="module")
def demo(
    tmp_path_factory: pytest.TempPathFactory, reports: list[tuple[str, int, int | None]]
) -> Iterator[Sandbox]:
    """A sandbox of its own with the demo data."""
    folder = tmp_path_factory.mktemp("demo")
    try:
        sandbox = start(SandboxOptions(folder, "4.3", 1, port=0))
        make_demo(connection_to(sandbox), lambda *report: reports.append(report))
        yield sandbox
    finally:
        wipe(folder)


@pytest.fixture(scope="module")
def cluster(demo: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(demo.bootstrap))) as cluster:
        yield cluster


def overrides(cluster: Cluster, topic: str) -> dict[str, str | None]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    return {
        e.name: e.value for e in configs.describe(cluster, [resource])[resource] if e.overridden
    }


def ends_of(bootstrap: str) -> dict[tuple[str, int], int]:
    """Where each partition of the company's topics ends."""
    from kafka import KafkaConsumer, TopicPartition

    wanted = [
        TopicPartition(t.name, p) for t in company.topics(1) for p in range(t.partitions or 0)
    ]
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    try:
        return {tuple(tp): end for tp, end in consumer.end_offsets(wanted).items()}
    finally:
        consumer.close()


def lags_of(bootstrap: str) -> dict[str, dict[tuple[str, int], int]]:
    """What each group has still to read of the partitions it has read from."""
    from kafka import KafkaAdminClient

    ends = ends_of(bootstrap)
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        found = admin.list_group_offsets(list(company.GROUPS))
    finally:
        admin.close()
    return {
        group: {tuple(tp): ends[tuple(tp)] - committed.offset for tp, committed in offsets.items()}
        for group, offsets in found.items()
    }


def read(bootstrap: str, topic: str) -> list[Any]:
    """All records of a topic. Compaction leaves fewer than there were offsets."""
    from kafka import KafkaConsumer, TopicPartition

    partitions = next(t.partitions for t in company.topics(1) if t.name == topic)
    ends = {tp: end for tp, end in ends_of(bootstrap).items() if tp[0] == topic}
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    try:
        consumer.assign([TopicPartition(topic, number) for number in range(partitions or 0)])
        found: list[Any] = []
        while any(consumer.position(TopicPartition(*tp)) < end for tp, end in ends.items()):
            for batch in consumer.poll(timeout_ms=5000).values():
                found.extend(batch)
        return found
    finally:
        consumer.close()


def test_the_promised_topics_are_there_and_the_examples_have_room(cluster: Cluster) -> None:
    names = metadata_scan.scan(cluster).names
    assert set(PROMISED) <= set(names)
    assert not [name for name in names if name.startswith("parcels")]
    assert 40 <= len([name for name in names if not name.startswith("__")]) <= 50


def test_topics_are_as_the_examples_want_them(cluster: Cluster) -> None:
    placed = topics.describe(cluster, ["orders.placed"])["orders.placed"]
    assert (len(placed.partitions), placed.replication_factor) == (3, 1)
    assert overrides(cluster, "orders.placed") == {
        "retention.ms": "2592000000",
        "segment.ms": "86400000",
    }
    assert overrides(cluster, "customers.profile") == {"cleanup.policy": "compact"}
    assert overrides(cluster, "web.clickstream") == {
        "retention.ms": "-1",
        "compression.type": "uncompressed",
    }
    assert overrides(cluster, "payments.captured")["unclean.leader.election.enable"] == "true"
    assert len(topics.describe(cluster, ["shipping.gps"])["shipping.gps"].partitions) == 1


def test_users_quotas_and_acls_are_all_there(cluster: Cluster) -> None:
    users = {
        (c.user, c.mechanism, c.iterations) for owned in scram.describe(cluster) for c in owned
    }
    assert users == set(company.USERS)
    found = {(quota.entity, quota.key): quota.value for quota in quotas.describe(cluster)}
    assert found == {(each.entity, each.key): each.value for each in company.QUOTAS}
    assert set(acls.describe(cluster)) == set(company.ACLS)
    wide = AclFilter(
        resource_type=AclResourceType.TOPIC, name="orders.placed", pattern_type=PatternType.MATCH
    )
    assert {binding.name for binding in acls.describe(cluster, wide)} == {
        "orders.placed", "orders.", "*",
    }  # fmt: skip


def test_groups_and_client_metrics_have_configs(cluster: Cluster) -> None:
    found = configs.describe(cluster, company.CONFIGS)
    set_ = {str(r): {e.name: e.value for e in found[r] if e.overridden} for r in company.CONFIGS}
    assert set_ == {
        "group orders-enricher": {
            "consumer.session.timeout.ms": "50000",
            "consumer.heartbeat.interval.ms": "6000",
        },
        "client-metrics slow-producers": {
            "metrics": "org.apache.kafka.producer.",
            "interval.ms": "60000",
            "match": "client_id=web-.*",
        },
    }


def test_groups_have_different_lags(demo: Sandbox) -> None:
    lags = lags_of(demo.bootstrap)
    assert set(lags) == set(company.GROUPS)
    assert set(lags["billing-sync"].values()) == {0}
    assert set(lags["crm-export"].values()) == {0}
    assert lags["anna-console"] == {("tmp.replay", 0): 60}
    assert 20 < sum(lags["orders-enricher"].values()) < 60
    assert sum(lags["analytics-loader"].values()) > 800
    stuck = {partition for (_, partition), lag in lags["fraud-check"].items() if lag}
    assert stuck == {2}
    read_from = {p for topic, p in lags["shipping-notifier"] if topic == "shipping.parcels"}
    assert read_from == {0, 1, 2}  # of six


def test_records_are_json_with_keys_and_a_past(demo: Sandbox) -> None:
    orders = read(demo.bootstrap, "orders.placed")
    assert len(orders) == 400
    assert {record.key.decode() for record in orders} == {f"o-{1000 + n}" for n in range(400)}
    assert all(json.loads(record.value)["order"] == record.key.decode() for record in orders)
    days = (orders[0].timestamp - orders[-1].timestamp) / 86_400_000
    assert abs(days) < 1.6
    profiles = read(demo.bootstrap, "customers.profile")
    assert [record for record in profiles if record.value is None], "no tombstone"


def test_every_codec_is_in_some_log(demo: Sandbox) -> None:
    """Single records are not compressed where that would make them larger."""
    codecs: dict[str, set[int]] = {}
    for log in demo.folder.glob("node-*/data-*/*/00000000000000000000.log"):
        topic = log.parent.name.rpartition("-")[0]
        batches = codecs_in(log.read_bytes())
        codecs.setdefault(topic, set()).update(codec for codec, count in batches if count > 1)
    assert codecs["orders.placed"] == {0}
    assert codecs["payments.captured"] == {1}  # gzip
    assert codecs["web.searches"] == {2}  # snappy
    assert codecs["shipping.parcels"] == {3}  # lz4
    assert codecs["payments.fraud-scores"] == {4}  # zstd


def codecs_in(log: bytes) -> Iterator[tuple[int, int]]:
    """The codec and the number of records of each batch. Its length is at bytes 8 to 11 of its
    header, its attributes at 21 and 22, and the number of records at 57 to 60."""
    while len(log) > 61:
        yield log[22] & 7, int.from_bytes(log[57:61], "big")
        log = log[12 + int.from_bytes(log[8:12], "big") :]


def test_progress_goes_from_nothing_to_all(
    demo: Sandbox, reports: list[tuple[str, int, int | None]]
) -> None:
    total = reports[-1][2]
    assert total
    assert reports == [(reports[0][0], done, total) for done in range(total + 1)]


def test_made_again_it_is_the_same(demo: Sandbox) -> None:
    before = ends_of(demo.bootstrap), lags_of(demo.bootstrap)
    make_demo(connection_to(demo), quiet)
    assert (ends_of(demo.bootstrap), lags_of(demo.bootstrap)) == before


def test_three_older_brokers_have_the_same_data_in_three_copies(
    demo: Sandbox, tmp_path: Path
) -> None:
    try:
        old = start(SandboxOptions(tmp_path / "old", "3.9", 3, port=0))
        make_demo(connection_to(old), quiet)
        with Cluster(ConnectionConfig(parse_addresses(old.bootstrap))) as cluster:
            found = topics.describe(cluster, [*PROMISED, "billing.invoices"])
            assert found.ok
            assert {topic.replication_factor for topic in found} == {3}
            careful = overrides(cluster, "billing.invoices")["min.insync.replicas"]
            careless = overrides(cluster, "payments.refunds")["min.insync.replicas"]
            assert (careful, careless) == ("2", "1")
        assert ends_of(old.bootstrap) == ends_of(demo.bootstrap)
        assert lags_of(old.bootstrap) == lags_of(demo.bootstrap)
    finally:
        wipe(tmp_path / "old")


def test_whatever_cannot_be_made_is_named(demo: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = replace(company.ACLS[0], principal="nobody")
    monkeypatch.setattr(company, "ACLS", (*company.ACLS, bad))
    with pytest.raises(ShellError, match="nobody"):
        make_demo(connection_to(demo), quiet)


def test_a_record_or_offset_that_gets_lost_is_named(
    demo: Sandbox, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    unkeyed = records.Feed("customers.profile", 1, lambda random, number: (None, {"no": "key"}))
    monkeypatch.setattr(records, "FEEDS", (unkeyed,))  # a compacted topic wants a key
    wanted = [new for new in company.topics(1) if new.name == "customers.profile"]
    with pytest.raises(ShellError, match=r"topic customers\.profile"):
        records.produce(connection_to(demo), wanted)
    lost = {"lost-group": (company.DemoGroup("no.such.topic"),)}
    monkeypatch.setattr(records, "GROUPS", lost)
    with pytest.raises(ShellError, match=r"group lost-group: .*UNKNOWN_TOPIC_OR_PARTITION"):
        records.commit(cluster, {"no.such.topic": {0: 7}})
