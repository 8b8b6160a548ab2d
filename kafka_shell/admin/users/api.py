"""`admin.users`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.plan.results import Results

from . import read, scram
from .model import NewScramCredential, ScramCredential, ScramMechanism, UserPage


class UsersApi(Family):
    """SCRAM credentials (KIP-554; Kafka 2.7, in KRaft mode 3.5).

    Example:

        credential = NewScramCredential("bob", ScramMechanism.SCRAM_SHA_512, Secret("not a secret"))
        assert admin.users.plan_upsert([credential]).apply().ok

        (found,) = admin.users.credentials(["bob"])["bob"]
        assert found.iterations == 4096

        plan = admin.users.plan_delete([("bob", ScramMechanism.SCRAM_SHA_512)])
        assert plan.apply().ok
    """

    def credentials(
        self, users: Iterable[str] | None = None
    ) -> Results[str, tuple[ScramCredential, ...]]:
        """The SCRAM credentials of each user, or of all users (API key 50). Never a password."""
        return self._calls.call(scram.describe, users)

    def describe(self, name: str) -> UserPage:
        """Everything about one user: credentials, quotas, ACLs, tokens, groups. A part that cannot
        be read is a Failure."""
        return self._calls.call(read.describe, name)

    def plan_upsert(self, credentials: Sequence[NewScramCredential]) -> ClusterPlan:
        """Create credentials, and replace those that exist (API key 51)."""
        return self._calls.plan(scram.plan_upsert, credentials)

    def plan_delete(self, credentials: Sequence[tuple[str, ScramMechanism]]) -> ClusterPlan:
        """Delete credentials, each a user and a mechanism (API key 51)."""
        return self._calls.plan(scram.plan_delete, credentials)
