"""One broker of three hangs: data of the others is shown, with an error for it."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import Call, Node
from tests.support.changes import connect, described
from tests.support.in_process_shell import Answer, Shell
from tests.support.outages import frozen, silent
from tests.support.waiting import wait_for

TOPIC = "frozen.orders"


@pytest.fixture(scope="module")
def served(three_brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A topic with a leader on each broker, and groups with offsets in it."""
    shell = Shell(tmp_path_factory.mktemp("home"), three_brokers.bootstrap)
    shell.ok(f"create-topic {TOPIC} --replica-assignment 1:2,2:3,3:1")
    for number in range(6):  # some for each coordinator
        shell.ok(f"reset-offsets frozen-{number} --topic {TOPIC} --to-offset 0 --yes")
    wait_for("every partition has its leader", lambda: leaders(three_brokers) == {1, 2, 3})
    return shell


def leaders(sandbox: Sandbox) -> set[int | None]:
    with connect(sandbox) as cluster:
        return {each.leader for each in described(cluster, TOPIC).partitions}


@pytest.fixture
def mute(served: Shell, three_brokers: Sandbox) -> Iterator[Shell]:
    """Broker 3 takes connections and never says a word."""
    with silent(three_brokers) as two:
        yield Shell(served.home, two.bootstrap)


LINES = {
    "describe-log-dirs": "node-1",
    f"describe-log-dirs {TOPIC}": TOPIC,
    "describe-log-dirs --by topic": TOPIC,
    "list-groups": "frozen-",
    "describe-group": "frozen-",
    f"list-offsets {TOPIC}": f"{TOPIC}",
    f"describe-producers {TOPIC}": "",
    "find-hanging-transactions": "",
    "describe-configs --broker-id 1,2,3 log.dirs": "node-1",
    "describe-features": "metadata.version",
    "api-versions": "Produce",
    f"delete-records {TOPIC} --to latest --dry-run": "",
}


def test_the_others_answers_are_shown(mute: Shell) -> None:
    with ThreadPoolExecutor(len(LINES)) as pool:  # they all wait at the same time
        runs = pool.map(lambda line: mute(f"{line} --deadline 6s"), LINES)
    for run, shown in zip(runs, LINES.values(), strict=True):
        assert run.status == 1, str(run)
        assert shown in run.out, str(run)
        assert "internal" not in run.err, str(run)


def test_the_api_versions_of_the_others_are_compared(mute: Shell) -> None:
    run = mute("api-versions --differences --deadline 3s")
    assert run.status == 1
    assert "no differences found; brokers compared: 1, 2" in run.err, str(run)
    assert "broker 3" in run.err


def test_list_offsets_has_the_rows_of_the_others(mute: Shell) -> None:
    run = mute(f"list-offsets {TOPIC} --output json --deadline 3s")
    assert {row["partition"] for row in rows(run)} == {0, 1}, str(run)
    assert f"{TOPIC}:2" in run.err


def test_alter_log_dirs_names_brokers_that_did_not_answer(mute: Shell) -> None:
    run = mute(f"alter-log-dirs {TOPIC} --log-dir /nowhere --dry-run --deadline 3s")
    assert run.status == 1
    assert "no broker that responded has log directory /nowhere" in run.err, str(run)
    assert "broker 3" in run.err


def test_alter_log_dirs_refuses_the_one_and_moves_the_others(
    mute: Shell, three_brokers: Sandbox
) -> None:
    here = three_brokers.folder / "node-1" / "data-b"
    run = mute(f"alter-log-dirs {TOPIC} --log-dir {here} --dry-run --deadline 3s")
    assert run.status == 1
    assert "broker 3" in run.err + run.out and f"{TOPIC}:0" in run.out, str(run)


def test_without_a_deadline_the_second_request_does_not_wait_as_long(mute: Shell) -> None:
    """A broker that did not answer within the connection timeout gets two seconds after that."""
    run = mute(f"list-offsets {TOPIC}")  # two requests to each leader
    assert run.status == 1
    assert "deadline" not in run.err, "a longer one would change nothing"
    assert "Increase the deadline" in mute(f"list-offsets {TOPIC} --deadline 3s").err


def test_the_whole_wait_for_a_silent_broker_is_reported(mute: Shell, tmp_path: Path) -> None:
    """Several requests are sent to it, and all but the first are given up after two seconds."""
    file = tmp_path / "move.json"
    move = {"topic": TOPIC, "partition": 0, "replicas": [1, 3]}
    file.write_text(json.dumps({"version": 1, "partitions": [move]}))
    run = mute(f"reassign-partitions --reassignment-json-file {file} --throttle 1MB/s --dry-run"
               " --deadline 9s")  # fmt: skip
    assert run.status == 1
    waited = re.search(r"throttle of broker 3 .* after waiting ([\d.]+) s", run.err)
    assert waited and 3 <= float(waited[1]) <= 9, str(run)


def test_increasing_the_deadline_is_advised_only_if_one_was_given(mute: Shell) -> None:
    """The limit of what the program does is no deadline of the user."""
    with Cluster(ConnectionConfig(parse_addresses(mute.bootstrap))) as cluster:
        cluster.brokers()
        for given, said in ((False, "timed out after waiting"), (True, "deadline exceeded after")):
            with cluster.within(1, given=given):
                [failure] = cluster.send_all([Call(None, Node(3))])
            assert failure.message.startswith(said), failure
            assert failure.hint == ("Increase the deadline." if given else ""), failure


def test_figures_that_lack_a_broker_are_marked(mute: Shell) -> None:
    """The last is by broker: a row for the one that was not read, and complete rows otherwise."""
    line = f"describe-log-dirs {TOPIC} --deadline 3s"
    by_topic = mute(f"{line} --by topic --output json")
    by_broker = mute(f"{line} --by broker --output json")
    table = mute(f"{line} --by topic")
    features = mute("describe-features --output json --deadline 3s")
    levels = mute("describe-features --deadline 3s")
    assert {run.status for run in (by_topic, by_broker, table, features, levels)} == {1}
    [row] = rows(by_topic)
    assert (row["replicas"], row["unread_replicas"]) == (4, 2), str(by_topic)
    unread = {row["broker"]: row["unread_replicas"] for row in rows(by_broker)}
    assert unread == {1: 0, 2: 0, 3: 2}, str(by_broker)
    assert " 4+ " in table.out, str(table)
    assert {tuple(row["unread"]) for row in json.loads(features.out)["features"]} == {(3,)}
    assert levels.out.count("broker 3: unknown") == levels.out.count(".version"), str(levels)


def test_a_broker_that_hangs_for_real(served: Shell, three_brokers: Sandbox) -> None:
    """The broker that hangs has its row and its reason. The quorum has two of its three voters, or
    is electing a leader: then that it was not read is said."""
    shell = Shell(served.home, ",".join(served.bootstrap.split(",")[:2]))
    with frozen(three_brokers, 3):
        listed = shell("brokers --output json")
        told = shell("describe-quorum")
        dirs = shell("describe-log-dirs --deadline 6s --output json")
    served(f"preferred-replica-leader-election {TOPIC}")
    assert listed.status == 1, str(listed)
    states = {each["id"]: each["state"] for each in json.loads(listed.out)["brokers"]}
    assert states == {1: "up", 2: "up", 3: "not responding"}, str(listed)
    assert "broker 3" in json.loads(listed.out)["not_read"][0], str(listed)
    if told.status:
        assert "the metadata quorum could not be described" in told.err, str(told)
    else:
        assert "leader" in told.out and "leader 3" not in told.out, str(told)
    assert dirs.status == 1
    assert {row["broker"] for row in rows(dirs)} == {1, 2}, str(dirs)
    assert "broker 3" in dirs.err and "broker 1" not in dirs.err


def rows(run: Answer) -> list[dict[str, Any]]:
    return [row for row in json.loads(run.out) if not row.get("error")]


def test_status_of_a_deadline_in_the_middle(served: Shell, tmp_path: Path) -> None:
    """Nobody reached is 3; reached, and then no answer, is 1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = Shell(tmp_path, f"127.0.0.1:{server.getsockname()[1]}")
        assert nobody("list-topics --deadline 1s").status == 3
