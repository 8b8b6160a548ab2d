"""Commands that move replicas on three real brokers: their output, files and undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.topics import min_isr
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import connect, lose_requests
from tests.support.program import Program, Run
from tests.support.reassigned_topics import HELD, fill, placed, replicas
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def restored(cluster: Cluster) -> Iterator[None]:
    """Whatever a test leaves, the next one does not see."""
    yield
    reassigned_topics.restore(cluster)


@pytest.fixture(scope="module")
def kafka(three_brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"), three_brokers.bootstrap)


def told(run: Run, lead: str) -> str:
    """The line behind `lead:` on standard error."""
    (line,) = (row.removeprefix(lead) for row in run.stderr.splitlines() if row.startswith(lead))
    return line.strip()


def write(path: Path, topic: str, *rows: tuple[int, list[int]]) -> str:
    partitions = [{"topic": topic, "partition": each, "replicas": to} for each, to in rows]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def test_a_move_prints_its_plan_its_undo_and_the_command_that_finishes_it(
    kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2), (2, 1))
    file = write(tmp_path / "f.json", topic, (0, [3, 2]))
    words = ("reassign-partitions", "--reassignment-json-file", file, "--throttle", "5MB/s")
    planned = kafka.ok(*words, "--dry-run")
    assert f"partition {topic}:0: 1,2 -> 3,2" in planned.stdout
    assert "+ follower.replication.throttled.rate: 5MB/s" in planned.stdout
    assert "move   1 partition   1 replica to copy" in planned.stdout
    heading = next(row for row in planned.lines if row.startswith("BROKER"))
    assert heading.split()[:4] == ["BROKER", "RACK", "REPLICAS", "PREFERRED-LEADERS"]
    assert replicas(cluster, topic) == [(1, 2), (2, 1)], "a dry run moved something"
    run = kafka.ok(*words)
    assert run.lines[-1] == "started moving 1 partition", str(run)
    look, back = told(run, "to continue:"), told(run, "undo:")
    finished = kafka.ok(stdin=look + "\n")
    assert "completed" in finished.stdout
    assert replicas(cluster, topic) == [(3, 2), (2, 1)]
    assert reassigned_topics.throttles(cluster, topic) == {}
    rollback = Path(back.split()[-1])
    assert json.loads(rollback.read_text())["partitions"] == [
        {"topic": topic, "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "any"]}
    ]
    assert rollback.stat().st_mode & 0o777 == 0o600
    again = kafka.ok(stdin=f"{back} --wait\n")
    assert f"altered partition {topic}:0: 3,2 -> 1,2" in again.stdout, str(again)
    assert "throttled.rate 5MB/s -> (removed)" in again.stdout, "the way back lost its throttle"
    assert replicas(cluster, topic) == [(1, 2), (2, 1)]
    assert reassigned_topics.throttles(cluster, topic) == {}


def test_a_move_under_way_is_seen_by_every_command(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, HELD)
    file = write(tmp_path / "f.json", topic, (0, [2, 3]))
    move = ("reassign-partitions", "--reassignment-json-file", file)
    started = kafka.ok(*move, "--throttle", "1")
    assert "started moving 1 partition" in started.stdout
    verify = kafka("verify-reassign-partitions", "--reassignment-json-file", file)
    assert verify.status == 1 and "in progress" in verify.stdout
    (row,) = kafka("verify-reassign-partitions", "--output", "json").json["partitions"]
    assert (row["status"], row["code"], row["topic"]) == ("in_progress", 0, topic)
    (listed,) = kafka.ok("list-reassignments", topic, "--output", "json").json
    assert (listed["adding"], listed["removing"]) == ([3], [1])
    assert 0 <= listed["copied"] < listed["size"]
    exported = kafka.ok("export", topic, "--with-assignments")
    assert "replication_factor: 2" in exported.stdout, "the old replica is exported, too"
    assert "replica_assignment: '2:3'" in exported.stdout, str(exported)
    assert f"topic {topic} is being reassigned; its target replicas" in exported.stderr, str(
        exported
    )
    twice = kafka("reassign-partitions", "--drain", "2", "--topics", topic)
    assert twice.status == 1 and "REASSIGNMENT_IN_PROGRESS" in twice.stderr
    misspelled = kafka("reassign-partitions", "--cancel", "--topics", f"{topic}x")
    assert misspelled.status == 1, "nothing of a missing topic can be cancelled"
    assert f"Did you mean {topic}?" in misspelled.stderr, str(misspelled)
    cancel = ("reassign-partitions", "--cancel", "--topics", topic)
    shown = kafka.ok(*cancel, "--dry-run")
    assert f"partition {topic}:0: 2,3 -> 1,2 (cancels the reassignment)" in shown.stdout, str(shown)
    cancelled = kafka.ok(*cancel)
    assert f"altered partition {topic}:0: 2,3 -> 1,2" in cancelled.stdout, str(cancelled)
    wait_for("it is back", lambda: set(replicas(cluster, topic)[0]) == {1, 2})
    assert reassigned_topics.throttles(cluster, topic) == {}
    gone = kafka("verify-reassign-partitions", "--reassignment-json-file", file)
    assert gone.status == 1 and "failed" in gone.stdout
    assert kafka.ok("verify-reassign-partitions").stdout == ""


def test_a_move_is_undone_and_redone(kafka: Program, cluster: Cluster, tmp_path: Path) -> None:
    topic = placed(cluster, (1, 2), (2, 1))
    file = write(tmp_path / "f.json", topic, (0, [3, 2]))
    kafka.ok("reassign-partitions", "--reassignment-json-file", file, "--wait")
    assert replicas(cluster, topic) == [(3, 2), (2, 1)]
    shown = kafka.ok("undo", "--dry-run")
    assert f"partition {topic}:0: 3,2 -> 1,2" in shown.stdout, str(shown)
    undone = kafka.ok("undo", "--yes")
    assert "started moving 1 partition" in undone.stdout, str(undone)
    wait_for("it is undone", lambda: replicas(cluster, topic) == [(1, 2), (2, 1)])
    entry = kafka.ok("journal", "--last", "1", "--output", "json").json[0]
    kafka.ok("undo", entry["id"])
    wait_for("it is redone", lambda: replicas(cluster, topic) == [(3, 2), (2, 1)])
    file = write(tmp_path / "elsewhere.json", topic, (0, [2, 1]))
    kafka.ok("reassign-partitions", "--reassignment-json-file", file, "--wait")
    elsewhere = kafka("undo", entry["undoes"][0])
    assert elsewhere.status == 1, str(elsewhere)
    assert f"partition {topic}:0 is now 2,1; that change set it to 3,2" in elsewhere.stderr


def test_a_move_under_way_is_undone(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, HELD)
    file = write(tmp_path / "f.json", topic, (0, [2, 3]))
    kafka.ok("reassign-partitions", "--reassignment-json-file", file, "--throttle", "1")
    assert kafka.ok("list-reassignments", topic).stdout
    undone = kafka.ok("undo", "--yes")
    assert "1 running reassignment will be cancelled" in undone.stderr, str(undone)
    wait_for("it is back", lambda: replicas(cluster, topic) == [(1, 2)])
    assert reassigned_topics.throttles(cluster, topic) == {}


def test_a_factor_is_changed_by_alter_topic(kafka: Program, cluster: Cluster) -> None:
    topic = placed(cluster, (1,), (2,))
    words = ("alter-topic", topic, "--replication-factor", "2", "--config", "retention.ms=30d")
    run = kafka.ok(*words, "--wait")
    assert all(len(each) == 2 for each in replicas(cluster, topic))
    kafka.ok(stdin=f"{told(run, 'undo:')} --yes\n")  # both changes
    wait_for("both are undone", lambda: replicas(cluster, topic) == [(1,), (2,)])
    (retention,) = kafka.ok("describe-configs", topic, "retention.ms", "--output", "json").json
    assert retention["source"] != "dynamic_topic"
    kafka.ok(*words[:-1], "flush.ms=1000", "--wait")
    kafka.ok("undo", "--yes")
    wait_for("both are undone", lambda: replicas(cluster, topic) == [(1,), (2,)])
    (flush,) = kafka.ok("describe-configs", topic, "flush.ms", "--output", "json").json
    assert flush["source"] != "dynamic_topic"
    too_many = kafka("alter-topic", topic, "--replication-factor", "4")
    assert too_many.status == 1 and "brokers, only 3 can be used" in too_many.stderr
    assert kafka("alter-topic", topic, "--replication-factor", "2", "--partitions", "9").status == 2


def test_more_replicas_and_more_in_sync_replicas_are_two_steps(
    kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    """In one, the config applies before the added replicas are in sync."""
    topic, enough = placed(cluster, (1,)), placed(cluster, (1, 2))
    words = ("alter-topic", f"{topic},{enough}", "--replication-factor", "3", "--wait")
    run = kafka(*words, "--config", "min.insync.replicas=2")
    why = (
        f"topic {topic} has 1 in-sync replica: with min.insync.replicas=2, producers with acks=all"
        " would fail until the added replicas are in sync"
    )
    assert run.status == 1 and why in " ".join(run.stderr.split()), str(run)
    assert replicas(cluster, topic) == [(1,)]
    assert len(replicas(cluster, enough)[0]) == 3, "two are in sync"
    assert min_isr.read(cluster, [topic, enough]).values == {topic: 1, enough: 2}
    file = tmp_path / "state.yaml"
    fields = "{replication_factor: 2, configs: {min.insync.replicas: 2}}"
    file.write_text(f"version: 1\ntopics: {{{topic}: {fields}}}\n")
    applied = kafka.ok("apply", str(file), "--wait")
    assert f"{why}. Then run apply again to set it" in " ".join(applied.stderr.split()), applied
    assert len(replicas(cluster, topic)[0]) == 2
    assert min_isr.read(cluster, [topic]).values == {topic: 1}
    kafka.ok("apply", str(file))
    assert min_isr.read(cluster, [topic]).values == {topic: 2}
    fewer = ("--replication-factor", "1", "--config", "min.insync.replicas=1", "--wait")
    kafka.ok("alter-topic", topic, *fewer)
    assert len(replicas(cluster, topic)[0]) == 1


def test_a_move_without_response_says_what_finishes_it(
    kafka: Program, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for, as it may never start; its throttle stays until it is finished."""
    topic = placed(cluster, (1,))
    with monkeypatch.context() as patch:
        lose_requests(patch, 45)  # AlterPartitionReassignments
        words = ("alter-topic", topic, "--replication-factor", "2", "--throttle", "1MB/s")
        run = kafka(*words, "--wait")
    assert run.status == 1 and "outcome unknown" in run.stderr, str(run)
    assert reassigned_topics.throttles(cluster, topic) != {}
    (finish,) = (row for row in run.stderr.splitlines() if row.startswith("to continue: verify-"))
    kafka(stdin=finish.removeprefix("to continue: ") + "\n")
    assert reassigned_topics.throttles(cluster, topic) == {}


def test_a_dry_run_changes_nothing_and_exports_kafkas_json(
    kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    topic, path = placed(cluster, (1,), (1,), (1,)), tmp_path / "plan.json"
    run = kafka.ok(
        "reassign-partitions", "--topics", topic, "--export", str(path), "--dry-run",
        "--output", "json",
    )  # fmt: skip
    assert run.json["dry_run"]
    assert [row["goal"] for row in run.json["figures"][4:6]] == ["racks", "topic-replicas"]
    data = json.loads(path.read_text())
    assert sorted(row["replicas"] for row in data["partitions"]) == [[2], [3]]
    assert replicas(cluster, topic) == [(1,)] * 3
    assert not list(kafka.home.glob("state/reassignments/*rollback*json.tmp"))
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    words = ("--topics-to-move-json-file", str(topics), "--broker-list", "2,3", "--dry-run")
    moved = kafka.ok("reassign-partitions", *words)
    assert moved.stdout.count(f"partition {topic}:") == 3


def test_a_throttle_left_behind_is_found_and_lifted(kafka: Program, cluster: Cluster) -> None:
    topic = placed(cluster, (1, 2))
    kafka.ok("alter-configs", "--broker-id", "2", f"{reassigned_topics.RATE}=3MB/s")
    kafka.ok("alter-configs", topic, "follower.replication.throttled.replicas=0:2")
    found = kafka("verify-reassign-partitions")
    assert found.status == 1
    assert f"topic {topic}" in found.stdout and "3MB/s" in found.stdout
    rehearsed = kafka.ok("verify-reassign-partitions", "--finish", "--dry-run")
    assert "3MB/s -> (removed)" in rehearsed.stdout
    kafka.ok("verify-reassign-partitions", "--finish")
    assert reassigned_topics.throttles(cluster, topic) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dry-run",), "or --drain is required"),
        (("--drain", "1", "--reassignment-json-file", "f"), "cannot be used with"),
        (("--cancel",), "--cancel requires"),
        (("--topics", "*", "--throttle", "0"), "must be at least 1"),
        (("--cancel", "--drain", "1"), "--drain"),
    ],
)
def test_a_line_that_cannot_be_is_refused(
    kafka: Program, words: tuple[str, ...], said: str
) -> None:
    run = kafka("reassign-partitions", *words)
    assert run.status == 2, str(run)
    assert said in run.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "not valid JSON"),
        ('{"version":2,"partitions":[]}', "has version 2"),
        ('{"version":1}', "the file has no partitions"),
        ('{"version":1,"partitions":[]}', "lists no partitions"),
        (
            '{"partitions":[{"topic":"t","partition":"0","replicas":[1]}]}',
            "partitions[0].partition must be an integer, got str",
        ),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1]},'
            '{"topic":"t","partition":0,"replicas":[2]}]}',
            "t:0 twice",
        ),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["/d"]}]}',
            "t:0 has 2 replicas, but log_dirs has 1",
        ),
        (
            '{"partitions":[{"topic":"nope","partition":0,"replicas":[1]}]}',
            "partition nope:0 does not exist",
        ),
    ],
)
def test_an_invalid_file_is_reported(kafka: Program, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)
    run = kafka("reassign-partitions", "--reassignment-json-file", str(path))
    assert run.status == (1 if "nope" in text else 2), str(run)
    assert said in run.stderr
