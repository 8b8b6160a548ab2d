"""Health of three brokers in an outage: the cause first, in at most eight lines."""

from __future__ import annotations

import shutil
from pathlib import Path

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.outages import frozen, stopped, wait_until_healthy, wait_until_noticed
from tests.support.program import Program, Run
from tests.support.waiting import applied, wait_for

SHORT = 8  # lines


def told(program: Program) -> Run:
    run = program("health")
    assert run.status == 1 and len(run.lines) <= SHORT, str(run)
    return run


def test_a_broker_that_stopped(
    kafka_on_three: Program, three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    lost = next(id for id in (1, 2, 3) if id != quorum.describe(three).leader)
    other = lost % 3 + 1
    make_topic(three, name, assignment=((lost,),))
    make_topic(three, f"{name}-2", assignment=((lost, other),))
    wait_until_healthy(three)
    with stopped(three_brokers, lost):
        wait_until_noticed(three, [lost])
        text = told(kafka_on_three).stdout
        assert f"broker {lost} is down (broker and controller): 1 partition offline, " in text
        assert "the quorum tolerates no further failure" in text
        details = kafka_on_three("health", "--verbose").stdout
        assert f"{name}:0" in details and f"controller {lost} is not responding" in details
        found = kafka_on_three("health", "--output", "json").json["findings"]
        assert {each["cause"] for each in found} >= {"", "brokers"}


def test_a_broker_that_hangs(
    kafka_on_three: Program, three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    lost = next(id for id in (2, 3) if id != quorum.describe(three).leader)
    make_topic(three, name, assignment=((lost, 1),))
    wait_until_healthy(three)
    with frozen(three_brokers, lost):
        text = told(kafka_on_three).stdout
        assert f"broker {lost} is " in text and "(broker and controller)" in text
        wait_until_noticed(three, [lost])
        fenced = f"broker {lost} is fenced and not responding (broker and controller): "
        assert fenced in told(kafka_on_three).stdout


def test_a_log_directory_that_failed(
    kafka_on_three: Program, three_brokers: Sandbox, three: Cluster, name: str, tmp_path: Path
) -> None:
    """The last test: the directory does not come back."""
    wait_until_healthy(three)
    lost = log_dirs.describe(three, [3])[3][1].path
    shutil.move(lost, tmp_path / "gone")
    make_topic(three, name, assignment=((3, 1),) * 8)
    applied(three)
    wait_for(
        "the cause is told",
        lambda: "broker 3 has 1 offline log directory: " in told(kafka_on_three).stdout,
    )
