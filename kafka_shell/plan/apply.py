"""Apply a plan without output or questions, for programs and for demo data."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

from kafka_shell.errors import ShellError, UnexpectedEnd
from kafka_shell.plan.model import Change, Outcomes, Plan, Report, Step
from kafka_shell.plan.results import Results, as_failure

SENDING = Lock()
"""Held while steps are sent. A long change may send more steps in another thread: a throttle that
one plan sets must not be removed by the other before the reassignment that needs it has started."""


def apply(plan: Plan, cluster: Any, report: Report | None = None) -> Results[Change, Change]:
    """Send all steps in order, wait for the end of a long change, and return the outcomes.

    Raises ShellError if the first request fails as a whole. If a later one does, each change of its
    step has that failure, and later steps are not sent. Raises UnexpectedEnd, when the last steps
    are sent, if the long change ended otherwise.
    """
    results: Outcomes = Results()
    for step in plan.steps:
        if plan.chained and not results.ok:
            return results
        try:
            sent = step.send(cluster, validate_only=False)
        except ShellError as error:
            if step is plan.steps[0]:
                raise
            return Results.merge([results, _failed(step, error)])
        results = Results.merge([results, sent])
    try:
        if plan.waited is not None:
            plan.waited(cluster, report or (lambda task, done, total: None))
    except UnexpectedEnd:
        list(_afterwards(plan, cluster))
        raise
    return Results.merge([results, *_afterwards(plan, cluster)])


def _afterwards(plan: Plan, cluster: Any) -> Iterator[Outcomes]:
    """Send the last steps independently: what one fails to remove, another still removes."""
    for step in plan.afterwards if plan.waits else ():
        try:
            yield step.send(cluster, validate_only=False)
        except ShellError as error:
            yield _failed(step, error)


def _failed(step: Step, error: ShellError) -> Outcomes:
    return Results({}, dict.fromkeys(step.changes, as_failure(error)))
