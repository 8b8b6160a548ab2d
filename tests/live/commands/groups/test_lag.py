"""`lag --by group` and `lag --sort lag`: largest first, unknown lag is not 0, and the change
between repetitions."""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from kafka import KafkaConsumer, KafkaProducer

from kafka_shell import settings
from kafka_shell.admin.activity import sample
from kafka_shell.admin.activity.model import Sample
from kafka_shell.admin.activity.sample import sample_groups
from kafka_shell.admin.cluster.health import health
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.groups import read as group_reads
from kafka_shell.admin.groups.members import plan_delete as plan_delete_groups
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.delete import plan_delete
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.run.watch import watch
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, filled, forget
from tests.support.in_process_shell import Shell
from tests.support.waiting import wait_for


@pytest.fixture
def groups(cluster: Cluster, topic: str) -> Iterator[tuple[str, str]]:
    """One that is 11 behind, and one that is 18 behind."""
    stem = uuid4().hex[:8]
    names = (f"a-{stem}", f"z {stem}")
    commit(cluster, names[0], topic, 3, 6)
    commit(cluster, names[1], topic, 0, 2)
    yield names
    forget(cluster, *names)


def test_one_row_for_each_group(shell: Shell, groups: tuple[str, str]) -> None:
    near, far = groups
    for line in ("lag", "lag --by group", "describe-group --by group", "lag --by group --sort lag"):
        rows = shell.ok(f"{line} --output json").json
        ours = [row for row in rows if row["name"] in groups]
        assert [(row["name"], row["lag"], row["unknown"]) for row in ours] == [
            (far, 18, 0), (near, 11, 0),
        ]  # fmt: skip
        assert all(row["change_per_s"] is row["catch_up_s"] is None for row in ours), "one run only"
    (row,) = shell.ok(f"lag '{far}' --by group --output json").json
    assert (row["partitions"], row["members"], row["state"]) == (2, 0, "Empty")
    heading, line = shell.ok(f"lag {near} --by group").out.splitlines()
    assert heading.split() == ["GROUP", "STATE", "MEMBERS", "PARTITIONS", "LAG", "TIME-LAG"]
    assert line.split()[:-1] == [near, "Empty", "0", "2", "11"]


def test_partitions_of_all_groups_are_sorted_together(
    shell: Shell, groups: tuple[str, str], topic: str
) -> None:
    near, far = groups
    rows = shell.ok(f"lag {near} '{far}' --sort lag --output json").json
    assert [(row["group"], row["partition"], row["lag"]) for row in rows] == [
        (far, 0, 10), (far, 1, 8), (near, 0, 7), (near, 1, 4),
    ]  # fmt: skip
    again = shell.ok(f"lag {near} '{far}' --by partition --output json").json
    assert [row | {"time_lag_ms": 0} for row in rows] == [row | {"time_lag_ms": 0} for row in again]
    pages = shell.ok(f"describe-group {near} '{far}' --sort lag --output json").json
    assert [page["name"] for page in pages] == [far, near]


@pytest.mark.parametrize("words", ["--members --sort lag", "--state --by group", "--by topic"])
def test_lines_that_are_wrong(shell: Shell, words: str) -> None:
    run = shell(f"describe-group {words}")
    assert run.status == 2 and not run.out, run


def test_a_group_that_does_not_exist_is_a_failure(shell: Shell, groups: tuple[str, str]) -> None:
    run = shell(f"lag {groups[0]} no-such-group --by group --output json")
    assert run.status == 1 and "no-such-group" in run.err, run
    row, failure = run.json
    assert row["lag"] == 11 and failure["error"] == "GROUP_ID_NOT_FOUND"


def test_a_group_that_is_deleted_after_it_was_listed_is_no_failure(
    shell: Shell, cluster: Cluster, topic: str, groups: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    short = f"short-{uuid4().hex[:8]}"
    list_groups = group_reads.list_groups

    def list_and_delete(cluster: Cluster, *filters: Any) -> Any:
        found = list_groups(cluster, *filters)
        if short in found.values:
            done(plan_delete_groups(cluster, [short]), cluster)
        return found

    monkeypatch.setattr(group_reads, "list_groups", list_and_delete)
    for line in ("lag", "lag --sort lag", "describe-group --state", "describe-group --members"):
        commit(cluster, short, topic, 0)
        run = shell(f"{line} --output json")
        assert run.status == 0 and short not in run.out + run.err, run
    commit(cluster, short, topic, 0)
    found = sample_groups(cluster)
    assert groups[0] in found.groups and short not in found.groups and not found.failures


def test_unknown_is_never_zero(
    shell: Shell, cluster: Cluster, sandbox: Sandbox, topic: str, groups: tuple[str, str]
) -> None:
    gone = make_topic(cluster, f"lag-gone-{uuid4().hex[:8]}")
    group = f"lag-unknown-{uuid4().hex[:8]}"
    consumer = KafkaConsumer(
        topic, gone, bootstrap_servers=sandbox.bootstrap, group_id=group, enable_auto_commit=False
    )
    try:

        def assigned() -> bool:
            consumer.poll(timeout_ms=1_000)  # a join that ends between two is repeated
            return len(consumer.assignment()) == 3

        wait_for("it has its partitions", assigned)
        rows = shell.ok(f"lag {group} {groups[0]} --by group --output json").json
        assert [(row["name"], row["lag"], row["unknown"]) for row in rows] == [
            (groups[0], 11, 0), (group, None, 3),
        ], "the unknown lag is last"  # fmt: skip
        assert "lag unknown in 3 of 3 partitions" in shell.ok(f"lag {group} --by group").out
        sorted_rows = shell.ok(f"lag {group} {groups[0]} --sort lag --output json").json
        assert [row["lag"] for row in sorted_rows] == [7, 4, None, None, None]
    finally:
        consumer.close()
        done(topic_changes.plan_delete(cluster, [gone]), cluster)
        forget(cluster, group)


@contextmanager
def running(sandbox: Sandbox, folder: Path) -> Iterator[Context]:
    """What a line needs to run, with its output."""
    context = Context(
        ClusterSession(settings.load({"broker": sandbox.bootstrap}, {}, folder / "none.toml")),
        Paths(folder, folder, folder),
        io.StringIO(),
        io.StringIO(),
        environ={},
        run_line=lambda text, context: int(run_text(text, context)),
    )
    try:
        yield context
    finally:
        context.close()


def test_the_change_while_it_is_repeated(
    sandbox: Sandbox, cluster: Cluster, topic: str, groups: tuple[str, str], tmp_path: Path
) -> None:
    near, _ = groups
    with running(sandbox, tmp_path) as context:
        watch(
            context, 1, f"lag {near} --by group --output json", rounds=2,
            sleep=lambda seconds: commit(cluster, near, topic, 8, 6),
        )  # fmt: skip
    out = cast(io.StringIO, context.out)
    first, second = (json.loads(block.partition("\n")[2])[0] for block in _blocks(out.getvalue()))
    assert (first["lag"], first["change_per_s"]) == (11, None)
    assert second["lag"] == 6
    assert second["change_per_s"] < 0 < second["records_per_s"]
    assert second["catch_up_s"] == pytest.approx(6 / -second["change_per_s"], rel=1e-2, abs=1e-3)


def test_a_partition_that_is_stuck(
    sandbox: Sandbox, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records arrive in both partitions; only in one of them the group gets ahead."""
    monkeypatch.setattr(sample, "STUCK_S", 0.0)
    topic = filled(sandbox, cluster, f"stuck-{uuid4().hex[:8]}")
    group = f"g-{topic}"
    commit(cluster, group, topic, 3, 3)
    producer, offsets = KafkaProducer(bootstrap_servers=sandbox.bootstrap), count(4)

    def work(seconds: float) -> None:
        for partition in range(2):
            producer.send(topic, b"x", partition=partition).get(30)
        commit(cluster, group, topic, 3, next(offsets))

    with running(sandbox, tmp_path) as context:
        watch(context, 1, f"lag {group} --output json", rounds=2, sleep=work)
        watch(context, 1, f"lag {group} --by group", rounds=2, sleep=work)
        watch(context, 1, f"lag {group}", rounds=2, sleep=work)
    out = cast(io.StringIO, context.out)
    first, second, _, totals, _, rows = _blocks(out.getvalue())
    stuck = [[row["stuck"] for row in json.loads(block.partition("\n")[2])]
             for block in (first, second)]  # fmt: skip
    assert stuck == [[False, False], [True, False]]
    assert "stuck in 1 of 2 partitions" in totals
    assert [line.split()[-1] for line in rows.splitlines()[2:]] == ["stuck", "-"]

    kept: deque[Sample] = deque()
    consumer = KafkaConsumer(topic, bootstrap_servers=sandbox.bootstrap, group_id=group,
                             enable_auto_commit=False)  # fmt: skip
    try:

        def joined() -> bool:
            consumer.poll(500)
            return bool(consumer.assignment())

        wait_for("it is a member", joined)
        health(cluster, kept=kept)
        producer.send(topic, b"x", partition=1).get(30)
        (finding,) = [each for each in health(cluster, kept=kept).findings
                      if each.check == "stuck"]  # fmt: skip
    finally:
        consumer.close()
        producer.close()
        forget(cluster, group)
    assert finding.severity is Severity.WARNING
    assert finding.examples == (f"{group} in {topic}:1",)
    assert finding.summary.startswith("committed offsets of 1 partition have not moved for ")


def _blocks(text: str) -> list[str]:
    return [block for block in text.split("\n\n") if block.strip()]


def test_an_offset_below_the_log_start(
    shell: Shell, cluster: Cluster, sandbox: Sandbox, groups: tuple[str, str]
) -> None:
    """The lag is that of Kafka's tools, and a note says that some of these records are gone."""
    topic = filled(sandbox, cluster, f"cut-{uuid4().hex[:8]}")
    name = groups[0]
    commit(cluster, name, topic, 3, 6)
    done(plan_delete(cluster, {TopicPartition(topic, 0): 5}), cluster)
    rows = {f"{row['topic']}:{row['partition']}": row
            for row in shell.ok(f"lag {name} --output json").json}  # fmt: skip
    cut, whole = rows[f"{topic}:0"], rows[f"{topic}:1"]
    assert (cut["start"], cut["offset"], cut["end"], cut["lag"]) == (5, 3, 10, 7)
    assert (cut["note"], whole["note"], whole["start"]) == ("below the log start offset 5", "", 0)
    (line,) = [line for line in shell.ok(f"lag {name}").out.splitlines()
               if line.split()[1:3] == [topic, "0"]]  # fmt: skip
    assert " 10    7 " in line and line.endswith(" below the log start offset 5")
    note = "committed offset out of range in 1 of 4 partitions"
    assert note in shell.ok(f"group {name}").out
    assert note in shell.ok(f"lag {name} --by group").out
    assert note in shell.ok(f"describe-group {name} --state").out


def test_an_offset_above_the_log_end(
    shell: Shell, topic: str, cluster: Cluster, groups: tuple[str, str]
) -> None:
    commit(cluster, groups[0], topic, 12, 6)
    first, second = shell.ok(f"lag {groups[0]} --output json").json
    assert (first["lag"], first["note"]) == (-2, "above the log end offset 10")
    assert (second["lag"], second["note"]) == (4, "")


def test_an_offset_above_the_log_end_does_not_hide_the_lag_of_others(
    shell: Shell, topic: str, cluster: Cluster, groups: tuple[str, str]
) -> None:
    """As of a topic that was deleted and created again."""
    commit(cluster, groups[0], topic, 1_000_000, 0)
    state = f"describe-group {groups[0]} '{groups[1]}' --state"
    rows = shell.ok(f"{state} --output json").json
    assert [(row["name"], row["lag"], row["unknown"]) for row in rows] == [
        (groups[1], 18, 0), (groups[0], 10, 1),
    ]  # fmt: skip
    assert "lag unknown in 1 of 2 partitions" in shell.ok(state).out
    assert "lag 10 in 1 of 2 partitions, unknown in 1 " in shell.ok(f"group {groups[0]}").out
    (row,) = shell.ok(f"lag {groups[0]} --by group --output json").json
    assert (row["lag"], row["unknown"]) == (10, 1)
    commit(cluster, groups[0], topic, 1_000_000, 1_000_000)
    _, second = shell.ok(f"{state} --output json").json
    assert (second["name"], second["lag"], second["unknown"]) == (groups[0], None, 2)
