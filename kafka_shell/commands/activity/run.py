"""`top`: a live view of topics, groups or brokers, or one measurement of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.activity import sample as rates
from kafka_shell.admin.activity.model import Sample, TopicActivity
from kafka_shell.admin.activity.sample import sample_groups, sample_topics
from kafka_shell.admin.groups.time_lag import Place
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import Status, UsageError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import format_duration
from kafka_shell.commands.activity.spec import BROKERS, GROUPS, TOPICS
from kafka_shell.commands.groups.describe import without_hidden_times
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.output.terminal import is_dumb
from kafka_shell.wire.cluster import Cluster

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
    return Meter(Cluster(context.connection), interval)


class Meter:
    """Measures a cluster. `interval` is the expected time between measurements, in seconds.

    Rates of groups are over the last GROUP_WINDOW_S seconds.
    """

    def __init__(self, cluster: Cluster, interval: float) -> None:
        self._cluster = cluster
        self._stale_s = _STALE * interval + 10
        self._times: dict[Place, int] = {}
        self._samples: dict[bool, deque[Sample]] = {False: deque(), True: deque()}

    def close(self) -> None:
        """Close the connection."""
        self._cluster.close()

    def measure(self, view: str) -> Measurement:
        """Read the cluster and compare it with the last time. Raises ShellError if no broker
        answers."""
        of_groups = view == GROUPS
        if of_groups:
            after = sample_groups(self._cluster, times=self._times)
        else:
            after = sample_topics(self._cluster)
        after = _with_lost_brokers(after, self._samples[of_groups])
        kept = self._samples[of_groups]
        if kept and after.at - kept[-1].at > self._stale_s:
            kept.clear()
        before = rates.sample_before(kept, after, rates.GROUP_WINDOW_S if of_groups else 0)
        compare: Any = {
            TOPICS: rates.topic_rates, GROUPS: rates.group_rates, BROKERS: rates.broker_rates,
        }[view]  # fmt: skip
        seconds = 0.0 if before is None else after.at - before.at
        return Measurement(view, seconds, tuple(compare(before, after)), after.failures)


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


_INTERVAL_MS, _IDLE_MS = 2_000, 600_000


def top(invocation: Invocation, context: Context) -> Results[Resource, object] | NoRows | Status:
    """Show the current rates of topics, groups or brokers."""
    view = invocation["view"] or TOPICS
    milliseconds: int = invocation["interval"] or _INTERVAL_MS
    interval = milliseconds / 1000
    if invocation["once"]:
        if invocation["deadline"] and invocation["deadline"] <= milliseconds:
            raise UsageError(
                f"--deadline must be longer than the interval of {format_duration(milliseconds)}",
                hint="Use a longer --deadline or a shorter --interval.",
                span=invocation.span("deadline"),
            )
        return _once(view, context, interval)
    for option in ("output", "deadline"):
        if invocation[option]:
            raise UsageError(
                f"--{option} requires --once",
                hint=f"Example: top {view} --once --output json",
                span=invocation.span(option),
            )
    visible = context.out.isatty() and not is_dumb(context.environ)
    if context.full_screen is None or not visible:
        raise UsageError(
            "top requires a terminal",
            hint=f"Use --once to measure once, for example: top {view} --once --output json",
            code="no-terminal",
        )
    context.cluster.check_identity()  # fails here and not on the screen
    return context.full_screen(
        view,
        context,
        interval=interval,
        idle=(invocation["idle"] or _IDLE_MS) / 1000,
        plain=bool(invocation["no-color"]),
    )


def _once(view: str, context: Context, interval: float) -> Results[Resource, object] | NoRows:
    """One second over the interval, most active first."""
    meter, began = Meter(context.cluster, interval), time.monotonic()
    first = meter.measure(view)
    time.sleep(max(0.0, interval - (time.monotonic() - began)))
    second = meter.measure(view)
    missing = {**first.failures, **second.failures}  # rates need both
    if view == GROUPS:
        missing = without_hidden_times(missing, context)
    if not second.rows and not missing:
        return NoRows(f"no {view} ({view} without DESCRIBE permission are hidden)")
    rows = sorted(second.rows, key=_least_active, reverse=True) if view == TOPICS else second.rows
    kind, key = view.removesuffix("s"), "id" if view == BROKERS else "name"
    keyed: dict[Resource, object] = {Resource(kind, str(getattr(row, key))): row for row in rows}
    # What is known in part has a row, and a failure that says why it is not complete.
    failures = {
        Resource("", str(about)) if about in keyed else about: why for about, why in missing.items()
    }
    return Results(keyed, failures)


def _least_active(row: TopicActivity) -> float:
    return -1.0 if row.records_per_s is None else row.records_per_s
