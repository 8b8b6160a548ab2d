"""Reading a compacted topic: offsets have gaps, and batches may be empty."""

from __future__ import annotations

import time

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.read import FROM_EARLIEST, Position, Reading, spans
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer, java_records
from tests.support.changes import make_topic
from tests.support.read_records import last_records
from tests.support.waiting import wait_for

_T0 = 1_700_000_000_000
_COMPACTED = (
    ("cleanup.policy", "compact"),
    ("segment.ms", "500"),
    ("min.cleanable.dirty.ratio", "0.001"),
    ("max.compaction.lag.ms", "1000"),
    ("delete.retention.ms", "0"),
)


def test_gaps_are_passed(sandbox: Sandbox, cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=_COMPACTED)
    where = TopicPartition(name, 0)
    # Segments roll by the timestamps of records; most keys are written again and again.
    records = [
        NewRecord(b"rare" if n == 100 else b"k%d" % (n % 10), b"%d" % n, (), 0, _T0 + n * 100)
        for n in range(2000)
    ]
    java_records.write(sandbox.bootstrap, name, records, batch_size="500", linger_ms="5")

    def reading(start: Position = FROM_EARLIEST) -> Reading:
        return Reading(cluster, spans(cluster, [where], start))

    def cleaned() -> bool:
        """No pass of the cleaner is under way: it begins the next as long as there is something."""
        before = reading().count()
        time.sleep(1)
        return reading().count() == before < 200

    wait_for("the log is compacted", cleaned, seconds=120)
    found = [each for block in reading().ordered() for each in block]
    assert found == java_consumer.read(sandbox.bootstrap, name)
    assert len(found) == reading().count()
    assert found[0].key == b"rare"
    assert found[-1].offset == 1999
    assert last_records(reading(), len(found)) == found
    assert last_records(reading(), len(found) - 1) == found[1:]
    middle = [each for block in reading(Position(offset=50)).ordered() for each in block]
    assert middle == found, "an offset in a gap is the next record"
