"""Changes, the steps that send them, and plans made of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
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
    verb: str  # create, alter, delete, abort, fence, write or copy
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

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        """Send the step, or only validate it. Each change has its own result. If the changes,
        such as offsets, are only known after sending, the results are of those changes instead."""


class NotChecked(Struct, frozen=True):
    """Something about a plan that could not be read (`producers`), and why, in one line."""

    what: str
    reason: str


class Plan(Struct, frozen=True):
    """Everything one command would do. Only `execute` and `apply` send it.

    `touches`: the parts of the cached view to reload ("topics", "configs").
    `fresh` reads the new state to show afterwards. `secrets` are models of generated passwords,
    shown once if a part of the plan was sent, however it ends. `made` returns models with secrets
    that the cluster has made: `fresh` shows them, or they are shown if the plan is interrupted.
    `refused` are items that failed during planning; `unchanged` already have the requested value,
    and are reported but not sent.
    `confirm` requires confirmation although nothing is destroyed. In a `chained` plan a step is
    sent only if all earlier ones succeeded. Of a `whole` plan, as of one that destroys, nothing is
    sent if any item is refused.

    `follow(cluster, report)` waits until a long-running change has ended. Then the steps in
    `afterwards` are sent, but not after an interruption: what they remove is still needed. If not
    `waits`, the prompt follows the change in the background, and one-shot commands do not follow
    it. There, `lasting(cluster, report)` removes what remained on a broker that was down, when it
    is back, and returns whether nothing is left. A `partial` plan sends the rest of the change
    while it is followed: `later` is for how many resources. `resume` is the command that shows the
    progress of such a change, or continues it, and `cancel` the one that cancels it. If the plan is
    `repeatable`, the same command continues when not everything was sent.
    `figures` are models that are shown with the changes. `stakes` is what is lost, for the question
    (`1,200 records, 3 groups`). `not_checked` is what could not be read for warnings and figures.

    `notes` is what the plan does not do (`no records would be deleted immediately`), and how sure
    the warnings are.

    `monitor` is where a step that runs long reports to.
    `undoes` are the IDs of the journal entries that are undone when the whole plan is applied.
    `continues` is the ID of the entry of an interrupted plan that this one continues.
    `about` are lines that say what the plan is for. `id` is the ID of its journal entry, if it is
    named before the entry is written.
    """

    effect: Effect
    steps: tuple[Step, ...]
    confirm: bool = False
    chained: bool = False
    whole: bool = False
    follow: Callable[[Any, Report], Any] | None = None
    waits: bool = True
    partial: bool = False
    later: int = 0
    afterwards: tuple[Step, ...] = ()
    lasting: Callable[[Any, Report], bool] | None = None
    resume: str = ""
    cancel: str = ""
    repeatable: bool = False
    touches: frozenset[str] = frozenset()
    fresh: Callable[[Any], Any] | None = None
    secrets: tuple[Any, ...] = ()
    made: Callable[[], tuple[Any, ...]] = tuple
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: Results[Resource, Any] = field(default_factory=Results)
    unchanged: tuple[Change, ...] = ()
    figures: tuple[Any, ...] = ()
    stakes: str = ""
    not_checked: tuple[NotChecked, ...] = ()
    undoes: tuple[str, ...] = ()
    continues: str = ""
    about: tuple[str, ...] = ()
    monitor: Monitor | None = None
    id: str = ""

    @property
    def waited(self) -> Callable[[Any, Report], Any] | None:
        """`follow`, if the command itself waits."""
        return self.follow if self.waits else None

    @property
    def sends(self) -> bool:
        """Whether it changes anything: in its steps, or in those after the wait for a change that
        is in progress already."""
        return bool(self.steps or (self.waited is not None and self.afterwards))

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of all steps, in the order they are sent."""
        return tuple(change for step in self.steps for change in step.changes)

    def without_refused(self, name: str) -> Plan:
        """The same plan without the items that were refused with this error name."""
        kept = {
            resource: why for resource, why in self.refused.failures.items() if why.name != name
        }
        return replace(self, refused=Results({}, kept))


def merge_plans(plans: Sequence[Plan]) -> Plan:
    """One plan with the steps of all plans, in order, and everything that they refused."""
    if len(plans) == 1:
        return plans[0]
    if not plans:
        return Plan(Effect.CHANGE, ())
    rank = [Effect.READ, Effect.CHANGE, Effect.DESTROY]
    fresh = [plan.fresh for plan in plans if plan.fresh is not None]
    follow = [plan.follow for plan in plans if plan.follow is not None]

    def follow_all(cluster: Any, report: Report) -> None:
        for wait in follow:  # `afterwards` is sent when all of them have ended
            wait(cluster, report)

    return Plan(
        effect=max((plan.effect for plan in plans), key=rank.index),
        steps=tuple(step for plan in plans for step in plan.steps),
        confirm=any(plan.confirm for plan in plans),
        chained=any(plan.chained for plan in plans),
        whole=any(plan.whole for plan in plans),
        follow=follow_all if follow else None,
        waits=all(plan.waits for plan in plans),
        partial=any(plan.partial for plan in plans),
        later=sum(plan.later for plan in plans),
        afterwards=tuple(step for plan in plans for step in plan.afterwards),
        lasting=next((plan.lasting for plan in plans if plan.lasting is not None), None),
        resume=next((plan.resume for plan in reversed(plans) if plan.resume), ""),
        cancel=next((plan.cancel for plan in reversed(plans) if plan.cancel), ""),
        repeatable=all(plan.repeatable for plan in plans),
        touches=frozenset().union(*(plan.touches for plan in plans)),
        fresh=fresh[-1] if fresh else None,
        secrets=tuple(secret for plan in plans for secret in plan.secrets),
        made=lambda: tuple(secret for plan in plans for secret in plan.made()),
        warnings=tuple(warning for plan in plans for warning in plan.warnings),
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes)),
        refused=Results.merge(plan.refused for plan in plans),
        unchanged=tuple(change for plan in plans for change in plan.unchanged),
        figures=tuple(figure for plan in plans for figure in plan.figures),
        stakes="; ".join(plan.stakes for plan in plans if plan.stakes),
        not_checked=tuple(each for plan in plans for each in plan.not_checked),
        undoes=tuple(id for plan in plans for id in plan.undoes),
        continues=next((plan.continues for plan in plans if plan.continues), ""),
        about=tuple(line for plan in plans for line in plan.about),
        monitor=next((plan.monitor for plan in plans if plan.monitor is not None), None),
        id=next((plan.id for plan in plans if plan.id), ""),
    )


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
