"""copy-records copies exactly the planned records, once, despite failures and concurrent
changes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import copy as copying
from kafka_shell.admin.records import fetching
from kafka_shell.admin.records import write as writing
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.offsets import leader_log_end, ranges
from kafka_shell.admin.records.write import Writer, partition_of
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from tests.support import java_consumer
from tests.support.changes import connect, make_topic
from tests.support.copied_records import KEPT, MANY, NOON, _topic, contents, fill, named
from tests.support.in_process_shell import Shell
from tests.support.outages import hang, processes, start_all, wait_until_back, wake
from tests.support.program import Process, Program
from tests.support.read_records import read_all
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


def test_records_are_copied_unchanged(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, source: str
) -> None:
    target = _topic(cluster)
    kafka.ok("copy-records", source, "--to", target, "--keep-timestamps")
    before, after = (java_consumer.read(sandbox.bootstrap, each) for each in (source, target))
    assert [(r.partition, r.offset, r.timestamp, r.key, r.value, r.headers) for r in after] == [
        (r.partition, r.offset, r.timestamp, r.key, r.value, r.headers) for r in before
    ]
    (entry,) = kafka.ok("journal", "--output", "json").json
    assert sum(change["records"] for change in entry["changes"]) == 43
    undo = kafka("undo")
    assert undo.status == 1 and "irreversible" in undo.stderr


def test_other_partitions_are_chosen_by_key_and_headers_added(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, source: str
) -> None:
    target = _topic(cluster, 5)
    run = kafka.ok("copy-records", f"{source}:2", "--to", target, "--add-source-headers",
                   "--where", "value.n>=30", "--output", "json")  # fmt: skip
    assert sum(change["records"] for change in run.json["changes"]) == 10
    found = java_consumer.read(sandbox.bootstrap, target)
    assert {r.key: r.partition for r in found} == {
        b"k%d" % n: partition_of(b"k%d" % n, 5) for n in range(30, 40)
    }
    assert all(
        dict(r.headers) == {"copied-from": f"{source}:2:{(r.key or b'')[1:].decode()}".encode()}
        for r in found
    )
    assert min(r.timestamp for r in found) > NOON + 1_000


def test_records_are_copied_to_the_cluster_of_another_profile(
    sandbox: Sandbox, old_sandbox: Sandbox, cluster: Cluster, source: str, tmp_path: Path
) -> None:
    """The guard that counts is that of the target."""
    shell = Shell(tmp_path, sandbox.bootstrap)
    shell.profile("old", old_sandbox.bootstrap)
    shell.profile("frozen", old_sandbox.bootstrap, guard="read-only")
    with connect(old_sandbox) as old:
        target = make_topic(old, source, 3, configs=KEPT)
        refused = shell(f"copy-records {source} --to {target} --to-profile frozen")
        assert refused.status == 1 and "read-only" in refused.err
        shell.profile("free", old_sandbox.bootstrap, guard="none")
        run = shell(f"copy-records {source} --to {target} --to-profile free")
        assert run.status == 0, str(run)
        assert contents(read_all(old, target)) == contents(read_all(cluster, source))
    (entry,) = shell.ok("journal --output json").json
    assert entry["bootstrap"] == old_sandbox.bootstrap


def _interrupted(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    target: str,
    *,
    replaced: bool = False,
) -> str:
    """Copy one of two partitions, and end after it was written, before its response has arrived.
    Returns the command that continues the copy. `replaced`: the leader refuses the second half,
    which another producer then writes."""
    own = Writer.write

    class Ended(BaseException):
        pass

    def write(self: Writer, records: dict[int, list[NewRecord]], **more: bool) -> None:
        if replaced:
            own(self, {2: records[2][:20]}, **more)
            self._sequences[2].next += 1
            records = {2: records[2][20:]}
        own(self, {2: records[2]}, **more)
        raise Ended

    with monkeypatch.context() as patch, pytest.raises(Ended):
        patch.setattr(copying.Writer, "write", write)
        shell(f"copy-records {source} --to {target}")
    (entry,) = shell.ok("journal --output json").json
    return f"copy-records --resume {entry['id']}"


@pytest.mark.parametrize("returns", [True, False])
def test_what_is_written_but_not_replicated_yet_is_not_written_again(
    three_brokers: Sandbox,
    three: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    returns: bool,
) -> None:
    """Consumers cannot read it while a replica hangs, and two controllers of three with it: the
    third cannot drop that replica from the ISR."""
    source = make_topic(three, named(), assignment=((1,), (1,), (1,)), configs=KEPT)
    fill(three, source, 60)
    target = make_topic(three, named(), assignment=((1, 3), (1, 3), (1, 3)), configs=KEPT)
    shell, where = Shell(tmp_path, three_brokers.bootstrap), TopicPartition(target, 2)
    again = threading.Timer(3, wake, [three_brokers, 2, 3])
    hang(three_brokers, 2, 3)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(writing, "_REPLICATED_MS", 500)
            patch.setattr(writing, "_DELIVERY_S", 1.0)
            resume = _interrupted(shell, monkeypatch, source, target)
        assert ranges(three, [where])[where].latest == 0, "it is replicated"
        assert leader_log_end(three, where) == 20
        if returns:
            again.start()
            shell.ok(resume)
        else:
            monkeypatch.setattr(fetching, "PATIENCE_S", 1.0)
            run = shell(resume)
            said = f"partition {where} ends at offset 0 now, before 20"
            assert (run.status, said in str(run)) == (1, True), str(run)
            assert leader_log_end(three, where) == 20, "it has written records"
            return
    finally:
        again.cancel()
        wake(three_brokers, 2, 3)
        wait_until_back(three_brokers)
    assert contents(read_all(three, target)) == contents(read_all(three, source))


def test_a_broker_is_killed_during_a_copy(
    three_brokers: Sandbox, three: Cluster, tmp_path: Path
) -> None:
    source, target = _topic(three, factor=3), _topic(three, factor=3)
    fill(three, source, MANY, size=300)
    home = Process(tmp_path, three_brokers.bootstrap)
    command = [sys.executable, "-m", "kafka_shell", "--broker", three_brokers.bootstrap,
               "copy-records", source, "--to", target, "--output", "json"]  # fmt: skip
    try:
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=home.environment(),
            text=True,
        ) as run:
            wait_for("something is copied", lambda: _end(three, target) > 0)
            victim = processes(three_brokers)[2]
            assert victim is not None
            subprocess.run(["kill", "-9", str(victim)], check=True)
            out, err = run.communicate(timeout=200)
    finally:
        start_all(three_brokers)
        wait_until_back(three_brokers)
    assert run.returncode == 0, err
    assert sum(change["records"] for change in json.loads(out)["changes"]) == MANY
    assert contents(read_all(three, target)) == contents(read_all(three, source))
