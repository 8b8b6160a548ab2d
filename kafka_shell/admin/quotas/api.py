"""`admin.quotas`."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.calls import ClusterPlan, Family

from . import change, read, resolution
from .model import Quota, QuotaAlteration, QuotaFilter, QuotaLadder


class QuotasApi(Family):
    """Client quotas (KIP-546; Kafka 2.6).

    Example:

        alice = QuotaEntity(user="alice")
        plan = admin.quotas.plan_alter([QuotaAlteration(alice, "producer_byte_rate", 1_000_000.0)])
        assert plan.apply().ok

        (quota,) = [each for each in admin.quotas.describe() if each.entity == alice]
        assert quota.value == 1_000_000.0

        resolved = admin.quotas.resolve(user="alice", client_id="app")
        assert resolved.resolutions[0].value == 1_000_000.0

        admin.quotas.plan_alter([QuotaAlteration(alice, "producer_byte_rate", None)]).apply()
    """

    def describe(self, which: QuotaFilter | None = None) -> tuple[Quota, ...]:
        """The quotas that match, or all of them (API key 48)."""
        return self._calls.call(read.describe, *(() if which is None else (which,)))

    def resolve(
        self, user: str | None = None, client_id: str | None = None, ip: str | None = None
    ) -> QuotaLadder:
        """The quotas that apply to a client, and every level that was considered."""
        return self._calls.call(resolution.resolve, user, client_id, ip)

    def plan_alter(self, alterations: Sequence[QuotaAlteration]) -> ClusterPlan:
        """Set quotas, and remove those whose value is None (API key 49)."""
        return self._calls.plan(change.plan_alter, alterations)
