"""`admin.tokens`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka_shell.admin.calls import ClusterPlan, Family, Reads
from kafka_shell.admin.tokens import change, read
from kafka_shell.base.plans import Secret


class TokensApi(Family):
    """Delegation tokens (KIP-48, 373). Requires a login by SASL or TLS, not by a token.

    Example:

        plan = admin.tokens.plan_create(renewers=["User:alice"])
        assert plan.apply().ok
        created = plan.fresh()
        assert created.token in admin.tokens.describe()
        assert created.hmac.reveal() not in repr(created)

        assert admin.tokens.plan_expire([created.token.id]).apply().ok
    """

    describe = Reads(read.describe)

    def plan_create(
        self, *, owner: str = "", renewers: Sequence[str] = (), max_life: int | None = None
    ) -> ClusterPlan:
        """Create a token (API key 38). `max_life` is in milliseconds. Once the plan is applied, its
        `fresh` returns the NewToken with its HMAC."""
        return self._calls.plan(
            change.plan_create, owner=owner, renewers=renewers, max_life=max_life
        )

    def plan_renew(
        self, ids: Sequence[str] = (), hmacs: Sequence[Secret] = (), period: int | None = None
    ) -> ClusterPlan:
        """Renew tokens for `period` milliseconds (API key 39)."""
        return self._calls.plan(change.plan_renew, ids, hmacs, _now(), period)

    def plan_expire(
        self, ids: Sequence[str] = (), hmacs: Sequence[Secret] = (), period: int | None = None
    ) -> ClusterPlan:
        """Expire tokens in `period` milliseconds, or now (API key 40)."""
        return self._calls.plan(change.plan_expire, ids, hmacs, _now(), period)


def _now() -> int:
    return int(time.time() * 1000)
