"""`admin.acls`."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.calls import ClusterPlan, Family

from . import authorizer, change, read
from .model import Access, AccessCheck, AclBinding, AclFilter


class AclsApi(Family):
    """ACLs (KIP-11, 140, 290). The cluster needs an authorizer.

    Example:

        binding = AclBinding(
            "User:carol",
            "*",
            AclOperation.READ,
            AclPermission.ALLOW,
            AclResourceType.TOPIC,
            "example.acls",
        )
        assert admin.acls.plan_create([binding]).apply().ok
        assert binding in admin.acls.describe(AclFilter(principal="User:carol"))
        assert admin.acls.plan_delete([AclFilter.exactly(binding)]).apply().ok
    """

    def describe(self, which: AclFilter | None = None) -> tuple[AclBinding, ...]:
        """The bindings that match, or all of them (API key 29)."""
        return self._calls.call(read.describe, *(() if which is None else (which,)))

    def check(self, accesses: Sequence[Access]) -> AccessCheck:
        """What StandardAuthorizer decides on each access, and the ACLs that decide it."""
        return self._calls.call(authorizer.check, accesses)

    def plan_create(self, bindings: Sequence[AclBinding]) -> ClusterPlan:
        """Create ACLs (API key 30)."""
        return self._calls.plan(change.plan_create, bindings)

    def plan_delete(self, filters: Sequence[AclFilter]) -> ClusterPlan:
        """Delete the ACLs that match (API key 31)."""
        return self._calls.plan(change.plan_delete, filters)
