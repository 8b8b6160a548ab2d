"""How long ago the oldest unread record was written, beside the lag in records."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from kafka_shell.admin.groups import read
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.delete import plan_delete
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, forget
from tests.support.in_process_shell import Shell
from tests.support.program import Program

MINUTE = 60_000


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"t {uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def written(
    sandbox: Sandbox,
    cluster: Cluster,
    ages: Sequence[int],
    partitions: int = 1,
    size: int = 10,
    **configs: Any,
) -> str:
    """A topic with records of these ages (minutes) in one batch of each partition."""
    topic = make_topic(cluster, f"aged-{uuid4().hex[:8]}", partitions)
    now = round(time.time() * 1000)
    producer = KafkaProducer(
        bootstrap_servers=sandbox.bootstrap, linger_ms=2_000, batch_size=1 << 20,
        max_request_size=1 << 21, **configs,
    )  # fmt: skip
    for partition in range(partitions):
        for age in ages:
            at = now - age * MINUTE
            producer.send(topic, b"x" * size, partition=partition, timestamp_ms=at)
    producer.flush()
    producer.close()
    return topic


def minutes(shell: Shell, group: str) -> list[int | None]:
    """The lag of the partitions of the group in minutes."""
    rows = shell.ok(f"lag '{group}' --output json").json
    lags = [row["time_lag_ms"] for row in rows]
    return [None if lag is None else round(lag / MINUTE) for lag in lags]


@pytest.mark.parametrize("codec", [None, "gzip"])
def test_the_record_at_the_committed_offset(
    shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str, codec: str | None
) -> None:
    topic = written(sandbox, cluster, (40, 30, 20, 10), 5, compression_type=codec)
    commit(cluster, group, topic, 0, 1, 3, 4)  # of the last one there is no offset
    assert minutes(shell, group) == [40, 30, 10, 0]
    (row,) = shell.ok(f"lag '{group}' --by group --output json").json
    assert round(row["time_lag_ms"] / MINUTE) == 40
    (state,) = shell.ok(f"describe-group '{group}' --state --output json").json
    assert round(state["time_lag_ms"] / MINUTE) == 40
    lines = shell.ok(f"lag '{group}'").out.splitlines()
    assert lines[0].split()[-1] == "TIME-LAG"
    assert [line.split()[-1] for line in lines[1:]][-1] == "0s"
    done(plan_delete(cluster, {TopicPartition(topic, 0): 2}), cluster)
    assert minutes(shell, group)[0] == 20, "the records before the log start no longer exist"


def test_groups_at_different_offsets_of_a_partition(
    shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str
) -> None:
    topic = written(sandbox, cluster, (40, 30, 20, 10))
    names = [f"{group}-{number}" for number in range(5)]
    for number, name in enumerate(names):
        commit(cluster, name, topic, number)
    found = read.describe(cluster, names, times=True)
    assert found.ok
    lags = [round((each.time_lag_ms or 0) / MINUTE) for each in found]
    assert lags == [40, 30, 20, 10, 0]
    forget(cluster, *names)


def test_large_batches_of_many_partitions(
    shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str
) -> None:
    """A broker returns only the first of a response whatever its size: the others are asked for
    again."""
    topic = written(sandbox, cluster, (9,), 24, size=900_000)
    commit(cluster, group, topic, *[0] * 24)
    assert minutes(shell, group) == [9] * 24


def test_unread_transaction_markers_are_no_records(
    shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str
) -> None:
    topic = make_topic(cluster, f"marked-{uuid4().hex[:8]}")
    producer = KafkaProducer(
        bootstrap_servers=sandbox.bootstrap, transactional_id=f"tx-{topic}", enable_idempotence=True
    )
    producer.init_transactions()
    for _ in range(2):
        producer.begin_transaction()
        at = round(time.time() * 1000) - 7 * MINUTE
        producer.send(topic, b"x", partition=0, timestamp_ms=at)
        producer.commit_transaction()
    producer.close()
    commit(cluster, group, topic, 1)  # the marker of the first one
    assert minutes(shell, group) == [7]
    commit(cluster, group, topic, 3)  # only a marker is left
    (row,) = shell.ok(f"lag '{group}' --output json").json
    assert (row["lag"], row["time_lag_ms"]) == (1, 0)


def test_top_shows_it(shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str) -> None:
    topic = written(sandbox, cluster, (12,))
    commit(cluster, group, topic, 0)
    rows = shell.ok("top groups --once --interval 200ms --output json").json
    (row,) = [row for row in rows if row["name"] == group]
    assert round(row["time_lag_ms"] / MINUTE) == 12
    assert "TIME-LAG" in shell.ok("top groups --once --interval 200ms").out


def test_an_unknown_lag_has_no_time(
    shell: Shell, sandbox: Sandbox, cluster: Cluster, group: str
) -> None:
    topic = written(sandbox, cluster, (12,), 2)
    commit(cluster, group, topic, 99, 0)
    assert minutes(shell, group) == [None, 12]
    (row,) = shell.ok(f"lag '{group}' --by group --output json").json
    assert round(row["time_lag_ms"] / MINUTE) == 12


def test_without_read_on_the_topic_the_lag_is_shown(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    program = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    names = {user: str(secure_sandbox.client_properties[f"{user}-sasl-plaintext"])
             for user in ("admin", "alice")}  # fmt: skip
    topic, group = f"seen-{uuid4().hex[:8]}", f"g-{uuid4().hex[:8]}"

    def admin(*words: str) -> None:
        program.ok(*words, "--command-config", names["admin"])

    admin("create-topic", topic, "--partitions", "1")
    admin("write-record", topic, "--key", "k", "--value", "v")
    admin("reset-offsets", group, "--to", "earliest", "--topic", topic, "--yes")
    for kind, name in (("--topic", topic), ("--group", group)):
        admin("alter-acls", kind, name, "--add", "allow User:alice Describe")
    for words in (("lag", group), ("lag", group, "--by", "group"), ("group", group)):
        run = program.ok(*words, "--command-config", names["alice"])
        line = f"not checked: time lag in {topic}:0: requires READ on topic {topic}"
        assert run.stderr.count(line) == 1, run
        assert "TIME-LAG" not in run.stdout, run
    (row,) = program.ok("lag", group, "--output", "json", "--command-config", names["alice"]).json
    assert (row["lag"], row["time_lag_ms"]) == (1, None)
    run = program.ok("top", "groups", "--once", "--interval", "200ms", "--command-config",
                     names["alice"])  # fmt: skip
    assert line in run.stderr
    admin("alter-acls", "--topic", topic, "--remove", "allow User:alice Describe", "--yes")
    admin("alter-acls", "--group", group, "--remove", "allow User:alice Describe", "--yes")
