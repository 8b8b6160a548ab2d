"""Records that a share group has acquired."""

from __future__ import annotations

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.share import _records
from tests.support.crafted_batches import batch, value

WHERE = TopicPartition("t", 0)


def test_records_of_a_batch_that_were_acquired_are_shown() -> None:
    raw = batch(b"".join(value(b"x", offset) for offset in range(100)), 100, base=5)
    acquired = frozenset({4, 6, 7, 50, 104, 105})
    found = [record.offset for record in _records(WHERE, raw, acquired, 1 << 20)]
    assert found == [6, 7, 50, 104]
    assert [*_records(WHERE, raw, frozenset(), 1 << 20)] == []
