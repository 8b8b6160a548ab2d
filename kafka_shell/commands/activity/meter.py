"""Measurements of one cluster, each since the one before."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from kafka_shell.common.resource import Resource
from kafka_shell.common.structs import replace
from kafka_shell.plan.results import Failure

if TYPE_CHECKING:
    from kafka_shell.admin.activity.model import Sample
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

TOPICS, GROUPS, BROKERS = VIEWS = ("topics", "groups", "brokers")
GROUP_WINDOW_S = 15.0
_APART_S = 0.9  # between samples that are kept for a window
_STALE = 5  # intervals after which an earlier sample does not show what happens now


class Measurement(Struct, frozen=True):
    """The rows of a view and what could not be read. `seconds` is what the rates are measured
    over; 0 for the first measurement, which has no rates."""

    view: str
    seconds: float
    rows: tuple[Any, ...]
    failures: Mapping[Resource, Failure] = field(default_factory=dict)


def open_meter(context: Context, interval: float) -> Meter:
    """Return a meter with a connection of its own, for another thread."""
    from kafka_shell.admin.wire.connection import Cluster

    return Meter(Cluster(context.connection), interval)


class Meter:
    """Measures a cluster. `interval` is the expected time between measurements, in seconds.

    Rates of groups are over the last GROUP_WINDOW_S seconds: consumers commit their offsets every
    few seconds, and the lag between two commits says nothing.
    """

    def __init__(self, cluster: Cluster, interval: float) -> None:
        self._cluster = cluster
        self._stale_s = _STALE * interval + 10
        self._samples: dict[bool, deque[Sample]] = {False: deque(), True: deque()}

    def close(self) -> None:
        """Close the connection."""
        self._cluster.close()

    def measure(self, view: str) -> Measurement:
        """Read the cluster and compare it with the last time. Raises ShellError if no broker
        answers."""
        from kafka_shell.admin.activity import rates
        from kafka_shell.admin.activity.sample import sample_groups, sample_topics

        of_groups = view == GROUPS
        after = sample_groups(self._cluster) if of_groups else sample_topics(self._cluster)
        after = _with_lost_brokers(after, self._samples[of_groups])
        before = self._before(self._samples[of_groups], after, GROUP_WINDOW_S if of_groups else 0)
        compare: Any = {
            TOPICS: rates.topic_rates, GROUPS: rates.group_rates, BROKERS: rates.broker_rates,
        }[view]  # fmt: skip
        seconds = 0.0 if before is None else after.at - before.at
        return Measurement(view, seconds, tuple(compare(before, after)), after.failures)

    def _before(self, kept: deque[Sample], after: Sample, window: float) -> Sample | None:
        """The sample to compare with: the oldest one within the window, else the last one. Keeps
        what the next measurements need."""
        if kept and after.at - kept[-1].at > self._stale_s:
            kept.clear()
        while len(kept) > 1 and after.at - kept[0].at > window:
            kept.popleft()
        before = kept[0] if kept else None
        if not window or not kept or after.at - kept[-1].at >= _APART_S:
            kept.append(after)
        return before


def _with_lost_brokers(sample: Sample, earlier: Sequence[Sample]) -> Sample:
    """The sample, with the brokers of the last one: the metadata contains a broker that has left
    the cluster only if it has replicas."""
    known = earlier[-1].brokers if earlier else {}
    lost = {id: each for id, each in known.items() if id not in sample.brokers}
    if not lost:
        return sample
    gone = {
        id: replace(each, up=False, leaders=0, replicas=0, in_sync=0, size=None)
        for id, each in lost.items()
    }
    return replace(sample, brokers=dict(sorted({**sample.brokers, **gone}.items())))
