"""Controls of security evaluated on given rows."""

from __future__ import annotations

from typing import Any

from tests.support.control_rows import Case, evaluating, found

IDENTIFICATION = "ssl.endpoint.identification.algorithm"
TO_RESTART = "in server.properties and restart the broker"
DYNAMIC = (
    "as a dynamic config, which only a restart applies; set it to {} in server.properties,"
    " delete the dynamic config and restart the broker"
)


def tls(name: str, **values: Any) -> dict[str, Any]:
    """A TLS listener of broker 1."""
    own = {"broker_id": 1, "listener": name, "protocol": "SSL", "client_auth": "required",
           "identification": "https", "tls_versions": ["TLSv1.3"]}  # fmt: skip
    return own | values


def stored(key: str, source: str) -> dict[str, Any]:
    """A config of the listener CLIENTS of broker 1."""
    return {"broker_id": 1, "key": f"listener.name.clients.{key}", "source": source}


def refused(resource: str, reason: str) -> dict[str, str]:
    """An alarm without a remedy that works at once."""
    return found(resource, "alarm", reason=reason, remedy="", undo="")


CASES: list[Case] = [
    (
        "S05", "operations that are worse than Write",
        {"acls": [{"acl": operation, "principal": "User:*", "permission": permission,
                   "operation": operation, "word": operation}
                  for permission, operations in (
                      ("allow", ("Delete", "AlterConfigs", "ClusterAction", "Create", "Read")),
                      ("deny", ("Write",)))
                  for operation in operations]},
        [*(found(operation, "alarm", reason=f"everyone may {operation}",
                 remedy=f"alter-acls --remove={operation}")
           for operation in ("Delete", "AlterConfigs", "ClusterAction", "Create")),
         found("Read", "ok", reason="everyone may only Read"),
         found("Write", "ok", reason="denies Write to everyone")],
    ),
    (
        "S12", "a restart is required",
        {"listeners": [tls("CLIENTS", client_auth="none")],
         "broker_configs": [stored("ssl.client.auth", "static_broker")]},
        [refused("broker 1 CLIENTS",
                 f"ssl.client.auth is none; set it to required {TO_RESTART}")],
    ),
    (
        "S12", "a dynamic value is stored, but applied by a restart only",
        {"listeners": [tls("CLIENTS"), tls("OTHER")],
         "broker_configs": [stored("ssl.client.auth", "dynamic_broker")]},
        [found("broker 1 CLIENTS", "skip",
               reason=f"ssl.client.auth is required {DYNAMIC.format('required')}"),
         found("broker 1 OTHER", "ok", reason="ssl.client.auth is required")],
    ),
    (
        "S13", "brokers connect only to some listeners",
        {"listeners": [tls("CLIENTS", identification=""),
                       tls("INTERNAL", identification="", inter_broker=True),
                       tls("CONTROLLER", identification="", controller=True)]},
        [found("broker 1 CLIENTS", "ok",
               reason=f"{IDENTIFICATION} is empty; brokers do not connect to this listener"),
         *(refused(f"broker 1 {name}", f"{IDENTIFICATION} is empty; set it to https {TO_RESTART}")
           for name in ("INTERNAL", "CONTROLLER"))],
    ),
    (
        "S13", "a dynamic value is stored, but applied by a restart only",
        {"listeners": [tls("CLIENTS", inter_broker=True)],
         "broker_configs": [stored(IDENTIFICATION, "dynamic_default_broker")]},
        [found("broker 1 CLIENTS", "skip",
               reason=f"{IDENTIFICATION} is https {DYNAMIC.format('https')}")],
    ),
    (
        "S14", "a restart is required",
        {"listeners": [tls("CLIENTS", tls_versions=["TLSv1.1"])]},
        [refused("broker 1 CLIENTS", "ssl.enabled.protocols is TLSv1.1; set it to"
                                     f" TLSv1.2,TLSv1.3 {TO_RESTART}")],
    ),
    (
        "S14", "a dynamic value is stored, but applied by a restart only",
        {"listeners": [tls("CLIENTS")],
         "broker_configs": [stored("ssl.enabled.protocols", "dynamic_broker")]},
        [found("broker 1 CLIENTS", "skip",
               reason=f"ssl.enabled.protocols is TLSv1.3 {DYNAMIC.format('TLSv1.2,TLSv1.3')}")],
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
