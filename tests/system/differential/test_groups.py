"""Groups: the same as reported by Kafka's own tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.changes import done
from tests.support.group_data import commit, described, filled, forget, held
from tests.support.jvm_tools import run_tool
from tests.support.program import Program
from tests.support.waiting import wait_for

CONSUMER = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHARE = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
STREAMS = "org.apache.kafka.tools.streams.StreamsGroupCommand"

Rows = set[tuple[str, ...]]


@pytest.fixture(scope="module")
def topic(cluster: Cluster, sandbox: Sandbox) -> str:
    return filled(sandbox, cluster, f"diff-{uuid4().hex[:8]}")


@pytest.fixture(scope="module")
def groups(cluster: Cluster, sandbox: Sandbox, topic: str) -> Iterator[dict[str, str]]:
    """A group of each kind, by its kind: idle has no members, the others have one."""
    prefix = uuid4().hex[:8]
    names = {kind: f"{prefix}-{kind}"
             for kind in ("idle", "classic", "consumer", "share", "streams")}  # fmt: skip
    commit(cluster, names["idle"], topic, 3, 10)
    commit(cluster, names["classic"], topic, 4)
    with members.streams(cluster, names["streams"], topic):
        pass
    wait_for("the streams group is empty",
             lambda: described(cluster, names["streams"]).state == "Empty")  # fmt: skip
    commit(cluster, names["streams"], topic, 2, 6)
    started = {TopicPartition(topic, 0): 1, TopicPartition(topic, 1): 5}
    done(group_resets.plan_offsets(cluster, {names["share"]: started}, GroupType.SHARE), cluster)
    with ExitStack() as joined:
        joined.enter_context(members.classic(sandbox.bootstrap, names["classic"], topic))
        joined.enter_context(members.consumer(cluster, names["consumer"], topic))
        joined.enter_context(members.streams(cluster, names["streams"], topic))
        yield names
    forget(cluster, *names.values())


def told(sandbox: Sandbox, tool: str, *words: str, columns: int) -> Rows:
    """The rows that the tool prints, the slash before a host's address left out."""
    run = run_tool(tool, "--bootstrap-server", sandbox.bootstrap, *words)
    assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"
    rows = (line.split() for line in run.stdout.splitlines())
    return {
        tuple(word.removeprefix("/") for word in row)
        for row in rows
        if len(row) == columns and row[0] != "GROUP"
    }


def asked(*names: str) -> list[str]:
    return [word for name in names for word in ("--group", name)]


def cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def test_offsets_lag_and_who_reads(
    cluster: Cluster, sandbox: Sandbox, groups: dict[str, str]
) -> None:
    names = [groups[kind] for kind in ("idle", "classic", "consumer")]
    theirs = told(sandbox, CONSUMER, "--describe", *asked(*names), columns=9)
    ours = {
        tuple(map(cell, (
            row.group, row.topic, row.partition, row.offset, row.end, row.lag, row.member_id,
            row.host, row.client_id,
        )))
        for name in names
        for row in described(cluster, name).offsets or ()
    }  # fmt: skip
    assert len(ours) == 6
    assert ours == theirs


def test_members_and_what_they_have(
    cluster: Cluster, sandbox: Sandbox, groups: dict[str, str]
) -> None:
    name = groups["consumer"]
    theirs = told(
        sandbox, CONSUMER, "--describe", "--members", "--verbose", *asked(name), columns=9
    )
    (member,) = described(cluster, name).members
    listed = f"{member.assignment[0].topic}:0,1"
    assert theirs == {
        (name, member.id, member.host, member.client_id, "2", str(member.epoch), listed,
         str(member.epoch), listed)
    }  # fmt: skip


def test_states(cluster: Cluster, sandbox: Sandbox, groups: dict[str, str]) -> None:
    names = [groups[kind] for kind in ("idle", "classic", "consumer")]
    theirs = told(sandbox, CONSUMER, "--describe", "--state", *asked(*names), columns=6)
    found = [described(cluster, name) for name in names]
    assert {(row[0], row[2], row[3], row[4], row[5]) for row in theirs} == {
        (each.name, f"({each.coordinator})", cell(each.assignor), each.state,
         str(len(each.members)))
        for each in found
    }  # fmt: skip


def test_share_groups(cluster: Cluster, sandbox: Sandbox, groups: dict[str, str]) -> None:
    theirs = told(sandbox, SHARE, "--describe", *asked(groups["share"]), columns=5)
    rows = described(cluster, groups["share"]).offsets or ()
    assert [row.offset for row in rows] == [1, 5]
    assert theirs == {
        tuple(map(cell, (row.group, row.topic, row.partition, row.offset, row.lag)))
        for row in rows
    }  # fmt: skip


def test_streams_groups(cluster: Cluster, sandbox: Sandbox, groups: dict[str, str]) -> None:
    theirs = told(sandbox, STREAMS, "--describe", *asked(groups["streams"]), columns=4)
    rows = described(cluster, groups["streams"]).offsets or ()
    assert [row.offset for row in rows] == [2, 6]
    assert theirs == {
        tuple(map(cell, (row.group, row.topic, row.partition, row.lag))) for row in rows
    }


def test_the_same_reset(
    sandbox: Sandbox, cluster: Cluster, groups: dict[str, str], topic: str, tmp_path: Path
) -> None:
    """Their export is ours, their file is read here, and ours there."""
    name = groups["idle"]
    kafka = Program(tmp_path, sandbox.bootstrap)
    file = tmp_path / "ours.csv"
    words = ["--reset-offsets", "--group", name, "--topic", topic, "--export", "--dry-run"]
    server = ["--bootstrap-server", sandbox.bootstrap]
    theirs = run_tool(CONSUMER, *server, *words, "--shift-by", "2").stdout
    line = ["reset-offsets", name, "--to", "+2", "--topic", topic, "--dry-run"]
    kafka.ok(*line, "--export", str(file))
    assert sorted(theirs.split()) == sorted(file.read_text().split())
    again = run_tool(CONSUMER, *server, *words[:3], *words[5:], "--from-file", str(file))
    assert sorted(again.stdout.split()) == sorted(file.read_text().split()), again.stderr
    (tmp_path / "theirs.csv").write_text(theirs)
    run = kafka.ok("reset-offsets", name, "--to", f"file:{tmp_path / 'theirs.csv'}", "--yes")
    assert run.status == 0
    assert held(cluster, name) == {f"{topic}:0": 5, f"{topic}:1": 10}
