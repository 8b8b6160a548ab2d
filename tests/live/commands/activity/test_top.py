"""`top --once` on real brokers: rates match the producers, and unknown values are marked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import urandom
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from kafka_shell.admin.activity.model import GroupActivity, TopicActivity
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.base.units import approximate_duration, approximate_rate
from kafka_shell.commands.activity.render import COLUMNS, change, number
from kafka_shell.commands.activity.run import Meter
from kafka_shell.output.tables import draw_table
from kafka_shell.output.text import Text
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, filled, forget
from tests.support.in_process_shell import Answer, Shell
from tests.support.waiting import wait_for

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
        "records_per_s", "unknown", "note", "out_of_range", "time_lag_ms",
            "stuck",
    ]  # fmt: skip
    table = shell.ok("top groups --once --interval 200ms")
    assert "CATCH-UP" in table.out


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


def test_names_are_whole_on_a_narrow_terminal() -> None:
    lines = [line.plain for line in draw_table(COLUMNS[GroupActivity], [_group(0.0)], width=40)]
    name = "".join(line[:16].strip() for line in lines[1:])
    assert name.startswith(_group(0.0).name)


def _group(change_per_s: float) -> GroupActivity:
    return GroupActivity("billing-" * 5, "Stable", 1, 1, 5, change_per_s, None, 1.0)
