"""Tables of log directories, offsets and elections."""

from __future__ import annotations

from kafka_shell.admin.partitions.model import (
    DiskUse,
    ElectionStatus,
    LeaderStatus,
    LogDir,
    LogReplica,
    PartitionOffset,
    ReplicaOnDisk,
)
from kafka_shell.base.results import Failure
from tests.support.samples import drawn

GIB = 1 << 30
BROKEN = Failure("KAFKA_STORAGE_ERROR", "log directory /b of broker 1 is offline", 56)
REPLICAS = (LogReplica("orders", 0, 3 * GIB, 0), LogReplica("orders", 1, GIB, 70, future=True))


def test_log_dirs_full_offline_and_cordoned() -> None:
    dirs = (
        LogDir(1, "/a", None, 100 * GIB, 9 * GIB, REPLICAS),
        LogDir(1, "/b", BROKEN, None, None),
        LogDir(2, "/a", None, 100 * GIB, 50 * GIB, cordoned=True),
    )
    assert (
        drawn([dir.use for dir in dirs])
        == """\
BROKER  DIR  STATE     REPLICAS  INCOMING     SIZE    USABLE    TOTAL
     1  /a   online           1         1  4.0 GiB   9.0 GiB  100 GiB
     1  /b   offline          -         -        -         -        -
     2  /a   cordoned         0         -      0 B  50.0 GiB  100 GiB
"""
    )


def test_describe_log_dirs_shows_replicas_and_disk_usage() -> None:
    rows = LogDir(1, "/a", None, None, None, REPLICAS).rows
    assert rows[1] == ReplicaOnDisk(1, "/a", "orders", 1, GIB, 70, True)
    assert (
        drawn(list(rows))
        == """\
BROKER  TOPIC   PARTITION     SIZE  LAG  FUTURE  DIR
     1  orders          0  3.0 GiB    -  -       /a
     1  orders          1  1.0 GiB   70  yes     /a
"""
    )
    assert (
        drawn([DiskUse(None, "orders", None, 2, 4 * GIB, 3 * GIB)])
        == """\
TOPIC   REPLICAS     SIZE  LARGEST
orders         2  4.0 GiB  3.0 GiB
"""
    )
    assert (
        drawn([DiskUse(None, "orders", None, 2, 4 * GIB, 3 * GIB, unread_replicas=1)])
        == """\
TOPIC   REPLICAS      SIZE   LARGEST
orders        2+  4.0 GiB+  3.0 GiB+
"""
    )


def test_an_offset_that_is_nowhere() -> None:
    assert (
        drawn([PartitionOffset("orders", 0, None)])
        == """\
TOPIC   PARTITION  OFFSET
orders          0       -
"""
    )


def test_elections_that_are_not_completed_stand_below_the_counts() -> None:
    why = "the preferred leader, broker 1, is offline"
    status = ElectionStatus((
        LeaderStatus("orders", 0, "completed", 1, 1),
        LeaderStatus("orders", 1, "failed", None, 1, why),
    ))  # fmt: skip
    assert not status.ok
    assert (
        drawn(status)
        == f"""\
2 partitions   1 completed   1 failed

TOPIC   PARTITION  STATUS  LEADER  PREFERRED  REASON
orders          1  failed       -          1  {why}
"""
    )
