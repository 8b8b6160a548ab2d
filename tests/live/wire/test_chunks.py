"""More changes than fit into one request."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.admin.partitions import elections
from kafka_shell.admin.partitions import steps as move_steps
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Partition
from kafka_shell.wire.rounds import in_requests
from tests.support.changes import done

MANY = 3_050  # a request holds 1,000


def test_quotas_of_many_users(cluster: Cluster) -> None:
    users = [QuotaEntity(user=f"many-{number}") for number in range(MANY)]
    for value in (9.0, None):
        wanted = [QuotaAlteration(user, "request_percentage", value) for user in users]
        plan = quota_changes.plan_alter(cluster, wanted)
        assert len(plan.changes) == MANY and len(plan.steps) > 1
        done(plan, cluster)
    assert not quotas.describe_each(cluster, users)[users[0]]


def test_many_acls(cluster: Cluster) -> None:
    bindings = [
        AclBinding("User:many", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.TOPIC,
                   f"many-{number}")
        for number in range(MANY)
    ]  # fmt: skip
    done(acl_changes.plan_create(cluster, bindings), cluster)
    mine = AclFilter(principal="User:many")
    assert len(acls.describe(cluster, mine)) == MANY
    done(acl_changes.plan_delete(cluster, [mine]), cluster)
    assert not acls.describe(cluster, mine)


def test_elections_are_split_into_requests() -> None:
    found = Results({
        where.resource: Partition("t", where.partition, 2, 0, (1, 2), (1, 2))
        for where in (TopicPartition("t", number) for number in range(MANY))
    })  # fmt: skip
    steps = elections.plan_preferred(found).steps
    assert [len(step.changes) for step in steps] == [1_000] * 3 + [50]


def test_moves_are_sent_in_order_and_reported(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third request fails as a whole: two are answered, the last is not sent."""
    sizes: list[int] = []
    send = Cluster.send

    def breaks(self: Cluster, request: Any, *rest: Any, **more: Any) -> Any:
        sizes.append(sum(len(topic.partitions) for topic in request.topics))
        if len(sizes) == 3:
            raise ShellError("the connection was lost", code="outcome-unknown")
        return send(self, request, *rest, **more)

    monkeypatch.setattr(Cluster, "send", breaks)
    moves = [Move(TopicPartition(topic, number), (1,), (1,)) for number in range(3_500)]
    sent = move_steps._send_moves(cluster, moves, cancel=True)
    assert sizes == [1_000, 1_000, 1_000]
    failed = {each.partition: why.name for each, why in sent.failures.items()}
    assert failed[2_000] == "outcome-unknown" and failed[3_000] == "not-sent"
    assert failed[0] == "NO_REASSIGNMENT_IN_PROGRESS", "of the first request"


def test_a_large_item_has_its_own_request() -> None:
    assert [len(each) for each in in_requests([9_000, 1, 8_999, 2], lambda size: size)] == [1, 2, 1]
