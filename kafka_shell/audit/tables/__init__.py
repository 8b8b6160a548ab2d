"""Every table of an audit."""

from __future__ import annotations

from kafka_shell.audit.table import Table
from kafka_shell.audit.tables import (
    access,
    batches,
    cluster,
    groups,
    listeners,
    status,
    topics,
    transactions,
)

_MODULES = (
    cluster,
    topics,
    listeners,
    access,
    groups,
    transactions,
    batches,
    status,
)
TABLES: dict[str, Table] = {
    found.name: found
    for module in _MODULES
    for found in vars(module).values()
    if isinstance(found, Table)
}
