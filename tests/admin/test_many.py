"""More changes than a controller takes in one request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin import acls, elections, move_steps, quotas, topics
from kafka_shell.admin.connection import Cluster
from kafka_shell.admin.many import in_requests
from kafka_shell.nouns import AclBinding, NewTopic, Partition, Results
from kafka_shell.nouns.access import (
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.nouns.clients import QuotaAlteration, QuotaEntity
from kafka_shell.nouns.partitions import TopicPartition
from kafka_shell.nouns.reassignment import Move
from kafka_shell.sandbox import Sandbox
from tests.admin.helpers import connect, done

MANY = 10_050


@pytest.fixture(scope="module")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with connect(sandbox) as cluster:
        yield cluster


def test_quotas_of_many_users(cluster: Cluster) -> None:
    users = [QuotaEntity(user=f"many-{number}") for number in range(MANY)]
    done(quotas.plan_alter(cluster, [QuotaAlteration(u, "request_percentage", 9.0) for u in users]),
         cluster)  # fmt: skip
    done(quotas.plan_alter(cluster, [QuotaAlteration(u, "request_percentage", None)
                                     for u in users]), cluster)  # fmt: skip


def test_many_acls(cluster: Cluster) -> None:
    bindings = [
        AclBinding(AclResourceType.TOPIC, f"t-{number}", PatternType.LITERAL, "User:many", "*",
                   AclOperation.READ, AclPermission.ALLOW)
        for number in range(MANY)
    ]  # fmt: skip
    plan = acls.plan_create(cluster, bindings)
    assert len(plan.changes) == MANY
    done(plan, cluster)
    done(acls.plan_delete(cluster, [AclFilter(principal="User:many")]), cluster)
