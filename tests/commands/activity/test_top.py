"""`top --once` on real brokers: rates match the producers, and unknown values are marked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import urandom
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from kafka_shell.admin.activity.model import GroupActivity, TopicActivity
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.commands.activity.meter import Meter
from kafka_shell.commands.activity.render import COLUMNS, change, number
from kafka_shell.common.units import approximate_duration, approximate_rate
from kafka_shell.output.tables import draw_table
from kafka_shell.output.text import Text
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, described, done, make_topic, wait_for
from tests.support.group_data import commit, filled, forget
from tests.support.in_process_shell import Answer, Shell
from tests.support.outages import frozen

MANY = 10_000
RATE = 200  # records per second


def row_of(run: Answer, name: str) -> dict[str, Any]:
    (row,) = [row for row in run.json if row.get("name") == name or row.get("id") == name]
    return row


Written = list[tuple[float, int]]
"""When how many records had been written."""


@contextmanager
def producing(bootstrap: str, topic: str) -> Iterator[Written]:
    """A producer of RATE records per second, and what it has written so far."""
    stop, written = threading.Event(), Written()

    def produce() -> None:
        producer, sent = KafkaProducer(bootstrap_servers=bootstrap), 0
        producer.partitions_for(topic)
        began = time.monotonic()
        while not stop.is_set():
            while sent < RATE * (time.monotonic() - began):
                producer.send(topic, b"x" * 100)
                sent += 1
            producer.flush()
            written.append((time.monotonic(), sent))
            stop.wait(0.02)
        producer.close()

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        wait_for("records are written", lambda: bool(written) and written[-1][1] > RATE)
        yield written
    finally:
        stop.set()
        thread.join()


def is_rate_of(written: Written, rate: float) -> bool:
    """Whether so many records per second were written within 1.5 seconds at any time: on a busy
    machine, the producer pauses, and then writes what it has missed."""
    over = [
        (later[1] - now[1]) / (later[0] - now[0])
        for now in written
        if (later := next((each for each in written if each[0] >= now[0] + 1.5), None))
    ]
    return min(over) * 0.6 <= rate <= max(over) * 1.6


@pytest.mark.quick
def test_the_rate_is_that_of_the_producer(shell: Shell) -> None:
    topic = f"top-{uuid4().hex[:6]}"
    shell.ok(f"create-topic {topic} --partitions 3")
    with producing(shell.bootstrap, topic) as written:
        run = shell.ok("top --once --interval 1500ms --output json")
        brokers = shell.ok("top brokers --once --interval 1500ms --output json")
    row = row_of(run, topic)
    assert is_rate_of(written, row["records_per_s"]), (written, run)
    assert row["bytes_per_s"] > row["records_per_s"] * 100
    assert list(row) == ["name", "partitions", "records_per_s", "bytes_per_s", "size",
                         "not_measured", "note", "bytes_not_measured",
                         "size_not_read"]  # fmt: skip
    rates = [each["records_per_s"] for each in run.json if each["records_per_s"] is not None]
    assert rates == sorted(rates, reverse=True)
    assert row_of(brokers, 1)["records_per_s"] > RATE * 0.3, "other tests may write, too"
    assert list(row_of(brokers, 1)) == ["id", "state", "rack", "leaders", "replicas", "in_sync",
                                        "records_per_s", "bytes_per_s", "size", "not_measured",
                                        "bytes_not_measured"]  # fmt: skip


def test_bytes_lack_a_partition_whose_log_shrinks(sandbox: Sandbox, cluster: Cluster) -> None:
    """One partition is compacted, while both get records."""
    topic = f"top-{uuid4().hex[:6]}"
    configs = {"segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0"}
    make_topic(cluster, topic, 2, configs=tuple(configs.items()))
    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap)

    def produce(partition: int, count: int) -> None:
        for _ in range(count):
            producer.send(topic, urandom(10_000), key=b"same", partition=partition)
        producer.flush()

    def measured(meter: Meter) -> TopicActivity:
        found: TopicActivity = next(r for r in meter.measure("topics").rows if r.name == topic)
        return found

    produce(0, 400)
    meter = Meter(cluster, 30)
    before = measured(meter).size or 0
    for partition in (0, 1):
        produce(partition, 20)
    producer.close()
    compacted = ConfigAlteration("cleanup.policy", ConfigOp.SET, "compact")
    where = ConfigResource(ResourceType.TOPIC, topic)
    done(config_changes.plan_alter(cluster, {where: [compacted]}), cluster)
    wait_for("it is compacted", lambda: (measured(Meter(cluster, 30)).size or before) < before, 60)
    row = measured(meter)
    assert (row.not_measured, row.bytes_not_measured) == (0, 1), row
    assert row.bytes_per_s, "the other partition has grown"


@pytest.mark.quick
def test_a_group_that_is_left_behind(shell: Shell) -> None:
    topic, group = f"top-{uuid4().hex[:6]}", f"top group {uuid4().hex[:6]}"
    shell.ok(f"create-topic {topic}")
    shell.ok(f"reset-offsets '{group}' --topic {topic} --to-offset 0 --yes")
    with producing(shell.bootstrap, topic) as written:
        run = shell.ok("top groups --once --interval 1500ms --output json")
    row = row_of(run, group)
    assert is_rate_of(written, row["change_per_s"]), (written, run)
    assert row["lag"] > RATE and row["catch_up_s"] is None and row["records_per_s"] == 0
    assert list(row) == [
        "name", "state", "members", "partitions", "lag", "change_per_s", "catch_up_s",
        "records_per_s", "unknown", "note", "out_of_range",
    ]  # fmt: skip
    table = shell.ok("top groups --once --interval 200ms")
    assert "CATCH-UP" in table.out


@pytest.mark.quick
def test_the_rates_of_groups_are_over_a_window(sandbox: Sandbox, cluster: Cluster) -> None:
    """Between two commits nothing seems to move."""
    topic, group = f"top-{uuid4().hex[:6]}", f"top-{uuid4().hex[:6]}"
    filled(sandbox, cluster, topic)
    meter = Meter(cluster, 0.1)

    def measured() -> GroupActivity:
        found: GroupActivity = next(r for r in meter.measure("groups").rows if r.name == group)
        return found

    commit(cluster, group, topic, 0, 0)
    assert measured().change_per_s is None
    commit(cluster, group, topic, 5, 5)
    moved = measured().records_per_s
    idle = measured()
    assert moved is not None and idle.records_per_s is not None and idle.change_per_s is not None
    assert moved > idle.records_per_s > 0, "the commit is still within the window"
    assert idle.change_per_s < 0 and idle.catch_up_s is not None
    assert meter.measure("topics").seconds == 0, "each view begins by itself"
    assert meter.measure("brokers").seconds > 0, "of the same samples as topics"
    forget(cluster, group)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("top", "top requires a terminal"),
        ("top groups", "top groups --once --output json"),
        ("top --output json", "--output requires --once"),
        ("top --deadline 5s", "--deadline requires --once"),
        ("top cats", "one of topics, groups, brokers"),
        ("top --interval 1ms", "--interval"),
        ("top --once --interval 1h --deadline 5s", "longer than the interval of 1h"),
        ("top --once --deadline 1s", "longer than the interval of 2s"),
    ],
)
def test_lines_that_are_wrong(shell: Shell, line: str, said: str) -> None:
    run = shell(line)
    assert run.status == 2 and said in run.err, run
    assert not run.out


def test_a_frozen_broker_is_marked(three_brokers: Sandbox, tmp_path: Path) -> None:
    topic, alone = f"top-{uuid4().hex[:6]}", f"top-{uuid4().hex[:6]}"
    shell = Shell(tmp_path, ",".join(three_brokers.bootstrap.split(",")[:2]))
    shell.ok(f"create-topic {topic} --replica-assignment 1,2,3")
    shell.ok(f"create-topic {alone} --replica-assignment 3")

    def led() -> bool:
        with connect(three_brokers) as cluster:
            return [p.leader for p in described(cluster, topic).partitions] == [1, 2, 3]

    wait_for("each broker leads a partition", led)
    with frozen(three_brokers, 3):
        began = time.monotonic()
        run = shell("top --once --interval 500ms --output json")
        brokers = shell("top brokers --once --interval 200ms --output json")
        assert time.monotonic() - began < 40
    assert run.status == 1
    assert "broker 3" in run.err and "broker 1" not in run.err, run
    row = row_of(run, topic)
    assert (row["records_per_s"], row["not_measured"]) == (0, 1), row
    assert row["note"] in ("1 of 3 partitions: no response from broker 3",
                           "1 of 3 partitions: no leader"), row  # fmt: skip
    assert row_of(run, alone)["records_per_s"] is None, "not counted as zero"
    state = row_of(brokers, 3)
    assert state["state"] in ("not responding", "down") and state["size"] is None, state
    assert state["records_per_s"] is None
    assert row_of(brokers, 1)["state"] == "up"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Ten thousand topics on stand-in brokers."""
    folder = tmp_path_factory.mktemp("many")
    options = options_from(folder, port=0, topics=MANY, stand_in_brokers=3)
    try:
        yield start_with_data(options, lambda task, done, total: None, empty=True)
    finally:
        wipe(folder)


def test_ten_thousand_topics_are_measured_in_seconds(many: Sandbox, tmp_path: Path) -> None:
    shell = Shell(tmp_path, many.bootstrap)
    began, worked = time.monotonic(), time.process_time()
    run = shell("top --once --interval 200ms --output json")
    took, worked = time.monotonic() - began, time.process_time() - worked
    rows = [row for row in run.json if "partitions" in row]
    assert len(rows) >= MANY
    led = [row for row in rows if row["note"] == "NOT_LEADER_OR_FOLLOWER"]
    assert len(led) >= MANY, "the stand-ins have no logs: nothing is counted as zero"
    assert all(row["records_per_s"] is None for row in led)
    assert worked < 6, f"two measurements of {MANY} topics cost {worked:.1f} s of CPU time"
    assert took < 40, f"they took {took:.1f} s on a machine that does other things too"


@pytest.mark.quick
def test_figures_for_people() -> None:
    assert [number(value) for value in (0, 0.04, 0.4, 9.94, 9.96, 1234.5)] == [
        "0", "<0.1", "0.4", "9.9", "10", "1234",
    ]  # fmt: skip
    assert [approximate_rate(each) for each in (0, 0.3, 0.6)] == ["0B/s", "<1B/s", "1B/s"]
    cells = [change(_group(each)) for each in (0.04, -0.04, 0.05, 0.0)]
    assert [each.plain for each in cells if isinstance(each, Text)] == [
        "<0.1", ">-0.1", "+0.1", "0",
    ]  # fmt: skip
    seconds = (0.2, 1, 59.9, 60, 200, 3600, 90_000, 864_000 * 200)
    assert [approximate_duration(each) for each in seconds] == [
        "<1s", "1s", "59s", "1m", "3m20s", "1h", "1d1h", "2,000d",
    ]  # fmt: skip


@pytest.mark.quick
def test_names_are_whole_on_a_narrow_terminal() -> None:
    lines = [line.plain for line in draw_table(COLUMNS[GroupActivity], [_group(0.0)], width=40)]
    name = "".join(line[:16].strip() for line in lines[1:])
    assert name.startswith(_group(0.0).name)


def _group(change_per_s: float) -> GroupActivity:
    return GroupActivity("billing-" * 5, "Stable", 1, 1, 5, change_per_s, None, 1.0)
