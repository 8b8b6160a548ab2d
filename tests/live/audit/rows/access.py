"""Rows for controls of security, quotas and client configs."""

# ruff: noqa: E501 - a row is one line
from __future__ import annotations

from typing import Any

from tests.support.control_rows import (
    DAY,
    NOW,
    Case,
    Rows,
    acl,
    config,
    configs,
    found,
    listener,
)

IDENTIFICATION = "ssl.endpoint.identification.algorithm"
TO_RESTART = "in server.properties and restart the broker"
DYNAMIC = (
    "(dynamic config, not effective until the broker restarts); set it to {} in server.properties,"
    " delete the dynamic config and restart the broker"
)
REAUTH = "connections.max.reauth.ms"
OPEN = "allow.everyone.if.no.acl.found"
SUPER = "super.users"
WORSE = ("Delete", "AlterConfigs", "Create", "Alter", "All")
ALICE: Rows = [{"user": "alice", "mechanism": "SCRAM-SHA-512"}]
DELETE_ALICE = "scram-credentials --delete SCRAM-SHA-512 --username alice"
RATES = ("producer_byte_rate", "consumer_byte_rate")
WINDOWS = [config(1, "quota.window.num", "10"), config(1, "quota.window.size.seconds", "1")]


def tls(name: str, **values: Any) -> dict[str, Any]:
    """A TLS listener of broker 1."""
    own = {"listener": name, "client_auth": "required", "identification": "https",
           "tls_versions": ["TLSv1.3"]}  # fmt: skip
    return listener("SSL", **own | values)


def stored(key: str, source: str) -> dict[str, Any]:
    """A config of the listener CLIENTS of broker 1."""
    return {"broker_id": 1, "key": f"listener.name.clients.{key}", "source": source}


def refused(resource: str, reason: str) -> dict[str, str]:
    """An alarm without a remedy that works at once."""
    return found(resource, "alarm", reason=reason, remedy="", undo="")


def client(key: str, value: str, user: str = "alice") -> dict[str, Any]:
    """A client config of a user."""
    return {"user": user, "key": key, "value": value, "entity": f"user {user}", "level": "user"}


def quota(entity: str, key: str, value: float = 1e6, **values: Any) -> dict[str, Any]:
    """A quota."""
    return {"entity": entity, "key": key, "value": value} | values


def at(principal: str, host: str) -> str:
    """The text of an ACL of one address."""
    return f"allow {principal} Read from {host} on topic orders"


def both(entity: str, **values: Any) -> Rows:
    """Both rates of an entity."""
    return [quota(entity, key, **values) for key in RATES]


GHOST = [quota("user ghost", "producer_byte_rate", 1000.0, user="ghost")]


CASES: list[Case] = [
    ("S05", "operations that are worse than Write",
     {"acls": [*(acl("User:*", operation, "a") for operation in ("Write", *WORSE, "Read")),
               acl("User:*", "All", "a") | {"permission": "deny", "acl": "deny All"},
               acl("User:a", "Write", "a")]},
     [*(found(f"allow User:* {operation} on topic a", "alarm", reason=f"everyone may {operation}",
              remedy=f"alter-acls --remove 'allow User:* {operation} on topic a'",
              undo=f"alter-acls --add 'allow User:* {operation} on topic a'")
        for operation in ("Write", *WORSE)),
      found("allow User:* Read on topic a", "ok", reason="everyone may only Read"),
      found("deny All", "ok", reason="denies All to everyone"),
      found("allow User:a Write on topic a", "ok", reason="does not apply to everyone")]),
    ("S05", "an operation of the cluster",
     {"acls": [acl("User:*", "ClusterAction", "kafka-cluster", resource="cluster")
              ]},
     [found("allow User:* ClusterAction on cluster kafka-cluster", "alarm")]),
    ("S05", "clients that are not authenticated", {"acls": [acl("User:ANONYMOUS", "Write", "a")]},
     [found("allow User:ANONYMOUS Write on topic a", "alarm",
            reason="unauthenticated clients may Write")]),
    ("S06", "ACLs of everyone are findings of S05", {"acls": [acl("User:*", "All", "*")]},
     [found("allow User:* All on topic *", "ok")]),
    ("S18", "administrators may alter the cluster",
     {"acls": [*(acl(principal, operation, "kafka-cluster", resource="cluster")
                 for principal, operation in (("User:alice", "Alter"), ("User:admin", "Alter"),
                                              ("User:kafka-broker-1", "All"), ("User:alice", "Describe"))),
               acl("User:alice", "Alter", "orders")]},
     [found("allow User:alice Alter on cluster kafka-cluster", "alarm",
            remedy="alter-acls --remove 'allow User:alice Alter on cluster kafka-cluster'"),
      *(found(f"allow {rule} on cluster kafka-cluster", "ok")
        for rule in ("User:admin Alter", "User:kafka-broker-1 All", "User:alice Describe"))]),
    ("S19", "everyone is shut out",
     {"acls": [acl("User:*", "All", "*") | {"permission": "deny"},
               acl("User:*", "Write", "orders") | {"permission": "deny"},
               acl("User:eve", "All", "*") | {"permission": "deny"}]},
     [found("allow User:* All on topic *", "alarm", reason="denies All on every topic to everyone"),
      found("allow User:* Write on topic orders", "ok"), found("allow User:eve All on topic *", "ok")]),
    ("Q07", "quotas that stop clients",
     {"quotas": [quota("user-default", "consumer_byte_rate", 1.0), quota("user u", "request_percentage", 0.1),
                 quota("ip-default", "connection_creation_rate", 0.0), quota("user v", RATES[0]),
                 quota("client-id c", RATES[0], 1.0, client_id="c"),
                 quota("user-default", RATES[0], user_default=True)]},
     [found("user-default consumer_byte_rate", "alarm",
            remedy="alter-quotas --user-default --delete-config consumer_byte_rate"),
      found("user u request_percentage", "alarm"), found("ip-default connection_creation_rate", "alarm"),
      found("user v producer_byte_rate", "ok"), found("client-id c producer_byte_rate", "ok")]),
    ("S07", "a prefix of * does not cover every topic, which covers it",
     {"acls": [acl("User:a", "Read", "*"), acl("User:a", "Read", "*", "prefixed")]},
     [found("allow User:a Read on topic *", "ok", reason="needed"),
      found("allow User:a Read on prefixed topic *", "alarm",
            reason="covered by: allow User:a Read on topic *")]),
    ("S07", "an ACL of every address covers one of an address",
     {"acls": [acl("User:a", "Read", "orders"), *(
         acl(principal, "Read", "orders") | {"host": host, "acl": at(principal, host)}
         for principal, host in (("User:a", "10.0.0.1"), ("User:b", "10.0.0.2"), ("User:b", "10.0.0.3")))]},
     [found("allow User:a Read on topic orders", "ok"),
      found(at("User:a", "10.0.0.1"), "alarm", reason="covered by: allow User:a Read on topic orders"),
      found(at("User:b", "10.0.0.2"), "ok"), found(at("User:b", "10.0.0.3"), "ok")]),
    ("S09", "ACLs of everyone apply to the user",
     {"scram_users": ALICE, "acls": [acl("User:*", "Read", "orders")]},
     [found("user alice", "info", remedy="",
            reason="no ACL names the user, but ACLs of User:* apply")]),
    ("S09", "resources without ACLs are open to the user",
     {"scram_users": ALICE, "broker_configs": [config(1, "allow.everyone.if.no.acl.found", None)]},
     [found("user alice", "info", remedy="")]),
    ("S09", "super users after a space",
     {"scram_users": ALICE, "broker_configs": [config(1, "super.users", "User:admin; User:alice")]},
     [found("user alice", "ok", reason="a super user", remedy="")]),
    ("S09", "no ACL at all",
     {"scram_users": ALICE, "acls": [acl("User:bob", "Read", "orders")],
      "broker_configs": [config(1, "super.users", "User:admin"),
                         config(1, "allow.everyone.if.no.acl.found", "false")]},
     [found("user alice", "alarm", remedy=DELETE_ALICE)]),
    ("S11", "a broker that does not return the mechanisms",
     {"listeners": [listener("SASL_PLAINTEXT")]},
     [found("broker 1 CLIENTS", "skip", reason="SASL_PLAINTEXT with unknown mechanisms")]),
    ("S12", "a restart is required",
     {"listeners": [tls("CLIENTS", client_auth="none")],
      "broker_configs": [stored("ssl.client.auth", "static_broker")]},
     [refused("broker 1 CLIENTS",
              f"ssl.client.auth is none; set it to required {TO_RESTART}")]),
    ("S12", "a dynamic value is stored, but applied by a restart only",
     {"listeners": [tls("CLIENTS"), tls("OTHER")],
      "broker_configs": [stored("ssl.client.auth", "dynamic_broker")]},
     [found("broker 1 CLIENTS", "skip",
            reason=f"ssl.client.auth is required {DYNAMIC.format('required')}"),
      found("broker 1 OTHER", "ok", reason="ssl.client.auth is required")]),
    ("S13", "brokers connect only to some listeners",
     {"listeners": [tls("CLIENTS", identification=""),
                    tls("INTERNAL", identification="", inter_broker=True),
                    tls("CONTROLLER", identification="", controller=True)]},
     [found("broker 1 CLIENTS", "ok",
            reason=f"{IDENTIFICATION} is empty; brokers do not connect to this listener"),
      *(refused(f"broker 1 {name}", f"{IDENTIFICATION} is empty; set it to https {TO_RESTART}")
        for name in ("INTERNAL", "CONTROLLER"))]),
    ("S13", "a dynamic value is stored, but applied by a restart only",
     {"listeners": [tls("CLIENTS", inter_broker=True)],
      "broker_configs": [stored(IDENTIFICATION, "dynamic_default_broker")]},
     [found("broker 1 CLIENTS", "skip",
            reason=f"{IDENTIFICATION} is https {DYNAMIC.format('https')}")]),
    ("S14", "a broker that does not return the TLS versions",
     {"listeners": [listener("SSL")]},
     [found("broker 1 CLIENTS", "skip", reason="ssl.enabled.protocols is unknown")]),
    ("S14", "a restart is required",
     {"listeners": [tls("CLIENTS", tls_versions=["TLSv1.1"])]},
     [refused("broker 1 CLIENTS", "ssl.enabled.protocols is TLSv1.1; set it to"
                                  f" TLSv1.2,TLSv1.3 {TO_RESTART}")]),
    ("S14", "a dynamic value is stored, but applied by a restart only",
     {"listeners": [tls("CLIENTS")],
      "broker_configs": [stored("ssl.enabled.protocols", "dynamic_broker")]},
     [found("broker 1 CLIENTS", "skip",
            reason=f"ssl.enabled.protocols is TLSv1.3 {DYNAMIC.format('TLSv1.2,TLSv1.3')}")]),
    ("S15", "reauthentication of each mechanism",
     {"listeners": [listener("SASL_SSL", "PLAIN", "SCRAM-SHA-512")],
      "broker_configs": [
          config(1, f"listener.name.clients.scram-sha-512.{REAUTH}", "3600000"),
          config(1, f"listener.name.clients.plain.{REAUTH}", "3600000")]},
     [found("broker 1 CLIENTS", "ok", reason="connections.max.reauth.ms is 1h")]),
    ("S15", "reauthentication of one mechanism",
     {"listeners": [listener("SASL_SSL", "PLAIN", "SCRAM-SHA-512")],
      "broker_configs": [config(1, f"listener.name.clients.scram-sha-512.{REAUTH}", "3600000")]},
     [found("broker 1 CLIENTS", "alarm",
            reason="connections.max.reauth.ms is 0 for PLAIN, 1h for SCRAM-SHA-512")]),
    ("S15", "unknown reauthentication",
     {"listeners": [listener("SASL_SSL", "PLAIN", reauth_ms=None)]},
     [found("broker 1 CLIENTS", "skip",
            reason="the broker does not return connections.max.reauth.ms")]),
    ("Q01", "a default for the clients of one user is no default",
     {"quotas": [*both("user alice client-id-default", user="alice", client_id_default=True),
                 *both("user-default client-id a", user_default=True, client_id="a")]},
     [found("producer_byte_rate", "alarm"), found("consumer_byte_rate", "alarm")]),
    ("Q01", "a default for every client",
     {"quotas": both("user-default client-id-default", user_default=True,
                     client_id_default=True)},
     [found("producer_byte_rate", "ok"), found("consumer_byte_rate", "ok")]),
    ("Q01", "a default user quota would outrank the quotas of client IDs",
     {"quotas": [quota("client-id a", "producer_byte_rate", client_id="a"),
                 quota("user u client-id a", "consumer_byte_rate", client_id="a", user="u")]},
     [found("producer_byte_rate", "alarm",
            remedy="alter-quotas --client-id-default producer_byte_rate=104857600",
            undo="alter-quotas --client-id-default --delete-config producer_byte_rate"),
      found("consumer_byte_rate", "alarm",
            remedy="alter-quotas --user-default consumer_byte_rate=104857600",
            undo="alter-quotas --user-default --delete-config consumer_byte_rate")]),
    ("Q02", "the default user quota applies to unauthenticated clients as well",
     {"quotas": [quota("client-id a", "producer_byte_rate", client_id="a"),
                 quota("user-default", "producer_byte_rate", 2e6, user_default=True)]},
     [found("client-id a producer_byte_rate", "alarm",
            reason="1MB/s never applies: the default user quota is 2MB/s")]),
    ("Q03", "users of certificates, OAuth, Kerberos or SASL/PLAIN are not visible",
     {"quotas": GHOST,
      "listeners": [listener("SASL_SSL", "SCRAM-SHA-512", "OAUTHBEARER")]},
     [found("user ghost producer_byte_rate", "info", remedy="", undo="")]),
    ("Q03", "a super user is a user",
     {"quotas": GHOST, "listeners": [listener("SASL_SSL", "SCRAM-SHA-512")],
      "broker_configs": [config(1, "super.users", "User:admin; User:ghost")]},
     [found("user ghost producer_byte_rate", "ok")]),
    ("Q03", "no user of SCRAM",
     {"quotas": GHOST, "listeners": [listener("SASL_SSL", "SCRAM-SHA-512")]},
     [found("user ghost producer_byte_rate", "alarm",
            remedy="alter-quotas --user ghost --delete-config producer_byte_rate")]),
    ("Q04", "the topic with the largest messages is named",
     {"quotas": [quota("user u", "producer_byte_rate", 100.0, user="u")],
      "broker_configs": [{"broker_id": 1, "key": "quota.window.num", "value": "10"},
                         {"broker_id": 1, "key": "quota.window.size.seconds", "value": "1"}],
      "topic_configs": [*configs("small", max_message_bytes="1048576"),
                        *configs("huge", max_message_bytes="20971520")]},
     [found("user u producer_byte_rate", "alarm",
            reason="1kB in 10s, the largest max.message.bytes is 20MiB (topic huge)")]),
    ("C02", "a timeout that is not a number",
     {"broker_configs": [config(1, "group.min.session.timeout.ms", "6000"),
                         config(1, "group.max.session.timeout.ms", "1800000")],
      "effective_client_configs": [client("session.timeout.ms", "45s")]},
     [found("user alice", "skip", remedy="",
            reason="session.timeout.ms is 45s (not a number), brokers accept 6s to 30m")]),
    ("C03", "a timeout that is not a number is not the default",
     {"effective_client_configs": [client("session.timeout.ms", "9s"),
                                   client("heartbeat.interval.ms", "9000"),
                                   client("heartbeat.interval.ms", "3s", "bob")]},
     [found("user alice", "skip", remedy="",
            reason="heartbeat.interval.ms is 9s, session.timeout.ms is 9s (not a number)"),
      found("user bob", "skip", remedy="",
            reason="heartbeat.interval.ms is 3s (not a number), session.timeout.ms is 45s")]),
    ("S01", "a listener without TLS",
     {"listeners": [listener("PLAINTEXT", address="a:1"), listener("SASL_PLAINTEXT", listener="OLD"),
                    tls("TLS"), listener("SASL_SSL", listener="SASL")]},
     [found("broker 1 CLIENTS", "alarm", reason="PLAINTEXT"), found("broker 1 OLD", "alarm"),
      found("broker 1 TLS", "ok"), found("broker 1 SASL", "ok")]),
    ("S02", "no authorizer",
     {"broker_configs": [config(1, "authorizer.class.name", ""), config(2, "authorizer.class.name", "a.B")]},
     [found("broker 1", "alarm", reason="authorizer.class.name is not set"), found("broker 2", "ok")]),
    *((control, "brokers return only some values",
       {"brokers": [{"broker_id": broker} for broker in range(1, 6)],
        "broker_configs": [config(1, key, bad), config(2, key, None), config(3, key, fine), config(4, "a", "")]},
       [found("broker 1", "alarm", reason=f"{key} is {bad}"),
        found("broker 2", "info", reason=f"{key} is set, but brokers do not return its value:"
                                         " check the properties file"),
        found("broker 3", "ok"), found("broker 4", "ok")])
      for control, key, bad, fine in (
          ("S03", OPEN, "true", "false"),
          ("S04", SUPER, "User:admin; User:ANONYMOUS", "User:admin; User:ANONYMOUSLY"))),
    ("S06", "ALL on every resource",
     {"acls": [acl("User:a", "All", "*", resource="group"), acl("User:a", "All", "*", "prefixed"),
               acl("User:a", "Read", "*"), acl("User:a", "All", "orders")]},
     [found("allow User:a All on group *", "alarm", reason="User:a has ALL on every group",
            remedy="alter-acls --remove 'allow User:a All on group *'",
            undo="alter-acls --add 'allow User:a All on group *'"),
      found("allow User:a Read on topic *", "ok")]),
    ("S07", "ACLs that cover others, or deny",
     {"acls": [acl("User:a", "Describe", "orders"), acl("User:a", "Read", "ord", "prefixed"),
               acl("User:b", "Read", "orders"), acl("User:*", "Read", "orders")
               | {"permission": "deny", "acl": "deny"}, acl("User:c", "Write", "orders")]},
     [found("allow User:a Describe on topic orders", "alarm",
            reason="covered by: allow User:a Read on prefixed topic ord",
            remedy="alter-acls --remove 'allow User:a Describe on topic orders'"),
      found("allow User:b Read on topic orders", "alarm", reason="overridden by: deny"),
      found("allow User:c Write on topic orders", "ok")]),
    *(("S08", f"listeners of {' and '.join(mechanisms)}",
       {"topics": [{"topic": "orders"}], "groups": [{"group": "g"}], "scram_users": ALICE,
        "listeners": [listener("SASL_SSL", *mechanisms), listener("PLAINTEXT", controller=True)],
        "acls": [acl("User:alice", "Read", "orders"), acl("User:alice", "Read", "gone"),
                 acl("User:alice", "Read", "new-", "prefixed"), acl("User:alice", "Read", "*", "prefixed"),
                 acl("User:alice", "Read", "h", resource="group"), acl("User:ghost", "Read", "orders"),
                 acl("User:ghost", "Read", "gone") | {"permission": "deny", "acl": "deny"}]},
       [found("allow User:alice Read on topic orders", "ok", reason="resource and principal exist"),
        found("allow User:alice Read on topic gone", "alarm", reason="topic gone does not exist",
              remedy="alter-acls --remove 'allow User:alice Read on topic gone'"),
        found("allow User:alice Read on prefixed topic *", "alarm", reason="no topic can start with *"),
        found("allow User:alice Read on prefixed topic new-", "info", remedy=""),
        found("allow User:alice Read on group h", "info", reason="group h does not exist"),
        found("allow User:ghost Read on topic orders", ghost, reason="User:ghost has no SCRAM credential")])
      for mechanisms, ghost in ((("SCRAM-SHA-512",), "alarm"), (("SCRAM-SHA-512", "PLAIN"), "info"))),
    ("S09", "super users who are not returned",
     {"scram_users": ALICE, "broker_configs": [config(1, SUPER, None)]},
     [found("user alice", "alarm", remedy="",
            reason="no ACL names the user, and the brokers do not return who is a super user")]),
    ("S09", "an ACL names the user", {"scram_users": ALICE, "acls": [acl("User:alice", "Read", "orders")]},
     [found("user alice", "ok", reason="ACLs name the user")]),
    ("S10", "iterations",
     {"scram_users": [ALICE[0] | {"iterations": 4096}, {"user": "bob", "iterations": 8192}]},
     [found("user alice SCRAM-SHA-512", "alarm", reason="4,096 iterations",
            remedy="scram-credentials --username alice --add SCRAM-SHA-512 --iterations 8192"),
      found("user bob ", "ok")]),
    ("S11", "passwords without TLS",
     {"listeners": [listener("SASL_PLAINTEXT", "PLAIN", "GSSAPI"),
                    listener("SASL_PLAINTEXT", "SCRAM-SHA-512", listener="SCRAM"),
                    listener("SASL_SSL", "PLAIN", listener="TLS")]},
     [found("broker 1 CLIENTS", "alarm", reason="SASL_PLAINTEXT with PLAIN, GSSAPI"),
      found("broker 1 SCRAM", "ok"), found("broker 1 TLS", "ok")]),
    ("S14", "the versions of today", {"listeners": [tls("CLIENTS")]},
     [found("broker 1 CLIENTS", "ok", reason="ssl.enabled.protocols is TLSv1.3")]),
    ("S15", "no reauthentication", {"listeners": [listener("SASL_SSL", "PLAIN")]},
     [found("broker 1 CLIENTS", "alarm", reason="connections.max.reauth.ms is 0")]),
    ("S16", "listeners of clients and brokers",
     {"listeners": [listener("SSL", broker_id=broker, listener=name, inter_broker=name == "OWN",
                             controller=name == "CONTROLLER")
                    for broker, names in ((1, ("OWN", "CONTROLLER")), (2, ("OWN", "CLIENTS")), (3, ("CLIENTS",)))
                    for name in names]},
     [found("broker 1", "alarm", reason="OWN is the only listener"),
      found("broker 2", "ok", reason="OWN is one of 2 listeners"), found("broker 3", "skip")]),
    ("S17", "certificates",
     {"certificates": [{"broker_id": 1, "listener": name, "expires": days and NOW + days * DAY}
                       for name, days in (("OLD", -3), ("SOON", 29), ("FINE", 31), ("NONE", None))]},
     [found("broker 1 OLD", "alarm", reason=f"expired {NOW - 3 * DAY:%Y-%m-%d %H:%M} UTC"),
      found("broker 1 SOON", "alarm", reason=f"expires {NOW + 29 * DAY:%Y-%m-%d %H:%M} UTC"),
      found("broker 1 FINE", "ok"), found("broker 1 NONE", "skip")]),
    ("Q02", "remedies are at least as large as a message",
     {"broker_configs": WINDOWS, "topic_configs": configs("huge", max_message_bytes="20000000"),
      "quotas": [quota("client-id a", RATES[0], client_id="a"), quota("client-id b", RATES[0], client_id="b"),
                 quota("client-id c", RATES[1], client_id="c"),
                 quota("user-default", RATES[0], 5e6, user_default=True),
                 quota("user-default client-id b", RATES[0], user_default=True, client_id="b")]},
     [found("client-id a producer_byte_rate", "alarm",
            remedy="alter-quotas --user-default --client-id a producer_byte_rate=2000000",
            undo="alter-quotas --user-default --client-id a --delete-config producer_byte_rate"),
      found("client-id b producer_byte_rate", "ok"), found("client-id c consumer_byte_rate", "ok")]),
    ("Q03", "client IDs that are not connected",
     {"quotas": [quota("client-id a", RATES[0], client_id="a"), quota("client-id b", RATES[0], client_id="b")],
      "group_members": [{"group": "g", "client_id": "b"}]},
     [found("client-id a producer_byte_rate", "info", remedy=""),
      found("client-id b producer_byte_rate", "ok")]),
    ("Q04", "remedies allow one message in the window",
     {"quotas": [quota("user u", RATES[0], 100.0, user="u"), quota("user v", RATES[0], user="v"),
                 quota("user w", RATES[1], 100.0, user="w")],
      "broker_configs": WINDOWS, "topic_configs": configs("orders", max_message_bytes="1048588")},
     [found("user u producer_byte_rate", "alarm", remedy="alter-quotas --user u producer_byte_rate=104859",
            undo="alter-quotas --user u producer_byte_rate=100"),
      found("user v producer_byte_rate", "ok")]),
    ("Q05", "the threads of the largest broker",
     {"quotas": [quota("user u", "request_percentage", 5000.0), quota("user v", "request_percentage", 1100.0)],
      "broker_configs": [config(1, "num.io.threads", "8"), config(1, "num.network.threads", "3"),
                         config(2, "num.io.threads", "2"), config(2, "num.network.threads", "1")]},
     [found("user u request_percentage", "alarm", reason="5000% of 1100%",
            remedy="alter-quotas --user u request_percentage=1100",
            undo="alter-quotas --user u request_percentage=5000"),
      found("user v request_percentage", "ok")]),
    ("Q06", "users who may create topics",
     {"acls": [acl("User:a b", "Create", "*"), acl("User:own", "All", "x"), acl("User:reader", "Read", "x"),
               acl("User:other", "Create", "kafka-cluster", resource="cluster") | {"cluster": "limited"}],
      "effective_quotas": [{"user": "own", "key": "controller_mutation_rate", "value": 5.0},
                           {"key": "controller_mutation_rate", "value": 9.0, "cluster": "limited"}]},
     [found("user a b", "alarm", reason="no controller_mutation_rate quota applies",
            remedy="alter-quotas --user 'a b' controller_mutation_rate=10",
            undo="alter-quotas --user 'a b' --delete-config controller_mutation_rate"),
      found("user own", "ok"), found("user other", "ok", cluster="limited")]),
    ("C01", "acks",
     {"effective_client_configs": [client("acks", "1"), client("acks", "all", "bob"), client("acks", "-1", "eve")]},
     [found("user alice", "alarm", reason="acks is 1, set for the user",
            remedy="alter-client-configs --user alice acks=all",
            undo="alter-client-configs --user alice acks=1"),
      found("user bob", "ok"), found("user eve", "ok")]),
    ("C02", "the limits of the brokers",
     {"broker_configs": [config(1, "group.min.session.timeout.ms", "6000"),
                         config(1, "group.max.session.timeout.ms", "1800000")],
      "effective_client_configs": [client("session.timeout.ms", "1000"),
                                   client("session.timeout.ms", "9000000", "bob"),
                                   client("session.timeout.ms", "6000", "eve")]},
     [found("user alice", "alarm", remedy="alter-client-configs --user alice session.timeout.ms=6000",
            undo="alter-client-configs --user alice session.timeout.ms=1000"),
      found("user bob", "alarm", remedy="alter-client-configs --user bob session.timeout.ms=1800000"),
      found("user eve", "ok")]),
    ("C03", "a third of the session timeout",
     {"effective_client_configs": [client("heartbeat.interval.ms", "15001"),
                                   client("heartbeat.interval.ms", "3000", "bob"),
                                   client("session.timeout.ms", "9000", "bob"),
                                   client("heartbeat.interval.ms", "9000", "eve"),
                                   client("session.timeout.ms", "12000", "eve")]},
     [found("user alice", "alarm", reason="heartbeat.interval.ms is 15001ms, session.timeout.ms is 45s",
            remedy="alter-client-configs --user alice heartbeat.interval.ms=15000",
            undo="alter-client-configs --user alice heartbeat.interval.ms=15001"),
      found("user bob", "ok"),
      found("user eve", "alarm", remedy="alter-client-configs --user eve heartbeat.interval.ms=4000")]),
]  # fmt: skip
