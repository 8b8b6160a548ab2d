"""The commands on groups."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import read, time_lag
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.frozen_process import thaw
from tests.support.group_data import commit, forget
from tests.support.outages import frozen, processes, silent, stopped
from tests.support.program import Program


def test_the_groups_of_a_broker_that_hangs_are_missing(
    three_brokers: Sandbox, kafka_on_three: Program
) -> None:
    with silent(three_brokers):
        run = kafka_on_three("list-groups", "--output", "json", "--deadline", "4s")
    failed = [row["resource"] for row in run.json if "error" in row]
    assert failed == ["groups of broker 3"], str(run)


def test_lag_without_a_leader_is_a_failure(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program
) -> None:
    """The sum of the other partitions alone must not look complete."""
    topic = make_topic(three, f"dark-{uuid4().hex[:8]}", assignment=((3,), (3,), (1,)))
    group = f"g-{topic}"
    commit(three, group, topic, 0, 0, 0)
    with stopped(three_brokers, 3):
        for words in (["lag"], ["describe-group", "--state"], ["lag", "--by", "group"]):
            run = kafka_on_three(*words, group)
            assert run.status == 1 and group in run.stdout, str(run)
            message = f"lag in {topic}:0, {topic}:1: the partitions have no leader"
            assert message in run.stderr, str(run)
    forget(three, group)


@pytest.mark.parametrize("outage", [frozen, stopped])
def test_a_leader_that_is_lost_after_its_offsets_were_read(
    three_brokers: Sandbox, three: Cluster, monkeypatch: pytest.MonkeyPatch,
    outage: Callable[[Sandbox, int], AbstractContextManager[None]],
) -> None:  # fmt: skip
    """The lag is known; its time is a failure, and not 0."""
    topic = make_topic(three, f"aged-{uuid4().hex[:8]}", assignment=((3,), (1,)))
    for partition in range(2):
        write(three_brokers, topic, partition)
    group = f"g-{topic}"
    commit(three, group, topic, 0, 0)
    leaders = time_lag.leaders
    with ExitStack() as stack:

        def find_leaders(*args: Any) -> Any:
            found = leaders(*args)
            stack.enter_context(outage(three_brokers, 3))
            return found

        monkeypatch.setattr(time_lag, "leaders", find_leaders)
        found = read.describe(three, [group], times=True)
    lost, known = found[group].offsets or ()
    assert (lost.lag, known.lag, lost.time_lag_ms) == (1, 1, None)
    assert known.time_lag_ms is not None and found[group].time_lag_ms is None
    (about,) = found.failures
    assert str(about) == f"time lag in {topic}:0"
    forget(three, group)


def write(sandbox: Sandbox, topic: str, partition: int) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap)
    producer.send(topic, b"x", partition=partition).get(30)
    producer.close()


def test_brokers_that_hang_are_waited_for(
    three_brokers: Sandbox, kafka_on_three: Program, three: Cluster
) -> None:
    topic = make_topic(three, f"waited-{uuid4().hex[:8]}", assignment=((3,),))
    group = f"g-{topic}"
    commit(three, group, topic, 0)
    with frozen(three_brokers, 1, 2, 3):
        run = kafka_on_three("wait-until", f"lag {group} < 1", "--deadline", "4s")
        assert run.status == 3 and "deadline exceeded" in run.stderr, str(run)
        thawed = Thread(target=thaw_soon, args=(three_brokers,))
        thawed.start()
        run = kafka_on_three.ok("wait-until", f"lag {group} < 1", "--deadline", "2m")
        assert run.stdout == f"the lag of group {group} is 0 records\n"
        thawed.join()
    with stopped(three_brokers, 3):
        run = kafka_on_three("wait-until", "healthy", "--deadline", "5s")
        assert run.status == 1 and "not healthy: broker 3 is down" in run.stderr, str(run)
    forget(three, group)


def thaw_soon(sandbox: Sandbox) -> None:
    time.sleep(3)  # of an attempt that is waiting for a response
    for pid in processes(sandbox).values():
        thaw(pid or 0)
