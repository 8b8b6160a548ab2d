"""Cluster metadata, and unregistered brokers."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.cluster import quorum, registrations, unregister
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic, refusals
from tests.support.outages import stopped, wait_until_healthy
from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.mark.parametrize(
    ("fixture", "release"),
    [
        pytest.param("cluster", "4.3"),
        ("old_cluster", "3.9"),
    ],
)
def test_one_broker_described(request: pytest.FixtureRequest, fixture: str, release: str) -> None:
    cluster: Cluster = request.getfixturevalue(fixture)
    before = cluster_reads.metadata(cluster)
    make_topic(cluster, f"t-{uuid4().hex[:8]}", 3)
    found = cluster_reads.metadata(cluster)
    assert found.cluster_id == cluster.cluster_id and len(found.cluster_id) == 22
    assert found.controller == 1
    (broker,) = found.brokers
    assert (broker.id, broker.rack, broker.controller, broker.version) == (
        1, "rack-a", True, release,
    )  # fmt: skip
    assert (broker.host, broker.port) == cluster.config.bootstrap[0][:2]
    assert (found.topics, found.partitions) == (before.topics + 1, before.partitions + 3)
    assert found.internal_topics == sum(
        topic.internal for topic in metadata_scan.scan(cluster).summaries()
    )


def test_three_brokers_described(three: Cluster) -> None:
    found = cluster_reads.metadata(three)
    leader = quorum.describe(three).leader
    assert [(b.id, b.rack, b.version) for b in found.brokers] == [
        (1, "rack-a", "4.3"), (2, "rack-b", "4.3"), (3, "rack-c", "4.3"),
    ]  # fmt: skip
    assert found.controller == leader, "Metadata names any broker; the quorum knows"
    assert [b.id for b in found.brokers if b.controller] == [leader]


def test_the_features_are_part_of_it(cluster: Cluster) -> None:
    levels = {feature.name: feature.level for feature in cluster_reads.metadata(cluster).features}
    assert levels["metadata.version"] == 30 and levels["kraft.version"] == 1


def states(cluster: Cluster) -> dict[int, str]:
    return {broker.id: broker.state for broker in cluster_reads.metadata(cluster).brokers}


# -- unregister ------------------------------------------------------------------------------------


def test_a_broker_that_is_gone_is_forgotten_until_it_starts(
    three_brokers: Sandbox, three: Cluster, name: str, tmp_path: Path
) -> None:
    gone = 3 if quorum.describe(three).leader != 3 else 2
    other = 5 - gone
    make_topic(three, name, assignment=((gone, other), (other, gone), (1, other)))
    alone = make_topic(three, f"{name}.alone", assignment=((gone,), (1,)))
    program = Program(tmp_path, three_brokers.bootstrap)
    with stopped(three_brokers, gone):
        for words in (
            ("configs", "--broker-id", "*", "log.cleaner.threads"),
            ("alter-configs", "--broker-id", "*", "log.cleaner.threads=2", "--dry-run"),
            ("configs", "--logger", "*", "kafka.request.logger"),
            ("configs", "--logger", str(gone), "kafka.request.logger"),
            ("describe-log-dirs", "--broker-id", "*"),
            ("describe-features",),
            ("api-versions",),
        ):  # before: left out, as if there were two brokers
            run = program(*words)
            assert run.status == 1 and f"broker {gone} " in run.stdout + run.stderr, run
            assert "Use one of" not in run.stderr, run
        plan = unregister.plan_unregister(three, [gone, other])
        assert plan.effect is Effect.DESTROY
        assert [change.resource.name for change in plan.changes] == [str(gone)]
        assert "is running" in refusals(plan)[str(other)].message
        offline, lost = plan.advice.warnings
        assert "offline until reassigned" in offline
        found = metadata_scan.scan(three)
        every = [each for topic in found.names for each in found.topic(topic).partitions]
        replicas = [gone in each.replicas for each in every]
        assert f"broker {gone} still has {sum(replicas)} replicas" in offline, "the only ones too"
        assert f"of broker {gone}, records are lost" in lost  # of topics of other tests, too
        only = [each for each in every if set(each.replicas) == {gone}]
        assert int(lost.split()[0]) >= len(only) >= 1, f"{alone} and others: {lost}"
        assert registrations.registered(three) == {1, 2, 3}
        assert states(three) == {1: "up", other: "up", gone: "fenced"}
        assert apply(plan, three).ok
        assert registrations.registered(three) == {1, other}
        assert states(three) == {1: "up", other: "up", gone: "absent"}
        again = refusals(unregister.plan_unregister(three, [gone]))[str(gone)]
        assert again.name == "BROKER_ID_NOT_REGISTERED"
        (refused,) = plan.steps[0].send(three, validate_only=False).failures.values()
        assert refused.name == "BROKER_ID_NOT_REGISTERED", "the controller says the same"
    wait_for("it is back", lambda: registrations.registered(three) == {1, 2, 3})
    with pytest.raises(ShellError, match="is running"):
        plan.steps[0].reread(three)
    wait_until_healthy(three)
    done(topic_changes.plan_delete(three, [name, alone]), three)


def test_configs_that_an_unregistered_broker_left_behind(
    three_brokers: Sandbox, three: Cluster, tmp_path: Path
) -> None:
    """Kafka keeps them, and they hold again when the id comes back; no other broker lists them."""
    key = "log.cleaner.threads"
    gone = 3 if quorum.describe(three).leader != 3 else 2
    broker = ConfigResource(ResourceType.BROKER, str(gone))
    done(
        config_changes.plan_alter(three, {broker: [ConfigAlteration(key, ConfigOp.SET, "2")]}),
        three,
    )
    program = Program(tmp_path, three_brokers.bootstrap)
    with stopped(three_brokers, gone):
        wait_for("it is down", lambda: len(three.brokers(refresh=True)) == 2)
        assert apply(unregister.plan_unregister(three, [gone]), three).ok
        shown = program("describe-configs", "--broker-id", str(gone))
        assert shown.status == 1 and f"alter-configs --broker-id {gone}" in shown.stderr, str(shown)
        words = ("alter-configs", "--broker-id", str(gone), "--delete-config", key)
        asks = program(*words)
        assert asks.status == 2 and "--yes" in asks.stderr, "it cannot be taken back"
        other = f"{gone},{5 - gone}"
        both = program("alter-configs", "--broker-id", other, "--delete-config", key, "--yes")
        assert both.status == 1 and "is running" in both.stderr, str(both)
        program.ok(*words, "--yes")
    wait_for("it is back", lambda: configs.describe(three, [broker], [key]).ok)
    assert not configs.describe(three, [broker], [key])[broker][0].overridden
    wait_until_healthy(three)


def test_one_broker_with_what_it_has(
    three_brokers: Sandbox, three: Cluster, name: str, tmp_path: Path
) -> None:
    make_topic(three, name, assignment=((1, 2), (2, 1), (1, 3)))
    program = Program(tmp_path, three_brokers.bootstrap)
    run = program.ok("broker", "1")
    assert "broker 1 " in run.stdout and "rack rack-a" in run.stdout and "data-a" in run.stdout
    assert "log.dirs" in run.stdout, "what is not as by default"
    [row] = program.ok("describe-broker", "1", "--output", "json").json
    assert row["broker"]["state"] == "up" and row["quorum_role"] in ("leader", "voter")
    assert row["replicas"] >= 3 and row["preferred"] >= 2 and row["out_of_sync"] == 0
    assert {each["state"] for each in row["log_dirs"]} == {"online"}
    none = program("broker", "9")
    assert none.status == 1 and "Use one of: 1, 2, 3." in none.stderr
    done(topic_changes.plan_delete(three, [name]), three)


def test_3_9_cannot_tell_who_is_registered(old_cluster: Cluster) -> None:
    assert registrations.registered(old_cluster) is None
    plan = unregister.plan_unregister(old_cluster, [77])
    (refused,) = plan.steps[0].send(old_cluster, validate_only=False).failures.values()
    assert refused.name == "BROKER_ID_NOT_REGISTERED" and "77" in refused.message
