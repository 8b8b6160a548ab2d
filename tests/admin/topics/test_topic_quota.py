"""Topics that a quota holds up (KIP-599)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import DEFAULT, QuotaAlteration, QuotaEntity
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.apply import apply
from tests.admin.helpers import described, done, failures, lose_requests

pytestmark = pytest.mark.quick

CREATE_TOPICS = 19
EVERYBODY = QuotaEntity(client_id=DEFAULT)
RATE = 5  # partitions a second, after a burst of eleven seconds' worth


@pytest.fixture
def limited(cluster: Cluster) -> Iterator[Cluster]:
    """A broker on which few partitions can be created."""
    for value in (float(RATE), None):
        wanted = [QuotaAlteration(EVERYBODY, "controller_mutation_rate", value)]
        done(quota_changes.plan_alter(cluster, wanted), cluster)
        if value is not None:
            yield cluster


def test_topics_that_were_created_are_not_lost(
    limited: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first topic exceeds the quota, so the second one is sent again; that request fails."""
    first, second = NewTopic(f"{name}-a", 12 * RATE, 1), NewTopic(f"{name}-b", 1, 1)
    plan = topic_changes.plan_create([first, second])
    with monkeypatch.context() as patch:
        lose_requests(patch, CREATE_TOPICS, after=1)
        results = apply(plan, limited)
    assert [change.resource.name for change in results.values] == [first.name]
    assert failures(results) == {second.name: "outcome-unknown"}
    assert len(described(limited, first.name).partitions) == 12 * RATE
