"""A new controller is elected, and brokers still send requests to the one before."""

from __future__ import annotations

from kafka_shell.admin.cluster import health, quorum
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.outages import frozen
from tests.support.waiting import wait_for


def test_quorum_with_new_controller_is_available(three_brokers: Sandbox, three: Cluster) -> None:
    before = quorum.describe(three).leader
    other = next(id for id in (1, 2, 3) if id != before)

    def elected() -> bool:
        found = quorum._describe_directly(three, other)
        return any(isinstance(each, quorum.Quorum) and each.leader != before for each in found)

    with frozen(three_brokers, before):
        wait_for("a new controller is elected", elected)
        found = health.health(three).findings
    summaries = [each.summary for each in found]
    assert not any("quorum is unavailable" in each for each in summaries), summaries
    silent = [each for each in found if f"controller {before} is not responding" in each.summary]
    assert [each.severity for each in silent] == [Severity.CRITICAL], summaries
