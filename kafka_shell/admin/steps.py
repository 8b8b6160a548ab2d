"""Shared by the steps of all families: their base class, and failures from rows of a response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Outcomes, StepInterrupted
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import REQUEST_TIMED_OUT
from kafka_shell.wire.failures import failure

K = TypeVar("K")
V = TypeVar("V")


class BaseStep:
    """A step whose API has no validate-only mode, and that does not depend on the cluster's state.

    A step that does depend on it overrides `reread`.
    """

    validates = False

    def resolved(self, cluster: Cluster) -> Self:
        """Return the step itself: the cluster decides on no part of it."""
        return self

    def reread(self, cluster: Cluster) -> Self:
        """Return the step itself."""
        return self


@contextmanager
def confirmed(results: Outcomes) -> Iterator[None]:
    """While waiting until brokers show these outcomes: Ctrl-C does not change them."""
    try:
        yield
    except KeyboardInterrupt:
        raise StepInterrupted(results) from None


def not_mentioned(about: object, see: Resource | None = None) -> Failure:
    """The failure of a resource that is missing from the broker's response."""
    return Failure("UNKNOWN", f"the broker's response does not contain {about}", see=see)


def refused_of(kind: str, failures: Mapping[Any, Failure | None]) -> Results[Resource, Any]:
    """The refused resources of a plan: those of this kind with a failure."""
    return Results(
        {}, {Resource(kind, str(name)): why for name, why in failures.items() if why is not None}
    )


def read_again(found: Results[K, V], what: str = "") -> dict[K, V]:
    """What was read again before the change. Raises ShellError if something (`what`: `the quotas
    of`) could not be read."""
    for about, why in found.failures.items():
        raise ShellError(
            f"cannot re-read {f'{what} {about}'.strip()} before applying the change: {why}",
            code=why.name,
        )
    return found.values


def row_failure(
    row: Any, about: object, *, requires: str = "", see: Resource | None = None
) -> Failure | None:
    """Why a request failed for one resource, by its row of the response; None if it did not.

    `row` is an object with `error_code` and perhaps `error_message`, a bare error code, a Failure,
    or None if there is no such row. `requires` is the operation that an ACL must allow. `see` is
    the resource that shows the outcome of a change that timed out.
    """
    if row is None:
        return not_mentioned(about, see)
    if isinstance(row, Failure):
        return row
    code = row if isinstance(row, int) else row.error_code
    if not code:
        return None
    message = getattr(row, "error_message", None)
    if code == REQUEST_TIMED_OUT:
        hint = "The change may still be applied."
        return failure(code, message, about=str(about), hint=hint, see=see)
    return failure(code, message, about=str(about), requires=requires)
