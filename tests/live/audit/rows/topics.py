"""Rows for controls of topics."""

# ruff: noqa: E501 - a row is one line
from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.control_rows import (
    BROKERS,
    DAY,
    NOW,
    ORDERS,
    UNLIMITED,
    Case,
    Rows,
    config,
    configs,
    found,
    override,
    setting,
)

OFFSETS = "__consumer_offsets"
UNSAFE = [found(OFFSETS, "alarm", reason="min.insync.replicas is 1", remedy="", undo="")]
NEVER = "9223372036854775807"


def topics(**partitions: int) -> Rows:
    """Topics with this many partitions: `a_b` is a.b."""
    return [{"topic": name.replace("_", "."), "partitions": count, "min_factor": 3}
            for name, count in partitions.items()]  # fmt: skip


def internal(
    factor: int = 3, isr: tuple[int, ...] = (1, 2, 3), reassignments: Rows | None = None
) -> Mapping[str, Rows]:
    """An internal topic with min.insync.replicas=1 in a cluster of three brokers."""
    return {
        "brokers": BROKERS,
        "topics": [{"topic": OFFSETS, "internal": True, "min_factor": factor}],
        "topic_configs": [override(OFFSETS, "min.insync.replicas", "1")],
        "partitions": [{"topic": OFFSETS, "replicas": [1, 2, 3], "isr": list(isr)}],
        "reassignments": reassignments or [],
    }


def tiered(topic: str, **values: str) -> Rows:
    """A topic that keeps its records for a year."""
    own = {"retention_ms": "31536000000", "cleanup_policy": "delete",
           "remote_storage_enable": "true", "local_retention_bytes": "-2"}  # fmt: skip
    return configs(topic, **own | values)


def rest(topic: str, latest: int, records: int, days: int | None = None) -> dict[str, Any]:
    """A partition whose newest record is this many days old."""
    return {"topic": topic, "latest": latest, "records": records,
            "newest_record": None if days is None else NOW - days * DAY}  # fmt: skip


# Control, key, a bad value, the value of its remedy, configs without which it is not bad, and
# configs with which it is not.
FAULTS: list[tuple[str, str, str, str, dict[str, str], list[dict[str, str]]]] = [
    ("T05", "unclean.leader.election.enable", "true", "false", {}, []),
    ("T13", "retention.ms", "60000", "3600000",
     {"cleanup.policy": "delete"}, [{"cleanup.policy": "compact"}]),
    ("T17", "min.cleanable.dirty.ratio", "0.95", "0.5",
     {"cleanup.policy": "compact", "max.compaction.lag.ms": NEVER},
     [{"cleanup.policy": "delete"}, {"max.compaction.lag.ms": "86400000"}]),
    ("T18", "delete.retention.ms", "1000", "86400000",
     {"cleanup.policy": "compact"}, [{"cleanup.policy": "delete"}]),
    ("T19", "compression.type", "gzip", "producer", {}, []),
    ("T20", "max.message.bytes", "20000000", "1048576", {}, []),
    ("T21", "message.timestamp.after.max.ms", NEVER, "3600000",
     {"message.timestamp.type": "CreateTime", "cleanup.policy": "delete", "retention.ms": "1"},
     [{"message.timestamp.type": "LogAppendTime"}, {"cleanup.policy": "compact"},
      {"retention.ms": "-1"}]),
    ("T33", "max.message.bytes", "1000", "1048588", {}, []),
]  # fmt: skip


def faults() -> Iterator[Case]:
    """A topic with a bad value, one that overrides the value of the remedy with it, and others."""
    for control, key, bad, value, needed, harmless in FAULTS:
        names = ["bad", "own", "fine", *(f"harmless.{number}" for number in range(len(harmless)))]
        rows: Rows = [
            *(each for name in names for each in configs(name, **needed)
              if not name.startswith("harmless")),
            *(each for name, other in zip(names[3:], harmless, strict=True)
              for each in configs(name, **{key: bad} | needed | other)),
            *configs("bad", **{key: bad}), *configs("fine", **{key: value}),
            override("own", key, bad, value)]  # fmt: skip
        yield (
            control, f"{key}={bad}",
            {"topic_configs": rows, "topics": [{"topic": name} for name in names],
             "broker_configs": [config(1, "replica.fetch.max.bytes", "1048576")]},
            [found("bad", "alarm", remedy=f"alter-configs bad {setting(key, value)}",
                   undo=f"alter-configs bad --delete-config {key}"),
             found("own", "alarm", remedy=f"alter-configs own --delete-config {key}",
                   undo=f"alter-configs own {setting(key, bad)}"),
             found("fine", "ok")],
        )  # fmt: skip


CASES: list[Case] = [
    ("T03", "min.insync.replicas=1 is no remedy of replication factor 2",
     {"topics": [{"topic": "two", "min_factor": 2}, {"topic": "three", "min_factor": 3}],
      "topic_configs": [*configs("two", min_insync_replicas="2"),
                        *configs("three", min_insync_replicas="3")]},
     [found("two", "alarm", remedy="", undo=""),
      found("three", "alarm", remedy="alter-configs three min.insync.replicas=2")]),
    ("T06", "an offline broker is not in the list, and a reassignment adds replicas for a time",
     {"brokers": BROKERS[:2],
      "topics": [{"topic": "orders", "min_factor": 3, "max_factor": 3},
                 {"topic": "moved", "min_factor": 3, "max_factor": 4},
                 {"topic": "thin", "min_factor": 3, "max_factor": 3},
                 {"topic": "one", "min_factor": 1, "max_factor": 1}],
      "topic_configs": [*(each for topic in ("orders", "moved", "one")
                          for each in configs(topic, min_insync_replicas="1")),
                        *configs("thin", min_insync_replicas="3")],
      "reassignments": [{"topic": "moved", "replicas": [1, 2, 3, 4], "adding": [4]}]},
     [found("orders", "ok"), found("moved", "info", remedy=""),
      found("thin", "alarm", remedy="alter-topic thin --replication-factor 4"),
      found("one", "ok", remedy="", undo="")]),
    ("T07", "an unclean election needs a replica that is online",
     {"partitions": [{"topic": topic, "leader": None, "replicas": [1, 2], "isr": [1],
                      "offline": offline}
                     for topic, offline in (("orders", [1]), ("down", [1, 2]))]},
     [found("orders:0", "alarm", remedy="elect-leaders orders:0 --election-type unclean",
            reason="no leader; replicas on brokers 1, 2, in-sync replicas: 1"),
      found("down:0", "alarm", remedy="",
            reason="no leader; replicas on brokers 1, 2, in-sync replicas: 1;"
                   " all replicas are offline")]),
    ("T07", "without in-sync replicas, as with eligible leader replicas, all replicas count",
     {"clusters": [{"offline": [2, 3]}],
      "partitions": [{"topic": "orders", "partition": number, "replicas": replicas, "isr": [],
                      "leader": None, "offline": [2, 3]}
                     for number, replicas in enumerate(([2, 3], [1, 2]))]},
     [found("orders:0", "ok"), found("orders:1", "alarm")]),
    ("T09", "a replica that a reassignment adds is not in sync yet",
     {"partitions": [{"topic": "moved", "replicas": [1, 2, 4], "isr": [1, 2]},
                     {"topic": "behind", "replicas": [1, 2, 3, 4], "isr": [1, 2]},
                     {"topic": "orders", "replicas": [1, 2, 3], "isr": [1, 2]}],
      "reassignments": [{"topic": "moved", "replicas": [1, 2, 4], "adding": [4]},
                        {"topic": "behind", "replicas": [1, 2, 3, 4], "adding": [4]}]},
     [found("moved:0", "ok", reason="a reassignment is adding replicas on brokers 4"),
      found("behind:0", "alarm", reason="not in sync: brokers 3"),
      found("orders:0", "alarm", reason="not in sync: brokers 3")]),
    ("T12", "what matters is the share of a disk",
     {"topic_configs": [
         *(each for name in ("orders", "history", "app-repartition", "__share_group_state", "old")
           for each in configs(name, **UNLIMITED)),
         *configs("empty", retention_ms="60000", retention_bytes="-1", cleanup_policy=""),
         *configs("tiered", remote_storage_enable="true", local_retention_ms="3600000", **UNLIMITED),
         *configs("compacted", **UNLIMITED | {"cleanup_policy": "compact"})],
      "log_dirs": [{"broker_id": 1, "path": "/a", "total": 1000}, {"broker_id": 1, "path": "/old"}],
      "disk_replicas": [{"broker_id": 1, "path": "/a", "topic": name, "size": size} for name, size in (
          ("orders", 100), ("history", 99), ("app-repartition", 500), ("__share_group_state", 500),
          ("empty", 500), ("tiered", 500), ("compacted", 500))]
          + [{"broker_id": 1, "path": "/old", "topic": "old", "size": 500}]},
     [found("orders", "alarm", remedy="", undo="",
            reason="retention.ms -1, retention.bytes -1, cleanup.policy delete; 10% of broker 1 /a"),
      found("empty", "alarm",
            reason="retention.ms 1m, retention.bytes -1, cleanup.policy is empty; 50% of broker 1 /a"),
      found("old", "skip", reason="retention.ms -1, retention.bytes -1, cleanup.policy delete;"
                                  " the size of the volumes is unknown"),
      *(found(name, "ok") for name in ("history", "tiered", "compacted"))]),
    ("T14", "tiered storage that keeps everything on local disks as well",
     {"topic_configs": [
         *tiered("same", local_retention_ms="-2"),
         *tiered("short", local_retention_ms="86400000"),
         *tiered("small", local_retention_ms="-2", local_retention_bytes="1000"),
         *tiered("long", local_retention_ms="7776000000")]},
     [found("same", "alarm", reason="retention.ms is 365d, local.retention.ms is -2"),
      found("short", "ok"), found("small", "ok"), found("long", "alarm")]),
    ("T14", "what is not tiered",
     {"topic_configs": [*configs("long", retention_ms="7776000000", cleanup_policy="delete"),
                        *configs("table", retention_ms="7776000000", cleanup_policy="compact")]},
     [found("long", "alarm", reason="retention.ms is 90d"), found("table", "ok")]),
    ("T25", "an override of an unknown inherited value",
     {"topics": ORDERS,
      "topic_configs": [{"topic": "orders", "key": "retention.ms", "value": "1000",
                         "overridden": True}]},
     [found("orders", "skip", reason="unknown inherited value: retention.ms")]),
    ("T26", "all replicas are in sync", internal(),
     [found(OFFSETS, "alarm", reason="min.insync.replicas is 1",
            remedy=f"alter-configs {OFFSETS} min.insync.replicas=2")]),
    ("T26", "writes would stop with a single in-sync replica", internal(isr=(1,)), UNSAFE),
    ("T26", "writes would stop if a broker with one of two replicas stops", internal(2), UNSAFE),
    ("T26", "there are fewer replicas at the end of a reassignment",
     internal(reassignments=[{"topic": OFFSETS, "replicas": [1, 2, 3], "removing": [3]}]),
     UNSAFE),
    *faults(),
    ("T01", "a single copy",
     {"clusters": [{"brokers": 3}, {"brokers": 1, "cluster": "small"},
                   {"brokers": 1, "offline": [2], "cluster": "down"}],
      "topics": [{"topic": "one", "min_factor": 1}, {"topic": "two", "min_factor": 2},
                 {"topic": "one", "min_factor": 1, "cluster": "small"},
                 {"topic": "one", "min_factor": 1, "cluster": "down"}]},
     [found("one", "alarm", reason="replication factor 1",
            remedy="alter-topic one --replication-factor 3",
            undo="alter-topic one --replication-factor 1"),
      found("two", "ok"), found("one", "alarm", cluster="down", remedy="", undo=""),
      found("one", "ok", cluster="small", reason="replication factor 1 on the only broker")]),
    ("T02", "two copies",
     {"brokers": [*BROKERS, *({"broker_id": broker, "cluster": "small"} for broker in (1, 2))],
      "topics": [{"topic": "two", "min_factor": 2}, {"topic": "three", "min_factor": 3},
                 {"topic": OFFSETS, "min_factor": 2, "internal": True},
                 {"topic": "two", "min_factor": 2, "cluster": "small"}]},
     [found("two", "alarm", remedy="alter-topic two --replication-factor 3",
            undo="alter-topic two --replication-factor 2"),
      found("three", "ok"), found("two", "alarm", cluster="small", remedy="")]),
    ("T03", "one replica less than there are",
     {"topics": [{"topic": "three", "min_factor": 3}, {"topic": "one", "min_factor": 1}],
      "topic_configs": [*configs("three", min_insync_replicas="2"),
                        *configs("one", min_insync_replicas="1")]},
     [found("three", "ok", reason="min.insync.replicas is 2, replication factor is 3"),
      found("one", "ok")]),
    ("T04", "a remedy does not stop writes",
     {"topics": [*({"topic": name, "min_factor": 3} for name in ("three", "behind", "moved")),
                 {"topic": "two", "min_factor": 2}, {"topic": "safe", "min_factor": 3},
                 {"topic": "inherits", "min_factor": 3}],
      "topic_configs": [*(override(name, "min.insync.replicas", str(1 + (name == "safe")))
                          for name in ("three", "behind", "moved", "two", "safe")),
                        *configs("inherits", min_insync_replicas="1")],
      "partitions": [{"topic": name, "isr": [1] if name == "behind" else [1, 2, 3]}
                     for name in ("three", "behind", "moved", "two", "safe")],
      "reassignments": [{"topic": "moved"}]},
     [found("three", "alarm", remedy="alter-configs three min.insync.replicas=2",
            undo="alter-configs three min.insync.replicas=1"),
      *(found(name, "alarm", remedy="") for name in ("behind", "moved")),
      found("two", "ok"), found("safe", "ok"), found("inherits", "ok")]),
    ("T07", "a partition with a leader", {"partitions": [{"topic": "orders", "leader": 2}]},
     [found("orders:0", "ok", reason="leader is broker 2")]),
    ("T08", "writes with acks=all fail",
     {"partitions": [{"topic": "blocked", "replicas": [1, 2, 3], "isr": [1]},
                     {"topic": "behind", "replicas": [1, 2, 3], "isr": [1, 2]},
                     {"topic": "alone", "replicas": [1], "isr": [1]}],
      "topic_configs": [each for name in ("blocked", "behind", "alone")
                        for each in configs(name, min_insync_replicas="2")]},
     [found("blocked:0", "alarm", reason="in-sync replicas: 1, min.insync.replicas: 2"),
      found("behind:0", "ok"), found("alone:0", "ok")]),
    ("T10", "a preferred leader that is in sync can lead",
     {"partitions": [{"topic": name, "leader": leader, "preferred_leader": 1, "isr": isr}
                     for name, leader, isr in (("turned", 2, [1, 2]), ("behind", 2, [2]),
                                               ("fine", 1, [1]), ("none", None, []))]
      + [{"topic": "down", "leader": 2, "preferred_leader": 1, "isr": [1, 2], "offline": [1]},
         {"topic": "turned", "leader": 2, "preferred_leader": 1, "isr": [1, 2], "cluster": "auto"}],
      "broker_configs": [config(1, "auto.leader.rebalance.enable", "false"),
                         config(1, "auto.leader.rebalance.enable", "true", cluster="auto")]},
     [found("turned:0", "alarm", reason="leader is broker 2, preferred leader is broker 1",
            remedy="preferred-replica-leader-election turned:0"),
      found("behind:0", "alarm", remedy=""), found("fine:0", "ok"),
      found("down:0", "alarm", remedy=""), found("turned:0", "ok", cluster="auto", remedy="")]),
    ("T11", "as many racks as possible",
     {"brokers": [*({"broker_id": broker, "rack": rack} for broker, rack in enumerate("aab")),
                  {"broker_id": 1, "cluster": "other"}, {"broker_id": 2, "cluster": "other"},
                  {"broker_id": 1, "cluster": "part", "rack": "a"}, {"broker_id": 2, "cluster": "part"}],
      "partitions": [*({"topic": name, "replicas": replicas} for name, replicas in (
          ("shared", [0, 1]), ("spread", [0, 1, 2]), ("unknown", [0, 9]))),
          *({"topic": "orders", "replicas": [1, 2], "cluster": name} for name in ("other", "part"))]},
     [found("shared:0", "alarm", reason="2 replicas in 1 of 2 racks",
            remedy="rebalance --racks --topics shared"),
      found("spread:0", "ok"),
      found("cluster", "skip",
            reason="unknown rack of offline brokers with replicas of 1 partition"),
      found("orders:0", "ok", cluster="other"),
      found("orders:0", "ok", cluster="part", reason="2 replicas in 2 of 2 racks")]),
    ("T14", "changelogs keep what the application declares",
     {"topic_configs": configs("a-changelog", retention_ms="7776000000", cleanup_policy="delete")},
     [found("a-changelog", "ok", reason="retention.ms is 90d")]),
    ("T15", "segments that are rolled after the retention",
     {"topic_configs": [
         *configs("late", segment_ms="1209600000", retention_ms="604800000", cleanup_policy="delete"),
         *configs("brief", segment_ms="604800000", retention_ms="60000", cleanup_policy="delete"),
         *configs("table", segment_ms="604800000", retention_ms="60000", cleanup_policy="compact"),
         *configs("app-changelog", segment_ms="604800000", retention_ms="60000", cleanup_policy="delete"),
         *configs("fine", segment_ms="604800000", retention_ms="604800000", cleanup_policy="delete")]},
     [found("late", "alarm", reason="segment.ms is 14d, retention.ms is 7d",
            remedy="alter-configs late segment.ms=1d4h",
            undo="alter-configs late --delete-config segment.ms"),
      found("brief", "alarm", remedy=""), found("table", "ok"), found("fine", "ok")]),
    ("T16", "frameworks require one partition",
     {"topics": [*topics(single=1, many=101, fine=100), {"topic": "connect-configs", "partitions": 1},
                 {"topic": "registry", "partitions": 1},
                 {"topic": OFFSETS, "partitions": 500, "internal": True}],
      "topic_configs": configs("registry", cleanup_policy="compact")},
     [found("registry", "ok"), found("single", "alarm", reason="1 partition"), found("many", "alarm"),
      found("fine", "ok"), found("connect-configs", "ok")]),
    ("T22", "both configs are overridden",
     {"topic_configs": [override("flushed", "flush.messages", "1"),
                        override("flushed", "flush.ms", "9"), *configs("fine", flush_ms="9")]},
     [found("flushed", "alarm", reason="flush.messages=1, flush.ms=9",
            remedy="alter-configs flushed --delete-config flush.messages --delete-config flush.ms",
            undo="alter-configs flushed flush.messages=1 flush.ms=9ms"),
      found("fine", "ok", reason="inherited")]),
    ("T23", "the throttle of a reassignment is no leftover",
     {"topic_configs": [override(name, "leader.replication.throttled.replicas", value)
                        for name, value in (("left", "0:1"), ("moved", "0:1"), ("none", ""))],
      "reassignments": [{"topic": "moved"}]},
     [found("left", "alarm", undo="alter-configs left"
            " leader.replication.throttled.replicas=0:1",
            remedy="alter-configs left"
                   " --delete-config leader.replication.throttled.replicas"),
      found("none", "ok")]),
    ("T24", "names that differ in . and _ only",
     {"topics": [{"topic": name} for name in ("alike.one_two", "alike_one.two", "other")]},
     [found("alike.one_two", "alarm", reason="collides with alike_one.two"),
      found("alike_one.two", "alarm"), found("other", "ok")]),
    ("T24", "a naming pattern",
     {"topics": [{"topic": "web.orders"}, {"topic": "x.web.orders"}],
      "thresholds": {"pattern": r"web\..*"}},
     [found("web.orders", "ok"),
      found("x.web.orders", "alarm", reason=r"the name does not match web\..*")]),
    ("T25", "the value that is inherited",
     {"topics": topics(repeats=3, differs=3, inherits=3),
      "topic_configs": [override("repeats", "max.message.bytes", "9", "9"),
                        override("repeats", "flush.ms", "9", "8"),
                        override("differs", "flush.ms", "9", "8"), *configs("inherits", flush_ms="9"),
                        override("connect-configs", "flush.ms", "9", "9")]},
     [found("repeats", "alarm", reason="same as inherited: max.message.bytes=9",
            remedy="alter-configs repeats --delete-config max.message.bytes",
            undo="alter-configs repeats max.message.bytes=9"),
      found("differs", "ok"), found("inherits", "ok")]),
    ("T26", "a replication factor that is too small",
     {**internal(2), "topic_configs": configs(OFFSETS, min_insync_replicas="1")},
     [found(OFFSETS, "alarm", reason="replication factor 2",
            remedy=f"alter-topic {OFFSETS} --replication-factor 3",
            undo=f"alter-topic {OFFSETS} --replication-factor 2"),
      found(OFFSETS, "ok", reason="min.insync.replicas is 2")]),
    ("T26", "a single replica is a finding of T01, and the default of the brokers one of B03",
     {**internal(1), "topic_configs": configs(OFFSETS, min_insync_replicas="1")},
     [found(OFFSETS, "ok", reason="replication factor 1"),
      found(OFFSETS, "ok", reason="min.insync.replicas is 2")]),
    ("T26", "enough replicas", {**internal(), "topic_configs": configs(OFFSETS, min_insync_replicas="2")},
     [found(OFFSETS, "ok", reason="replication factor 3"),
      found(OFFSETS, "ok", reason="min.insync.replicas is 2")]),
    ("T27", "the copy that a move adds does not count",
     {"disk_replicas": [{"topic": "large", "size": 2 << 40},
                        {"topic": "fine", "size": 1 << 40, "broker_id": 1},
                        {"topic": "fine", "size": 2 << 40, "future": True}]},
     [found("large:0", "alarm", reason="2.0 TiB"), found("fine:0", "ok")]),
    ("T28", "one of three partitions is much larger",
     {"disk_replicas": [{"topic": name, "partition": partition, "size": size << shift}
                        for name, shift, sizes in (("uneven", 28, (1, 8, 2)), ("small", 20, (1, 8, 2)),
                                                   ("even", 30, (1, 3, 2)), ("one", 40, (9,)))
                        for partition, size in enumerate(sizes)]},
     [found("uneven", "alarm", reason="partition 1 has 2.0 GiB, the median is 512 MiB"),
      found("small", "ok"), found("even", "ok")]),
    ("T29", "a table may rest, and a topic may be new",
     {"topics": topics(unused=1, used=1, table=1, new=1, empty=1, old_broker=1, seconds=1),
      "topic_configs": configs("table", cleanup_policy="compact"),
      "partition_offsets": [rest("unused", 9, 9, 8), rest("used", 9, 9, 6), rest("table", 9, 9, 30),
                            rest("new", 0, 0), rest("empty", 9, 0), rest("old.broker", 9, 9),
                            rest("seconds", 9, 9) | {"newest_record": datetime(1970, 1, 20, tzinfo=UTC)}]},
     [found("seconds", "skip", reason="the newest timestamp is not in milliseconds"),
      found("unused", "alarm", reason=f"last written {NOW - timedelta(8):%Y-%m-%d %H:%M} UTC"),
      found("used", "ok"), found("table", "ok", reason="compacted"), found("empty", "info"),
      found("new", "info", reason="no record was ever written; the creation time is unknown"),
      found("old.broker", "skip")]),
    ("T30", "a group that reads, or subscribes to, a topic",
     {"topics": [*topics(unread=1, committed=1, subscribed=1, new=1, west_orders=1, registry=1),
                 {"topic": "west.checkpoints.internal"}, {"topic": "connect-status"},
                 *({"topic": name, "cluster": "identity"}
                   for name in ("orders", "west.checkpoints.internal", "heartbeats"))],
      "topic_configs": configs("registry", cleanup_policy="compact"),
      "group_offsets": [{"group": "g", "topic": "committed"}],
      "group_members": [{"group": "g", "topics": ["subscribed"]}],
      "partition_offsets": [rest("unread", 9, 9), rest("new", 0, 0)]},
     [found("unread", "alarm"), found("committed", "ok"), found("subscribed", "ok"),
      found("new", "info")]),
    ("T15", "a default that suits other topics is no cause",
     {"topic_configs": [each for name, retention in (("a", "86400000"), ("b", "86400000"), ("c", "604800000"))
                        for each in configs(name, segment_ms="604800000", retention_ms=retention,
                                            cleanup_policy="delete")]},
     [*(found(name, "alarm", remedy=f"alter-configs {name} segment.ms=4h") for name in "ab"),
      found("c", "ok")]),
    ("T05", "topics that inherit a bad default are one finding",
     {"topic_configs": [*(each for n in range(1200) for each in
                          configs(f"t{n:04}", **{"unclean.leader.election.enable": "true"})),
                        override("own", "unclean.leader.election.enable", "true", "true")]},
     [found("default of unclean.leader.election.enable", "alarm", remedy="", undo="",
            reason="unclean.leader.election.enable is true; inherited by 1,200 topics, such as t0000"),
      found("own", "alarm",
            remedy="alter-configs own unclean.leader.election.enable=false")]),
    *((control, "offline brokers are the cause",
       {"clusters": [{"offline": [2, 3]}],
        "topic_configs": configs("orders", min_insync_replicas="2"),
        "partitions": [{"topic": "orders", "partition": number, "replicas": replicas, "isr": isr,
                        "leader": leader, "offline": [2, 3]} for number, replicas, isr, leader in (
                            (0, [2, 3], [3], None), (1, [1, 2, 3], [1], 1), (2, [1, 4, 5], [1], 1),
                            (3, [1, 4], [4], None))]},
       [found("orders:0", "ok"), found("orders:1", "ok"),
        found("orders:2", "ok" if control == "T07" else "alarm"),
        found("orders:3", "alarm")])
      for control in ("T07", "T08", "T09")),
    ("T13", "replies, and topics of frameworks, are short-lived on purpose",
     {"topic_configs": [each for name in ("rpc.replies", "Reply-Topic", "replica", "app-repartition")
                        for each in configs(name, retention_ms="60000", cleanup_policy="delete")]},
     [found("replica", "alarm")]),
    ("T31", "what compaction keeps must not be deleted",
     {"topic_configs": [override("_schemas", "cleanup.policy", "delete", "delete"),
                        override(OFFSETS, "cleanup.policy", "delete", "delete"),
                        override("connect-offsets", "cleanup.policy", "compact,delete", "delete"),
                        override("eu-connect-status", "cleanup.policy", "compact", "delete"),
                        *configs("orders", cleanup_policy="delete")]},
     [*(found(name, "alarm", reason=f"cleanup.policy is {value}",
              remedy=f"alter-configs {name} cleanup.policy=compact",
              undo=f"alter-configs {name} cleanup.policy={value}")
        for name, value in (("_schemas", "delete"), (OFFSETS, "delete"),
                            ("connect-offsets", "compact,delete"))),
      found("eu-connect-status", "ok")]),
    ("T32", "segments of kilobytes or seconds",
     {"topic_configs": [override("small", "segment.bytes", "1000"), override("brief", "segment.ms", "1000"),
                        *configs("fine", segment_bytes="1073741824", segment_ms="604800000")]},
     [found("small", "alarm", reason="segment.bytes is 1kB",
            remedy="alter-configs small segment.bytes=1GiB"),
      found("brief", "alarm", reason="segment.ms is 1s", remedy=""), found("fine", "ok", reason="")]),
]  # fmt: skip
