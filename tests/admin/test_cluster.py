"""The cluster as a whole: metadata, quorum, and the health of three brokers that lose one."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin import cluster as whole
from kafka_shell.admin import topics
from kafka_shell.admin.connection import Cluster
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.nouns import Finding, Health, Severity
from kafka_shell.sandbox import Sandbox, start_broker, stop_broker
from tests.admin.helpers import connect, done, make_topic, wait_for


@pytest.fixture(scope="module")
def three(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("fixture", "release"),
    [
        pytest.param("cluster", "4.3", marks=pytest.mark.quick),
        ("old_cluster", "3.9"),
    ],
)
def test_one_broker_described(request: pytest.FixtureRequest, fixture: str, release: str) -> None:
    cluster: Cluster = request.getfixturevalue(fixture)
    before = whole.metadata(cluster)
    make_topic(cluster, f"t-{uuid4().hex[:8]}", 3)
    found = whole.metadata(cluster)
    assert found.cluster_id == cluster.cluster_id and len(found.cluster_id) == 22
    assert found.controller == 1
    (broker,) = found.brokers
    assert (broker.id, broker.rack, broker.controller, broker.version) == (
        1, "rack-a", True, release,
    )  # fmt: skip
    assert (broker.host, broker.port) == cluster.config.bootstrap[0][:2]
    assert (found.topics, found.partitions) == (before.topics + 1, before.partitions + 3)
    assert found.internal_topics == sum(
        topic.internal for topic in topics.scan(cluster).summaries()
    )


def test_three_brokers_described(three: Cluster) -> None:
    found = whole.metadata(three)
    quorum = whole.quorum(three)
    assert [(b.id, b.rack, b.version) for b in found.brokers] == [
        (1, "rack-a", "4.3"), (2, "rack-b", "4.3"), (3, "rack-c", "4.3"),
    ]  # fmt: skip
    assert found.controller == quorum.leader, "Metadata names any broker; the quorum knows"
    assert [b.id for b in found.brokers if b.controller] == [quorum.leader]
    assert sorted(replica.id for replica in quorum.replicas) == [1, 2, 3]
    roles = sorted(replica.role for replica in quorum.replicas)
    assert roles == ["leader", "voter", "voter"]
    assert quorum.high_watermark > 0 and quorum.leader_epoch > 0
    assert all(replica.lag >= 0 for replica in quorum.replicas)


@pytest.mark.quick
def test_a_healthy_cluster_has_no_findings(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 3, configs=(("min.insync.replicas", "2"),))
    health = whole.health(cluster)
    assert health.ok and health.findings == (), "a broker asks for no more copies than there are"
    assert health.brokers == 1
    assert health.topics == len(topics.scan(cluster))


def by_check(health: Health) -> dict[str, Finding]:
    return {finding.check: finding for finding in health.findings}


def test_health_while_a_broker_is_gone_and_after_it_is_back(
    three_brokers: Sandbox, three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "_QUORUM_LAG_MS", 1000)
    monkeypatch.setattr(whole, "_EXAMPLES", 10_000)  # other tests leave topics behind
    controller = whole.quorum(three).leader
    lost = 3 if controller != 3 else 2
    first, second = (n for n in (1, 2, 3) if n != lost)
    alone = make_topic(three, f"{name}.alone", assignment=((lost,), (first,)))
    strict = make_topic(
        three, f"{name}.strict", assignment=((lost, first),),
        configs=(("min.insync.replicas", "2"),),
    )  # fmt: skip
    thin = make_topic(three, f"{name}.thin", assignment=((first, lost), (first, second)))
    wait_for("all three are well", lambda: whole.health(three).ok, 60)
    stop_broker(three_brokers.folder, lost)
    try:
        wait_for(
            "all that is wrong is found",
            lambda: (
                {"offline", "under-min-isr", "under-replicated", "brokers", "quorum"}
                <= by_check(whole.health(three)).keys()
            ),
        )
        health = whole.health(three)
    finally:
        start_broker(three_brokers.folder, lost)
    assert not health.ok
    assert health.brokers == 2
    found = by_check(health)
    severities = [finding.severity for finding in health.findings]
    assert severities == sorted(severities), "worst first"
    assert found["offline"].severity is Severity.CRITICAL
    assert f"{alone}:0" in found["offline"].examples
    assert found["under-min-isr"].severity is Severity.CRITICAL
    assert f"{strict}:0" in found["under-min-isr"].examples
    assert found["under-replicated"].severity is Severity.WARNING
    assert found["under-replicated"].count >= 3
    assert found["brokers"].severity is Severity.CRITICAL
    assert found["brokers"].examples == (str(lost),)
    assert found["quorum"].severity is Severity.WARNING
    assert found["quorum"].examples == (str(lost),)
    assert found["off-preferred"].severity is Severity.NOTE
    assert f"{strict}:0" in found["off-preferred"].examples
    for finding in health.findings:
        invocation = parse(tokenize(finding.look), REGISTRY)
        assert invocation.command.effect.value == "read", finding.look

    # Back, and in sync: what it led is still led by others, until an election puts that right.
    wait_for("it is healthy again", lambda: whole.health(three).ok, 60)
    places = topics.scan(three).misplaced()
    back = by_check(whole.health(three))
    assert back.keys() <= {"off-preferred"}
    assert {f"{topic}:{partition}" for topic, partition in places} >= set(
        back["off-preferred"].examples if back else ()
    )
    done(topics.plan_delete(three, [alone, strict, thin]), three)
