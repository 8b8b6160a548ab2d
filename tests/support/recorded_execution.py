"""A context for `execute` whose steps, questions and refreshes are recorded in order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from msgspec import Struct

from kafka_shell import journal
from kafka_shell.base.outcome import JournalEntry, Outcome
from kafka_shell.base.plans import Change, Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.execute import execute
from kafka_shell.settings import Settings
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.samples import plan_of

Event = tuple[str, ...]
REFUSED = Failure("POLICY_VIOLATION", "no")


class RecordedStep(Struct, frozen=True):
    """A step that writes down what is done with it, and fails as it is told."""

    log: list[Event]
    name: str
    fields: tuple[str, ...] = ("k",)
    validates: bool = True
    refuses: tuple[str, ...] = ()  # fields that fail, in validation too
    fails: tuple[str, ...] = ()  # fields that fail when they are sent
    no_results: tuple[str, ...] = ()  # fields that the response does not mention
    applied: tuple[str, ...] = ()  # fields whose new value is read after Ctrl-C
    why: Failure = REFUSED
    raises: BaseException | None = None
    refuses_all: BaseException | None = None  # in validation alone
    verb: str = "alter"
    before: str | None = "old"
    later: str = "old"
    kind: str = "topic"

    @property
    def changes(self) -> tuple[Change, ...]:
        thing = Resource(self.kind, self.name)
        return tuple(Change(thing, self.verb, f, self.before, "new") for f in self.fields)

    def resolved(self, cluster: Any) -> RecordedStep:
        return self

    def reread(self, cluster: Any) -> RecordedStep:
        self.log.append(("again", self.name))
        return replace(self, before=self.later)

    def shown(self, cluster: Any) -> set[Change]:
        return {change for change in self.changes if change.field in self.applied}

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        self.log.append(("validate" if validate_only else "send", self.name))
        if self.refuses_all is not None and validate_only:
            raise self.refuses_all
        if self.raises is not None and not validate_only:
            raise self.raises
        bad = self.refuses if validate_only else self.refuses + self.fails
        told = [change for change in self.changes if change.field not in self.no_results]
        return Results(
            {change: change for change in told if change.field not in bad},
            {change: self.why for change in told if change.field in bad},
        )


@dataclass
class RecordedExecution:
    """A context whose questions, plans and refreshes are written down beside the steps."""

    context: Context
    log: list[Event] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def ask(self, question: str, *, secret: bool = False) -> str:
        self.log.append(("ask", question.strip()))
        return self.answers.pop(0)

    def show(self, plan: Plan, undo: Sequence[str] | None) -> None:
        self.log.append(("show", *(undo or ())))

    def refresh(self, parts: frozenset[str]) -> None:
        self.log.append(("refresh", *sorted(parts)))

    def step(self, name: str = "orders", **how: Any) -> RecordedStep:
        return RecordedStep(self.log, name, **how)

    def plan(self, *steps: RecordedStep, effect: Effect = Effect.CHANGE, **how: Any) -> Plan:
        return plan_of(effect, steps, **how)

    def run(self, plan: Plan, **how: Any) -> Outcome:
        return execute(
            plan, self.context, command="the line", show=self.show, reveal=lambda value: None, **how
        )

    def journal(self) -> list[JournalEntry]:
        return read_journal(self.context.paths.journal)[0]

    def did(self) -> list[str]:
        return [event[0] for event in self.log]


def read_journal(
    folder: Path, *, cluster: str | None = None
) -> tuple[list[JournalEntry], list[Path]]:
    """The entries, oldest first, and the files that cannot be read."""
    found = [*journal.newest(folder, cluster=cluster)][::-1]
    entries = [each for each in found if not isinstance(each, Path)]
    return entries, [each for each in found if isinstance(each, Path)]


def make_recorded_execution(
    folder: Path, *, guard: str = "", answers: Sequence[str] | None = (), cluster: Any = None
) -> RecordedExecution:
    """`answers` None is a program without a terminal."""
    config = ConnectionConfig(parse_addresses("broker:9092"))
    settings = Settings(connection=config, profile="prod", profile_address=True, guard=guard)
    session = ClusterSession(settings)
    session.cluster = cluster or cast(
        Any,
        SimpleNamespace(
            cluster_id="cluster-1",
            close=lambda: None,
            check_identity=lambda: None,
            within=lambda seconds: nullcontext(),
        ),
    )
    context = Context(session, Paths(folder / "c", folder / "h", folder / "state"))
    stage = RecordedExecution(context, answers=list(answers or ()))
    stage.context = replace(
        context,
        shell=cast(Any, SimpleNamespace(refresh=stage.refresh)),
        ask=None if answers is None else stage.ask,
    )
    return stage
