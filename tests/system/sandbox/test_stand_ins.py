"""Stand-in brokers: registered at a real controller, with topics, without processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox import cluster as cluster_module
from kafka_shell.sandbox.cluster import start, status, stop, wipe
from kafka_shell.sandbox.process import terminate
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.stand_ins import STOP_SECONDS, topic_names
from kafka_shell.sandbox.state import Sandbox, SandboxOptions, check_options
from kafka_shell.wire import metadata_scan
from tests.support.changes import connect, described, make_topic
from tests.support.waiting import wait_for

TOPICS, STAND_INS = 40, 5


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    folder = tmp_path_factory.mktemp("stand-ins")
    options = options_from(folder, port=0, topics=TOPICS, stand_in_brokers=STAND_INS)
    try:
        yield start_with_data(options, lambda task, done, total: None, empty=True)
    finally:
        wipe(folder)


def whole(sandbox: Sandbox) -> None:
    """The real broker serves, and shows all of the cluster in good health."""
    with connect(sandbox) as cluster:
        found = metadata_scan.scan(cluster)
        assert set(topic_names(TOPICS)) <= set(found.names)
        assert [broker.id for broker in found.brokers] == [1, *range(1001, 1001 + STAND_INS)]
        assert {broker.port for broker in found.brokers} == {int(sandbox.bootstrap.split(":")[1])}
        assert {broker.rack for broker in found.brokers} == {"rack-a", "rack-b", "rack-c"}
        ill = [s for s in found.summaries() if s.offline or s.under_replicated]
        assert ill == []
        topic = described(cluster, next(topic_names(1)))
        assert len(topic.partitions) == topic.replication_factor == 3
        assert 1 not in {node for p in topic.partitions for node in p.replicas}


def test_its_topics_are_on_stand_ins_and_kafkas_own_on_the_real_broker(large: Sandbox) -> None:
    whole(large)
    with connect(large) as cluster:
        offsets = described(cluster, "__consumer_offsets")
    assert {p.replicas for p in offsets.partitions} == {(1,)}


def running(folder: Path) -> bool:
    found = status(folder)
    return found is not None and found.running


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_it_comes_back(large: Sandbox, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "stopped":
        waits = list[float]()
        monkeypatch.setattr(
            cluster_module, "terminate",
            lambda running, patience: (waits.append(patience), terminate(running, patience)),
        )  # fmt: skip
        stop(large.folder)
        assert waits == [STOP_SECONDS], "a clean shutdown waits for stand-ins, which never respond"
    else:
        pid = start(options_from(large.folder)).brokers[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for("the broker is gone", lambda: not running(large.folder))
    back = start_with_data(options_from(large.folder), lambda task, done, total: None)
    whole(back)
    with connect(back) as cluster:
        name = make_topic(cluster, f"real-{how}", assignment=((1,), (1,)))
        assert {p.leader for p in described(cluster, name).partitions} == {1}


def test_names_are_many_different_and_always_the_same() -> None:
    names = list(topic_names(100_000))
    assert len(set(names)) == 100_000
    assert names[:40] == list(topic_names(40))
    assert len({name.split(".")[0] for name in names[:200]}) == 20


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            SandboxOptions(secure=True, stand_in_brokers=3),
            "cannot be used with --secure or --brokers",
        ),
        (
            SandboxOptions(brokers=3, stand_in_brokers=3),
            "cannot be used with --secure or --brokers",
        ),
        (SandboxOptions(topics=5), "require stand-in brokers"),
        (SandboxOptions(topics=-1, stand_in_brokers=3), "must not be negative"),
    ],
)
def test_invalid_stand_in_options_are_rejected(options: SandboxOptions, why: str) -> None:
    with pytest.raises(ShellError, match=why):
        check_options(options)


def test_another_size_is_another_sandbox(large: Sandbox) -> None:
    with pytest.raises(ShellError, match="topics on them: 40, not 50"):
        start(options_from(large.folder, topics=50, stand_in_brokers=STAND_INS))
    assert options_from(large.folder / "none", topics=1000).stand_in_brokers == 10
