"""Connections of users who log in to the secure sandbox, and their permissions."""

from __future__ import annotations

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.plans import Secret
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.support.changes import done

ALICE = "User:alice"


def log_in(sandbox: Sandbox, user: str) -> Cluster:
    return Cluster(
        ConnectionConfig(
            parse_addresses(sandbox.bootstraps["SASL_PLAINTEXT"]),
            security_protocol="SASL_PLAINTEXT",
            sasl=Sasl("SCRAM-SHA-256", user, Secret(passwords(sandbox)[user])),
        )
    )


def allow(admin: Cluster, topic: str, *operations: AclOperation) -> None:
    bindings = [
        AclBinding(
            ALICE, "*", operation, AclPermission.ALLOW, AclResourceType.TOPIC, topic,
            PatternType.LITERAL,
        )
        for operation in operations
    ]  # fmt: skip
    done(acl_changes.plan_create(admin, bindings), admin)
