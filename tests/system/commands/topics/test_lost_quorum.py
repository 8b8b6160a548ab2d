"""Creating a topic while no controller is active."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.outages import frozen
from tests.support.program import Process
from tests.support.waiting import wait_for


@pytest.fixture
def lone_broker(three_brokers: Sandbox) -> Iterator[str]:
    """The address of the only broker that responds of three, each with a controller."""
    address = three_brokers.bootstrap.split(",")[0]
    with frozen(three_brokers, 2, 3):
        wait_for("the active controller resigns", lambda: _has_no_controller(address))
        yield address


def _has_no_controller(address: str) -> bool:
    with Cluster(ConnectionConfig(parse_addresses(address))) as cluster:
        try:
            with cluster.within(2):
                quorum.describe(cluster)
        except ShellError:
            return True
    return False


def test_no_active_controller_is_named_and_ctrl_c_changes_nothing(
    lone_broker: str, tmp_path: Path
) -> None:
    line = [sys.executable, "-m", "kafka_shell", "--broker", lone_broker, "create-topic", "t"]

    def begin(*options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*line, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=Process(tmp_path, lone_broker).environment(),
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
            assert "no active controller responds: broker 1 " in err, err
            assert "has forwarded CreateTopics to it for 10 s" in err, err
