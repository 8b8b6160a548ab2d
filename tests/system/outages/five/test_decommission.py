"""`decommission` of one of five brokers, in one run and in several. Each test brings it back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target, list_tasks
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.live.test_readme import python_example
from tests.support import reassigned_topics
from tests.support.changes import make_topic
from tests.support.decommission_process import (
    STOP_IT,
    decommission,
    dynamic_configs,
    held,
    is_cordoned,
    is_registered,
)
from tests.support.in_process_shell import Shell
from tests.support.program import Program
from tests.support.reassigned_topics import put
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.waiting import wait_for


def topic(cluster: Cluster, *assignment: tuple[int, ...]) -> str:
    return make_topic(cluster, f"retire.{uuid4().hex[:8]}", assignment=assignment)


def steps(found: dict[str, object]) -> dict[str, str]:
    rows = found["steps"]
    assert isinstance(rows, list)
    return {row["name"]: row["state"] for row in rows}


def test_a_broker_is_removed_after_an_interruption(
    five: Cluster, five_brokers: Sandbox, kafka_on_five: Program
) -> None:
    kafka = kafka_on_five
    name = topic(five, (5, 1), (2, 5), (1, 2))
    reassigned_topics.fill(five_brokers, name, 400_000)
    put(five, ConfigResource(ResourceType.BROKER, "5"), "log.cleaner.threads", "2")

    previewed = kafka.ok("decommission", "5", "--dry-run", "--batch", "1")
    assert "cordoned.log.dirs" in previewed.stdout and f"{name}:0" in previewed.stdout, previewed
    assert re.search(r"\b[0-9]+ batches\b", previewed.stdout), previewed
    assert not is_cordoned(five, 5)

    with decommission(kafka, "5 --throttle 100MB/s --batch 1") as run:
        run.said(STOP_IT, 180)
        assert held(five, 5) == []
        assert is_cordoned(five, 5)
        assert reassigned_topics.throttles(five, name, brokers=(1, 2, 3, 4, 5)) == {}
        assert run.interrupt() == 130, run
        assert "To continue: decommission 5 --throttle 100MB/s --batch 1 --yes" in run.err
        assert "--resume" not in run.err
        assert "To undo: decommission 5 --undo" in run.err

    undone = kafka.ok("decommission", "5", "--undo")
    assert "replicas that were moved off broker 5 stay where they are" in undone.stderr
    wait_for("broker 5 is not cordoned", lambda: not is_cordoned(five, 5))

    with decommission(kafka, "5 --output json") as run:
        run.said(STOP_IT)
        stop_broker(five_brokers.folder, 5)
        assert run.ended() == 0, run
        assert set(steps(json.loads(run.out)).values()) <= {"done", "skipped"}, run
    assert not is_registered(five, 5)
    assert sorted(reassigned_topics.replicas(five, name)[2]) == [1, 2], "what stays is not touched"

    again = kafka.ok("decommission", "5")  # nothing is left, so nothing is asked
    assert "nothing is left to remove" in again.stdout, again
    start_broker(five_brokers.folder, 5)
    assert dynamic_configs(five, 5) == {}


def test_all_configs_of_a_stopped_broker_are_deleted_while_it_is_registered(
    five: Cluster, five_brokers: Sandbox, kafka_on_five: Program
) -> None:
    kafka = kafka_on_five
    broker = ConfigResource(ResourceType.BROKER, "4")
    put(five, broker, "log.cleaner.threads", "2")
    put(five, broker, reassigned_topics.RATE, "1000000")
    kafka("reassign-partitions", "--drain", "4", "--wait", "--yes")
    stop_broker(five_brokers.folder, 4)
    assert 4 not in scan(five).replica_ids()
    audited = [Target("five", bootstrap=five_brokers.bootstrap, config_file="/no/config.toml")]
    (listed,) = list_tasks(audited, [TABLES["broker_configs"]])
    assert [why.resource for _, why in listed.lost] == ["broker 4"], "an audit reports it"
    line = ("alter-configs", "--broker-id", "4", "--delete-config", "*", "--yes")
    kafka.ok(*line)
    kafka.ok("unregister-broker", "4", "--yes")
    late = kafka(*line)
    assert late.status == 1 and "only while it is registered" in late.stderr, late
    start_broker(five_brokers.folder, 4)
    assert dynamic_configs(five, 4) == {}


def test_nothing_is_cordoned_unless_it_is_confirmed_and_possible(
    five: Cluster, five_brokers: Sandbox, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, five_brokers.bootstrap)
    declined = shell("decommission 4", answer="n")
    assert declined.status == 1 and "not confirmed" in declined.err, declined
    silent = shell("decommission 4")
    assert silent.status == 2 and "--yes" in silent.err, silent
    everywhere = topic(five, (1, 2, 3, 4, 5))
    refused = shell("decommission 4 --yes")
    assert refused.status == 1, refused
    assert "1 topic cannot be moved" in refused.err and everywhere in refused.out, refused
    assert not is_cordoned(five, 4)
    shell.ok(f"delete-topic {everywhere} --yes")


def test_the_library_example_runs(five: Cluster, five_brokers: Sandbox) -> None:
    name = topic(five, (4, 1), (2, 4))
    names = {
        "BROKER": five_brokers.bootstrap,
        "stop_broker": lambda broker: stop_broker(five_brokers.folder, broker),
    }
    exec(compile(python_example("library.md", "decommission"), "library.md", "exec"), names)
    assert not is_registered(five, 4)
    start_broker(five_brokers.folder, 4)
    assert all(4 not in replicas for replicas in reassigned_topics.replicas(five, name))


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("decommission x", 2, "'x' is not a broker ID"),
        ("decommission 1 --undo --throttle 1MB/s", 2, "--throttle cannot be used with --undo"),
        ("decommission 1 --yes", 1, "broker 1 is the only running broker"),
    ],
)
def test_what_is_refused_at_once(shell: Shell, line: str, status: int, message: str) -> None:
    run = shell(line)
    assert (run.status, run.out) == (status, ""), str(run)
    assert message in run.err
