"""`rehearse`: run a script on a twin of the cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from io import StringIO
from pathlib import Path

from kafka_shell.admin.partitions.reassignment import WriteRollback
from kafka_shell.admin.topics.steps import CreatePartitions, CreateTopics
from kafka_shell.base.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.base.java import find_java
from kafka_shell.base.outcome import ChangeResult, Outcome
from kafka_shell.base.plans import Report, merge_plans
from kafka_shell.base.structs import replace
from kafka_shell.base.text import is_printable
from kafka_shell.base.units import counted, some, to_path
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.rehearse.render import (
    FAILED,
    OK,
    UNKNOWN,
    KnownLimit,
    Rehearsal,
    RehearsedLine,
)
from kafka_shell.commands.rehearse.twins import (
    COPIED_KINDS,
    BrokerConfigs,
    OriginalState,
    Rights,
    TwinCluster,
    read_original,
    running_twin,
)
from kafka_shell.commands.rehearse.verdicts import (
    ONE_BROKER,
    LineObserver,
    Refusals,
    doubts_about,
    known_limits,
    not_run,
    verdict_of,
)
from kafka_shell.commands.state.compare import differences
from kafka_shell.commands.state.model import Differing, State, StateDiff
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.section import StateRequest
from kafka_shell.commands.state.sections.topics import ASSIGNMENT
from kafka_shell.context import ClusterSession, Context, Paths, Resources, ScriptState
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import split
from kafka_shell.language.parse import corrections, parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import commands, logical_lines, tokenize
from kafka_shell.output.data import NOT_SHOWN
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import broker_epochs, broker_of, prepare
from kafka_shell.sandbox.twin.followers import following, settle
from kafka_shell.settings import Settings
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Refuse
from kafka_shell.wire.requests import read_only

_NAMED = 3  # resources with the same problem


def rehearse(invocation: Invocation, context: Context) -> Rehearsal | tuple[KnownLimit, ...]:
    """Run lines on a twin of the cluster, and report what they would do."""
    if invocation["limits"]:
        return tuple(known_limits())

    if context.run_line is None:
        raise ShellError("rehearse cannot run commands here", code="no-shell")
    if invocation["keep"] and (context.ask is None or context.shell is not None):
        raise UsageError(
            "--keep requires a command line at a terminal",
            hint="Use it in a shell: kafka.sh rehearse --keep FILE",
            span=invocation.span("keep"),
        )
    lines = lines_of(invocation["line"], context)
    find_java("The twin")  # before anything is read
    words = [item for word in invocation["topics"] for item in split(word)]
    with Cluster(replace(context.connection, refuse=read_only)) as original:  # it can only read
        original.on_wait(getattr(context.report, "waiting", None))
        original.deadline = context.cluster.deadline
        with original.within(None):
            reading = read_original(original, words, context.report)
            _note_missing(reading, context)
            return _on_twin(lines, reading, Rights(original), invocation, context)


def _note_missing(reading: OriginalState, context: Context) -> None:
    by_reason: dict[str, list[str]] = {}
    for about, why in reading.unread.items():
        by_reason.setdefault(why.name, []).append(about)
    for abouts in by_reason.values():
        message = reading.unread[abouts[0]].message
        context.note(f"not copied: {some(abouts, _NAMED)}: {message}")
    for note in reading.notes:
        context.note(f"not copied: {note}")
    if reading.left_out:
        context.note(f"not copied: {counted(len(reading.left_out), 'topic')} (--topics)")


def _on_twin(
    lines: tuple[str, ...],
    reading: OriginalState,
    rights: Rights,
    invocation: Invocation,
    context: Context,
) -> Rehearsal:
    original, refusals = reading.original, Refusals()
    with ExitStack() as stack:
        root = context.paths.cache / "twins"
        sandbox = stack.enter_context(running_twin(root, original, context.report))
        stack.enter_context(following(sandbox, broker_epochs(original)))
        twin = on_twin(context, sandbox, refusals, reading, rights)
        stack.callback(twin.close)
        before, release = reading.state, original.release
        if not sandbox.kafka_version.startswith(f"{release}."):
            context.note(f"the twin of this Kafka {release} runs Kafka {sandbox.kafka_version}")
            before = state_of(twin.cluster)  # it may not support all configs
        done = run_lines(
            lines,
            twin,
            refusals,
            reading,
            rights,
            context.report,
            keep_going=invocation["keep-going"],
        )
        moving = settle(twin.cluster)
        diff = difference(before, state_of(twin.cluster), placed_by(done, before))
        diff = replace(diff, unread={**diff.unread, **moving})
        if context.ask is not None and not invocation["keep"]:  # the user may rehearse again
            with suppress(OSError, ShellError):  # the rehearsal is over
                prepare(root, original)
        if invocation["keep"]:
            context.resources.prompt = prompt_on(twin, context)
            context.resources.ends.push(stack.pop_all())
    if len(done) < len(lines):
        left = counted(len(lines) - len(done), "line")
        context.note(f"{left} not run: the script stops at the first failure (see --keep-going)")
    return Rehearsal(tuple(done), diff, undo_script(done))


_FILE, _ROLLBACK = "rollback-file", "-rollback.json"  # of moved replicas


def agree(question: str, *, secret: bool = False) -> str:
    """Answer a question of a line that is not run on the cluster: yes, or a dummy password."""
    return "rehearsal" if secret else "yes"


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
        ask=agree,
        run_line=context.run_line,
        run_file=context.run_file,
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
        self._twin = twin
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
        self,
        path: Path,
        context: Context,
        *,
        keep_going: bool = False,
        generated: bool = False,
        check: bool = False,
    ) -> Status:
        """The lines of a file that the script runs with `source`."""
        if check:
            assert self._twin.run_file is not None
            return self._twin.run_file(path, context, generated=generated, check=True)
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
        merge_plans([outcome.plan for outcome in outcomes]),
        tuple(done for outcome in outcomes for done in outcome.changes),
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
    script: list[str] = []
    for number, each in reversed(list(enumerate(lines, 1))):
        if each.plan is not None and each.plan.dry_run:
            continue
        undo = each.plan.undo if each.plan is not None else ()
        if any(_ROLLBACK in line for line in undo):
            script.append(f"# line {number}: its rollback file is written when the line is run")
        elif undo:
            script += undo
        elif each.status == UNKNOWN:
            script.append(f"# not covered: line {number}, whose outcome is unknown")
        elif each.plan is not None and each.status == OK and each.plan.changes:
            script.append(f"# irreversible: line {number}")
    return tuple(line if is_printable(line) else NOT_SHOWN for line in script)


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
                    item.name: item.after
                    for item in step.items
                    if item.placed and item.name in done and placed.get(item.name) == item.before
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


MOST_BYTES = 16 << 20


def lines_of(text: str, context: Context) -> tuple[str, ...]:
    """The lines that the argument of `rehearse` stands for: the text itself if it begins with a
    command, else those of the file of that name; `-` is standard input.

    Empty lines and comments are left out.
    """
    line = tokenize(text)
    if len(line.words) == 1 and " " in line.words[0].text and line.shell is None:
        text = line.words[0].text  # the whole line in quotes
        line = tokenize(text)
    first = line.words[0].text if line.words else ""
    if first == "-" and len(line.words) == 1:
        return _read_stdin(context)
    if line.shell is not None or first.startswith("--") or REGISTRY.has_first(first):
        _refuse_output(text)
        return (text,)
    path = to_path(first)
    if path.exists():
        if len(line.words) == 1:
            return lines_of_file(path)
        raise UsageError(
            f"unexpected argument '{line.words[1].text}' after the file",
            hint=f"Put options of rehearse first: rehearse {line.words[1].text} {first}",
        )
    raise UsageError(
        f"'{first}' is neither a command nor a file",
        hint=did_you_mean(
            first,
            corrections(first, REGISTRY),
            "Use rehearse FILE, rehearse LINE, or rehearse - for standard input.",
        ),
        code="bad-value",
    )


def _refuse_output(text: str) -> None:
    """Raise UsageError for --output at the end of one command: the user expects the report so."""
    lines = list(commands(text))
    try:
        invocation = parse(lines[0], REGISTRY, text=text) if len(lines) == 1 else None
    except ShellError:
        return  # it is reported when it runs
    if invocation is not None and invocation.get("output"):
        raise UsageError(
            "--output applies to the rehearsed command, not to the report",
            hint=f"Put options of rehearse first: rehearse --output {invocation['output']} ...",
        )


def without_throttle(text: str) -> str:
    """The line of one command without its --throttle, which consists of configs of brokers."""
    lines = list(commands(text))
    try:
        invocation = parse(lines[0], REGISTRY, text=text) if len(lines) == 1 else None
    except ShellError:
        return text  # it is reported when it runs
    if invocation is None or not invocation.get("throttle"):
        return text
    return render(replace(invocation, values={**invocation.values, "throttle": None}))


def lines_of_file(path: Path) -> tuple[str, ...]:
    """The lines of a script."""
    return tuple(_content(_read(path), str(path)))


def _read_stdin(context: Context) -> tuple[str, ...]:
    if context.script.from_stdin or context.shell is not None or sys.stdin.isatty():
        raise UsageError(
            "the script cannot be read from standard input here",
            hint="Use rehearse FILE, or in a shell: kafka.sh rehearse - < FILE",
            code="bad-value",
        )
    return tuple(_content(sys.stdin.buffer.read(MOST_BYTES + 1), "standard input"))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code="file") from None


def _content(raw: bytes, name: str) -> Iterator[str]:
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{name} is larger than {MOST_BYTES >> 20} MiB", code="file")
    try:
        decoded = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8", code="not-utf-8") from None
    return _without_comments(text for _, text in logical_lines(decoded.splitlines(keepends=True)))


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    for text in lines:
        if not all(line.empty for line in commands(text)):
            yield text.strip()
