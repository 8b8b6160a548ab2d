"""`top`: a live view of topics, groups or brokers, or one measurement of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kafka_shell.commands.activity.meter import BROKERS, TOPICS, VIEWS, Meter
from kafka_shell.common.command_results import NoRows
from kafka_shell.common.resource import Resource
from kafka_shell.common.units import format_duration
from kafka_shell.errors import Status, UsageError
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option
from kafka_shell.output.terminal import is_dumb
from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.activity.model import TopicActivity
    from kafka_shell.context import Context

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
    """One measurement over the interval, most active first."""
    meter, began = Meter(context.cluster, interval), time.monotonic()
    first = meter.measure(view)
    time.sleep(max(0.0, interval - (time.monotonic() - began)))
    found = meter.measure(view)
    missing = {**first.failures, **found.failures}  # rates need both
    if not found.rows and not missing:
        return NoRows(f"no {view} (only {view} you may DESCRIBE are visible)")
    rows = sorted(found.rows, key=_least_active, reverse=True) if view == TOPICS else found.rows
    kind, key = view.removesuffix("s"), "id" if view == BROKERS else "name"
    keyed: dict[Resource, object] = {Resource(kind, str(getattr(row, key))): row for row in rows}
    # What is known in part has a row, and a failure that says why it is not complete.
    failures = {
        Resource("", str(about)) if about in keyed else about: why for about, why in missing.items()
    }
    return Results(keyed, failures)


def _least_active(row: TopicActivity) -> float:
    return -1.0 if row.records_per_s is None else row.records_per_s


COMMANDS: tuple[Command, ...] = (
    Command(
        name="top",
        summary="Show the current rates of topics, groups or brokers on the full screen.",
        family="cluster",
        run=top,
        arguments=(
            Argument("view", kinds.CHOICE, "topics (default), groups or brokers.", required=False,
                     choices=VIEWS),
        ),
        options=(
            Option("--interval", kinds.DURATION, "Time between two measurements (default: 2s).",
                   least=200, most=3_600_000),
            Option("--once", kinds.FLAG, "Measure once over the interval, and print the result."),
            Option("--idle", kinds.DURATION,
                   "Pause after this time without a key press (default: 10m).", least=1000,
                   excludes=("--once",)),
        ),
        search=("live", "rate", "throughput", "traffic", "monitor", "lag", "busy", "activity"),
        apis=(2, 9, 15, 16, 35, 69, 77, 89, 90),
        description=(
            "topics: records and bytes per second, from end offsets and from the size of the"
            " leaders' logs (as stored, compressed; replicas are not counted). groups: lag, its"
            " change per second, and the time to catch up at that rate, over the last 15 s because"
            " consumers commit every few seconds (--once: over its interval). brokers:"
            " partitions led, replicas in sync, and the rates of the partitions they lead.\n"
            "- means unknown: the topic is new, was re-created or truncated, a broker did not"
            " respond, or a permission is missing (see NOTE). + marks a sum that lacks such"
            " partitions. Bytes per second are unknown when a log shrinks or its leader moves, and"
            " too low if old segments are deleted while it grows. Transaction markers count as"
            " records.\n"
            "Keys: Tab switches between the views, s sorts by the next column, r reverses, /"
            " filters, Enter describes the selected row, Space pauses, ? lists all keys, q quits.\n"
            "Measuring stops while the program is suspended (Ctrl-Z), and after 10 minutes without"
            " a key press; the next key resumes it."
        ),
        examples=(
            Example("top --once --interval 500ms", "measure the rates of all topics"),
            Example("top groups --once --interval 500ms --output json",
                    "print the lag of all groups and its change for a program"),
            Example("top brokers --once --interval 500ms", "measure the load of the brokers"),
        ),
    ),
)  # fmt: skip
