"""`admin.acls`."""

from __future__ import annotations

from kafka_shell.admin.acls import authorizer, change, read
from kafka_shell.admin.calls import Family, Plans, Reads


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

    describe = Reads(read.describe)
    check = Reads(authorizer.check)
    plan_create = Plans(change.plan_create)
    plan_delete = Plans(change.plan_delete)
