"""Activity of topics, groups and brokers: rates between two samples of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.structs import Resource

if TYPE_CHECKING:
    from kafka_shell.base.results import Failure

# -- samples ---------------------------------------------------------------------------------------


class PartitionSample(Struct, frozen=True, gc=False):
    """One partition: its leader (-1 for none), log end offset, and the bytes of the leader's log.

    `end` and `size` are None if they were not returned; `error` is the error code of the partition.
    """

    leader: int
    end: int | None = None
    size: int | None = None
    error: int = 0


class TopicSample(Struct, frozen=True):
    """One topic: its ID (empty before Kafka 2.8) and its partitions by number."""

    id: str
    partitions: Mapping[int, PartitionSample]


class BrokerSample(Struct, frozen=True):
    """One broker: the partitions it leads, its replicas, and how many of them are in sync.

    `up` is whether it is registered, `size` the bytes of its replicas, None if not returned.
    """

    rack: str | None
    up: bool
    leaders: int
    replicas: int
    in_sync: int
    size: int | None = None


class LagSample(Struct, frozen=True, gc=False):
    """A group in one partition: committed and log end offsets, and lag. None if unknown.
    `out_of_range`: the committed offset is below the log start or above the log end."""

    offset: int | None
    end: int | None
    lag: int | None
    out_of_range: bool = False


class GroupSample(Struct, frozen=True):
    """One group: its state, and its partitions. `note` is why its offsets are unknown.
    `time_lag_ms` is the largest of the partitions."""

    state: str
    members: int | None = None
    partitions: Mapping[TopicPartition, LagSample] = field(default_factory=dict)
    note: str = ""
    time_lag_ms: int | None = None


class Sample(Struct, frozen=True):
    """What a cluster returned at one time: `at` is in seconds of a monotonic clock.

    `failures` are what is missing from it, by broker or group.
    """

    at: float
    topics: Mapping[str, TopicSample] = field(default_factory=dict)
    brokers: Mapping[int, BrokerSample] = field(default_factory=dict)
    groups: Mapping[str, GroupSample] = field(default_factory=dict)
    failures: Mapping[Resource, Failure] = field(default_factory=dict)


# -- rates -----------------------------------------------------------------------------------------


class TopicActivity(Struct, frozen=True):
    """The rates of a topic: sums over the partitions that were measured, None if none was.

    `bytes_per_s` is the growth of the leaders' logs as stored (compressed), and `size` their bytes.
    `not_measured` is the number of partitions missing from `records_per_s`; `note` is the reason.
    `bytes_not_measured` are missing from `bytes_per_s`, also because their log has shrunk or their
    leader has moved, and `size_not_read` from `size`.
    """

    name: str
    partitions: int
    records_per_s: float | None
    bytes_per_s: float | None
    size: int | None
    not_measured: int = 0
    note: str = ""
    bytes_not_measured: int = 0
    size_not_read: int = 0


class GroupActivity(Struct, frozen=True):
    """The lag of a group and its change, over the partitions whose lag is known; None if unknown.

    `change_per_s` is negative while the group catches up, which takes `catch_up_s` seconds at that
    rate: 0 without lag, None if the lag does not shrink. `records_per_s` is how fast its committed
    offsets advance. `unknown` is the number of partitions whose lag is unknown: without committed
    offset, or not readable; without any other lag, `catch_up_s` is None then. `out_of_range` is the
    number of partitions whose committed offset is below the log start or above the log end.
    `time_lag_ms` is the largest of the partitions, None if it is not known of all with a known lag.
    `stuck` is the number of partitions whose committed offset has not moved for at least 10 s while
    there were unread records, and more arrived.
    """

    name: str
    state: str
    members: int | None
    partitions: int
    lag: int | None
    change_per_s: float | None
    catch_up_s: float | None
    records_per_s: float | None
    unknown: int = 0
    note: str = ""
    out_of_range: int = 0
    time_lag_ms: int | None = None
    stuck: int = 0


class BrokerActivity(Struct, frozen=True):
    """A broker: partitions it leads, replicas, and the rates of the partitions it leads.

    `state` is `up`, `not responding` (but registered) or `down`. `in_sync` is the
    number of its replicas that are in sync, `size` the bytes of all its replicas. `not_measured` is
    the number of led partitions missing from `records_per_s`, `bytes_not_measured` of those missing
    from `bytes_per_s`.
    """

    id: int
    state: str
    rack: str | None
    leaders: int
    replicas: int
    in_sync: int
    records_per_s: float | None
    bytes_per_s: float | None
    size: int | None
    not_measured: int = 0
    bytes_not_measured: int = 0
