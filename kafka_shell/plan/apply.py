"""Apply a plan without output or questions, for programs and for demo data."""

from __future__ import annotations

from threading import Lock
from typing import Any

from .model import Change, Plan, Report
from .results import Results

SENDING = Lock()
"""Held while steps are sent. A long change may send more steps in another thread: a throttle that
one plan sets must not be removed by the other before the reassignment that needs it has started."""


def apply(plan: Plan, cluster: Any, report: Report | None = None) -> Results[Change, Change]:
    """Send all steps in order, wait for the end of a long change, and return the outcomes."""
    results: Results[Change, Change] = Results()
    for step in plan.steps:
        if plan.chained and not results.ok:
            return results
        results = Results.merge([results, step.send(cluster, validate_only=False)])
    if plan.waited is not None:
        plan.waited(cluster, report or (lambda task, done, total: None))
    after = plan.afterwards if plan.waits else ()
    return Results.merge([results, *(step.send(cluster, validate_only=False) for step in after)])
