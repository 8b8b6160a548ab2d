"""How requests that change topics are sent, and how long to wait for their effect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from kafka_shell.admin.steps import row_failure
from kafka_shell.admin.topics.defaults import DEFAULT_TIMEOUT_MS
from kafka_shell.admin.wire.chunks import RestInterrupted, Rows, send_within_quota
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import REQUEST_TIMED_OUT, THROTTLING_QUOTA_EXCEEDED
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.admin.wire.requests import response_timeout
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Outcomes, StepInterrupted
from kafka_shell.plan.results import Failure, Results

_POLL_S = 0.05


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Item = TypeVar("_Item", bound=_Named)


def send_items(
    cluster: Cluster,
    items: Sequence[_Item],
    ask: Callable[[Sequence[_Item]], tuple[int, Rows]],
    outcomes_of: Callable[[Mapping[str, Any]], Outcomes],
) -> Outcomes:
    """The outcomes of the items, by the rows of their topics. Ctrl-C raises StepInterrupted with
    those that were received."""
    try:
        rows = send_within_quota(cluster, items, lambda item: item.name, ask)
    except RestInterrupted as interrupted:
        raise StepInterrupted(outcomes_of(interrupted.rows)) from None
    return outcomes_of(rows)


class Timeout:
    """The timeout of a request at the broker, and of the wait for its effect."""

    def __init__(self, cluster: Cluster, timeout_ms: int) -> None:
        self._cluster = cluster
        self._waits = timeout_ms > 0
        self.broker_ms = timeout_ms if self._waits else DEFAULT_TIMEOUT_MS
        self._until = 0.0

    def begin(self) -> float:
        """Start the timeout, and return how long the response may take (seconds)."""
        self._until = time.monotonic() + self.broker_ms / 1000
        return response_timeout(self.broker_ms)

    def wait(
        self, results: Outcomes, visible: Callable[[MetadataScan, str], bool], otherwise: str
    ) -> Outcomes:
        """Wait until brokers show the changes. A change not visible in time is a
        REQUEST_TIMED_OUT. Ctrl-C does not change the outcomes."""
        try:
            return self._wait(results, visible, otherwise)
        except KeyboardInterrupt:
            raise StepInterrupted(results) from None

    def _wait(
        self, results: Outcomes, visible: Callable[[MetadataScan, str], bool], otherwise: str
    ) -> Outcomes:
        waiting = {change.resource.name: change for change in results.values}
        while self._waits and waiting:
            try:
                seen = scan(self._cluster, list(waiting))
            except ShellError as error:  # the change is made: only reading it back failed
                return _late(
                    results,
                    waiting.values(),
                    f"was changed, but could not be read back: {error.message}",
                )
            for name in [name for name in waiting if visible(seen, name)]:
                del waiting[name]
            if waiting and time.monotonic() > self._until:
                return _late(results, waiting.values(), otherwise)
            if waiting:
                time.sleep(_POLL_S)
        return results


def validated(results: Outcomes) -> Outcomes:
    """The outcomes of a validation, without those that failed for an exhausted quota only."""
    return Results(
        results.values,
        {
            c: failure
            for c, failure in results.failures.items()
            if failure.code != THROTTLING_QUOTA_EXCEEDED
        },
    )


def _late(results: Outcomes, changes: Iterable[Change], what: str) -> Outcomes:
    for change in changes:
        name = change.resource.name
        del results.values[change]
        results.failures[change] = Failure(
            "REQUEST_TIMED_OUT",
            f"topic {name} {what}",
            REQUEST_TIMED_OUT,
            see=change.resource,
        )
    return results


def by_name(answer: tuple[int, Rows]) -> dict[str, Any]:
    """The rows of a response, given with its throttle time, by topic."""
    _, rows = answer
    return {row.name: row for row in rows}


def by_topic(changes: Iterable[Change], rows: Mapping[str, Any], operation: str) -> Outcomes:
    """The outcome of each change by the row or Failure of its topic. `operation` is required on
    the topic."""
    topics = [change.resource for change in changes]
    return Results.of(
        changes,
        (row_failure(rows.get(t.name), t, requires=f"{operation} on {t}", see=t) for t in topics),
    )
