"""Health of a healthy cluster, and each finding on a cluster with a problem."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster import health, quorum
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.commands.cluster.render import command_of
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import failure, in_one_line
from kafka_shell.wire.requests import Coordinator, CoordinatorKind, RawRequest
from tests.support.changes import done, make_topic
from tests.support.health_findings import by_check, look
from tests.support.transactional_producer import HOUR_MS, hang
from tests.support.waiting import wait_for


@pytest.fixture(autouse=True)
def every_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests leave topics behind."""
    monkeypatch.setattr(health, "EXAMPLES", 10_000)


def test_a_healthy_cluster_has_no_findings(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 3, configs=(("min.insync.replicas", "2"),))
    found = health.health(cluster)
    # Other tests leave transactions hanging on the broker that all share.
    told = {check: each for check, each in by_check(found).items() if check != "transactions"}
    above = told.pop("min-isr-above-replicas")
    assert above.severity is Severity.NOTE and name in above.examples
    assert not told, "brokers need no more in-sync replicas than there are"
    assert found.brokers == 1
    assert found.topics == len(metadata_scan.scan(cluster))


@pytest.mark.parametrize(
    ("low", "full", "severity"), [(1.01, 0.0, Severity.WARNING), (1.01, 1.01, Severity.CRITICAL)]
)
def test_log_dirs_that_fill_up(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, low: float, full: float, severity: Severity
) -> None:
    monkeypatch.setattr(health, "_LOW", low)
    monkeypatch.setattr(health, "_FULL", full)
    found = look(cluster)["log-dirs"]
    assert (found.severity, found.count) == (severity, 2), "the sandbox has two"
    assert "full" in found.summary and found.examples[0].startswith("1:/")


def test_a_group_whose_rebalance_does_not_end(cluster: Cluster, name: str) -> None:
    """A member that joined, and never says which partitions it got."""
    from kafka.protocol.consumer import JoinGroupRequest, LeaveGroupRequest

    to = Coordinator(CoordinatorKind.GROUP, name)

    members = [""]

    def join() -> bool:
        request = JoinGroupRequest(
            group_id=name, session_timeout_ms=30_000, rebalance_timeout_ms=30_000,
            member_id=members[0], group_instance_id=None, protocol_type="consumer",
            protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")],
            reason=None,
        )  # fmt: skip
        answer = cluster.send(request, to, check=False)
        members[0] = answer.member_id or members[0]
        return answer.error_code == 0

    assert "groups" not in look(cluster)
    wait_for("the member has joined", join)
    try:
        found = look(cluster)["groups"]
        assert (found.severity, found.count, found.examples) == (Severity.NOTE, 1, (name,))
        assert "--state CompletingRebalance" in command_of(found)
    finally:
        identity = LeaveGroupRequest.MemberIdentity(
            member_id=members[0], group_instance_id=None, reason=None
        )
        cluster.send(LeaveGroupRequest(group_id=name, members=[identity]), to, check=False)
    assert "groups" not in look(cluster)


def test_a_hanging_transaction(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    hang(cluster, TopicPartition(name, 0), f"{name}-lost", HOUR_MS)
    found = look(cluster)["transactions"]
    assert found.severity is Severity.WARNING and f"{name}:0" in found.examples
    done(topic_changes.plan_delete(cluster, [name]), cluster)
    after = look(cluster).get("transactions")
    assert after is None or f"{name}:0" not in after.examples


def test_a_check_that_fails_is_not_checked(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    too_new = RawRequest(55, (99, 99), lambda _: b"", 0)
    monkeypatch.setattr(quorum, "describe_request", lambda: too_new)
    told = health.health(cluster)
    found = by_check(told)["quorum"]
    assert found.severity is Severity.NOT_CHECKED and not told.ok
    assert "not checked: the metadata quorum" in found.summary
    assert "DescribeQuorum" in found.summary


def test_a_reason_in_a_brokers_words_has_one_full_stop() -> None:
    denied = failure(31, "Not allowed.", about="x", requires="DESCRIBE on the cluster")
    assert in_one_line(denied) == 'x: "Not allowed." Requires DESCRIBE on the cluster'
    ours = failure(31, requires="DESCRIBE on the cluster")
    assert in_one_line(ours).endswith("cluster. Requires DESCRIBE on the cluster")
    assert in_one_line(failure(1, "Gone.", about="x")) == 'x: "Gone."'
