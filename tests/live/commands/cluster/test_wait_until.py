"""`wait-until`: a condition becomes true, or the deadline passes."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.group_data import RECORDS, commit, filled, forget
from tests.support.in_process_shell import Shell
from tests.support.program import Program


@pytest.fixture(scope="module")
def topic(cluster: Cluster, sandbox: Sandbox) -> str:
    return filled(sandbox, cluster, f"wait-{uuid4().hex[:8]}", 1)


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"a < 1 'b' {uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def line(group: str, condition: str, deadline: str = "20s") -> str:
    return f'wait-until "lag {group} {condition}" --deadline {deadline}'


def test_a_condition_that_is_true(shell: Shell, cluster: Cluster, group: str, topic: str) -> None:
    commit(cluster, group, topic, 3)
    assert shell.ok(line(group, "< 8")).out == f"the lag of group {group} is 7 records\n"
    assert shell.ok(line(group, "<= 7")).out
    assert shell.ok(line(f"{group[:3]}*", "<= 7")).out
    commit(cluster, group, topic, RECORDS)
    assert shell.ok(line(group, "< 1s")).out == f"the lag of group {group} is <1s\n"


def test_the_deadline_passes(shell: Shell, cluster: Cluster, group: str, topic: str) -> None:
    commit(cluster, group, topic, 3)
    run = shell(line(group, "< 7", "2s"))
    assert run.status == 1 and not run.out
    assert f"deadline exceeded: the lag of group {group} is 7 records" in run.err
    run = shell(line(group, "< 1h", "2s"))
    assert run.status == 1 and f"the lag of group {group} is 20," in run.err, run
    commit(cluster, group, topic, RECORDS + 5)
    run = shell(line(group, "< 7", "2s"))
    assert run.status == 1 and f"the lag of group {group} is unknown" in run.err, run


def test_a_group_that_does_not_exist_yet(
    shell: Shell, cluster: Cluster, group: str, topic: str
) -> None:
    tasks: list[str] = []

    def report(task: str, done: int, total: int | None) -> None:
        tasks.append(task)
        commit(cluster, group, topic, 8 if len(tasks) == 1 else 10)

    shell.report = report
    assert shell.ok(line(group, "< 1")).out == f"the lag of group {group} is 0 records\n"
    assert tasks[:2] == [
        f"waiting (group {group} does not exist)",
        f"waiting (the lag of group {group} is 2 records)",
    ]  # fmt: skip
    run = shell(line("no-such-*", "< 5", "1s"))
    assert run.status == 1 and "no group matches 'no-such-*'" in run.err


def test_ctrl_c_ends_it(shell: Shell, cluster: Cluster, group: str, topic: str) -> None:
    commit(cluster, group, topic, 3)
    shell.report = lambda task, done, total: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        shell(f'wait-until "lag {group} < 1"')


def test_no_broker(shell: Shell) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    for condition in ("healthy", "'lag g < 1'"):
        run = shell(f"wait-until {condition} --broker 127.0.0.1:{port} --deadline 2s")
        assert run.status == 3 and "deadline exceeded" in run.err, run
    silent.close()
    run = shell(f"wait-until healthy --broker 127.0.0.1:{port} --deadline 2s")
    assert run.status == 3 and f"127.0.0.1:{port} refused the connection" in run.err, run


def test_a_missing_permission_ends_it(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    program = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    alice = str(secure_sandbox.client_properties["alice-sasl-plaintext"])
    run = program("wait-until", "lag g < 1", "--command-config", alice)
    assert run.status == 1 and "DESCRIBE on group g" in run.stderr, run


def test_healthy(shell: Shell) -> None:
    assert shell.ok("wait-until healthy --deadline 30s").out == "healthy\n"
