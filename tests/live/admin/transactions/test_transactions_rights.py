"""Hanging transactions are doubtful without DESCRIBE on all transactional IDs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclFilter, AclOperation
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.transactions import (
    change as transaction_changes,
)
from kafka_shell.admin.transactions import (
    producers,
)
from kafka_shell.admin.transactions import (
    read as transactions,
)
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.logins import ALICE, allow, log_in
from tests.support.transactional_producer import HOUR_MS, Producer
from tests.support.waiting import wait_for


@pytest.fixture
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster
        if acls.describe(cluster, AclFilter(principal=ALICE)):
            done(acl_changes.plan_delete(cluster, [AclFilter(principal=ALICE)]), cluster)


def test_who_sees_no_coordinator_is_told_of_doubts(
    secure_sandbox: Sandbox, admin: Cluster, name: str
) -> None:
    make_topic(admin, name)
    each = TopicPartition(name, 0)
    producer = Producer.start(admin, name)
    producer.add(each)
    producer.write(each, ago_ms=HOUR_MS)
    assert transactions.find_hanging(admin, partitions=[each]).ok, "its coordinator knows it"
    allow(admin, name, AclOperation.READ)
    with log_in(secure_sandbox, "alice") as alice:
        wait_for("alice may read", lambda: producers.describe(alice, [each]).ok)
        search = transactions.find_hanging(alice, partitions=[each])
        assert len(search.found) == 1, "to her it looks like one that hangs"
        assert "DESCRIBE on transactional ID *" in " ".join(search.doubts)
        plan = transaction_changes.plan_abort(alice, search.found)
        assert plan.advice.warnings == search.doubts, "the plan does not tell of the doubts"
        (why,) = plan.steps[0].send(alice, validate_only=False).failures.values()
        assert why.name == "CLUSTER_AUTHORIZATION_FAILED"
        assert why.hint == "Requires ALTER or CLUSTER_ACTION on the cluster."
    producer.end(commit=False)
