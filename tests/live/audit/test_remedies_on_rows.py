"""Controls evaluated on given rows: which findings have a remedy, and what it is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.control_rows import (
    CONTROLS,
    DAY,
    ORDERS,
    UNLIMITED,
    Case,
    Rows,
    batch,
    configs,
    evaluating,
    found,
)

OFFSETS = "__consumer_offsets"
UNSAFE = [found(OFFSETS, "alarm", reason="min.insync.replicas is 1", remedy="", undo="")]


def internal(
    factor: int = 3, isr: tuple[int, ...] = (1, 2, 3), reassignments: Rows | None = None
) -> Mapping[str, Rows]:
    """An internal topic with min.insync.replicas=1 in a cluster of three brokers."""
    return {
        "brokers": [{"broker_id": broker} for broker in (1, 2, 3)],
        "topics": [{"topic": OFFSETS, "internal": True, "min_factor": factor}],
        "topic_configs": configs(OFFSETS, min_insync_replicas="1"),
        "partitions": [{"topic": OFFSETS, "replicas": [1, 2, 3], "isr": list(isr)}],
        "reassignments": reassignments or [],
    }


def tiered(topic: str, **values: str) -> Rows:
    """A topic that keeps its records for a year."""
    own = {"retention_ms": "31536000000", "cleanup_policy": "delete",
           "remote_storage_enable": "true", "local_retention_bytes": "-2"}  # fmt: skip
    return configs(topic, **own | values)


CASES: list[Case] = [
    (
        "B16", "a move between log directories is info only, as one collection shows no age",
        {"disk_replicas": [{"broker_id": 1, "path": "/a", "topic": "orders", "word": "/a"},
                           {"broker_id": 1, "path": "/b", "topic": "orders", "word": "/b",
                            "future": True, "offset_lag": 9}]},
        [found("broker 1 orders:0", "info", reason="moving to /b, 9 offsets behind", remedy="")],
    ),
    (
        "B11", "the default may delete records, or let a reassignment saturate the network",
        {"broker_configs": [{"broker_id": 1, "key": key, "value": "1000", "pair": f"{key}=1000",
                             "source": "dynamic_broker", "cluster_default": "500"}
                            for key in ("log.retention.ms", "log.cleanup.policy", "num.io.threads",
                                        "leader.replication.throttled.rate")]},
        [found("broker 1 num.io.threads", "alarm",
               remedy="alter-configs --broker-id 1 --delete-config=num.io.threads"),
         *(found(f"broker 1 {key}", "alarm", remedy="", undo="")
           for key in ("log.retention.ms", "log.cleanup.policy",
                       "leader.replication.throttled.rate"))],
    ),
    (
        "T26", "all replicas are in sync", internal(),
        [found(OFFSETS, "alarm", reason="min.insync.replicas is 1",
               remedy=f"alter-configs --topic={OFFSETS} min.insync.replicas=2")],
    ),
    ("T26", "writes would stop with a single in-sync replica", internal(isr=(1,)), UNSAFE),
    ("T26", "writes would stop if a broker with one of two replicas stops", internal(2), UNSAFE),
    (
        "T26", "there are fewer replicas at the end of a reassignment",
        internal(reassignments=[{"topic": OFFSETS, "replicas": [1, 2, 3], "removing": [3]}]),
        UNSAFE,
    ),
    (
        "D01", "the bytes of uncompressed batches count, and only these can be saved",
        {"topics": [*ORDERS, {"topic": "small"}],
         "batches": [*(batch("earliest", at, at, DAY, codec="zstd", size=100) for at in range(3)),
                     batch("latest", 9, 9, DAY, codec="none", size=900),
                     *(batch("earliest", at, at, DAY, topic="small", codec="none", size=100)
                       for at in range(3)),
                     batch("latest", 9, 9, DAY, topic="small", codec="zstd", size=900)],
         "record_samples": [{"topic": topic, "plain_bytes": 1000, "packed_bytes": 200}
                            for topic in ("orders", "small")],
         "disk_replicas": [{"topic": topic, "size": 1 << 30} for topic in ("orders", "small")]},
        [found("orders", "alarm",
               reason="75% of the sampled bytes are not compressed, 1.0 GiB on disk;"
                      " compression would save about 60% of this size"),
         found("small", "ok")],
    ),
    (
        "G05", "an active group may have deleted records after its offset was read",
        {"groups": [{"group": state, "state": state, "word": state}
                    for state in ("Empty", "Stable")],
         "partition_offsets": [{"topic": "orders", "earliest": 50, "latest": 90, "records": 40}],
         "group_offsets": [{"group": state, "topic": "orders", "offset": 40, "latest": 90}
                           for state in ("Empty", "Stable")]},
        [found("group Empty orders:0", "alarm",
               remedy="reset-offsets --group=Empty --to earliest --topic=orders:0"),
         found("group Stable orders:0", "info", remedy="",
               reason="offset 40, the log contains offsets 50 to 90")],
    ),
    (
        "T03", "min.insync.replicas=1 is no remedy of replication factor 2",
        {"topics": [{"topic": "two", "min_factor": 2}, {"topic": "three", "min_factor": 3}],
         "topic_configs": [*configs("two", min_insync_replicas="2"),
                           *configs("three", min_insync_replicas="3")]},
        [found("two", "alarm", remedy="", undo=""),
         found("three", "alarm", remedy="alter-configs --topic=three min.insync.replicas=2")],
    ),
    (
        "T07", "an unclean election needs a replica that is online",
        {"partitions": [{"topic": topic, "leader": None, "replicas": [1, 2], "isr": [1],
                         "offline": offline}
                        for topic, offline in (("orders", [1]), ("down", [1, 2]))]},
        [found("orders:0", "alarm", remedy="elect-leaders --topic=orders:0 --election-type unclean",
               reason="no leader; replicas on brokers 1, 2, in-sync replicas: 1"),
         found("down:0", "alarm", remedy="",
               reason="no leader; replicas on brokers 1, 2, in-sync replicas: 1;"
                      " all replicas are offline")],
    ),
    (
        "T14", "tiered storage that keeps everything on local disks as well",
        {"topic_configs": [
            *tiered("same", local_retention_ms="-2"),
            *tiered("short", local_retention_ms="86400000"),
            *tiered("small", local_retention_ms="-2", local_retention_bytes="1000"),
            *({"pair": "local.retention.ms=7776000000", "overridden": True} | each
              if each["key"] == "local.retention.ms" else each
              for each in tiered("long", local_retention_ms="7776000000"))]},
        [found("same", "alarm", reason="retention.ms is 365d, local.retention.ms is -2",
               remedy="alter-configs --topic=same local.retention.ms=2592000000",
               undo="alter-configs --topic=same --delete-config local.retention.ms"),
         found("short", "ok"), found("small", "ok"),
         found("long", "alarm", remedy="alter-configs --topic=long local.retention.ms=2592000000",
               undo="alter-configs --topic=long local.retention.ms=7776000000")],
    ),
    (
        "T12", "an empty cleanup.policy keeps records whatever the retention is",
        {"topic_configs": [
            *configs("orders", retention_ms="60000", retention_bytes="-1", cleanup_policy=""),
            *configs("forever", **UNLIMITED | {"cleanup_policy": ""}),
            *configs("local", local_retention_ms="60000", remote_storage_enable="true",
                     **UNLIMITED | {"cleanup_policy": ""})]},
        [found("orders", "alarm",
               reason="retention.ms 1m, retention.bytes -1, cleanup.policy is empty",
               remedy="alter-configs --topic=orders cleanup.policy=delete"),
         found("forever", "alarm",
               remedy="alter-configs --topic=forever cleanup.policy=delete retention.ms=604800000",
               undo="alter-configs --topic=forever --delete-config=cleanup.policy"
                    " --delete-config=retention.ms"),
         found("local", "ok")],
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", ["B11", "Q02", "Q04", "Q06", "T25"])
def test_a_remedy_that_clients_may_notice_is_not_safe(name: str) -> None:
    assert CONTROLS[name].risk == "disruptive"


test_a_control_on_given_rows = evaluating(CASES)
