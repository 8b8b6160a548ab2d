"""Controls evaluated on given rows: cases that a sandbox does not have, and false alarms."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.control_rows import (
    DAY,
    NOW,
    ORDERS,
    UNLIMITED,
    Case,
    Rows,
    batch,
    configs,
    evaluating,
    found,
)


def broker(key: str, value: str | None) -> dict[str, Any]:
    """A config of broker 1."""
    return {"broker_id": 1, "key": key, "value": value, "sensitive": value is None}


def acl(principal: str, operation: str, name: str, pattern_type: str = "literal") -> dict[str, Any]:
    """A rule on topics."""
    pattern = "prefixed " if pattern_type == "prefixed" else ""
    rule = f"allow {principal} {operation} on {pattern}topic {name}"
    return {"resource_type": "topic", "resource_name": name, "pattern_type": pattern_type,
            "principal": principal, "host": "*", "operation": operation, "permission": "allow",
            "acl": rule, "word": f"'{rule}'"}  # fmt: skip


def listener(protocol: str, *mechanisms: str, reauth_ms: int | None = 0) -> dict[str, Any]:
    """A listener of broker 1."""
    return {"broker_id": 1, "listener": "CLIENTS", "protocol": protocol,
            "sasl_mechanisms": list(mechanisms), "max_reauth_ms": reauth_ms}  # fmt: skip


def client(key: str, value: str, user: str = "alice") -> dict[str, Any]:
    """A client config of a user."""
    return {"user": user, "key": key, "value": value, "options": f"--user={user}"}


NO_TIME = timedelta()
ALICE: Rows = [{"user": "alice", "mechanism": "SCRAM-SHA-512", "word": "alice"}]
DELETE_ALICE = "scram-credentials --username=alice --delete SCRAM-SHA-512"
GHOST: Rows = [{"user": "ghost", "key": "producer_byte_rate", "value": 1000.0,
                "entity": "user ghost", "options": "--user=ghost"}]  # fmt: skip
OLD = NOW - timedelta(hours=2)
A_WEEK = {"retention_ms": "604800000", "retention_bytes": "-1", "cleanup_policy": "delete"}
REAUTH = "connections.max.reauth.ms"


def quota(entity: str, **values: Any) -> Rows:
    """Both rates of an entity."""
    return [{"entity": entity, "key": key, "value": 1e6} | values
            for key in ("producer_byte_rate", "consumer_byte_rate")]  # fmt: skip


CASES: list[Case] = [
    (
        "T06", "an offline broker is not in the list, and a reassignment adds replicas for a time",
        {"brokers": [{"broker_id": 1}, {"broker_id": 2}],
         "topics": [{"topic": "orders", "min_factor": 3, "max_factor": 3},
                    {"topic": "moved", "min_factor": 3, "max_factor": 4},
                    {"topic": "thin", "min_factor": 1, "max_factor": 1}],
         "topic_configs": [each for topic in ("orders", "moved", "thin")
                           for each in configs(topic, min_insync_replicas="1")],
         "reassignments": [{"topic": "moved", "replicas": [1, 2, 3, 4], "adding": [4]}]},
        [found("orders", "ok"), found("moved", "info", remedy=""),
         found("thin", "alarm", remedy="alter-topic --topic=thin --replication-factor 3")],
    ),
    (
        "T09", "a replica that a reassignment adds is not in sync yet",
        {"partitions": [{"topic": "moved", "replicas": [1, 2, 4], "isr": [1, 2]},
                        {"topic": "behind", "replicas": [1, 2, 3, 4], "isr": [1, 2]},
                        {"topic": "orders", "replicas": [1, 2, 3], "isr": [1, 2]}],
         "reassignments": [{"topic": "moved", "replicas": [1, 2, 4], "adding": [4]},
                           {"topic": "behind", "replicas": [1, 2, 3, 4], "adding": [4]}]},
        [found("moved:0", "ok", reason="a reassignment is adding replicas on brokers 4"),
         found("behind:0", "alarm", reason="not in sync: brokers 3"),
         found("orders:0", "alarm", reason="not in sync: brokers 3")],
    ),
    (
        "T12", "the share coordinator deletes the records of its topic",
        {"topic_configs": [*configs("__share_group_state", **UNLIMITED),
                           *configs("orders", **UNLIMITED)]},
        [found("__share_group_state", "ok"), found("orders", "alarm")],
    ),
    (
        "B21", "a reassignment is info only, as one collection does not show its age",
        {"reassignments": [{"topic": "orders", "replicas": [1, 2, 3], "adding": [3],
                            "collected_at": NOW - at, "snapshot_id": str(at)}
                           for at in (NO_TIME, 3 * DAY)]},
        [found("orders:0", "info", reason="adding replicas on brokers 3", remedy="")],
    ),
    (
        "B22", "a transaction hangs in a partition that another producer uses",
        {"broker_configs": [broker("transaction.max.timeout.ms", "900000")],
         "transactions": [{"transactional_id": "live", "producer_id": 8, "state": "Ongoing",
                           "duration_ms": 1000, "partitions": ["orders:0"], "word": "live"}],
         "open_transactions": [
             {"topic": "orders", "producer_id": 7, "start_offset": 3, "last_written": OLD},
             {"topic": "orders", "producer_id": 8, "start_offset": 5, "last_written": OLD}]},
        [found("orders:0 at offset 3", "alarm",
               remedy="abort-transaction --topic=orders:0 --start-offset 3"),
         found("orders:0 at offset 5", "ok")],
    ),
    (
        "B22", "a producer whose last write is unknown",
        {"broker_configs": [broker("transaction.max.timeout.ms", "900000")],
         "open_transactions": [{"topic": "orders", "producer_id": 7, "start_offset": 3}]},
        [found("orders:0 at offset 3", "skip", remedy="",
               reason="opened by producer 7, unknown to all coordinators;"
                      " the time of its last write is unknown")],
    ),
    (
        "C02", "a timeout that is not a number",
        {"broker_configs": [broker("group.min.session.timeout.ms", "6000"),
                            broker("group.max.session.timeout.ms", "1800000")],
         "effective_client_configs": [client("session.timeout.ms", "45s")]},
        [found("user alice", "skip", remedy="",
               reason="session.timeout.ms is 45s (not a number), brokers accept 6s to 30m")],
    ),
    (
        "C03", "a timeout that is not a number is not the default",
        {"effective_client_configs": [client("session.timeout.ms", "9s"),
                                      client("heartbeat.interval.ms", "9000"),
                                      client("heartbeat.interval.ms", "3s", "bob")]},
        [found("user alice", "skip", remedy="",
               reason="heartbeat.interval.ms is 9s, session.timeout.ms is 9s (not a number)"),
         found("user bob", "skip", remedy="",
               reason="heartbeat.interval.ms is 3s (not a number), session.timeout.ms is 45s")],
    ),
    (
        "S11", "a broker that does not return the mechanisms",
        {"listeners": [listener("SASL_PLAINTEXT")]},
        [found("broker 1 CLIENTS", "skip", reason="SASL_PLAINTEXT with unknown mechanisms")],
    ),
    (
        "S14", "a broker that does not return the TLS versions",
        {"listeners": [listener("SSL")]},
        [found("broker 1 CLIENTS", "skip", reason="ssl.enabled.protocols is unknown")],
    ),
    (
        "T25", "an override of an unknown inherited value",
        {"topics": ORDERS,
         "topic_configs": [{"topic": "orders", "key": "retention.ms", "value": "1000",
                            "overridden": True}]},
        [found("orders", "skip", reason="unknown inherited value: retention.ms")],
    ),
    (
        "D01", "without a sample the saving is unknown",
        {"topics": ORDERS, "batches": [batch("earliest", 0, 0, DAY, codec="none", size=100)],
         "disk_replicas": [{"topic": "orders", "size": 1 << 30}]},
        [found("orders", "alarm",
               reason="100% of the sampled bytes are not compressed, 1.0 GiB on disk")],
    ),
    (
        "D02", "batches without a timestamp",
        {"topics": ORDERS,
         "batches": [batch("earliest", at, at, DAY, base_timestamp=None, max_timestamp=None)
                     for at in range(2)]},
        [found("orders", "skip",
               reason="a median of 1.0 records in 2 sampled batches, unknown rate;"
                      " without a timestamp: 2")],
    ),
    (
        "S04", "ANONYMOUS is one of the super users, and not a part of a name",
        {"brokers": [{"broker_id": 1}],
         "broker_configs": [broker("super.users", "User:admin; User:ANONYMOUSLY")]},
        [found("broker 1", "ok")],
    ),
    (
        "S04", "ANONYMOUS after a space",
        {"brokers": [{"broker_id": 1}],
         "broker_configs": [broker("super.users", "User:admin; User:ANONYMOUS")]},
        [found("broker 1", "alarm")],
    ),
    (
        "S07", "a prefix of * does not cover every topic, which covers it",
        {"acls": [acl("User:a", "Read", "*"), acl("User:a", "Read", "*", "prefixed")]},
        [found("allow User:a Read on topic *", "ok", reason="needed"),
         found("allow User:a Read on prefixed topic *", "alarm",
               reason="covered by: allow User:a Read on topic *")],
    ),
    (
        "S09", "ACLs of everyone apply to the user",
        {"scram_users": ALICE, "acls": [acl("User:*", "Read", "orders")]},
        [found("user alice", "info", remedy="",
               reason="no ACL names the user, but ACLs of User:* apply")],
    ),
    (
        "S09", "resources without ACLs are open to the user",
        {"scram_users": ALICE, "broker_configs": [broker("allow.everyone.if.no.acl.found", None)]},
        [found("user alice", "info", remedy="")],
    ),
    (
        "S09", "super users after a space",
        {"scram_users": ALICE, "broker_configs": [broker("super.users", "User:admin; User:alice")]},
        [found("user alice", "ok", reason="a super user", remedy="")],
    ),
    (
        "S09", "no ACL at all",
        {"scram_users": ALICE, "acls": [acl("User:bob", "Read", "orders")],
         "broker_configs": [broker("super.users", "User:admin"),
                            broker("allow.everyone.if.no.acl.found", "false")]},
        [found("user alice", "alarm", remedy=DELETE_ALICE)],
    ),
    (
        "S15", "reauthentication of each mechanism",
        {"listeners": [listener("SASL_SSL", "PLAIN", "SCRAM-SHA-512")],
         "broker_configs": [
             broker(f"listener.name.clients.scram-sha-512.{REAUTH}", "3600000"),
             broker(f"listener.name.clients.plain.{REAUTH}", "3600000")]},
        [found("broker 1 CLIENTS", "ok", reason="connections.max.reauth.ms is 1h")],
    ),
    (
        "S15", "reauthentication of one mechanism",
        {"listeners": [listener("SASL_SSL", "PLAIN", "SCRAM-SHA-512")],
         "broker_configs": [broker(f"listener.name.clients.scram-sha-512.{REAUTH}", "3600000")]},
        [found("broker 1 CLIENTS", "alarm",
               reason="connections.max.reauth.ms is 0 for PLAIN, 1h for SCRAM-SHA-512")],
    ),
    (
        "S15", "unknown reauthentication",
        {"listeners": [listener("SASL_SSL", "PLAIN", reauth_ms=None)]},
        [found("broker 1 CLIENTS", "skip",
               reason="the broker does not return connections.max.reauth.ms")],
    ),
    (
        "Q01", "a default for the clients of one user is no default",
        {"quotas": [*quota("user alice client-id-default", user="alice", client_id_default=True),
                    *quota("user-default client-id a", user_default=True, client_id="a")]},
        [found("producer_byte_rate", "alarm"), found("consumer_byte_rate", "alarm")],
    ),
    (
        "Q01", "a default for every client",
        {"quotas": quota("user-default client-id-default", user_default=True,
                         client_id_default=True)},
        [found("producer_byte_rate", "ok"), found("consumer_byte_rate", "ok")],
    ),
    (
        "Q03", "users of certificates, OAuth, Kerberos or SASL/PLAIN are not visible",
        {"quotas": GHOST,
         "listeners": [listener("SASL_SSL", "SCRAM-SHA-512", "OAUTHBEARER")]},
        [found("user ghost producer_byte_rate", "info", remedy="", undo="")],
    ),
    (
        "Q03", "a super user is a user",
        {"quotas": GHOST, "listeners": [listener("SASL_SSL", "SCRAM-SHA-512")],
         "broker_configs": [broker("super.users", "User:admin; User:ghost")]},
        [found("user ghost producer_byte_rate", "ok")],
    ),
    (
        "Q03", "no user of SCRAM",
        {"quotas": GHOST, "listeners": [listener("SASL_SSL", "SCRAM-SHA-512")]},
        [found("user ghost producer_byte_rate", "alarm",
               remedy="alter-quotas --user=ghost --delete-config=producer_byte_rate")],
    ),
    (
        "G02", "the group had read everything at its first commit",
        {"group_commits": [{"group": name, "topic": "orders", "offset": 7, "position": n,
                            "lag": lag if n == 0 else None}
                           for name, lag in (("idle", 0), ("stuck", 5)) for n in range(3)],
         "group_offsets": [{"group": name, "topic": "orders", "offset": 7, "latest": 12, "lag": 5}
                           for name in ("idle", "stuck")]},
        [found("group idle orders:0", "ok"), found("group stuck orders:0", "alarm")],
    ),
    *(
        (
            control, "the end offset of a partition could not be read",
            {"group_commits": [{"group": "g", "topic": topic, "offset": n, "position": n, "lag": 5}
                               for topic in ("orders", "deleted") for n in range(3)],
             "group_offsets": [{"group": "g", "topic": topic, "offset": 2, "note": note}
                               for topic, note in (("orders", "LEADER_NOT_AVAILABLE"),
                                                   ("deleted", "no such topic"))]},
            [found("group g orders:0", "skip",
                   reason="the end offset of the partition is unknown: LEADER_NOT_AVAILABLE")],
        )
        for control in ("G01", "G02", "G04")
    ),
    (
        "G05", "a group committed after the offsets of the partition were read",
        {"groups": [{"group": "busy", "state": "Empty", "word": "busy"}],
         "partition_offsets": [{"topic": "orders", "latest": 100, "records": 100}],
         "group_offsets": [{"group": "busy", "topic": "orders", "offset": 150, "latest": 160}]},
        [found("group busy orders:0", "ok",
               reason="offset 150, the log contains offsets 0 to 160")],
    ),
    (
        "G05", "an offset beyond both end offsets",
        {"groups": [{"group": name, "state": "Empty", "word": name} for name in ("a", "b")],
         "partition_offsets": [{"topic": "orders", "latest": 100, "records": 100}],
         "group_offsets": [
             {"group": "a", "topic": "orders", "offset": 150, "latest": 90},
             {"group": "b", "topic": "orders", "offset": 150, "latest": None}]},
        [found(f"group {name} orders:0", "alarm",
               reason="offset 150, the log contains offsets 0 to 100",
               remedy=f"reset-offsets --group={name} --to latest --topic=orders:0")
         for name in ("a", "b")],
    ),
    (
        "D02", "one batch has no duration",
        {"topics": ORDERS,
         "batches": [batch("earliest", 0, 0, DAY), batch("earliest", 0, 0, DAY, partition=1)]},
        [found("orders", "ok",
               reason="a median of 1.0 records in 2 sampled batches, unknown rate")],
    ),
    (
        "D02", "two records in a millisecond are not a high rate",
        {"topics": ORDERS, "batches": [batch("earliest", at, at, DAY) for at in (0, 1)]},
        [found("orders", "ok",
               reason="a median of 1.0 records in 2 sampled batches, 2.0 records per second")],
    ),
    (
        "D02", "many records",
        {"topics": ORDERS,
         "batches": [batch("earliest", 0, 0, timedelta(seconds=10)),
                     batch("latest", 1999, 1999, NO_TIME)]},
        [found("orders", "alarm")],
    ),
    (
        "D05", "the oldest sampled batch is not the oldest record",
        {"topics": ORDERS,
         "topic_configs": configs("orders", **A_WEEK | {"retention_bytes": "1000000"}),
         "batches": [batch("latest", 900, 999, DAY),
                     batch("earliest", 0, 9, 6 * DAY, partition=1),
                     batch("latest", 900, 999, DAY, partition=1)]},
        [found("orders:1", "ok"),
         found("cluster", "skip",
               reason="the start of the log was not sampled in 1 partition")],
    ),
    (
        "D05", "records older than retention.ms, and records deleted early",
        {"topics": [*ORDERS, {"topic": "brief"}],
         "topic_configs": [*configs("orders", **A_WEEK),
                           *configs("brief", **A_WEEK | {"retention_bytes": "1000000"})],
         "batches": [batch("earliest", 0, 9, 20 * DAY), batch("latest", 900, 999, DAY),
                     batch("earliest", 500, 509, DAY, topic="brief")]},
        [found("orders:0", "alarm"), found("brief:0", "alarm")],
    ),
    (
        "D06", "the start of the log was not sampled",
        {"topic_configs": configs("orders", **A_WEEK),
         "partition_offsets": [{"topic": "orders", "latest": 1000, "records": 1000}],
         "group_offsets": [{"group": "g", "topic": "orders", "offset": 1000, "latest": 1000}],
         "batches": [batch("latest", 900, 909, 20 * DAY), batch("latest", 910, 999, NO_TIME)]},
        [found("cluster", "skip",
               reason="the start of the log was not sampled in 1 topic")],
    ),
    (
        "D06", "the group has read everything that is kept",
        {"topic_configs": configs("orders", **A_WEEK),
         "partition_offsets": [{"topic": "orders", "latest": 1000, "records": 1000}],
         "group_offsets": [{"group": "g", "topic": "orders", "offset": 1000, "latest": 1000}],
         "batches": [batch("earliest", 0, 9, 20 * DAY), batch("latest", 910, 999, NO_TIME)]},
        [found("orders", "alarm")],
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
