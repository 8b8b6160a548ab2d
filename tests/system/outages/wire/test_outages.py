"""Brokers and controllers that hang, on three real ones: known data is shown, the rest is reported
as not checked, without long waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kafka.protocol.admin import ListGroupsRequest

from kafka_shell.admin.cluster import health, probes, quorum
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.probes import why_out_of_date
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.requests import Node
from tests.support.changes import done, make_topic
from tests.support.outages import frozen, hang, kill, start_all, wait_until_back
from tests.support.program import Process, Run


def program_at(sandbox: Sandbox, home: Path, *besides: int) -> Process:
    """Enters by a broker that does not hang."""
    broker = next(each for each in sandbox.brokers if each.id not in besides)
    return Process(home, f"127.0.0.1:{next(iter(broker.ports.values()))}")


def at_once(program: Process, *lines: str) -> list[Run]:
    """The runs of these lines, which all wait at the same time."""
    with ThreadPoolExecutor(len(lines)) as pool:
        return list(pool.map(lambda line: program(*line.split()), lines))


def findings(run: Run) -> dict[tuple[str, str], dict[str, object]]:
    return {(each["severity"], each["check"]): each for each in run.json["findings"]}


def test_a_broker_that_hangs_while_its_session_has_not_expired(
    three_brokers: Sandbox, three: Cluster, name: str, tmp_path: Path
) -> None:
    """The cluster still has it as a leader with all replicas in sync: only a probe can tell."""
    lost = next(id for id in (1, 2, 3) if id != quorum.describe(three).leader)
    other = lost % 3 + 1
    make_topic(three, name, assignment=((lost, other), (other, lost)))
    with frozen(three_brokers, lost):
        program = program_at(three_brokers, tmp_path, lost)
        run, listed, described = at_once(
            program, "health --output json", "brokers", f"broker {lost}"
        )
        assert run.status == 1, str(run)
        told = findings(run)
        silent = told["critical", "brokers"]
        assert silent["see"] == "cluster-metadata"
        # If it came to lead the quorum meanwhile, there is nobody to ask for the controllers.
        assert {("critical", "controllers"), ("critical", "quorum")} & told.keys(), str(run)
        if "fenced" not in str(silent["summary"]):  # the cluster has not noticed yet
            assert silent["summary"] == f"broker {lost} is not responding"
            assert str(silent["short"]).startswith("leads ")
            assert f"of broker {lost}" in str(told["not_checked", "brokers"]["summary"])
        assert "not responding" in listed.stdout or "fenced" in listed.stdout, str(listed)
        assert described.status == 1, str(described)
    done(topic_changes.plan_delete(three, [name]), three)


def test_a_session_that_was_connected_to_the_broker_that_hangs(
    three_brokers: Sandbox, three: Cluster
) -> None:
    """An open connection proves nothing: the probe makes one of its own."""
    lost = next(id for id in (1, 2, 3) if id != quorum.describe(three).leader)
    three.versions_of_brokers()  # connected to all
    with frozen(three_brokers, lost):
        told = health.health(three, probe_timeout=1.0)
        assert not told.ok
        assert any(f"broker {lost} is not responding" in each.summary for each in told.findings)


def test_a_request_to_a_broker_ends_when_it_leaves_the_cluster(
    three_brokers: Sandbox, three: Cluster
) -> None:
    """Before: it was sent again until the deadline, although another broker leads meanwhile."""
    lost = next(id for id in (1, 2, 3) if id != quorum.describe(three).leader)
    three.versions_of_brokers()  # connected to all
    try:
        hang(three_brokers, lost)  # so that the request is in flight for certain
        killer = threading.Timer(0.3, kill, (three_brokers, three, lost), {"noticed": False})
        killer.start()
        with pytest.raises(ShellError) as caught:
            three.send(ListGroupsRequest(), Node(lost), timeout=3600)
        killer.join()
        assert caught.value.code == "unknown-broker"
    finally:
        start_all(three_brokers)
        wait_until_back(three_brokers)


def test_progress_names_the_awaited_broker(three_brokers: Sandbox, three: Cluster) -> None:
    lost = next(id for id in (1, 2, 3) if id != quorum.describe(three).leader)
    tasks: list[str] = []
    with frozen(three_brokers, lost):
        health.health(three, report=lambda task, done, total: tasks.append(task))
    assert f"waiting for broker {lost}" in tasks


def test_filters_work_while_the_controller_responds(three: Cluster) -> None:
    assert why_out_of_date(three) is None


def test_probes_of_closed_ports_are_refused(three: Cluster) -> None:
    (broker, *_) = cluster_reads.metadata(three).brokers
    at = {broker.id: Address(broker.host, broker.port), 99: Address("127.0.0.1", 1)}
    found = probes.probe_brokers(three.config, at, 5.0)
    assert found.values == {broker.id: "4.3"}
    assert found.failures[99].name == "refused"
