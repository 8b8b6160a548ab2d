"""A change is a value: what would change, how to send it, what to look at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct, field

from kafka_shell.resource import Resource as Resource
from kafka_shell.structs import replace

from .results import Results

Value = str | int | float | bool | None
Report = Callable[[str, int, int | None], None]  # task, how much is done, of how much (or None)


class Effect(Enum):
    """What a command or plan does to a cluster. DESTROY always asks."""

    READ = "read"
    CHANGE = "change"
    DESTROY = "destroy"


class Change(Struct, frozen=True):
    """One field of one resource, before and after at this very level; None is absent.

    `effective` is what held before where `before` is absent (a default), and `source` says whose.
    Values are raw (as the wire has them), never a secret. `note` is for people. `lost` says what
    taking it back does not bring back: the records that a lower retention deletes.
    """

    resource: Resource
    verb: str  # create, alter, delete
    field: str = ""
    before: Value = None
    after: Value = None
    note: str = ""
    reversible: bool = True
    effective: Value = None
    source: str = ""
    lost: str = ""


Outcomes = Results[Change, Change]  # what became of each change


class Step(Protocol):
    """The changes of one request. Frozen, and built from models."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What sending this step changes, in order."""

    @property
    def validates(self) -> bool:
        """Whether the API has a validate-only mode."""

    def again(self, cluster: Any) -> Step:
        """The same step with `before` as it is now. Raises ShellError if it no longer applies."""

    def send(self, cluster: Any, *, validate_only: bool) -> Outcomes:
        """Send it, and return the outcome of each change."""


class Plan(Struct, frozen=True):
    """Everything one command would do. Only `carry_out` (or `apply`) does it.

    `touches`: the parts of the view to refresh ("topics", "configs" ...).
    `fresh` reads what to show when it is done. `refused` are things that failed while planning;
    `unchanged` were asked for and are so already: they are told, and not sent.
    `confirm` asks although nothing is destroyed. In a `chained` plan a step is sent only when all
    before it are done.
    `follow(cluster, report)` watches a long change to its end, and `afterwards` are steps that are
    sent then: not where it was interrupted, as what they lift is still needed. A plan that does not
    wait is followed by the prompt, in the background; elsewhere by nobody. `look` is the line that
    tells how such a change stands, or picks it up. `figures` are nouns that are shown with the
    changes: what the plan comes to.
    """

    effect: Effect
    steps: tuple[Step, ...]
    confirm: bool = False
    chained: bool = False
    follow: Callable[[Any, Report], Any] | None = None
    waits: bool = True
    afterwards: tuple[Step, ...] = ()
    look: str = ""
    touches: frozenset[str] = frozenset()
    fresh: Callable[[Any], Any] | None = None
    warnings: tuple[str, ...] = ()
    refused: Results[Resource, Any] = field(default_factory=Results)
    unchanged: tuple[Change, ...] = ()
    figures: tuple[Any, ...] = ()

    @property
    def waited(self) -> Callable[[Any, Report], Any] | None:
        """What the command itself follows to its end."""
        return self.follow if self.waits else None

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of all steps, in the order they are sent."""
        return tuple(change for step in self.steps for change in step.changes)

    def without_refused(self, name: str) -> Plan:
        """The same plan, not minding what was refused by this error name."""
        kept = {
            resource: why for resource, why in self.refused.failures.items() if why.name != name
        }
        return replace(self, refused=Results({}, kept))


def merge_plans(plans: Sequence[Plan]) -> Plan:
    """One plan that sends all steps, in order, and reports what any of them refused."""
    if len(plans) == 1:
        return plans[0]
    rank = [Effect.READ, Effect.CHANGE, Effect.DESTROY]
    fresh = [plan.fresh for plan in plans if plan.fresh is not None]
    follow = [plan.follow for plan in plans if plan.follow is not None]

    def follow_all(cluster: Any, report: Report) -> None:
        for each in follow:  # what comes afterwards is for when all of them have ended
            each(cluster, report)

    return Plan(
        effect=max((plan.effect for plan in plans), key=rank.index),
        steps=tuple(step for plan in plans for step in plan.steps),
        confirm=any(plan.confirm for plan in plans),
        chained=any(plan.chained for plan in plans),
        follow=follow_all if follow else None,
        waits=all(plan.waits for plan in plans),
        afterwards=tuple(step for plan in plans for step in plan.afterwards),
        look=next((plan.look for plan in reversed(plans) if plan.look), ""),
        touches=frozenset().union(*(plan.touches for plan in plans)),
        fresh=fresh[-1] if fresh else None,
        warnings=tuple(warning for plan in plans for warning in plan.warnings),
        refused=Results.merge(plan.refused for plan in plans),
        unchanged=tuple(change for plan in plans for change in plan.unchanged),
        figures=tuple(figure for plan in plans for figure in plan.figures),
    )


class Secret:
    """A password or token: it masks its repr, its str and refuses to be pickled or written."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself: call it where it goes on the wire, or is shown once."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> Any:
        raise TypeError("a Secret is not written")
