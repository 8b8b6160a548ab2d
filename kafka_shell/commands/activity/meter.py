"""Measurements of one cluster, each since the one before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from kafka_shell.plan.results import Failure
from kafka_shell.resource import Resource

if TYPE_CHECKING:
    from kafka_shell.admin.activity.model import Sample
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

TOPICS, GROUPS, BROKERS = VIEWS = ("topics", "groups", "brokers")
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
    """Measures a cluster. `interval` is the expected time between measurements, in seconds."""

    def __init__(self, cluster: Cluster, interval: float) -> None:
        self._cluster = cluster
        self._interval = interval
        self._samples: dict[bool, Sample] = {}

    def close(self) -> None:
        """Close the connection."""
        self._cluster.close()

    def measure(self, view: str) -> Measurement:
        """Read the cluster and compare it with the last time. Raises ShellError if no broker
        answers."""
        from kafka_shell.admin.activity import rates
        from kafka_shell.admin.activity.sample import sample_groups, sample_topics

        of_groups = view == GROUPS
        before = self._samples.get(of_groups)
        if before is not None and time.monotonic() - before.at > _STALE * self._interval + 10:
            before = None
        after = sample_groups(self._cluster) if of_groups else sample_topics(self._cluster)
        self._samples[of_groups] = after
        compare: Any = {
            TOPICS: rates.topic_rates, GROUPS: rates.group_rates, BROKERS: rates.broker_rates,
        }[view]  # fmt: skip
        seconds = 0.0 if before is None else after.at - before.at
        return Measurement(view, seconds, tuple(compare(before, after)), after.failures)
