"""Broker 4 of five does not follow the metadata any more, answers as before, and is the one that
is asked."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.health import health
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.cluster.probes import why_out_of_date
from kafka_shell.admin.cluster.read import brokers, describe
from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import Verdict
from kafka_shell.admin.cluster.restart.read import read_state, wait_in_sync
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig
from kafka_shell.wire.metadata_scan import scan
from tests.support import reassigned_topics
from tests.support.changes import done, make_topic
from tests.support.frozen_process import thread_frozen
from tests.support.outages import processes
from tests.support.waiting import applied, wait_for

BEHIND = 4


@pytest.fixture
def topic(five: Cluster) -> str:
    name = make_topic(five, f"old.{uuid4().hex[:8]}", assignment=((2, 1, 3),))
    applied(five)
    return name


@pytest.fixture
def asked(five: Cluster, five_brokers: Sandbox, topic: str) -> Iterator[Cluster]:
    """A connection to broker 4, which does not know that the topic has only one replica now."""
    broker = next(each for each in five.brokers() if each.id == BEHIND)
    config = ConnectionConfig((Address(broker.host, broker.port),))
    with thread_frozen(processes(five_brokers)[BEHIND] or 0, f"kafka-{BEHIND}-raft-io"):
        done(plan_move(five, reassigned_topics.to(topic, (2,))), five)
        wait_for("it is moved", lambda: reassigned_topics.replicas(five, topic) == [(2,)])
        wait_for("it is noticed", lambda: quorum.behind(quorum.describe(five), [BEHIND]) != {})
        with Cluster(config) as cluster:
            assert scan(cluster).topic(topic).partitions[0].isr == (2, 1, 3)
            yield cluster


def test_check_restart_asks_another_broker(
    asked: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "EXAMPLES", 10_000)  # other tests leave topics behind
    (check,) = judge.check_each(read_state(asked, [2]), [2]).checks
    assert check.verdict is Verdict.UNSAFE
    (offline,) = (reason for reason in check.reasons if reason.check == "offline")
    assert f"{topic}:0" in offline.examples, check.reasons
    assert any(
        f"broker {BEHIND} lagged behind the active controller" in each.summary
        for each in check.reasons
    ), check.reasons


def test_its_replicas_count_as_unavailable_and_it_can_be_described(
    asked: Cluster, topic: str
) -> None:
    state = read_state(asked, None)
    assert state.behind == {BEHIND}
    assert isinstance(state.stored[BEHIND], frozenset), "it is asked about itself"
    known = brokers(asked)
    (described,) = describe(known, [BEHIND])
    assert [what for what, _ in described.not_read] == ["metadata"]
    assert described.log_dirs and described.configs


def test_it_is_not_back_in_sync(asked: Cluster) -> None:
    with asked.within(4), pytest.raises(ShellError, match=f"metadata of broker {BEHIND} is out of"):
        wait_in_sync(asked, [BEHIND], lambda *_: None)


def test_health_finds_it(asked: Cluster) -> None:
    found = health(asked).findings
    assert Severity.NOT_CHECKED not in {each.severity for each in found}, found
    (finding,) = (each for each in found if each.check == "brokers")
    assert finding.severity is Severity.WARNING
    assert f"the metadata of broker {BEHIND} is out of date: it was last" in finding.summary


def test_metadata_that_any_broker_may_have_returned_counts_as_stale(asked: Cluster) -> None:
    asked.brokers(refresh=True)
    stale = why_out_of_date(asked)
    assert stale is not None and f"broker {BEHIND}" in stale.message
