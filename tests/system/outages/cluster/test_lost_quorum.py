"""Two of three controllers hang: known data is shown, nothing is answered from old metadata without
a word, and no change is made."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.probes import why_out_of_date
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, make_topic
from tests.support.outages import frozen
from tests.support.program import Process, Program, Run
from tests.support.waiting import applied, wait_for

LOST = "the metadata quorum could not be described"


@pytest.fixture(scope="module")
def lone_broker(three_brokers: Sandbox, three: Cluster) -> Iterator[Sandbox]:
    """The only broker that responds, which has not led the quorum."""
    leader = quorum.describe(three).leader
    alive = next(broker for broker in three_brokers.brokers if broker.id != leader)
    lost = [broker.id for broker in three_brokers.brokers if broker.id != alive.id]
    make_topic(three, "half-lost", assignment=((alive.id, lost[0]),))
    applied(three)
    lone = replace(three_brokers, brokers=(alive,))
    with frozen(three_brokers, *lost):
        with connect(lone) as cluster:
            wait_for("no controller responds", lambda: why_out_of_date(cluster) is not None)
        yield lone


def at_once(program: Process, *lines: str) -> list[Run]:
    """The runs of these lines, which all wait at the same time."""
    with ThreadPoolExecutor(len(lines)) as pool:
        return list(pool.map(lambda line: program(*line.split()), lines))


def test_health_names_the_cause_at_once(
    three_brokers: Sandbox, three: Cluster, tmp_path: Path
) -> None:
    """The leader of the quorum still describes it for a few seconds."""
    leader = quorum.describe(three).leader
    others = [broker.id for broker in three_brokers.brokers if broker.id != leader]
    with frozen(three_brokers, *others):
        run = Program(tmp_path, three_brokers.bootstrap)("health", "--probe-timeout", "500ms")
    assert "so the metadata quorum has no majority: " in run.lines[2], str(run)


def test_commands_show_known_data_and_report_what_is_out_of_date(
    lone_broker: Sandbox, tmp_path: Path
) -> None:
    run, listed, *unread = at_once(
        Process(tmp_path, lone_broker.bootstrap), "health --output json", "cluster-metadata",
        "describe-quorum", "cluster-metadata --quorum",
        "describe-topic --under-replicated-partitions", "describe-topic --unavailable-partitions",
    )  # fmt: skip
    assert run.status == 1, str(run)
    told = {(each["severity"], each["check"]): each for each in run.json["findings"]}
    assert "not responding" in str(told["critical", "brokers"]["summary"])
    first = run.json["findings"][0]
    assert (first["check"], first["cause"]) == ("quorum", "brokers"), "the cause is the first"
    assert "the metadata quorum has no majority (controllers " in first["summary"], first
    assert not first["see"], "describe-quorum would fail, too"
    assert ("not_checked", "moves") in told, "it takes the controller"
    assert listed.status == 1, str(listed)
    assert "controller unknown" in listed.stdout and "not read: controller" in listed.stdout
    for none in unread[:2]:
        assert none.status == 1, str(none)
        assert LOST in none.stderr and "health" in none.stderr and not none.stdout, str(none)
    for none in unread[2:]:
        assert none.status == 1, str(none)
        assert "STALE_METADATA" in none.stderr and "no topic matches" not in none.stderr


def test_health_names_the_cause_in_a_few_lines(lone_broker: Sandbox, tmp_path: Path) -> None:
    run = Program(tmp_path, lone_broker.bootstrap)("health")
    assert run.status == 1 and len(run.lines) <= 8, str(run)
    first, second = sorted({1, 2, 3} - {lone_broker.brokers[0].id})
    lost = f"brokers {first}, {second} are not responding, so the metadata quorum has no majority: "
    assert lost in run.lines[2], str(run)
    assert run.stdout.count("not responding") == 1, str(run)


def test_no_active_controller_is_named_and_ctrl_c_changes_nothing(
    lone_broker: Sandbox, tmp_path: Path
) -> None:
    line = [sys.executable, "-m", "kafka_shell", "--broker", lone_broker.bootstrap,
            "create-topic", "t"]  # fmt: skip

    def begin(*options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*line, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=Process(tmp_path, lone_broker.bootstrap).environment(),
        )  # fmt: skip

    complete = ("--partitions", "1", "--replication-factor", "1")
    with begin() as first, begin(*complete) as second, begin() as stopped:
        assert stopped.stderr is not None
        assert stopped.stderr.readline().startswith("waiting for ")
        stopped.send_signal(signal.SIGINT)
        _, err = stopped.communicate(timeout=60)
        assert stopped.returncode == 130 and "interrupted: nothing was changed\n" in err, err
        for run in (first, second):
            out, err = run.communicate(timeout=100)
            assert (run.returncode, out) == (1, ""), err
            assert f"no active controller responds: broker {lone_broker.brokers[0].id} " in err, err
            assert "has forwarded CreateTopics to it for 10 s" in err, err
