"""`rehearse`: run a script on a twin of the cluster."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, some
from kafka_shell.commands.rehearse.render import KnownLimit, Rehearsal
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.commands.rehearse.rights import Rights
    from kafka_shell.commands.rehearse.twins import OriginalState
    from kafka_shell.context import Context

_NAMED = 3  # resources with the same problem


def rehearse(invocation: Invocation, context: Context) -> Rehearsal | tuple[KnownLimit, ...]:
    """Run lines on a twin of the cluster, and report what they would do."""
    from kafka_shell.commands.rehearse.verdicts import known_limits

    if invocation["limits"]:
        return tuple(known_limits())
    from kafka_shell.base.java import find_java
    from kafka_shell.commands.rehearse.rights import Rights
    from kafka_shell.commands.rehearse.script import lines_of
    from kafka_shell.commands.rehearse.twins import read_original
    from kafka_shell.language.kinds import split
    from kafka_shell.wire.connection import Cluster
    from kafka_shell.wire.requests import read_only

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
    from kafka_shell.commands.rehearse.run import (
        difference,
        on_twin,
        placed_by,
        prompt_on,
        run_lines,
        state_of,
        undo_script,
    )
    from kafka_shell.commands.rehearse.twins import running_twin
    from kafka_shell.commands.rehearse.verdicts import Refusals
    from kafka_shell.sandbox.twin.build import broker_epochs, prepare
    from kafka_shell.sandbox.twin.followers import following, settle

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
        settle(twin.cluster)
        found = difference(before, state_of(twin.cluster), placed_by(done, before))
        if context.ask is not None and not invocation["keep"]:  # the user may rehearse again
            with suppress(OSError, ShellError):  # the rehearsal is over
                prepare(root, original)
        if invocation["keep"]:
            context.resources.prompt = prompt_on(twin, context)
            context.resources.ends.push(stack.pop_all())
    if len(done) < len(lines):
        left = counted(len(lines) - len(done), "line")
        context.note(f"{left} not run: the script stops at the first failure (see --keep-going)")
    return Rehearsal(tuple(done), found, undo_script(done))


COMMANDS = (
    Command(
        name="rehearse",
        summary="Run a script on a twin of the cluster, and show what it would change.",
        family="state",
        run=rehearse,
        apis=(15, 29, 32, 46, 48, 50, 60, 74),
        arguments=(
            Argument("line", kinds.LINE,
                     "A command line, a file of them, or - for standard input.", required=False),
        ),
        exactly_one=(("line", "--limits"),),
        options=(
            Option("--topics", kinds.TOPIC, "Copy only these topics: a,b  svc-*  /regex/",
                   many=True),
            Option("--keep-going", kinds.FLAG, "Continue after a line that fails."),
            Option("--keep", kinds.FLAG, "Open a prompt on the twin afterwards."),
            Option("--limits", kinds.FLAG, "List what a rehearsal cannot check."),
        ),
        search=("simulate", "what if", "dry run", "test", "twin"),
        description=(
            "The twin is a real Kafka on this machine with the brokers, topics, configs, ACLs, "
            "quotas and users of the cluster, but without records and groups; requires Java.\n"
            "Runs the same commands there and answers their questions with yes; the cluster "
            "itself is only read.\n"
            "Each line is ok, failed or unknown (the rehearsal cannot check it).\n"
            "Exit status: 0; 1 if a line failed; 4 if none failed but one is unknown.\n"
            "At a terminal, another twin is kept ready for 10 minutes in a process of its own."
        ),
        examples=(
            Example("rehearse alter-topic orders.placed --partitions 12",
                    "try one command on a twin"),
            Example("rehearse --limits", "list what a rehearsal cannot check"),
        ),
    ),
)  # fmt: skip
