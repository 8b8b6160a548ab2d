"""Writing to partitions that cannot be written to: the reason is said, and waiting is not vain."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.sandbox import config
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.session import options_from
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, described, make_topic
from tests.support.outages import processes, start_all, wait_until_back
from tests.support.program import Process, Program
from tests.support.waiting import wait_for

HOST = "kafka.internal.invalid"


@pytest.fixture(scope="module")
def misnamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker that advertises a name that does not resolve."""
    folder = tmp_path_factory.mktemp("misnamed")
    own = config.node_settings

    def advertised(*args: Any) -> dict[str, str]:
        return own(*args) | {"advertised.listeners": f"PLAINTEXT://{HOST}:9092"}

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "node_settings", advertised)
            sandbox = start(options_from(folder, port=0))
        with connect(sandbox) as cluster:
            cluster.brokers()  # whose broker forwards the changes
            make_topic(cluster, "t")
            make_topic(cluster, "full")
        yield sandbox
    finally:
        wipe(folder)


@pytest.mark.parametrize(
    "words", [("produce", "t", "v"), ("copy-records", "full", "--to-topic", "t")]
)
def test_a_leader_whose_name_does_not_resolve_ends_it_without_waiting(
    misnamed: Sandbox, tmp_path: Path, words: tuple[str, ...]
) -> None:
    run = Program(tmp_path / "home", misnamed.bootstrap)(*words)
    assert run.status == 1, str(run)
    assert f"broker 1 ({HOST}:9092) cannot be reached at its advertised address" in run.stderr
    assert "waiting" not in run.stderr and "outcome" not in run.stderr, str(run)


def test_too_few_in_sync_replicas_are_named_and_no_unknown_outcome(
    three_brokers: Sandbox, three: Cluster, tmp_path: Path
) -> None:
    configs = (("min.insync.replicas", "2"),)
    topic = make_topic(three, f"un-{uuid4().hex[:8]}", assignment=((1, 3),), configs=configs)
    source = make_topic(three, f"us-{uuid4().hex[:8]}", assignment=((1,),))
    home = Process(tmp_path, three_brokers.bootstrap)
    Program(tmp_path / "home", three_brokers.bootstrap).ok("produce", source, "v")
    try:
        os.kill(processes(three_brokers)[3] or 0, signal.SIGKILL)
        wait_for("broker 3 leaves the ISR", lambda: _isr(three, topic) == [1])
        for words in (("produce", topic, "v"), ("copy-records", source, "--to-topic", topic)):
            with subprocess.Popen(
                [sys.executable, "-m", "kafka_shell", "--broker", three_brokers.bootstrap, *words],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=home.environment(),
            ) as run:  # fmt: skip
                assert run.stderr is not None
                said = next((line for line in run.stderr if line.startswith("waiting")), "")
                run.send_signal(signal.SIGINT)
                out, err = run.communicate(timeout=60)
            assert said == f"waiting for partition {topic}:0 (not enough in-sync replicas)\n"
            assert (run.returncode, out) == (130, ""), err
            assert "interrupted: 0 records written\n" in err and "sent, but" not in err, err
    finally:
        start_all(three_brokers)
        wait_until_back(three_brokers)


def _isr(cluster: Cluster, topic: str) -> list[int]:
    return list(described(cluster, topic).partitions[0].isr)
