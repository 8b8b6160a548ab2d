"""ACLs and SCRAM credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, Rows, readable, table
from kafka_shell.base.text import quote

if TYPE_CHECKING:
    from kafka_shell.wire.connection import Cluster


@table(
    "acls",
    "One row per ACL binding.",
    """
    resource_type  string  topic, group, cluster ...
    resource_name  string  The resource's name, or * for any.
    pattern_type   string  literal or prefixed.
    principal      string  User:alice.
    host           string  An address, or * for any.
    operation      string  Read, Write ...
    permission     string  allow or deny.
    acl            string  The binding as an alter-acls rule.
    word           string  The binding, quoted for a command.
    """,
)
def read_acls(cluster: Cluster, names: Names) -> Rows:
    """DescribeAcls, API key 29."""
    from kafka_shell.admin.acls import read as acls

    for found in acls.describe(cluster):
        yield (
            found.resource_type.kind, found.name, found.pattern_type.name.lower(),
            found.principal, found.host, found.operation.label, found.permission.name.lower(),
            str(found), quote(str(found)),
        )  # fmt: skip


@table(
    "scram_users",
    "One row per SCRAM credential.",
    """
    user        string  The user.
    mechanism   string  SCRAM-SHA-256 or SCRAM-SHA-512.
    iterations  int     Number of hash iterations.
    word        string  The user, quoted for a command.
    """,
)
def read_scram_users(cluster: Cluster, names: Names) -> Rows:
    """DescribeUserScramCredentials, API key 50."""
    from kafka_shell.admin.users import scram

    found = yield from readable(scram.describe(cluster), "user")
    for credentials in found.values():
        for each in credentials:
            yield each.user, each.mechanism.label, each.iterations, quote(each.user)
