"""Shared by the steps of all families: their base class, and failures from rows of a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, StepInterrupted, Value
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import same_value
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import REQUEST_TIMED_OUT, RESOURCE_NOT_FOUND
from kafka_shell.wire.failures import failure

T = TypeVar("T")
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

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that the step makes."""
        raise NotImplementedError

    def shown(self, cluster: Cluster) -> Set[Change]:
        """The changes of fields whose new value is read again. A field that is set to the value
        that it had, such as a password, shows nothing."""
        now = {(each.resource, each.field): each.before for each in self.reread(cluster).changes}
        return {
            change
            for change in self.changes
            if change.field
            and (change.resource, change.field) in now
            and change.before != change.after
            and same_value(change.field, now[change.resource, change.field], change.after)
        }


Field = tuple[Resource, str]  # a resource, and the name of one of its fields


class FieldsStep(Struct, BaseStep, Generic[T], frozen=True):
    """Fields of resources that one request sets or deletes: one for each item. `now` are the values
    that they have, without those that are not set.

    A family of APIs says what an item changes (`change`), how the values are read (`read`), and how
    the request is sent (`send_request`).
    """

    items: tuple[T, ...]
    now: Mapping[Field, Value]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(map(self.change, self.items))

    def change(self, item: T) -> Change:
        """The change of one field."""
        raise NotImplementedError

    def altered(self, resource: Resource, key: str, after: Value) -> Change:
        """The change of a field from its current value."""
        return Change(resource, "alter", key, self.now.get((resource, key)), after)

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        """The current values of the fields. Raises ShellError if they cannot be read."""
        raise NotImplementedError

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        """Send the request. Returns why each change failed, in their order."""
        raise NotImplementedError

    def reread(self, cluster: Cluster) -> Self:
        """Return the same step with the current values."""
        return replace(self, now=self.read(cluster))

    def shown(self, cluster: Cluster) -> Set[Change]:
        """The changes that the current values show."""
        now = self.read(cluster)
        return {
            each
            for each in self.changes
            if (each.verb != "alter" or each.before != each.after) and self.is_visible(each, now)
        }

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Send the request, and wait until a broker shows the changes.

        If a broker waits long for the controller, it sends the request again. So what is not found
        counts as deleted, unless brokers still list it.
        """
        changes = self.changes
        results = Results.of(changes, self.send_request(cluster, validate_only))
        if validate_only:
            return results
        gone = {
            change
            for change, why in results.failures.items()
            if why.code == RESOURCE_NOT_FOUND and change.after is None and change.verb != "create"
        }
        with keeping_results(results):
            gone -= self.unseen(cluster, {*results.values, *gone})
        failures = {c: why for c, why in results.failures.items() if c not in gone}
        return Results.of(changes, map(failures.get, changes))

    def unseen(self, cluster: Cluster, done: Set[Change]) -> Set[Change]:
        """Wait until a broker shows these changes. Returns those that it does not show."""
        left = done

        def visible() -> bool:
            nonlocal left
            now = self.read(cluster)
            left = {change for change in left if not self.is_visible(change, now)}
            return not left

        if done:
            wait_until_visible(visible)
        return left

    def is_visible(self, change: Change, now: Mapping[Field, Value]) -> bool:
        """Whether the values show the change."""
        key = change.resource, change.field
        if change.verb == "alter":
            return now.get(key) == change.after
        return (key in now) == (change.verb == "create")


@contextmanager
def keeping_results(results: Outcomes) -> Iterator[None]:
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


def read_again(results: Results[K, V], what: str = "") -> dict[K, V]:
    """What was read again before the change. Raises ShellError if something (`what`: `the quotas
    of`) could not be read."""
    for about, why in results.failures.items():
        raise ShellError(
            f"cannot re-read {f'{what} {about}'.strip()} before applying the change: {why}",
            code=why.name,
        )
    return results.values


def changed(what: str, see: Resource | None = None) -> ShellError:
    """The error for something that changed between the question and its answer."""
    return ShellError(
        f"{what} while waiting for confirmation",
        hint="Run the command again to see the new plan.", code="changed-meanwhile", see=see,
    )  # fmt: skip


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
        hint = "Check whether it was applied before you retry."
        return failure(code, message, about=str(about), hint=hint, see=see)
    return failure(code, message, about=str(about), requires=requires)
