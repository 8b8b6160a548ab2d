"""Topics and configs without permissions: what brokers hide and what is reported (KIP-4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    AclFilter,
    AclOperation,
)
from kafka_shell.admin.cluster import features as feature_change
from kafka_shell.admin.cluster import health, unregister
from kafka_shell.admin.cluster import quorum as quorum_change
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.model import Endpoint, Severity, Voter
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.steps import DeleteTopics
from kafka_shell.admin.topics.visibility import may_be_hidden
from kafka_shell.advice import advise
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.changes import done, failures, make_topic, refusals
from tests.support.logins import ALICE, allow, log_in
from tests.support.program import Program
from tests.support.waiting import wait_for

DENIED = "TOPIC_AUTHORIZATION_FAILED"


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster


@pytest.fixture
def alice(secure_sandbox: Sandbox, admin: Cluster) -> Iterator[Cluster]:
    """A user without any rights, but those a test gives her."""
    with log_in(secure_sandbox, "alice") as cluster:
        yield cluster
    if acls.describe(admin, AclFilter(principal=ALICE)):
        done(acl_changes.plan_delete(admin, [AclFilter(principal=ALICE)]), admin)


def resource_of(topic: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, topic)


def test_what_may_not_be_seen_is_not_told_from_what_is_not_there(
    admin: Cluster, alice: Cluster, name: str
) -> None:
    make_topic(admin, name)
    assert name not in metadata_scan.scan(alice)
    found = topics.describe(alice, [name, f"{name}.gone"])
    assert {key: why.name for key, why in found.failures.items()} == {
        name: DENIED,
        f"{name}.gone": DENIED,
    }
    plan = topic_changes.plan_delete(alice, [name, f"{name}.gone"])
    assert {key: why.name for key, why in refusals(plan).items()} == {
        name: DENIED,
        f"{name}.gone": DENIED,
    }
    assert plan.steps == ()


def test_whether_topics_may_be_hidden(admin: Cluster, alice: Cluster, name: str) -> None:
    assert may_be_hidden(admin) is None
    make_topic(admin, name)
    allow(admin, name, AclOperation.DESCRIBE)
    wait_for("alice sees the topic", lambda: name in metadata_scan.scan(alice))
    why = may_be_hidden(alice)
    assert why is not None and why.name == DENIED, why
    assert why.hint == "Requires DESCRIBE on all topics."
    before = set(metadata_scan.scan(admin).names)
    allow(admin, "*", AclOperation.DESCRIBE)
    wait_for("alice sees all topics", lambda: may_be_hidden(alice) is None)
    assert set(metadata_scan.scan(admin).names) == before, "no topic is created"


def test_topics_may_be_hidden_if_that_cannot_be_read() -> None:
    with Cluster(ConnectionConfig(parse_addresses("127.0.0.1:1"))) as nowhere:
        assert may_be_hidden(nowhere) is not None


def test_a_delete_by_id_is_masked_as_kafka_masks_it(
    admin: Cluster, alice: Cluster, name: str
) -> None:
    make_topic(admin, name)
    step = DeleteTopics((topics.describe(admin, [name])[name],))
    # The answer leaves the name out, as she may not know it.
    assert failures(step.send(alice, validate_only=False)) == {name: DENIED}
    allow(admin, name, AclOperation.DESCRIBE)
    wait_for("alice sees it", lambda: name in metadata_scan.scan(alice))
    results = apply(topic_changes.plan_delete(alice, [name]), alice)
    assert failures(results) == {name: DENIED}
    assert name in metadata_scan.scan(admin)
    allow(admin, name, AclOperation.DELETE)
    wait_for(
        "alice may delete it", lambda: apply(topic_changes.plan_delete(alice, [name]), alice).ok
    )
    assert name not in metadata_scan.scan(admin)


def test_topics_that_may_not_be_created_or_grown(admin: Cluster, alice: Cluster, name: str) -> None:
    make_topic(admin, name)
    new = [NewTopic(f"{name}.mine", 1, 1), NewTopic(f"{name}.hers", 1, 1)]
    allow(admin, f"{name}.hers", AclOperation.CREATE, AclOperation.DESCRIBE)
    allow(admin, name, AclOperation.DESCRIBE)
    wait_for("alice sees one", lambda: name in metadata_scan.scan(alice))
    results = apply(topic_changes.plan_create(new), alice)
    assert failures(results) == {f"{name}.mine": DENIED}
    assert f"{name}.mine" in next(iter(results.failures.values())).message
    grown = apply(topic_changes.plan_partitions(alice, [name], 3), alice)
    assert failures(grown) == {name: DENIED}


def test_configs_that_may_not_be_seen_or_set(admin: Cluster, alice: Cluster, name: str) -> None:
    make_topic(admin, name)
    broker = ConfigResource(ResourceType.BROKER, "1")
    found = configs.describe(alice, [resource_of(name), broker])
    assert {r.kind: why.name for r, why in found.failures.items()} == {
        "topic": DENIED,
        "broker": "CLUSTER_AUTHORIZATION_FAILED",
    }
    allow(admin, name, AclOperation.DESCRIBE_CONFIGS)
    wait_for("alice sees them", lambda: configs.describe(alice, [resource_of(name)]).ok)
    wanted = [ConfigAlteration("retention.ms", ConfigOp.SET, "7d")]
    results = apply(config_changes.plan_alter(alice, {resource_of(name): wanted}), alice)
    assert failures(results) == {name: DENIED}


def test_the_cluster_is_described_as_far_as_one_may(alice: Cluster, admin: Cluster) -> None:
    hers = cluster_reads.metadata(alice)
    assert (hers.controller, hers.topics) == (None, 0)
    unread = dict(hers.not_read)
    assert unread.keys() == {"controller", "log directories of broker 1"}
    assert all("DESCRIBE on the cluster" in failure.hint for failure in unread.values())
    assert not hers.ok, "what could not be read is not fine, whatever the reason"
    assert [broker.id for broker in hers.brokers] == [1]
    assert cluster_reads.metadata(admin).controller == 1
    told = health.health(alice)
    assert not told.ok, "what nobody looked at is not healthy"
    (unchecked,) = told.findings
    assert unchecked.severity is Severity.NOT_CHECKED


def test_an_unread_min_isr_is_not_taken_for_fine(
    secure_sandbox: Sandbox, admin: Cluster, alice: Cluster, name: str, tmp_path: Path
) -> None:
    """Describe shows the topic; what min.insync.replicas is, takes DescribeConfigs."""
    make_topic(admin, name, configs=(("min.insync.replicas", "2"),))
    allow(admin, name, AclOperation.DESCRIBE)
    wait_for("alice sees it", lambda: name in metadata_scan.scan(alice))
    login = secure_sandbox.client_properties["alice-sasl-plaintext"]
    program = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    for option in (
        "--under-min-isr-partitions", "--at-min-isr-partitions", "--topics-with-overrides"
    ):  # fmt: skip
        run = program("describe-topic", name, option, "--command-config", str(login))
        assert run.status == 1 and "no topic matches" not in run.stderr, str(run)
        assert f"DESCRIBE_CONFIGS on topic {name}" in run.stderr, str(run)
    shown = program("describe-topic", name, "--command-config", str(login))
    assert shown.status == 1 and f"topic {name}" in shown.stdout, str(shown)


def test_voters_brokers_and_features_are_not_hers_to_change(alice: Cluster) -> None:
    voter = Voter(1, "A" * 21 + "Q", (Endpoint("CONTROLLER", "127.0.0.1", 1),))
    streams = {"streams.version": 0}
    for step in (
        quorum_change.AddVoter(voter, 1000),
        quorum_change.RemoveVoter(voter),
        unregister.UnregisterBroker(7),
        feature_change.plan_update(alice, streams).steps[0],
    ):
        (why,) = step.send(alice, validate_only=False).failures.values()
        assert why.name == "CLUSTER_AUTHORIZATION_FAILED", step
        assert why.hint == "Requires ALTER on the cluster."


def test_a_deletion_says_what_it_could_not_check(admin: Cluster, alice: Cluster, name: str) -> None:
    """Who may only delete a topic does not see who uses it: that is said, not left out."""
    topic = make_topic(admin, name)
    allow(admin, topic, AclOperation.DESCRIBE, AclOperation.DELETE)
    plan = advise(topic_changes.plan_delete(alice, [topic]), alice)
    (use,) = plan.advice.figures
    assert use.topics[0].max_records == 0, "DESCRIBE on the topic is enough for its offsets"
    missing = {each.what: each.reason for each in plan.advice.not_checked}
    assert set(missing) == {
        "the size of replicas on 1 broker", "other groups", "ACLs", "the producers of 1 partition",
    }, missing  # fmt: skip
    for what in ("the size of replicas on 1 broker", "other groups", "ACLs"):
        assert "DESCRIBE on the cluster" in missing[what], missing
    assert f"READ on topic {topic}" in missing["the producers of 1 partition"]


def test_a_new_topic_says_that_min_isr_is_not_checked(
    admin: Cluster, alice: Cluster, name: str
) -> None:
    topic = name
    allow(admin, topic, AclOperation.CREATE)
    plan = advise(topic_changes.plan_create([NewTopic(topic, 1, 1)]), alice)
    (missing,) = plan.advice.not_checked
    assert missing.what == "min.insync.replicas against the replication factor"
    assert "DESCRIBE_CONFIGS on the cluster" in missing.reason
    own = NewTopic(topic, 1, 1, configs=(("min.insync.replicas", "1"),))
    assert advise(topic_changes.plan_create([own]), alice).advice.not_checked == ()


def test_lower_retention_says_that_sizes_are_not_checked(
    admin: Cluster, alice: Cluster, name: str
) -> None:
    topic = make_topic(admin, name)
    allow(admin, topic, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    lower = ConfigAlteration("retention.ms", ConfigOp.SET, "3600000")
    plan = advise(config_changes.plan_alter(alice, {resource_of(topic): [lower]}), alice)
    assert [each.what for each in plan.advice.not_checked] == ["the size of replicas on 1 broker"]
    assert "DESCRIBE on the cluster" in plan.advice.not_checked[0].reason
