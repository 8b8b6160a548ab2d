"""The audit tables of real clusters: schemas, rows, and resources that cannot be read."""

from __future__ import annotations

import re
import struct
from contextvars import Context
from typing import Any

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import batches
from kafka_shell.audit.table import COMMON, DDL
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tables import batches as batch_tables

WANTED = [
    "clusters",
    "brokers",
    "topics",
    "partitions",
    "replicas",
    "topic_configs",
    "broker_configs",
    "acls",
    "quotas",
    "scram_users",
    "groups",
    "group_members",
    "group_offsets",
    "log_dirs",
    "features",
    "quorum",
    "transactions",
    "client_configs",
    "batches",
    "collection_status",
    "reassignments",
    "effective_quotas",
    "effective_client_configs",
]


def test_the_requested_tables_exist() -> None:
    assert set(WANTED) <= set(TABLES)


def test_every_column_is_documented_and_typed() -> None:
    for name, table in TABLES.items():
        assert table.about.endswith("."), name
        names = [column.name for column in table.all_columns]
        assert names[:3] == list(COMMON) and len(set(names)) == len(names), name
        for column in table.columns:
            assert column.about and column.type in DDL, column
            assert re.fullmatch(r"[a-z_]+", column.name), column


@pytest.mark.parametrize(("attributes", "first"), [(0, 1000), (8, 9000)])
def test_the_broker_replaces_the_largest_timestamp_only(
    monkeypatch: pytest.MonkeyPatch, attributes: int, first: int
) -> None:
    """With LogAppendTime, that of the first record in the header is the producer's."""
    raw = struct.pack(">qiibIhiqqqhii", 5, 49, 0, 2, 0, attributes, 0, 1000, 9000, 7, 0, 0, 1)
    sample = (TopicPartition("orders", 0), "earliest", raw)
    monkeypatch.setattr(batch_tables, "_samples", lambda cluster, names: iter([sample]))
    nothing: Any = None
    outside_of_a_task = Context()
    (row,) = outside_of_a_task.run(lambda: list(batch_tables.read_batches.read(nothing, ())))
    assert isinstance(row, tuple)
    assert row[9:11] == (first, 9000)


def test_a_torn_batch_is_left_out() -> None:
    assert list(batches.headers(b"\0" * 40)) == []
    assert list(batches.headers(b"\0" * 8 + (500).to_bytes(4, "big") + b"\2" * 80)) == []
