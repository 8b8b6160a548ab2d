"""Rows for controls of brokers and of the cluster."""

# ruff: noqa: E501 - a row is one line
from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.control_rows import (
    BROKERS,
    DAY,
    NO_TIME,
    NOW,
    Case,
    config,
    configs,
    found,
)

MIN_ISR = "min.insync.replicas"
CLIENT_AUTH = "listener.name.ext.ssl.client.auth"
OLD = NOW - timedelta(hours=2)
LAST_RECORD = f"the last record has the timestamp {OLD:%Y-%m-%d %H:%M} UTC"
IN_FILE = "in server.properties and restart the broker"


def voters(cluster: str, count: int) -> list[dict[str, Any]]:
    """Voters of a cluster, and an observer."""
    return [{"cluster": cluster, "node_id": node, "votes": node < count}
            for node in range(count + 1)]  # fmt: skip


def fetch(broker: int, cluster: str, highest: int = 17) -> dict[str, Any]:
    """The versions of Fetch that a broker supports."""
    return {"cluster": cluster, "broker_id": broker, "api": "Fetch", "highest": highest}


def racks(cluster: str, *racks: str | None) -> list[dict[str, Any]]:
    """Brokers of a cluster in these racks."""
    return [{"cluster": cluster, "broker_id": broker, "rack": rack}
            for broker, rack in enumerate(racks)]  # fmt: skip


CASES: list[Case] = [
    ("B03", "the default of all brokers would lower the value of one",
     {"broker_configs": [config(1, MIN_ISR, "1"), config(2, MIN_ISR, "3")]},
     [found("brokers", "alarm", reason="min.insync.replicas is 1 on brokers 1", remedy="",
            undo="")]),
    ("B03", "the default of all brokers has no effect on a broker with its own value",
     {"broker_configs": [config(1, MIN_ISR, "1", "dynamic_broker", cluster_default="2"),
                         config(2, MIN_ISR, "2", "dynamic_default_broker",
                                cluster_default="2")]},
     [found("brokers", "alarm", remedy="", undo="")]),
    ("B03", "the default of all brokers raises the value of each",
     {"broker_configs": [config(1, MIN_ISR, "1"), config(2, MIN_ISR, "2"),
                         config(3, MIN_ISR, "3", "dynamic_broker")]},
     [found("brokers", "alarm",
            remedy="alter-configs --broker-default min.insync.replicas=2",
            undo="alter-configs --broker-default --delete-config min.insync.replicas")]),
    ("B08", "a voter that never caught up with the current leader",
     {"quorum": [{"node_id": 1, "role": "leader", "votes": True, "behind_ms": 0},
                 {"node_id": 2, "votes": True, "lag": 90000},
                 {"node_id": 3, "votes": True, "lag": 9, "last_fetch": NOW},
                 {"node_id": 4, "votes": True, "behind_ms": 200},
                 {"node_id": 5, "votes": False},
                 {"cluster": "old", "node_id": 6, "votes": True}]},
     [found("voter 2", "alarm", reason="has not fetched from the current leader"),
      found("voter 3", "alarm", reason="has not caught up with the current leader"),
      found("voter 4", "ok"),
      found("voter 6", "skip", cluster="old")]),
    ("B10", "a config that some of the brokers have",
     {"broker_configs": [*(config(broker, "num.io.threads", "8") for broker in (1, 2, 3)),
                         *(config(broker, CLIENT_AUTH, "required") for broker in (1, 2)),
                         config(1, "listener.name.ext.max.connections", "9",
                                "dynamic_broker")]},
     [found("num.io.threads", "ok", reason="the same on all brokers"),
      found(CLIENT_AUTH, "alarm",
            reason="broker 1: required; broker 2: required; broker 3: (not set)"),
      found("listener.name.ext.max.connections", "ok")]),
    ("B11", "the default may delete records, or let a reassignment saturate the network",
     {"broker_configs": [{"broker_id": 1, "key": key, "value": "1000", "pair": f"{key}=1000",
                          "source": "dynamic_broker", "cluster_default": "500"}
                         for key in ("log.retention.ms", "log.cleanup.policy", "num.io.threads",
                                     "leader.replication.throttled.rate")]},
     [found("broker 1 num.io.threads", "alarm",
            remedy="alter-configs --broker-id 1 --delete-config=num.io.threads"),
      *(found(f"broker 1 {key}", "alarm", remedy="", undo="")
        for key in ("log.retention.ms", "log.cleanup.policy",
                    "leader.replication.throttled.rate"))]),
    ("B13", "a broker without replicas is one of the brokers",
     {"brokers": [{"broker_id": broker} for broker in (1, 2, 3, 4)],
      "disk_replicas": [{"broker_id": broker, "topic": "orders", "size": 1 << 40}
                        for broker in (1, 2, 3)]},
     [*(found(f"broker {broker} bytes", "alarm",
              reason="1.0 TiB, the average of all brokers is 768 GiB")
        for broker in (1, 2, 3)),
      found("broker 4 bytes", "ok")]),
    *(("B13", f"leaders that are {about}",
            {"brokers": [{"broker_id": 1}, {"broker_id": 2}],
             "replicas": [{"topic": "orders", "partition": partition, "broker_id": broker,
                           "leader": broker == 1,
                           "position": (broker - 1) ^ (partition % 2 if turned else 0)}
                          for partition in range(200) for broker in (1, 2)]},
            [found("broker 1 leaders", "alarm", remedy=remedy)])
      for about, turned, remedy in (
            ("preferred leaders", False, "rebalance --only-leaders"),
            ("not preferred", True, "preferred-replica-leader-election"))),
    ("B16", "a move between log directories is info only, as one collection shows no age",
     {"disk_replicas": [{"broker_id": 1, "path": "/a", "topic": "orders", "word": "/a"},
                        {"broker_id": 1, "path": "/b", "topic": "orders", "word": "/b",
                         "future": True, "offset_lag": 9}]},
     [found("broker 1 orders:0", "info", reason="moving to /b, 9 offsets behind", remedy="")]),
    ("B17", "the default of all brokers would lower the value of one",
     {"broker_configs": [config(1, "num.io.threads", "2"), config(2, "num.io.threads", "32"),
                         config(1, "num.network.threads", "2"),
                         config(2, "num.network.threads", "3")]},
     [found("num.io.threads", "alarm", remedy="", undo=""),
      found("num.network.threads", "alarm",
            remedy="alter-configs --broker-default num.network.threads=3",
            undo="alter-configs --broker-default --delete-config=num.network.threads")]),
    ("B19", "static voters are supported",
     {"features": [{"feature": "kraft.version", "level": 0, "highest": 1},
                   {"feature": "metadata.version", "level": 1, "highest": 2}]},
     [found("kraft.version", "info", remedy="", undo="",
            reason="level 0, all brokers support 1; the voters are static"),
      found("metadata.version", "alarm", remedy="update-features metadata.version=2")]),
    ("B21", "a reassignment is info only, as one collection does not show its age",
     {"reassignments": [{"topic": "orders", "replicas": [1, 2, 3], "adding": [3],
                         "collected_at": NOW - at, "snapshot_id": str(at)}
                        for at in (NO_TIME, 3 * DAY)]},
     [found("orders:0", "info", reason="adding replicas on brokers 3", remedy="")]),
    ("B22", "a transaction hangs in a partition that another producer uses",
     {"broker_configs": [config(1, "transaction.max.timeout.ms", "900000")],
      "transactions": [{"transactional_id": "live", "producer_id": 8, "state": "Ongoing",
                        "duration_ms": 1000, "partitions": ["orders:0"], "word": "live"}],
      "open_transactions": [
          {"topic": "orders", "producer_id": 7, "start_offset": 3, "last_written": OLD},
          {"topic": "orders", "producer_id": 8, "start_offset": 5, "last_written": OLD}]},
     [found("orders:0 at offset 3", "alarm",
            remedy="abort-transaction --topic=orders:0 --start-offset 3"),
      found("orders:0 at offset 5", "ok")]),
    ("B22", "a producer whose last write is unknown",
     {"broker_configs": [config(1, "transaction.max.timeout.ms", "900000")],
      "open_transactions": [{"topic": "orders", "producer_id": 7, "start_offset": 3}]},
     [found("orders:0 at offset 3", "skip", remedy="",
            reason="opened by producer 7, unknown to all coordinators;"
                   " the time of its last write is unknown")]),
    ("B22", "a producer that a coordinator knows may have begun the transaction since",
     {"broker_configs": [config(1, "transaction.max.timeout.ms", "900000")],
      "transactions": [{"transactional_id": "app", "producer_id": 7, "producer_epoch": 3,
                        "state": "CompleteCommit", "partitions": [], "word": "app"}],
      "open_transactions": [
          {"topic": "orders", "producer_id": producer, "producer_epoch": epoch,
           "start_offset": 10 * producer + epoch, "last_written": OLD}
          for producer, epoch in ((7, 2), (7, 3), (7, 4), (8, 3))]},
     [*(found(f"orders:0 at offset {offset}", "info", remedy="",
              reason="opened by producer 7 of transactional ID app, but its coordinator does"
                     f" not list the partition; {LAST_RECORD}") for offset in (73, 74)),
      found("orders:0 at offset 72", "alarm",
            reason="opened by producer 7 with epoch 2, older than that of transactional ID app;"
                   f" {LAST_RECORD}",
            remedy="abort-transaction --topic=orders:0 --start-offset 72"),
      found("orders:0 at offset 83", "alarm",
            reason=f"opened by producer 8, unknown to all coordinators; {LAST_RECORD}",
            remedy="abort-transaction --topic=orders:0 --start-offset 83")]),
    *((control, key, {"broker_configs": [config(1, key, bad), config(2, key, fine)]},
       [found("broker 1", "alarm", reason=reason), found("broker 2", "ok")])
      for control, key, bad, fine, reason in (
          ("B01", "auto.create.topics.enable", "true", "false",
           f"auto.create.topics.enable is true; set it to false {IN_FILE}"),
          ("B02", "default.replication.factor", "2", "3",
           f"default.replication.factor is 2; set it to 3 {IN_FILE}"),
          ("B07", "process.roles", "broker,controller", "broker",
           "process.roles is broker,controller"))),
    ("B03", "a value of two or more", {"broker_configs": [config(1, MIN_ISR, "2")]},
     [found("brokers", "ok", reason="min.insync.replicas is at least 2")]),
    ("B03", "the default cannot be deleted with eligible leader replicas",
     {"broker_configs": [config(1, MIN_ISR, "1")],
      "features": [{"feature": "eligible.leader.replicas.version", "level": 1}]},
     [found("brokers", "alarm", undo="alter-configs --broker-default min.insync.replicas=1")]),
    ("B04", "racks of all brokers",
     {"brokers": [*racks("none", None, None), *racks("some", "a", None), *racks("same", "a", "a"),
                  *racks("fine", "a", "b")]},
     [*(found("brokers", "alarm", cluster=cluster, reason=reason) for cluster, reason in (
         ("none", "broker.rack is not set on any broker"),
         ("some", "1 of 2 brokers have broker.rack set"),
         ("same", "all brokers are in the same rack"))),
      found("brokers", "ok", cluster="fine")]),
    ("B05", "two brokers", {"brokers": [*BROKERS, *racks("small", None, None)]},
     [found("brokers", "ok"),
      found("brokers", "alarm", cluster="small", reason="2 brokers are online")]),
    ("B06", "too few or an even number of voters",
     {"quorum": [*voters("one", 1), *voters("even", 4), *voters("fine", 3)]},
     [found("quorum", "alarm", cluster="one", reason="1 voter"),
      found("quorum", "alarm", cluster="even", reason="4 voters"),
      found("quorum", "ok", cluster="fine")]),
    ("B08", "a voter that lags", {"quorum": [{"node_id": 1, "votes": True, "lag": 1234, "behind_ms": 60_000}]},
     [found("voter 1", "alarm", reason="1m and 1,234 records behind the leader")]),
    ("B09", "an older broker, and one without an API",
     {"api_versions": [fetch(1, "old"), fetch(2, "old", 12), fetch(1, "fine"), fetch(2, "fine"),
                       fetch(1, "less"), fetch(1, "less") | {"api": "New"},
                       fetch(2, "less")]},
     [found("brokers", "alarm", cluster="old",
            reason="the supported versions of 1 APIs differ, including Fetch"),
      found("brokers", "alarm", cluster="less",
            reason="the supported versions of 1 APIs differ, including New"),
      found("brokers", "ok", cluster="fine")]),
    ("B11", "the default of all brokers applies",
     {"broker_configs": [config(1, "num.io.threads", "8", "dynamic_default_broker", cluster_default="8"),
                         config(2, "num.io.threads", "9", "dynamic_broker")]},
     [found("broker 1 num.io.threads", "ok"), found("broker 2 num.io.threads", "ok")]),
    ("B12", "limits of a broker and of the cluster",
     {"thresholds": {"broker_most": "2", "cluster_most": "3"},
      "replicas": [{"broker_id": 1 + (partition == 3), "topic": "orders", "partition": partition}
                   for partition in range(4)]},
     [found("broker 1", "alarm", reason="3 replicas"), found("broker 2", "ok"),
      found("cluster", "alarm", reason="4 replicas")]),
    ("B12", "the limits of most clusters", {"replicas": [{"broker_id": 1, "topic": "orders"}]},
     [found("broker 1", "ok"), found("cluster", "ok")]),
    ("B14", "sizes of volumes",
     {"log_dirs": [{"broker_id": 1, "path": path} | values for path, values in (
         ("/full", {"total": 100, "usable": 19}), ("/fine", {"total": 100, "usable": 20}),
         ("/old", {}), ("/off", {"error": "KAFKA_STORAGE_ERROR"}))]},
     [found("broker 1 /full", "alarm", reason="81% of 100 B are used"), found("broker 1 /fine", "ok"),
      found("broker 1 /old", "skip"),
      found("broker 1 /off", "skip", reason="offline: KAFKA_STORAGE_ERROR")]),
    ("B15", "an offline log directory",
     {"log_dirs": [{"broker_id": 1, "path": "/a", "error": "KAFKA_STORAGE_ERROR"},
                   {"broker_id": 1, "path": "/b"}]},
     [found("broker 1 /a", "alarm", reason="KAFKA_STORAGE_ERROR"), found("broker 1 /b", "ok")]),
    ("B17", "the defaults of Kafka, and a default of all brokers",
     {"broker_configs": [config(1, "num.io.threads", "8"), config(1, "num.network.threads", "3"),
                         config(1, "num.replica.fetchers", "1", "dynamic_default_broker", cluster_default="1")]},
     [found("num.io.threads", "ok"), found("num.network.threads", "ok"),
      found("num.replica.fetchers", "alarm", reason="num.replica.fetchers is 1, less than 2",
            remedy="alter-configs --broker-default num.replica.fetchers=2",
            undo="alter-configs --broker-default num.replica.fetchers=1")]),
    ("B18", "two log directories",
     {"log_dirs": [{"broker_id": broker, "path": path} for broker, path in ((1, "/a"), (1, "/b"), (2, "/a"))]},
     [found("broker 1", "alarm", reason="2 log directories"), found("broker 2", "ok")]),
    ("B19", "the highest level", {"features": [{"feature": "group.version", "level": 1, "highest": 1}]},
     [found("group.version", "ok", reason="level 1")]),
    ("B20", "records that outlive offsets",
     {"broker_configs": [config(1, "offsets.retention.minutes", "10080"),
                         config(2, "offsets.retention.minutes", "43200")],
      "topics": [{"topic": "long"}, {"topic": "a-changelog"}, {"topic": "forever"}],
      "topic_configs": [*configs("long", retention_ms="2592000000", cleanup_policy="delete"),
                        *configs("a-changelog", retention_ms="9000000000", cleanup_policy="delete"),
                        *configs("forever", retention_ms="-1", cleanup_policy="delete")]},
     [found("broker 1", "alarm",
            reason="offsets.retention.minutes is 7d, topic long keeps records for 30d"),
      found("broker 2", "ok")]),
    ("B22", "a transaction that is older than any timeout",
     {"broker_configs": [config(1, "transaction.max.timeout.ms", "900000")],
      "transactions": [{"transactional_id": name, "state": "Ongoing", "duration_ms": ms, "word": name}
                       for name, ms in (("old", 901_000), ("new", 900_000))]},
     [found("transactional ID old", "alarm", reason="Ongoing for 15m1s",
            remedy="fence-producer --transactional-id=old"),
      found("transactional ID new", "ok")]),
    ("B23", "loggers",
     {"broker_loggers": [{"broker_id": 1, "logger": name, "word": name, "level": level}
                         for name, level in (("a.B", "DEBUG"), ("a.C", "TRACE"), ("root", "INFO"))]},
     [found("broker 1 a.B", "alarm", reason="level DEBUG",
            remedy="alter-configs --logger 1 --add-config=a.B=INFO",
            undo="alter-configs --logger 1 --add-config=a.B=DEBUG"),
      found("broker 1 a.C", "alarm"), found("broker 1 root", "ok")]),
]  # fmt: skip
