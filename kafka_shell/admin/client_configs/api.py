"""`admin.client_configs`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka_shell.admin.calls import ClusterPlan, Family, Plans, Reads
from kafka_shell.admin.client_configs import change, read
from kafka_shell.admin.client_configs.model import (
    ClientConfigFilter,
    ClientEntity,
    ClientRegistration,
)
from kafka_shell.base.results import Results


class ClientConfigsApi(Family):
    """Dynamic client configs (KIP-649), kept in two compacted topics.

    Example:

        alice = ClientEntity("alice", "app")
        plan = admin.client_configs.plan_alter([ClientConfigAlteration(alice, "linger.ms", "5")])
        assert plan.apply().ok
        (config,) = admin.client_configs.resolve("alice", "app")
        assert (config.key, config.value) == ("linger.ms", "5")
        admin.client_configs.plan_alter([ClientConfigAlteration(alice, "linger.ms", None)]).apply()
    """

    describe = Reads(read.describe)
    resolve = Reads(read.resolved)
    plan_alter = Plans(change.plan_alter)

    def registrations(
        self, which: ClientConfigFilter | None = None
    ) -> Results[str, ClientRegistration]:
        """The configs that each version of a client software can change while it runs. Failures are
        registrations that cannot be decoded."""
        return self._calls.call(read.registrations, which, now=int(time.time() * 1000))

    def plan_forget(self, entities: Sequence[ClientEntity]) -> ClusterPlan:
        """Delete the registrations of clients that no longer exist."""
        return self._calls.plan(change.plan_forget, entities, now=int(time.time() * 1000))
