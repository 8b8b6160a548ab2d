"""ACLs and SCRAM credentials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]


def read_acls(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per ACL binding (DescribeAcls, API key 29)."""
    from kafka_shell.admin.acls import read as acls

    for found in acls.describe(cluster):
        yield (
            found.resource_type.kind, found.name, found.pattern_type.name.lower(),
            found.principal, found.host, found.operation.label, found.permission.name.lower(),
            str(found), quote(str(found)),
        )  # fmt: skip


def read_scram_users(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per credential (DescribeUserScramCredentials, API key 50)."""
    from kafka_shell.admin.users import scram

    found = scram.describe(cluster)
    for credentials in found:
        for each in credentials:
            yield (
                each.user, each.mechanism.label, each.iterations, quote(each.user)
            )  # fmt: skip
    for user, why in found.failures.items():
        yield Trouble(f"user {user}", why.name, why.message)


TABLES = (
    Table(
        "acls",
        "One row per ACL binding.",
        (
            Column("resource_type", "string", "topic, group, cluster ..."),
            Column("resource_name", "string", "The resource's name, or * for any."),
            Column("pattern_type", "string", "literal or prefixed."),
            Column("principal", "string", "User:alice."),
            Column("host", "string", "An address, or * for any."),
            Column("operation", "string", "Read, Write ..."),
            Column("permission", "string", "allow or deny."),
            Column("acl", "string", "The binding as an alter-acls rule."),
            Column("word", "string", "The binding, quoted for a command."),
        ),
        read_acls,
    ),
    Table(
        "scram_users",
        "One row per SCRAM credential.",
        (
            Column("user", "string", "The user."),
            Column("mechanism", "string", "SCRAM-SHA-256 or SCRAM-SHA-512."),
            Column("iterations", "int", "Number of hash iterations."),
            Column("word", "string", "The user, quoted for a command."),
        ),
        read_scram_users,
    ),
)
