"""`admin.quotas`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads
from kafka_shell.admin.quotas import change, read


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

    describe = Reads(read.describe)
    resolve = Reads(read.resolve)
    plan_alter = Plans(change.plan_alter)
