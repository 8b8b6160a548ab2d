"""What a collection has read, and what it could not read: the table `collection_status`, summed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

STATUS = "collection_status"
# The columns of the table that are summed.
COLUMNS = ("cluster", "table", "status", "rows", "error", "reason")


class TableStatus(Struct):
    """What was read of a table of a cluster: whether a part of it was read, the number of rows, and
    the number of errors, with the name and the message of the first one."""

    is_read: bool = False
    rows: int = 0
    errors: int = 0
    error: str = ""
    reason: str = ""

    @property
    def why(self) -> str:
        """The first error, and how many more there are."""
        first = ": ".join(filter(None, (self.error, self.reason)))
        return first if self.errors == 1 else f"{first} (and {self.errors - 1} more)"


# The tables of a collection by cluster and table.
Status = dict[tuple[str, str], TableStatus]


def summed(rows: Iterable[tuple[Any, ...]]) -> Status:
    """Return the status of each table of each cluster, of rows with the values of COLUMNS."""
    found: Status = {}
    for cluster, table, status, count, error, reason in rows:
        at = found.setdefault((cluster, table), TableStatus())
        at.rows += count
        if status == "ok":
            at.is_read = True
        else:
            if not at.errors:
                at.error, at.reason = error or "", reason or ""
            at.errors += 1
    return found


def rows_of(status: Status) -> int:
    """Return the number of rows of all tables together."""
    return sum(each.rows for each in status.values())


def unread_tables(status: Status) -> dict[tuple[str, str], str]:
    """Return why tables could not be read, fully or partly, by cluster and table."""
    return {key: each.why for key, each in status.items() if each.errors}


def unread_clusters(status: Status) -> dict[str, str]:
    """Return the clusters of which no table could be read, with the first reason."""
    read = {cluster for (cluster, _), each in status.items() if each.is_read}
    found: dict[str, str] = {}
    for (cluster, _), each in status.items():
        if cluster not in read:
            found.setdefault(cluster, each.reason)
    return found
