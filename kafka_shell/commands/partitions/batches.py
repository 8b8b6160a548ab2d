"""Reassignments in batches: their options, and --resume."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from kafka_shell.admin.partitions.batch_state import BatchState, Started
from kafka_shell.admin.partitions.batched import ForgetBatches
from kafka_shell.admin.partitions.model import Assignment, TopicPartition
from kafka_shell.admin.partitions.partition_files import MoveFile, MovePaths, read_moves
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked, write_private
from kafka_shell.base.plans import Plan
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands.partitions.follow_up import end_line, resume_line, stall_advice
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import CandidateSource, Kind
from kafka_shell.view.candidates import Candidates, Catalog, pick

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.batched import InBatches
    from kafka_shell.admin.partitions.log_dir_targets import Dirs
    from kafka_shell.admin.partitions.partition_files import MovePaths
    from kafka_shell.admin.partitions.sizes import Sizes
    from kafka_shell.context import Context


BATCHES = (
    Option("--batch", kinds.INTEGER, "Move at most this many partitions at a time (default: 100).",
           least=1, metavar="N"),
    Option("--batch-bytes", kinds.SIZE, "Copy at most this much at a time: 50GiB.", least=1,
           metavar="SIZE"),
    Option("--per-broker", kinds.INTEGER, "Move at most this many partitions to or from a broker at"
           " a time.", least=1, metavar="N"),
)  # fmt: skip
ABOUT = (
    "A reassignment that copies more than 100 partitions runs in batches of 100, with at most five"
    " per broker, unless --batch, --batch-bytes or --per-broker is given. The next batch starts"
    " when the last one is in sync, its throttle is removed, the brokers that receive replicas run,"
    " and no partition is below min.insync.replicas that was not before; otherwise the"
    " reassignment pauses and reports why. To continue after a pause, Ctrl-C or a lost terminal,"
    " run reassign-partitions --resume ID. Without --wait, the prompt moves the batches in the"
    " background; elsewhere, the command ends when the first one is started, but --resume moves all"
    " remaining ones. It pauses if all remaining partitions of a batch wait for a broker that has"
    " been down for a minute; with --wait, it keeps waiting."
)


def paths_of(context: Context) -> MovePaths:
    """The paths of a new reassignment."""
    from kafka_shell.admin.partitions.partition_files import MovePaths

    return MovePaths.new(context.paths.reassignments, context.clock())


def in_batches(
    invocation: Invocation,
    context: Context,
    plan: Plan,
    paths: MovePaths,
    *,
    sizes: Sizes,
    throttle: int | None,
    dirs: Dirs | None = None,
    resumable: bool = True,
) -> Plan:
    """The plan in batches, if it has to be. `resumable`: by reassign-partitions --resume."""
    from kafka_shell.admin.partitions import batched as batch_plans
    from kafka_shell.admin.partitions.batched import BatchLimits, limits_of
    from kafka_shell.admin.partitions.steps import MoveReplicas

    moves = [
        move
        for step in plan.steps
        if isinstance(step, MoveReplicas) and not step.cancelled
        for move in step.moves
    ]
    given = (invocation.get(name) for name in ("batch", "batch-bytes", "per-broker"))
    limits = limits_of(BatchLimits(*given), sum(bool(move.adding) for move in moves))
    return batch_plans.in_batches(
        context.cluster, plan, _run(context, paths, dirs or {}, resumable=resumable),
        limits=limits, sizes=sizes, throttle=throttle,
    )  # fmt: skip


def _run(context: Context, paths: MovePaths, dirs: Dirs, *, resumable: bool = True) -> InBatches:
    from kafka_shell.admin.partitions.batch_state import BatchState
    from kafka_shell.admin.partitions.batched import InBatches
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    return InBatches(
        state=BatchFile(paths) if resumable else BatchState(),
        record=throttle_record(context),
        dirs=dirs,
        advice=stall_advice,
        resume=resume_line(paths.id) if resumable else "",
    )


# -- continuing ------------------------------------------------------------------------------------


def resume(invocation: Invocation, context: Context) -> Plan:
    """The plan that moves what is left of a reassignment in batches, or changes its throttle."""
    from kafka_shell.admin.partitions import batched as batch_plans
    from kafka_shell.admin.partitions import recorded
    from kafka_shell.admin.partitions.partition_files import read_moves

    paths = unfinished(invocation, context)
    state, file = BatchFile(paths), read_moves(str(paths.move))
    started = state.read()
    if started is None or started.cluster != context.cluster.cluster_id:
        raise ShellError(
            f"reassignment {paths.id} belongs to cluster {started and started.cluster}, not"
            f" {context.cluster.cluster_id}",
            hint="Nothing was sent. Use the profile of that cluster.",
            code="other-cluster",
        )
    given = invocation["throttle"]
    throttle = started.throttle if given is None else given
    patient = bool(invocation["wait"]) or context.shell is not None
    run = replace(_run(context, paths, file.dirs), before=file.before, patient=patient)
    if given is None:
        state.check_free()
    elif state.in_use:
        return batch_plans.with_rate(context.cluster, file.batches, run, given, paths.id)
    plan = batch_plans.resumed(context.cluster, file.batches, run, throttle, paths.id)
    plan = recorded.with_files(plan, paths, throttle, written=True)
    follow: Any = plan.following.follow
    return plan.followed(
        waits=bool(invocation["wait"]) or context.shell is None,
        resume=resume_line(paths.id) if follow else "",
        cancel=end_line(paths.id) if follow else "",
    )


def unfinished(invocation: Invocation, context: Context) -> MovePaths:
    """The files of the reassignment that --resume names. Raises ShellError if it has ended."""
    from kafka_shell.admin.partitions.partition_files import MovePaths

    known = {each.id: each for each in MovePaths.unfinished(context.paths.reassignments)}
    if invocation["resume"] not in known:
        ids = ", ".join(known)
        raise ShellError(
            f"there is no unfinished reassignment '{invocation['resume']}'",
            hint=f"Unfinished reassignments: {ids}." if ids else "",
            code="no-entry",
            span=invocation.span("resume"),
        )
    return known[invocation["resume"]]


def note_unfinished(context: Context) -> None:
    """Print how to continue the reassignments in batches that no session moves."""

    for id in paused(context.paths.reassignments, context.cluster.cluster_id):
        context.note(f"a reassignment in batches has not ended; to continue: {resume_line(id)}")


# Store how far reassignments in batches are, in a file each, next to their move files.


class BatchFile(BatchState):
    """The state in a file, which is removed when all is moved."""

    def __init__(self, paths: MovePaths) -> None:
        self._paths = paths

    def read(self) -> Started | None:
        """The state; None if the reassignment has ended. Raises ShellError if it is damaged."""
        try:
            return msgspec.json.decode(self._paths.batches.read_bytes(), type=Started)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise ShellError(
                f"cannot read {self._paths.batches}: {error}", code="no-file"
            ) from None

    def update(self, change: Callable[[Started | None], Started | None]) -> None:
        """Replace the file, or remove it. The folder is locked meanwhile: the session that moves
        the batches, and one that cancels them or changes their throttle, write one after the other.
        Raises ShellError if it cannot be written."""
        file = self._paths.batches
        try:
            with locked(file.parent / "lock"):
                started = change(self.read())
                if started is None:
                    file.unlink(missing_ok=True)
                else:
                    write_private(file, msgspec.json.encode(started))
        except OSError as error:
            raise ShellError(
                f"cannot write {file}: {error.strerror}",
                hint="No further batch was started.",
                code="no-file",
            ) from None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Lock the move file, which is never replaced, until the end of the block or process."""
        with ExitStack() as held:
            try:
                held.enter_context(locked(self._paths.move, wait=False))
            except BlockingIOError:
                raise ShellError(
                    f"reassignment {self._paths.id} is being moved by another session",
                    hint=f"To change its throttle: {resume_line(self._paths.id)} --throttle RATE",
                    code="in-use",
                ) from None
            yield

    def check_free(self) -> None:
        """Raise ShellError (code `in-use`) if a session moves the batches now."""
        with self.running():
            pass

    @property
    def in_use(self) -> bool:
        """Whether a session moves the batches now."""
        try:
            self.check_free()
        except ShellError:
            return True
        return False


def not_started(path: str, file: MoveFile) -> frozenset[TopicPartition]:
    """The partitions of a reassignment in batches that are in a later batch."""
    paths = MovePaths.of_file(to_path(path))
    started = BatchFile(paths).read() if paths is not None else None
    later = file.batches[started.batches :] if started is not None else ()
    return frozenset(each for batch in later for each in batch)


def stored_unfinished(folder: Path) -> Iterator[tuple[str, Started]]:
    """The reassignments in batches that have not ended, by ID."""
    for paths in MovePaths.unfinished(folder):
        with suppress(ShellError):  # a damaged file is reported by --resume
            started = BatchFile(paths).read()
            if started is not None:
                yield paths.id, started


def paused(folder: Path, cluster: str) -> list[str]:
    """The IDs of the reassignments in batches of a cluster that have not ended, and that no session
    moves now."""
    busy = {paths.id for paths in MovePaths.unfinished(folder) if BatchFile(paths).in_use}
    ours = (id for id, started in stored_unfinished(folder) if started.cluster == cluster)
    return [id for id in ours if id not in busy]


# Completion of the IDs of reassignments in batches.


def _offer(found: CompletionRequest, known: Catalog) -> Candidates:
    """The reassignments of this cluster that have not ended, and how far they are."""

    cluster = known.view.cluster_id
    ids = {
        id: f"at batch {started.batches:,}"
        for id, started in stored_unfinished(known.reassignments)
        if not cluster or started.cluster == cluster
    }
    return pick(ids, found.prefix)


REASSIGNMENT = Kind("reassignment", CandidateSource(_offer))


# The rollback of a reassignment in batches that has not ended.


class Rollback(Struct, frozen=True):
    """Only what the reassignment has `started` is moved back, the first `batches`, and no further
    batch is started."""

    paths: MovePaths
    started: frozenset[TopicPartition]
    batches: int

    def target(self, before: Assignment) -> Assignment:
        """What is moved back, of the replicas in the rollback file."""
        return {each: replicas for each, replicas in before.items() if each in self.started}

    def ending(self, plan: Plan) -> Plan:
        """The plan that also ends the reassignment."""
        note, id = "no further batch is started", self.paths.id
        end = ForgetBatches(BatchFile(self.paths), id, note, self.batches)
        return replace(plan, steps=(end, *plan.steps))


def rollback_of(file: str) -> Rollback | None:
    """The rollback that this file is, if its reassignment is in batches and has not ended."""
    path = to_path(file)
    paths = MovePaths.of_file(path)
    state = BatchFile(paths).read() if paths is not None and path == paths.rollback else None
    if paths is None or state is None:
        return None
    batches = read_moves(str(paths.move)).batches[: state.batches]
    started = frozenset(each for batch in batches for each in batch)
    return Rollback(paths, started, state.batches)
