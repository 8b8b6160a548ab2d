"""Every table of an audit."""

from __future__ import annotations

from kafka_shell.audit.table import Table, by_name

from . import (
    access,
    batches,
    clients,
    cluster,
    commits,
    disks,
    groups,
    listeners,
    status,
    topics,
    transactions,
)

TABLES: dict[str, Table] = by_name(
    (
        *cluster.TABLES,
        *topics.TABLES,
        *disks.TABLES,
        *listeners.TABLES,
        *access.TABLES,
        *clients.TABLES,
        *groups.TABLES,
        *commits.TABLES,
        *transactions.TABLES,
        *batches.TABLES,
        *status.TABLES,
    )
)
