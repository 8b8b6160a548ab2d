"""Changes and their inverse, the steps that send them, and plans made of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from enum import Enum, Flag
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, Protocol

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, UnexpectedEnd
from kafka_shell.base.results import Results, as_failure
from kafka_shell.base.structs import Resource as Resource
from kafka_shell.base.structs import replace

Value = str | int | float | bool | None
Report = Callable[[str, int, int | None], None]  # task, amount done, total (None if unknown)


class Effect(Enum):
    """What a command or plan does to a cluster. DESTROY always requires confirmation."""

    READ = "read"
    CHANGE = "change"
    DESTROY = "destroy"


class Change(Struct, frozen=True):
    """One field of one resource before and after the change, both at the level that is altered.
    None means not set.

    If `before` is not set, `effective` is the value that applied (a default), and `source` says
    where it comes from. Values are raw, as in the protocol, and never a secret. `note` explains the
    change. `lost` says what undoing cannot restore, such as deleted records. `records` is how many
    records it writes, if it does.
    """

    resource: Resource
    # create, alter, delete, abort, fence, write or copy; in a remedy also replicate, move, balance,
    # elect or set-password, of which a plan makes other changes
    verb: str
    field: str = ""
    before: Value = None
    after: Value = None
    note: str = ""
    reversible: bool = True
    effective: Value = None
    source: str = ""
    lost: str = ""
    records: int = 0

    @property
    def of_records(self) -> bool:
        """Whether it writes records."""
        return self.verb in ("write", "copy")

    @property
    def replaced(self) -> Value:
        """The value that applies before the change, at whatever level it is set."""
        return self.effective if self.before is None else self.before


Outcomes = Results[Change, Change]  # what became of each change


class Monitor(Struct):
    """What a step that runs long reports to: its progress, and in `save` what a later command needs
    to continue it, which is written to the journal. `saved` is what it saved last."""

    report: Report = lambda task, done, total: None
    save: Callable[[dict[str, Any]], None] = lambda state: None
    saved: dict[str, Any] = field(default_factory=dict)


class StepInterrupted(KeyboardInterrupt):
    """Ctrl-C in a step that reports what it has done so far."""

    def __init__(self, outcomes: Outcomes) -> None:
        super().__init__()
        self.outcomes = outcomes


class Step(Protocol):
    """Changes that are sent in one request (or several of the same API). Frozen."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that this step makes."""

    @property
    def validates(self) -> bool:
        """Whether the API has a validate-only mode."""

    def resolved(self, cluster: Any) -> Step:
        """The same step with what the cluster decides, such as default numbers."""

    def reread(self, cluster: Any) -> Step:
        """The same step for the current state of the cluster (`before` may differ)."""

    def shown(self, cluster: Any) -> Set[Change]:
        """The changes that the cluster shows. Of others nothing is known: they may still happen."""

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        """Send the step, or only validate it. Each change has its own result. If the changes,
        such as offsets, are only known after sending, the results are of those changes instead."""


class NotChecked(Struct, frozen=True):
    """Something about a plan that could not be read (`producers`), and why, in one line."""

    what: str
    reason: str


class Advice(Struct, frozen=True):
    """What the user should know of a plan before it is applied. The sum of two has both."""

    about: tuple[str, ...] = ()  # what the plan is for
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what the plan does not do, and how sure the warnings are
    figures: tuple[Any, ...] = ()  # models that are shown with the changes
    stakes: str = ""  # what is lost, for the question: `1,200 records, 3 groups`
    not_checked: tuple[NotChecked, ...] = ()  # what could not be read for all this
    confirm: bool = False  # confirm it, although nothing is destroyed

    def __add__(self, other: Advice) -> Advice:
        return Advice(
            about=self.about + other.about,
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
            figures=self.figures + other.figures,
            stakes="; ".join(filter(None, (self.stakes, other.stakes))),
            not_checked=self.not_checked + other.not_checked,
            confirm=self.confirm or other.confirm,
        )


class Following(Struct, frozen=True):
    """How a change that takes long is followed to its end, and what is sent then. The sum of two
    follows one after the other."""

    # Waits until the change has ended. Without it nothing is followed.
    follow: Callable[[Any, Report], Any] | None = None
    # Whether the command itself waits. Else the prompt follows the change in the background, and
    # one-shot commands do not follow it.
    waits: bool = True
    # Sent at the end, but not after an interruption: what they remove is still needed.
    afterwards: tuple[Step, ...] = ()
    resume: str = ""  # the command that continues or follows the change

    @property
    def waited(self) -> Callable[[Any, Report], Any] | None:
        """`follow`, if the command itself waits."""
        return self.follow if self.waits else None

    def __add__(self, other: Following) -> Following:
        first, second = self.follow, other.follow

        def follow_both(cluster: Any, report: Report) -> None:
            for follow in filter(None, (first, second)):
                follow(cluster, report)  # `afterwards` is sent when both have ended

        return Following(
            follow=follow_both if first and second else first or second,
            waits=self.waits and other.waits,
            afterwards=self.afterwards + other.afterwards,
            resume=other.resume or self.resume,
        )


class Bookkeeping(Struct, frozen=True):
    """What the journal notes of a plan, and the secrets that are shown once. The sum of two has
    both."""

    undoes: tuple[str, ...] = ()  # IDs of the entries that are undone when all of it is applied
    continues: str = ""  # ID of the entry of an interrupted plan that this one continues
    repeatable: bool = False  # the same command continues when not everything was sent
    monitor: Monitor | None = None  # where a step that runs long reports to
    secrets: tuple[Any, ...] = ()  # models of generated passwords: shown if a part was sent
    # What only this plan can show, such as secrets that the cluster has made: shown instead of the
    # new state, whatever failed, also if the plan is interrupted.
    made: Callable[[], tuple[Any, ...]] = tuple

    @property
    def shown(self) -> Any:
        """What was made: one value or several; None for nothing."""
        made = self.made()
        return made[0] if len(made) == 1 else made or None

    def __add__(self, other: Bookkeeping) -> Bookkeeping:
        return Bookkeeping(
            undoes=self.undoes + other.undoes,
            continues=self.continues or other.continues,
            repeatable=self.repeatable and other.repeatable,
            monitor=self.monitor or other.monitor,
            secrets=self.secrets + other.secrets,
            made=lambda: self.made() + other.made(),
        )


class Order(Flag):
    """How the steps of a plan depend on one another. By default each is sent, whatever the others
    do."""

    SEPARATE = 0
    CHAINED = 1  # a step is sent only if all earlier ones succeeded
    WHOLE = 2  # nothing is sent if any item is refused, as of a plan that destroys


class Plan(Struct, frozen=True):
    """Everything one command would do. Only `execute` and `apply` send it."""

    effect: Effect
    steps: tuple[Step, ...]
    order: Order = Order.SEPARATE
    refused: Results[Resource, Any] = field(default_factory=Results)  # failed during planning
    unchanged: tuple[Change, ...] = ()  # have the requested value: reported but not sent
    following: Following = Following()
    advice: Advice = Advice()
    bookkeeping: Bookkeeping = Bookkeeping()
    fresh: Callable[[Any], Any] | None = None  # reads the new state to show afterwards

    @property
    def sends(self) -> bool:
        """Whether it changes anything: in its steps, or in those after the wait for a change that
        is in progress already."""
        following = self.following
        return bool(self.steps or (following.waited is not None and following.afterwards))

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of all steps, in the order they are sent."""
        return tuple(change for step in self.steps for change in step.changes)

    @property
    def whole(self) -> bool:
        """Whether nothing is sent if any item is refused."""
        return Order.WHOLE in self.order or self.effect is Effect.DESTROY

    def without_refused(self, name: str) -> Plan:
        """The same plan without the items that were refused with this error name."""
        kept = {
            resource: why for resource, why in self.refused.failures.items() if why.name != name
        }
        return replace(self, refused=Results({}, kept))

    def advised(self, advice: Advice) -> Plan:
        """The same plan with more advice, after its own."""
        return replace(self, advice=self.advice + advice)

    def followed(self, **fields: Any) -> Plan:
        """The same plan with other fields of `following`."""
        return replace(self, following=replace(self.following, **fields))

    def noted(self, **fields: Any) -> Plan:
        """The same plan with other fields of `bookkeeping`."""
        return replace(self, bookkeeping=replace(self.bookkeeping, **fields))

    def __add__(self, other: Plan) -> Plan:
        """One plan with the steps of both, in order, and everything that they refused."""
        rank = [Effect.READ, Effect.CHANGE, Effect.DESTROY]
        return Plan(
            effect=max(self.effect, other.effect, key=rank.index),
            steps=self.steps + other.steps,
            order=self.order | other.order,
            refused=Results.merge([self.refused, other.refused]),
            unchanged=self.unchanged + other.unchanged,
            following=self.following + other.following,
            advice=self.advice + other.advice,
            bookkeeping=self.bookkeeping + other.bookkeeping,
            fresh=other.fresh or self.fresh,
        )


def merge_plans(plans: Sequence[Plan]) -> Plan:
    """One plan with the steps of all plans, in order, and everything that they refused."""
    merged = list(plans)
    while len(merged) > 1:  # in pairs: a sum of all, one by one, would be quadratic
        merged = [reduce(add, merged[at : at + 2]) for at in range(0, len(merged), 2)]
    return merged[0] if merged else Plan(Effect.CHANGE, ())


class Secret:
    """A password or token. Its repr and str are masked, and it cannot be pickled."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, to send it or to show it once."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> Any:
        raise TypeError("a Secret cannot be pickled")


# Apply a plan without output or questions, for programs and for demo data.

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
        if Order.CHAINED in plan.order and not results.ok:
            return results
        try:
            sent = step.send(cluster, validate_only=False)
        except ShellError as error:
            if step is plan.steps[0]:
                raise
            return Results.merge([results, _failed(step, error)])
        results = Results.merge([results, sent])
    try:
        if plan.following.waited is not None:
            plan.following.waited(cluster, report or (lambda task, done, total: None))
    except UnexpectedEnd:
        list(_afterwards(plan, cluster))
        raise
    return Results.merge([results, *_afterwards(plan, cluster)])


def _afterwards(plan: Plan, cluster: Any) -> Iterator[Outcomes]:
    """Send the last steps independently: what one fails to remove, another still removes."""
    for step in plan.following.afterwards if plan.following.waits else ():
        try:
            yield step.send(cluster, validate_only=False)
        except ShellError as error:
            yield _failed(step, error)


def _failed(step: Step, error: ShellError) -> Outcomes:
    return Results({}, dict.fromkeys(step.changes, as_failure(error)))


# -- A runbook: plans that are made and applied one after the other, in one command ----------------


class Stage(Struct, frozen=True):
    """What is done next: a message is shown, the plan is applied, then it is waited."""

    name: str
    plan: Plan | None = None
    wait: Callable[[Report], None] | None = None
    message: str = ""


class Runbook(Struct, frozen=True):
    """Several plans of which a later one depends on what the earlier ones did. The user confirms
    the question once, and then all plans are applied as with --yes."""

    about: Any  # a model of what is to be done; `ok` if that is nothing
    refused: str  # why nothing is done, or empty
    question: str  # without the cluster
    next: Callable[[], Stage | None]  # worked out from the cluster each time
    done: Callable[[str], None]  # the stage of this name was applied
    previews: Callable[[], tuple[Plan, ...]]  # the plans that can be made now, for a dry run
    result: Callable[[], Any]  # a model of what is left, `ok` if that is nothing
    resume: str  # the command that continues
    undo: Callable[[], str]  # the command that undoes what would be left behind now, or empty


_OPPOSITE = {"create": "delete", "delete": "create"}


def reverse(change: Change) -> Change:
    """The change from the state after this one to the state before it."""
    verb = _OPPOSITE.get(change.verb, change.verb)
    return Change(change.resource, verb, change.field, change.after, change.before)


def net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, oldest first, as one: each field from its first value to its last one, in the
    order of the last changes. A field or resource that is as it was before is left out."""
    fields: dict[tuple[Resource, str], list[Change]] = {}
    for change in changes:
        key = change.resource, change.field
        fields[key] = [*fields.pop(key, ())[:1], change]
    every = ((some[0], some[-1]) for some in fields.values())
    return tuple(
        replace(last, before=first.before, reversible=first.reversible)
        for first, last in every
        if (first.before != last.after if first.field else first.verb == last.verb)
    )


def inverse(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that undo these, without what is irreversible: the resource that was changed last
    comes first. Of a new resource nothing but its creation is undone."""
    by_resource: dict[Resource, list[Change]] = {}
    for change in net(changes):
        if change.reversible:
            by_resource.setdefault(change.resource, []).append(change)
    return tuple(
        reverse(change)
        for some in reversed(by_resource.values())
        for change in [one for one in some if one.verb == "create"] or some
    )
