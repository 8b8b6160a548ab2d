"""How the admin client calls the core: one connection, one lock, one timeout; and its plans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Effect, NotChecked, Plan, Report, Resource, apply
from kafka_shell.base.results import Results
from kafka_shell.wire.client_properties import Property, to_connection
from kafka_shell.wire.cluster import Cluster

P = ParamSpec("P")
T = TypeVar("T")


class Calls:
    """Calls to one cluster from any thread, sent one after another."""

    def __init__(self, properties: Mapping[str, str], timeout: float | None) -> None:
        self._properties = dict(properties)
        self._timeout = timeout
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close every connection. A later call opens new ones."""
        with self._lock:
            if "_cluster" in self.__dict__:
                self._cluster.close()

    def call(
        self, function: Callable[Concatenate[Cluster, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call the function with the cluster, within the timeout, and return its result."""
        with self._lock, self._cluster.within(self._timeout, given=True):
            return function(self._cluster, *args, **kwargs)

    def plan(
        self, function: Callable[Concatenate[Cluster, P], Plan], *args: P.args, **kwargs: P.kwargs
    ) -> ClusterPlan:
        """Call the function with the cluster and return its plan, bound to this cluster."""
        return ClusterPlan(self, self.call(function, *args, **kwargs))

    @cached_property
    def _cluster(self) -> Cluster:
        return self.connect()

    def connect(self) -> Cluster:
        """A connection apart from that of the calls."""
        return Cluster(
            to_connection(
                {name: Property(str(value), name) for name, value in self._properties.items()}
            )
        )


class ClusterPlan:
    """Planned changes that have not been sent: inspect, validate and apply them."""

    def __init__(self, calls: Calls, plan: Plan) -> None:
        self._calls = calls
        self.plan = plan

    def __repr__(self) -> str:
        return f"ClusterPlan({len(self.changes)} changes, {len(self.refused.failures)} rejected)"

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes with their values before and after, in the order they are sent."""
        return self.plan.changes

    @property
    def unchanged(self) -> tuple[Change, ...]:
        """Requested changes that are already in effect. They are not sent."""
        return self.plan.unchanged

    @property
    def refused(self) -> Results[Resource, Any]:
        """The failures of invalid items, by resource. They are not sent."""
        return self.plan.refused

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to show before the changes are applied."""
        return self.plan.advice.warnings

    @property
    def figures(self) -> tuple[Any, ...]:
        """Models that describe the plan, such as the load of brokers before and after it."""
        return self.plan.advice.figures

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """What could not be read for the warnings, and why."""
        return self.plan.advice.not_checked

    @property
    def effect(self) -> Effect:
        """The effect of the plan. Effect.DESTROY means that data or access is lost."""
        return self.plan.effect

    def advised(self, advise: Callable[[Plan, Cluster], Plan]) -> ClusterPlan:
        """Return the plan with warnings and figures: `plan.advised(kafka_shell.advice.advise)`
        reads which records are deleted, who uses a topic, who loses access ..."""
        return ClusterPlan(self._calls, self._calls.call(lambda c: advise(self.plan, c)))

    def validate(self) -> Results[Change, Change]:
        """Validate the changes on the brokers without applying them. Changes whose API has no
        validate-only mode are omitted."""
        return self._calls.call(_validated, self.plan)

    def apply(self, report: Report | None = None) -> Results[Change, Change]:
        """Apply the changes and return the outcome of each.

        `report(task, done, total)` is called with the progress of a long change. Raises ShellError
        and sends nothing if the effect is Effect.DESTROY and an item is invalid.
        """
        return self._calls.call(_applied, self.plan, report)

    def fresh(self) -> Any:
        """Return what the plan has made, else read the state of the changed resources, after
        `apply`; None if the plan does not define it."""
        if (made := self.plan.bookkeeping.shown) is not None:
            return made
        return None if self.plan.fresh is None else self._calls.call(self.plan.fresh)


class Client:
    """The admin client, or its operations on one family of resources."""

    _calls: Calls


class Family(Client):
    """The operations on one family of resources."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls


class Reads(Generic[P, T]):
    """A method of a family: this function, called with the cluster of the client."""

    def __init__(self, function: Callable[Concatenate[Cluster, P], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, family: Family, owner: object) -> Callable[P, T]:
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            return family._calls.call(self.function, *args, **kwargs)

        method.__doc__ = self.__doc__
        return method


class Plans(Generic[P]):
    """The same for a function that returns a plan."""

    def __init__(self, function: Callable[Concatenate[Cluster, P], Plan]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, family: Family, owner: object) -> Callable[P, ClusterPlan]:
        def method(*args: P.args, **kwargs: P.kwargs) -> ClusterPlan:
            return family._calls.plan(self.function, *args, **kwargs)

        method.__doc__ = self.__doc__
        return method


def _validated(cluster: Cluster, plan: Plan) -> Results[Change, Change]:
    return Results.merge(
        step.send(cluster, validate_only=True) for step in plan.steps if step.validates
    )


def _applied(cluster: Cluster, plan: Plan, report: Report | None) -> Results[Change, Change]:
    if plan.whole and not plan.refused.ok:
        refused = len(plan.refused.failures)
        are = "is" if refused == 1 else "are"
        raise ShellError(
            f"nothing was sent: {refused} of {refused + len(plan.changes)} items {are} invalid",
            code="refused",
        )
    return apply(plan, cluster, report)
