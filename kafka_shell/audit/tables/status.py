"""The status of the collection: which tables could not be read, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, Rows, table

if TYPE_CHECKING:
    from kafka_shell.wire.connection import Cluster


@table(
    "collection_status",
    "One row per table and slice: the number of rows, or, for each error, what could not be read.",
    """
    table     string   The table.
    slice     string   A range of topics, a broker, or empty for the whole table.
    status    string   ok or error.
    rows      long     Number of rows.
    seconds   double   Duration of the read in seconds.
    resource  string?  What could not be read, at most ten resources; empty for the whole slice.
    error     string?  The error name, of Kafka or of kafka.sh.
    reason    string?  The error message, of the first resource.
    failures  long?    The number of resources that could not be read.
    """,
    by="none",
)
def read_status(cluster: Cluster, names: Names) -> Rows:
    """Nothing: rows are added while other tables are read."""
    return iter(())
