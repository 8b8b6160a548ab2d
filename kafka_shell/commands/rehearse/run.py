"""Run lines on a twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.admin.partitions.rollback import WriteRollback
from kafka_shell.admin.topics.steps import CreatePartitions, CreateTopics
from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.outcome import ChangeResult, Outcome
from kafka_shell.base.plans import Report, merge_plans
from kafka_shell.base.structs import replace
from kafka_shell.base.text import is_printable
from kafka_shell.commands.rehearse.render import FAILED, OK, UNKNOWN, RehearsedLine
from kafka_shell.commands.rehearse.rights import Rights
from kafka_shell.commands.rehearse.script import lines_of_file, without_throttle
from kafka_shell.commands.rehearse.twins import (
    COPIED_KINDS,
    BrokerConfigs,
    OriginalState,
    TwinCluster,
)
from kafka_shell.commands.rehearse.verdicts import (
    ONE_BROKER,
    LineObserver,
    Refusals,
    doubts_about,
    not_run,
    verdict_of,
)
from kafka_shell.commands.state.compare import differences
from kafka_shell.commands.state.model import ASSIGNMENT, Differing, State, StateDiff
from kafka_shell.commands.state.read import StateRequest, read_state
from kafka_shell.context import ClusterSession, Context, Paths, Resources, ScriptState
from kafka_shell.output.data import NOT_SHOWN
from kafka_shell.sandbox.twin.build import broker_of
from kafka_shell.settings import Settings

if TYPE_CHECKING:
    from kafka_shell.sandbox.state import Sandbox
    from kafka_shell.wire.connection import Cluster
    from kafka_shell.wire.endpoint import Refuse

_FILE, _ROLLBACK = "rollback-file", "-rollback.json"  # of moved replicas
_DUMMY = "rehearsal"  # the answer to a question for a password


def on_twin(
    context: Context, sandbox: Sandbox, refuse: Refuse, reading: OriginalState, rights: Rights
) -> Context:
    """The context of lines on a twin: a connection to it alone, with the user's rights on the
    original, a journal of its own, questions answered yes, and no output."""
    profile = context.settings.profile
    name = f"rehearsal of {profile}" if profile else "rehearsal"
    known = BrokerConfigs(reading.broker) if reading.broker else None
    config = replace(broker_of(sandbox), refuse=refuse, broker_configs=known)
    settings = Settings(config, guard="none", no_color=True, label=name)
    folder = sandbox.folder
    return Context(
        ClusterSession(settings, cluster=TwinCluster(config, rights)),
        Paths(context.paths.config, folder / "cache", folder / "state"),
        out=StringIO(),
        err=StringIO(),
        environ=context.environ,
        clock=context.clock,
        ask=lambda question, *, secret=False: _DUMMY if secret else "yes",
        run_line=context.run_line,
        script=ScriptState(from_stdin=True),
        resources=Resources(),
    )


def prompt_on(twin: Context, context: Context) -> Context:
    """The context of a prompt on a twin."""
    settings = replace(
        twin.settings,
        output=context.settings.output,
        theme=context.settings.theme,
        editing_mode=context.settings.editing_mode,
        no_color=context.settings.no_color,
    )
    session = ClusterSession(settings, theme=context.session.theme)
    return replace(context, session=session, paths=twin.paths, defaults={}, script=ScriptState())


def run_lines(
    lines: Sequence[str],
    twin: Context,
    refusals: Refusals,
    reading: OriginalState,
    rights: Rights,
    report: Report,
    *,
    keep_going: bool,
) -> list[RehearsedLine]:
    """Run the lines in order, and stop at the first that fails, as a script does, unless
    `keep_going`."""
    rehearsal = _Rehearsal(twin, refusals, reading, rights, keep_going)
    for number, text in enumerate(lines):
        report("Rehearsing", number, len(lines))
        if rehearsal.run(text) is Status.FAILED and not keep_going:
            break
        if rehearsal.context.script.left:
            break
    report("Rehearsing", len(lines), len(lines))
    return rehearsal.lines


class _Rehearsal:
    def __init__(
        self,
        twin: Context,
        refusals: Refusals,
        reading: OriginalState,
        rights: Rights,
        keep_going: bool,
    ) -> None:
        self.lines: list[RehearsedLine] = []
        self.context = replace(twin, run_file=self._run_file)
        self._refusals = refusals
        self._reading = reading
        self._rights = rights
        self._doubts = doubts_about(reading)
        self._keep_going = keep_going

    def run(self, text: str) -> Status:
        """Run one line, and remember what it did."""
        if why := not_run(text, self._reading.left_out):
            self.lines.append(RehearsedLine(text, UNKNOWN, None, why))
            return Status.OK
        observed = LineObserver()
        before = len(self.lines)
        context = replace(self.context, observer=observed, out=StringIO(), err=StringIO())
        context.cluster.sent.clear()
        self._refusals.reasons.clear()
        assert context.run_line is not None
        run = without_throttle(text)
        status = context.run_line(run, context)
        if len(self.lines) > before and not observed.anything:  # `source`: its lines are reported
            return Status(status)
        outcome = _outcome(observed)
        verdict, why_not = verdict_of(
            observed,
            status,
            context.cluster.sent,
            self._refusals.reasons,
            self._doubts,
            self._reading,
        )
        if verdict != FAILED and run != text:
            left = f"--throttle was ignored because {ONE_BROKER}"
            verdict, why_not = UNKNOWN, f"{why_not}; {left}" if why_not else left
        if verdict != FAILED and (lacks := self._lacks(observed, context.cluster.sent)):
            verdict, why_not = lacks
        self.lines.append(RehearsedLine(text, verdict, outcome, why_not))
        return Status.FAILED if verdict == FAILED else Status.OK

    def _lacks(self, observed: LineObserver, sent: set[int]) -> tuple[str, str] | None:
        """The status and error of a line that the user may not run on the original."""
        try:
            right, certain = self._rights.missing(sent, observed.resources)
        except ShellError as error:
            return UNKNOWN, f"your permissions on the cluster could not be read: {error.message}"
        if not right:
            return None
        return (FAILED, f"requires {right}") if certain else (UNKNOWN, f"may require {right}")

    def _run_file(
        self, path: Path, context: Context, *, keep_going: bool = False, generated: bool = False
    ) -> Status:
        """The lines of a file that the script runs with `source`."""
        status = Status.OK
        files = context.script.files
        if path.resolve() in files:
            raise UsageError(f"{path} is already running", code="file")
        files.append(path.resolve())
        try:
            for text in lines_of_file(path):
                status = max(status, self.run(text))
                if status and not (keep_going or self._keep_going):
                    break
        finally:
            files.pop()
        return status


def _outcome(observed: LineObserver) -> Outcome | None:
    """The plans of a line as one. What was planned and not executed is skipped."""
    outcomes = list(map(_without_files, observed.outcomes))
    executed = len(outcomes)
    outcomes += [
        Outcome(plan, tuple(ChangeResult(change, "skipped") for change in plan.changes))
        for plan in observed.plans[executed:]
    ]
    if len(outcomes) < 2:
        return outcomes[0] if outcomes else None
    return Outcome(
        merge_plans([each.plan for each in outcomes]),
        tuple(done for each in outcomes for done in each.changes),
        tuple(line for each in reversed(outcomes) if not each.dry_run for line in each.undo),
    )


def _without_files(outcome: Outcome) -> Outcome:
    """The outcome without the rollback files that it wrote: they are removed with the twin."""
    steps = tuple(step for step in outcome.plan.steps if not isinstance(step, WriteRollback))
    if steps == outcome.plan.steps:
        return outcome
    return replace(
        outcome,
        plan=replace(outcome.plan, steps=steps),
        changes=tuple(done for done in outcome.changes if done.change.resource.kind != _FILE),
    )


def undo_script(lines: Sequence[RehearsedLine]) -> tuple[str, ...]:
    """The commands that undo all lines, the last line first. Comments name what they do not."""
    found: list[str] = []
    for number, each in reversed(list(enumerate(lines, 1))):
        if each.plan is not None and each.plan.dry_run:
            continue
        undo = each.plan.undo if each.plan is not None else ()
        if any(_ROLLBACK in line for line in undo):
            found.append(f"# line {number}: its rollback file is written when the line is run")
        elif undo:
            found += undo
        elif each.status == UNKNOWN:
            found.append(f"# not covered: line {number}, whose outcome is unknown")
        elif each.plan is not None and each.status == OK and each.plan.changes:
            found.append(f"# irreversible: line {number}")
    return tuple(line if is_printable(line) else NOT_SHOWN for line in found)


# -- the difference --------------------------------------------------------------------------------


def state_of(cluster: Cluster) -> State:
    """The state of a twin, with replicas."""
    return read_state(cluster, StateRequest(COPIED_KINDS, brokers=[""], assignments=True))


def placed_by(lines: Sequence[RehearsedLine], before: State) -> dict[str, int]:
    """By topic, the number of its first partitions whose replicas the lines keep or name. The
    controller places the replicas of the others at random."""
    placed = {
        name: str(fields.get(ASSIGNMENT, "")).count(",") + 1
        for name, fields in before.part("topics").items()
    }
    for outcome in (line.plan for line in lines if line.plan is not None):
        done = {each.change.resource.name for each in outcome.changes if each.status == "done"}
        for step in outcome.plan.steps:
            if isinstance(step, CreateTopics):
                placed |= {new.name: len(new.assignment) for new in step.items if new.name in done}
            elif isinstance(step, CreatePartitions):
                placed |= {
                    each.name: each.after
                    for each in step.items
                    if each.placed and each.name in done and placed.get(each.name) == each.before
                }
    return placed


def difference(before: State, after: State, placed: Mapping[str, int] | None = None) -> StateDiff:
    """What differs, except the replicas of partitions that are not `placed`: by default, of those
    that are new."""
    placed = placed_by((), before) if placed is None else placed
    for name, fields in after.part("topics").items():
        replicas = str(fields.pop(ASSIGNMENT, "")).split(",")[: placed.get(name, 0)]
        if replicas:
            fields[ASSIGNMENT] = ",".join(replicas)
    changes = tuple(Differing.of(each.change) for each in differences(before, after))
    return StateDiff("before", "after", changes, {**before.unread, **after.unread})
