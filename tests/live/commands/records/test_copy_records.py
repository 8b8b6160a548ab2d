"""copy-records copies exactly the planned records, despite failures and concurrent changes; once,
unless it is interrupted."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import copy as copying
from kafka_shell.admin.records.codecs import ZSTD
from kafka_shell.admin.records.copy import CopyRequest, plan_copy
from kafka_shell.admin.records.decode import Decoder
from kafka_shell.admin.records.delete import plan_delete
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.records.write import Writer
from kafka_shell.admin.topics import change as topics
from kafka_shell.base.plans import Outcomes, Plan, Step, StepInterrupted
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import is_missing
from tests.support.changes import done, make_topic
from tests.support.copied_records import MANY, NOON, _topic, contents, fill
from tests.support.in_process_shell import Shell
from tests.support.program import Process, Program
from tests.support.read_records import read_all
from tests.support.transactional_producer import Producer
from tests.support.waiting import wait_for


def _end(cluster: Cluster, topic: str) -> int:
    return sum(
        each.max_records for each in ranges(cluster, [TopicPartition(topic, n) for n in (0, 1, 2)])
    )


@pytest.fixture
def source(cluster: Cluster) -> str:
    """Three partitions, of which one is empty."""
    topic = _topic(cluster)
    odd = [
        NewRecord(b"\xff\x00", b"\x80", (("h", b"1"), ("h", None), ("", b"")), 0, NOON),
        NewRecord(None, b"", (), 0, NOON + 1),
        NewRecord(b"t", None, (), 0, NOON + 2),
    ]
    more = [NewRecord(b"k%d" % n, b'{"n": %d}' % n, (), 2, NOON + 100 + n) for n in range(40)]
    Writer(cluster, topic).write({0: odd, 2: more})
    return topic


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--from", "3", "--to", "5"), [b"k3", b"k4"]),
        (("--from", str(NOON + 138)), [b"k38", b"k39"]),
        (("--to-offset", "1"), [b"\xff\x00", b"k0"]),
        (("--limit", "4"), [b"\xff\x00", None, b"t", b"k0"]),
        (("--where", "value=null"), [b"t"]),
        (("--grep", '"n": 3[89]', "--limit", "1"), [b"k38"]),
    ],
)
def test_what_is_selected(
    kafka: Program, cluster: Cluster, source: str, options: tuple[str, ...], wanted: list[bytes]
) -> None:
    target = _topic(cluster)
    planned = kafka.ok("copy-records", source, "--to-topic", target, *options, "--dry-run")
    assert f"copy {len(wanted)} record" in planned.stdout and not read_all(cluster, target)
    kafka.ok("copy-records", source, "--to-topic", target, *options)
    assert [each.key for each in read_all(cluster, target)] == wanted


def test_keys_do_not_control_the_terminal(kafka: Program, cluster: Cluster) -> None:
    source, target = _topic(cluster), _topic(cluster)
    Writer(cluster, source).write({0: [NewRecord(b"a\x1b[31m\n\xff" + b"b" * 90, b"\x1b[0m")]})
    planned = kafka.ok("copy-records", source, "--to-topic", target, "--dry-run")
    assert "first keys: a\\x1b[31m\\n\\xff" in planned.stdout and "b" * 50 not in planned.stdout
    assert "\x1b" not in planned.stdout + planned.stderr
    assert f"{source}:0: offset 0 (1 record) (irreversible)" in planned.stdout


def test_a_copy_that_a_deadline_ends_is_continued(kafka: Program, cluster: Cluster) -> None:
    source = _topic(cluster)
    fill(cluster, source, MANY, size=1_000)
    for milliseconds in range(300, 6_000, 200):  # until it ends in the middle
        target = _topic(cluster)
        run = kafka("copy-records", source, "--to-topic", target, "--deadline", f"{milliseconds}ms")
        if 0 < _end(cluster, target) < MANY:
            break
    else:
        pytest.fail("no copy ended in the middle")
    assert run.status == 1 and "deadline" in run.stderr, str(run)
    entry = kafka.ok("journal", "--last", "1", "--output", "json").json[0]
    assert entry["continuation"] in run.stderr
    kafka.ok(*entry["continuation"].split())
    assert set(contents(read_all(cluster, target))) == set(contents(read_all(cluster, source)))


def test_what_was_not_sent_is_not_called_unknown(kafka: Program, cluster: Cluster) -> None:
    """The deadline passes before anything is written."""
    source, target = _topic(cluster), _topic(cluster)
    Writer(cluster, source).write({0: [NewRecord(b"k", b"v")]})
    outcomes = _step(cluster, source, target).send(cluster, validate_only=False)
    assert outcomes.ok
    late = _step(cluster, source, target)
    cluster.deadline = time.monotonic()
    try:
        outcomes = late.send(cluster, validate_only=False)
    finally:
        cluster.deadline = None
    (why,) = outcomes.failures.values()
    assert why.name == "not-sent" and "timed out" in why.message


def _step(cluster: Cluster, source: str, target: str) -> Step:
    (step,) = plan_copy(cluster, cluster, CopyRequest(source, target)).steps
    return step


def _at_the_second_window(plan: Plan, cluster: Cluster) -> Outcomes:
    """Press Ctrl-C when it is saved, and return the outcomes."""
    assert plan.bookkeeping.monitor is not None
    saved = []

    def save(state: object) -> None:
        saved.append(state)
        if len(saved) == 2:
            raise KeyboardInterrupt

    plan.bookkeeping.monitor.save = save
    with pytest.raises(StepInterrupted) as caught:
        plan.steps[0].send(cluster, validate_only=False)
    return caught.value.outcomes


def test_what_an_interruption_between_two_windows_leaves_is_told(
    cluster: Cluster, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_WINDOW_BYTES", 1)
    plan = plan_copy(cluster, cluster, CopyRequest(source, _topic(cluster)))
    outcomes = _at_the_second_window(plan, cluster)
    assert outcomes.values
    (why,) = outcomes.failures.values()
    assert (why.name, why.message) == ("not-sent", "not sent: interrupted")


def test_memory_is_bounded_for_compressed_records_too(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a few kilobytes that are many megabytes."""
    source, target = _topic(cluster), _topic(cluster)
    values = [NewRecord(b"%d" % number, bytes(100_000)) for number in range(60)]
    assert all(not each.failure for each in Writer(cluster, source, ZSTD).write({0: values}))
    monkeypatch.setattr(copying, "_WINDOW_BYTES", 1_000_000)
    own, windows = Writer.write, list[int]()

    def write(self: Writer, records: dict[int, list[NewRecord]]) -> object:
        windows.append(sum(map(len, records.values())))
        return own(self, records)

    monkeypatch.setattr(Writer, "write", write)
    assert _step(cluster, source, target).send(cluster, validate_only=False).ok
    assert sum(windows) == 60 and max(windows) <= 20, windows
    assert contents(read_all(cluster, target)) == contents(read_all(cluster, source))


@pytest.mark.parametrize(("before", "copied", "lost"), [(25, 18, "0-24"), (40, 3, "0-39")])
def test_what_is_deleted_before_it_is_read_is_not_called_copied(
    cluster: Cluster, source: str, before: int, copied: int, lost: str
) -> None:
    step = _step(cluster, source, _topic(cluster))
    done(plan_delete(cluster, {TopicPartition(source, 2): before}), cluster)
    outcomes = step.send(cluster, validate_only=False)
    assert sum(change.records or 0 for change in outcomes.values) == copied
    ((change, why),) = outcomes.failures.items()
    assert f"{source}:2 offsets {lost}" in str(change.field), change
    assert (why.name, "deleted before they could be copied" in why.message) == ("deleted", True)


def test_what_was_deleted_before_it_was_read_is_told_after_ctrl_c_too(
    cluster: Cluster, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later run continues after it."""
    monkeypatch.setattr(copying, "_WINDOW_BYTES", 1)
    plan = plan_copy(cluster, cluster, CopyRequest(source, _topic(cluster)))
    done(plan_delete(cluster, {TopicPartition(source, 2): 25}), cluster)
    outcomes = _at_the_second_window(plan, cluster)
    names = {why.name: str(change.field) for change, why in outcomes.failures.items()}
    assert names.keys() == {"deleted", "not-sent"}
    assert f"{source}:2 offsets 0-24" in names["deleted"]


def test_a_copy_whose_last_records_are_gone_is_complete(
    sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was lost is an error once, and not in every later run as well."""
    target, shell = _topic(cluster), Shell(tmp_path, sandbox.bootstrap)
    own = copying.CopyRecords.send

    def send(self: copying.CopyRecords, cluster: Cluster, *, validate_only: bool) -> object:
        done(plan_delete(cluster, {TopicPartition(source, 2): 40}), cluster)
        return own(self, cluster, validate_only=validate_only)

    monkeypatch.setattr(copying.CopyRecords, "send", send)
    run = shell(f"copy-records {source} --to-topic {target}")
    assert (run.status, f"{source}:2 offsets 0-39" in str(run)) == (1, True), str(run)
    (entry,) = shell.ok("journal --output json").json
    again = shell(f"copy-records --resume {entry['id']}")
    assert (again.status, "is complete" in again.err) == (1, True), str(again)


def test_an_entry_is_continued_by_one_process_and_not_while_it_is_applied(
    sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, shell = _topic(cluster), Shell(tmp_path, sandbox.bootstrap)
    resume = _interrupted(shell, monkeypatch, source, target)
    (entry,) = list(tmp_path.rglob("journal/*/*.json"))
    with entry.with_suffix(".lock").open("w") as lock:  # as the process that still copies
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = shell(resume)
    assert refused.status == 1 and "still being applied by another process" in refused.err
    assert _end(cluster, target) == 40 and len(list(tmp_path.rglob("journal/*/*.json"))) == 1
    refused = shell(f"{resume} --keep-timestamps")
    assert (refused.status, "cannot be used with" in refused.err) == (2, True), str(refused)
    shell.ok(resume)
    before, after = contents(read_all(cluster, source)), contents(read_all(cluster, target))
    assert set(after) == set(before)
    assert len(after) == len(before) + 40, "the window that was not confirmed is copied again"
    assert not list(tmp_path.rglob("journal/*/*.lock"))


def test_aborted_and_open_transactions_are_not_copied(
    kafka: Program, cluster: Cluster, source: str
) -> None:
    where = TopicPartition(source, 1)
    target = _topic(cluster)
    aborted = Producer.start(cluster, f"{source}-aborted")
    aborted.add(where)
    aborted.write(where)
    aborted.end(commit=False)
    kafka.ok("copy-records", source, "--to-topic", target)
    assert contents(read_all(cluster, target)) == [
        each for each in contents(read_all(cluster, source)) if each[0] != 1
    ]


def test_what_follows_an_open_transaction_is_not_left_out_in_silence(
    kafka: Program, cluster: Cluster, source: str
) -> None:
    where, target = TopicPartition(source, 2), _topic(cluster)
    open_ = Producer.start(cluster, f"{source}-open")
    open_.add(where)
    open_.write(where)
    Writer(cluster, source).write({2: [NewRecord(b"after", b"")] * 2})
    said = f"partition {where}: an open transaction begins at offset 40;"
    run = kafka.ok("copy-records", source, "--to-topic", target)
    assert f"{said} 3 offsets from there are not copied" in run.stderr, run.stderr
    nothing = kafka.ok("copy-records", source, "--to-topic", target, "--from", "42")
    assert f"{said} 1 offset from there is not copied" in nothing.stderr, nothing.stderr
    committed = ("read-records", source, "--isolation-level", "read_committed")
    for options, unread in (
        (("--count",), "3 offsets from there are not read"),
        (("--last", "1"), "3 offsets from there are not read"),
        (("--from", "41"), "2 offsets from there are not read"),
        (("--to", "41"), "1 offset from there is not read"),
        (("--from", "latest"), ""),
        (("--to", "40"), ""),
    ):
        run = kafka.ok(*committed, *options)
        assert (f"{said} {unread}\n" in run.stderr) == bool(unread), run.stderr
    open_.end(commit=False)
    wait_for(
        "the transaction is aborted",
        lambda: "transaction" not in kafka.ok(*committed, "--count").stderr,
    )


def test_what_is_written_after_the_plan_is_not_copied(
    sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path
) -> None:
    """The source grows while the question waits for its answer."""
    target = _topic(cluster)
    shell = Shell(tmp_path, sandbox.bootstrap)
    shell.profile("prod", sandbox.bootstrap, guard="confirm")
    asked = []

    class Answer(str):
        def strip(self, chars: str | None = None) -> str:  # when it is asked for
            Writer(cluster, source).write({1: [NewRecord(b"late", b"")]})
            asked.append(1)
            return "y"

    run = shell(f"copy-records {source} --to-topic {target} --profile prod", answer=Answer("y"))
    assert run.status == 0 and asked == [1], str(run)
    assert len(read_all(cluster, target)) == 43 and len(read_all(cluster, source)) == 44


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("{source} --to-topic {source}", 1, "cannot be copied to itself"),
        ("{source} --to-topic nosuch-topic", 1, "nosuch-topic"),
        ("nosuch-topic --to-topic {source}", 1, "nosuch-topic"),
        ("{source}:7 --to-topic {target}", 1, "has no partition 7"),
        ("{source}", 2, "--to-topic"),
        ("--to-topic {target}", 2, "source"),
        ("{source} --to-topic {target} --to 5 --to-offset 5", 2, "cannot be used with"),
        ("{source} --to-topic {target} --where nonsense", 2, "nonsense"),
        ("--resume 00000000", 1, "does not exist"),
        ("{source} --to-topic {target} --from latest", 0, "no records to copy"),
        ("{source} --to-topic {source} --to-profile here", 1, "cannot be copied to itself"),
    ],
)
def test_what_is_refused(
    sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path,
    words: str, status: int, message: str,
) -> None:  # fmt: skip
    target = _topic(cluster)
    shell = Shell(tmp_path, sandbox.bootstrap)
    shell.profile("here", sandbox.bootstrap)
    run = shell(f"copy-records {words.format(source=source, target=target)}")
    assert run.status == status and message in run.err, str(run)
    assert not read_all(cluster, target)


@pytest.mark.parametrize(
    ("how", "partitions"), [(signal.SIGINT, 3), (signal.SIGKILL, 4)], ids=["Ctrl-C", "crash"]
)
def test_a_copy_that_ended_in_the_middle_is_continued(
    sandbox: Sandbox, cluster: Cluster, tmp_path: Path, how: signal.Signals, partitions: int
) -> None:
    """Nothing is lost, and only the window that was being written is copied twice."""
    source = _topic(cluster)
    fill(cluster, source, MANY, size=1_000)
    target = _topic(cluster, partitions)
    home = Process(tmp_path, sandbox.bootstrap)
    command = [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap, "copy-records",
               source, "--to-topic", target]  # fmt: skip
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, env=home.environment(), text=True
    ) as run:
        wait_for("something is copied", lambda: _end(cluster, target) > 0)
        run.send_signal(how)
        assert run.stderr is not None
        err = run.stderr.read()
    assert 0 < _end(cluster, target) < MANY, err
    (entry,) = home.ok("journal", "--output", "json").json
    assert entry["continuation"] == f"copy-records --resume {entry['id']}"
    assert entry["status"] == ("intent" if how is signal.SIGKILL else "failed"), entry
    if how is signal.SIGINT:
        assert run.returncode == 130 and f"copy-records --resume {entry['id']}" in err
    continued = home.ok("copy-records", "--resume", entry["id"])
    assert "the last 8MiB of records may be copied twice" in continued.stderr
    before, after = read_all(cluster, source), read_all(cluster, target, partitions)
    assert {each.value for each in after} == {each.value for each in before}
    assert len(after) - MANY < MANY / 2, "more than a window is copied again"
    if partitions == 3:
        assert set(contents(after)) == set(contents(before))
    again = home("copy-records", "--resume", entry["id"])
    assert again.status == 1 and "was continued by" in again.stderr


def _interrupted(shell: Shell, monkeypatch: pytest.MonkeyPatch, source: str, target: str) -> str:
    """Copy one of two partitions, and end after it was written, before its response has arrived.
    Returns the command that continues the copy."""
    own = Writer.write

    class Ended(BaseException):
        pass

    def write(self: Writer, records: dict[int, list[NewRecord]], **more: bool) -> None:
        own(self, {2: records[2]}, **more)
        raise Ended

    with monkeypatch.context() as patch, pytest.raises(Ended):
        patch.setattr(copying.Writer, "write", write)
        shell(f"copy-records {source} --to-topic {target}")
    (entry,) = shell.ok("journal --output json").json
    return f"copy-records --resume {entry['id']}"


@pytest.mark.parametrize("which", ["source", "target"])
def test_a_topic_that_was_created_again_is_another_topic(
    sandbox: Sandbox,
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    which: str,
) -> None:
    both = {"source": _topic(cluster), "target": _topic(cluster)}
    fill(cluster, both["source"], 60)
    shell = Shell(tmp_path, sandbox.bootstrap)
    resume = _interrupted(shell, monkeypatch, both["source"], both["target"])
    again = both[which]
    done(topics.plan_delete(cluster, [again]), cluster)
    wait_for("it is deleted", lambda: is_missing(cluster, again))
    make_topic(cluster, again, partitions=3)
    run = shell(resume)
    said = f"topic {again} was recreated since the copy began"
    assert (run.status, said in str(run)) == (1, True), str(run)


class Nothing:
    """A filter that no record matches, as if compaction had deleted all of them since."""

    def may_keep(self, data: bytes) -> bool:
        return False

    def keeps(self, record: Record) -> bool:
        return False


def test_a_copy_of_nothing_says_so(cluster: Cluster, source: str) -> None:
    """What was planned is not called copied."""
    step = replace(_step(cluster, source, _topic(cluster)), decoder=Decoder(Nothing()))
    (change,) = step.send(cluster, validate_only=False).values
    assert (change.records, change.field) == (0, "no records"), change
    assert change.note == "the records no longer exist in the source"
