"""Topics as created by well-known programs."""

# ruff: noqa: E501 - names and lines of the shell are as long as they are
from __future__ import annotations

from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect
from tests.support.group_data import commit
from tests.support.in_process_shell import Shell
from tests.support.keyed_records import produce

COMPACT = "--config cleanup.policy=compact"
STREAMS = "--config message.timestamp.type=CreateTime"
# name -> how its program creates it
TOPICS = {
    # Kafka Connect
    "connect-configs": f"--partitions 1 {COMPACT}",
    "prod_connect_offsets": f"--partitions 5 {COMPACT}",
    "connect-status": f"--partitions 5 {COMPACT}",
    # Kafka Streams: KTables, windows, joins on foreign keys, repartitioning
    "shop-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog": f"--partitions 2 {COMPACT} {STREAMS}",
    "shop-KSTREAM-REDUCE-STATE-STORE-0000000007-changelog":
        "--partitions 2 --config cleanup.policy=compact,delete --config retention.ms=7862400000"
        f" {STREAMS}",
    "shop-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition":
        "--partitions 2 --config cleanup.policy=delete --config retention.ms=-1"
        f" --config segment.bytes=52428800 {STREAMS}",
    "shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic": "--partitions 2",
    "shop-store-subscription-registration-topic": f"--partitions 2 --config cleanup.policy=delete {STREAMS}",
    # MirrorMaker 2
    "heartbeats": f"--partitions 1 {COMPACT}",
    "west.heartbeats": f"--partitions 1 {COMPACT}",
    "west.checkpoints.internal": f"--partitions 1 {COMPACT}",
    "mm2-offset-syncs.west.internal": f"--partitions 1 {COMPACT}",
    "mm2-configs.west.internal": f"--partitions 1 {COMPACT}",
    "west.orders": "--partitions 2",
    # Schema Registry, and the metadata of tiered storage
    "_schemas": f"--partitions 1 {COMPACT}",
    "__remote_log_metadata": "--partitions 2 --config retention.ms=-1",
    # Debezium, ksqlDB, a store of Kafka Streams, and the replies of Spring
    "schema-changes.inventory": "--partitions 1 --config retention.ms=-1",
    "_confluent-ksql-default__command_topic": "--partitions 1 --config retention.ms=-1",
    "shop-store-changelog": f"--partitions 2 {COMPACT}",
    "orders.replies": "--partitions 2 --config retention.ms=60000",
    # tables: compacted, with timestamps of their source; and with a short retention.ms that has no effect
    "prices.table": f"--partitions 2 {COMPACT} --config retention.ms=60000"
                    " --config message.timestamp.after.max.ms=9223372036854775807",
    # a topic that was purged, one that is written rarely, and one created a moment ago
    "purged.work": "--partitions 2",
    "rarely.written": "--partitions 2 --config segment.ms=3600000",
    "just.created": "--partitions 2",
}  # fmt: skip


def create(sandbox: Sandbox, shell: Shell) -> None:
    """Create them all, with records and groups as their programs leave them."""
    for name, how in TOPICS.items():
        shell.ok(f"create-topic {name} {how}")
    shell.ok("alter-acls --add 'allow User:shop All on prefixed topic newapp-'")
    shell.ok("alter-acls --add 'allow User:shop Read on group newapp'")
    at = sandbox.bootstrap
    keys: list[bytes | None] = [b"a", b"b"] * 5
    for name in ("connect-configs", "prod_connect_offsets", "connect-status", "_schemas"):
        produce(at, name, [b"key", *keys], idempotent=False)
    produce(at, "heartbeats", [b"west"] * 150, partition=0, idempotent=False)
    produce(at, "west.orders", keys)
    produce(at, "prices.table", keys, partition=0, at=1_700_000_000_000)
    produce(at, "prices.table", keys, partition=0)
    for name in TOPICS:
        if name.endswith("changelog"):
            produce(at, name, keys, partition=0)
            produce(at, name, keys, partition=0, at=1_700_000_000_000)
    produce(at, "purged.work", keys, partition=0)
    produce(at, "rarely.written", keys, partition=0)
    shell.ok("delete-records --topic purged.work --to latest --yes")
    shell.ok("delete-records --topic rarely.written:0 --to latest --yes")
    produce(at, "rarely.written", keys, partition=0)
    with connect(sandbox) as cluster:
        commit(cluster, "copied-from-west", "west.orders", 1)
        for name, offset in {"purged.work": 10, "rarely.written": 20, "prices.table": 20}.items():
            commit(cluster, "readers", name, offset)


def delete(shell: Shell) -> None:
    """Delete all of it."""
    shell("alter-acls --remove 'allow User:shop All on prefixed topic newapp-' --yes")
    shell("alter-acls --remove 'allow User:shop Read on group newapp' --yes")
    shell(f"delete-topic {','.join(TOPICS)} --yes --if-exists")
    shell("delete-group copied-from-west readers --yes")
