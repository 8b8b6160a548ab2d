"""Health of a healthy cluster, and each finding on a cluster with a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from kafka_shell.admin.cluster import health, model, quorum
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions import throttles as throttle_configs
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.health_findings import by_check, look
from tests.support.outages import stopped, wait_until_healthy
from tests.support.waiting import applied, wait_for


@pytest.fixture(autouse=True)
def every_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests leave topics behind."""
    monkeypatch.setattr(health, "EXAMPLES", 10_000)


def test_every_check_can_be_read_on_3_9(old_cluster: Cluster, name: str) -> None:
    make_topic(old_cluster, name)
    found = health.health(old_cluster).findings
    assert [each for each in found if each.severity is Severity.NOT_CHECKED] == []


def test_while_a_broker_is_gone_and_after_it_is_back(
    three_brokers: Sandbox, three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "VOTER_BEHIND_MS", 1000)
    controller = quorum.describe(three).leader
    lost = 3 if controller != 3 else 2
    first, second = (n for n in (1, 2, 3) if n != lost)
    alone = make_topic(three, f"{name}.alone", assignment=((lost,), (first,)))
    strict = make_topic(
        three, f"{name}.strict", assignment=((lost, first),),
        configs=(("min.insync.replicas", "2"),),
    )  # fmt: skip
    thin = make_topic(three, f"{name}.thin", assignment=((first, lost), (first, second)))
    wait_until_healthy(three)
    wrong = {"offline", "under-min-isr", "under-replicated", "brokers", "quorum", "controllers"}
    with stopped(three_brokers, lost):
        wait_for("all that is wrong is found", lambda: wrong <= look(three).keys())
        told = health.health(three)
    assert not told.ok
    assert told.brokers == 2
    found = by_check(told)
    severities = [finding.severity for finding in told.findings]
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
    assert str(lost) in found["quorum"].examples, "another may be a second behind, too"
    assert found["at-min-isr"].severity is Severity.WARNING
    assert f"{thin}:0" in found["at-min-isr"].examples, "one replica of the one that is required"
    assert f"{thin}:1" not in found["at-min-isr"].examples
    assert found["preferred-not-in-sync"].severity is Severity.NOTE
    assert f"{strict}:0" in found["preferred-not-in-sync"].examples, "no election would help"
    assert "loses its majority" in found["controllers"].summary, "of three voters one is left out"

    # Back, and in sync: what it led is still led by others, until an election puts that right.
    monkeypatch.undo()
    wait_until_healthy(three)
    places = metadata_scan.scan(three).misplaced()
    back = look(three)
    assert back.keys() <= {"off-preferred"}
    assert {f"{topic}:{partition}" for topic, partition in places} >= set(
        back["off-preferred"].examples if back else ()
    )
    done(topic_changes.plan_delete(three, [alone, strict, thin]), three)


def test_the_configs_of_each_topic_are_read_once(
    three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topic(three, name, 2, configs=(("min.insync.replicas", "2"),))
    applied(three)
    asked = Counter[str]()
    describe = configs.describe

    def counting(
        cluster: Cluster, resources: Iterable[ConfigResource], *rest: Any, **options: Any
    ) -> configs.Entries:
        requested = list(resources)
        asked.update(each.name for each in requested if each.type is ResourceType.TOPIC)
        return describe(cluster, requested, *rest, **options)

    monkeypatch.setattr(configs, "describe", counting)
    assert name in look(three)["min-isr-above-replicas"].examples
    assert name in asked and set(asked.values()) == {1}, asked
    done(topic_changes.plan_delete(three, [name]), three)


def test_a_throttle_that_outlived_its_move(three: Cluster, name: str) -> None:
    make_topic(three, name)
    applied(three)
    broker = ConfigResource(ResourceType.BROKER, "1")
    topic = ConfigResource(ResourceType.TOPIC, name)
    wanted = {
        broker: [ConfigAlteration(throttle_configs.LEADER_RATE, ConfigOp.SET, "1000")],
        topic: [ConfigAlteration(throttle_configs.LEADER_REPLICAS, ConfigOp.SET, "0:1")],
    }
    done(config_changes.plan_alter(three, wanted), three)
    try:
        applied(three)  # each check may ask another broker
        found = look(three)["throttles"]
        assert (found.severity, found.count) == (Severity.WARNING, 2)
        assert set(found.examples) == {"broker 1", f"topic {name}"}
    finally:
        gone = {
            resource: [ConfigAlteration(each.key, ConfigOp.DELETE) for each in alterations]
            for resource, alterations in wanted.items()
        }
        done(config_changes.plan_alter(three, gone), three)
    applied(three)
    assert "throttles" not in look(three)
