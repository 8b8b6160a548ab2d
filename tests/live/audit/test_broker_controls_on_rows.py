"""Controls of brokers and of the cluster evaluated on given rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.control_rows import NOW, Case, evaluating, found


def config(broker: int, key: str, value: str, source: str = "static_broker",
           **values: Any) -> dict[str, Any]:  # fmt: skip
    """A config of a broker."""
    static = value if source == "static_broker" else None
    return {"broker_id": broker, "key": key, "value": value, "source": source,
            "static_value": static} | values  # fmt: skip


MIN_ISR = "min.insync.replicas"
CLIENT_AUTH = "listener.name.ext.ssl.client.auth"
LAST_RECORD = f"the last record has the timestamp {NOW - timedelta(hours=2):%Y-%m-%d %H:%M} UTC"

CASES: list[Case] = [
    (
        "B19", "static voters are supported",
        {"features": [{"feature": "kraft.version", "level": 0, "highest": 1},
                      {"feature": "metadata.version", "level": 1, "highest": 2}]},
        [found("kraft.version", "info", remedy="", undo="",
               reason="level 0, all brokers support 1; the voters are static"),
         found("metadata.version", "alarm", remedy="update-features metadata.version=2")],
    ),
    (
        "B17", "the default of all brokers would lower the value of one",
        {"broker_configs": [config(1, "num.io.threads", "2"), config(2, "num.io.threads", "32"),
                            config(1, "num.network.threads", "2"),
                            config(2, "num.network.threads", "3")]},
        [found("num.io.threads", "alarm", remedy="", undo=""),
         found("num.network.threads", "alarm",
               remedy="alter-configs --broker-default num.network.threads=3",
               undo="alter-configs --broker-default --delete-config=num.network.threads")],
    ),
    (
        "B22", "a producer that a coordinator knows may have begun the transaction since",
        {"broker_configs": [config(1, "transaction.max.timeout.ms", "900000")],
         "transactions": [{"transactional_id": "app", "producer_id": 7, "producer_epoch": 3,
                           "state": "CompleteCommit", "partitions": [], "word": "app"}],
         "open_transactions": [
             {"topic": "orders", "producer_id": producer, "producer_epoch": epoch,
              "start_offset": 10 * producer + epoch, "last_written": NOW - timedelta(hours=2)}
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
               remedy="abort-transaction --topic=orders:0 --start-offset 83")],
    ),
    (
        "B08", "a voter that never caught up with the current leader",
        {"quorum": [{"node_id": 1, "role": "leader", "votes": True, "behind_ms": 0},
                    {"node_id": 2, "votes": True, "lag": 90000},
                    {"node_id": 3, "votes": True, "lag": 9, "last_fetch": NOW},
                    {"node_id": 4, "votes": True, "behind_ms": 200},
                    {"node_id": 5, "votes": False},
                    {"cluster": "old", "node_id": 6, "votes": True}]},
        [found("voter 2", "alarm", reason="has not fetched from the current leader"),
         found("voter 3", "alarm", reason="has not caught up with the current leader"),
         found("voter 4", "ok"),
         found("voter 6", "skip", cluster="old")],
    ),
    (
        "B10", "a config that some of the brokers have",
        {"broker_configs": [*(config(broker, "num.io.threads", "8") for broker in (1, 2, 3)),
                            *(config(broker, CLIENT_AUTH, "required") for broker in (1, 2)),
                            config(1, "listener.name.ext.max.connections", "9",
                                   "dynamic_broker")]},
        [found("num.io.threads", "ok", reason="the same on all brokers"),
         found(CLIENT_AUTH, "alarm",
               reason="broker 1: required; broker 2: required; broker 3: (not set)"),
         found("listener.name.ext.max.connections", "ok")],
    ),
    (
        "B13", "a broker without replicas is one of the brokers",
        {"brokers": [{"broker_id": broker} for broker in (1, 2, 3, 4)],
         "disk_replicas": [{"broker_id": broker, "topic": "orders", "size": 1 << 40}
                           for broker in (1, 2, 3)]},
        [*(found(f"broker {broker} bytes", "alarm",
                 reason="1.0 TiB, the average of all brokers is 768 GiB")
           for broker in (1, 2, 3)),
         found("broker 4 bytes", "ok")],
    ),
    *(
        (
            "B13", f"leaders that are {about}",
            {"brokers": [{"broker_id": 1}, {"broker_id": 2}],
             "replicas": [{"topic": "orders", "partition": partition, "broker_id": broker,
                           "leader": broker == 1,
                           "position": (broker - 1) ^ (partition % 2 if turned else 0)}
                          for partition in range(200) for broker in (1, 2)]},
            [found("broker 1 leaders", "alarm", remedy=remedy)],
        )
        for about, turned, remedy in (
            ("preferred leaders", False, "rebalance --only-leaders"),
            ("not preferred", True, "preferred-replica-leader-election"))
    ),
    (
        "B03", "the default of all brokers would lower the value of one",
        {"broker_configs": [config(1, MIN_ISR, "1"), config(2, MIN_ISR, "3")]},
        [found("brokers", "alarm", reason="min.insync.replicas is 1 on brokers 1", remedy="",
               undo="")],
    ),
    (
        "B03", "the default of all brokers has no effect on a broker with its own value",
        {"broker_configs": [config(1, MIN_ISR, "1", "dynamic_broker", cluster_default="2"),
                            config(2, MIN_ISR, "2", "dynamic_default_broker",
                                   cluster_default="2")]},
        [found("brokers", "alarm", remedy="", undo="")],
    ),
    (
        "B03", "the default of all brokers raises the value of each",
        {"broker_configs": [config(1, MIN_ISR, "1"), config(2, MIN_ISR, "2"),
                            config(3, MIN_ISR, "3", "dynamic_broker")]},
        [found("brokers", "alarm",
               remedy="alter-configs --broker-default min.insync.replicas=2",
               undo="alter-configs --broker-default --delete-config min.insync.replicas")],
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
