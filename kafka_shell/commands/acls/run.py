"""The command that lists ACLs (KIP-11, 290)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    PrincipalAcl,
)
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError
from kafka_shell.commands.acls.changes import operations, principals, targets
from kafka_shell.commands.acls.rules import Target
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def list_acls(invocation: Invocation, context: Context) -> Sequence[AclBinding] | NoRows:
    """The ACLs that match all filters, sorted by resource or by principal."""
    filters = _filters(invocation)
    try:
        listed = acls.describe_each(context.cluster, filters)
    except ShellError as error:
        if error.code != "SECURITY_DISABLED":
            raise
        return NoRows(f"no ACLs: {error.message.removeprefix('ACLs: ')}")
    bindings = {binding for each in listed for binding in each}
    if not bindings:
        return NoRows("no ACLs" if len(filters) == 1 and not _has_filter(invocation)
                       else "no ACLs match these filters")  # fmt: skip
    in_order = sorted(bindings, key=lambda binding: binding.order)
    for binding in in_order:
        for doubt in acls.doubts(binding):
            context.note(f"{binding}: {doubt}")
    if invocation["by"] == "principal":
        in_order.sort(key=lambda binding: binding.principal)
        return tuple(map(PrincipalAcl.of, in_order))
    return tuple(in_order)


def _filters(invocation: Invocation) -> list[AclFilter]:
    """A filter for each combination of named resource, principal and operation."""
    pattern_type, kind = invocation["resource-pattern-type"], invocation["resource-type"]
    # A name without a pattern type selects all ACLs that apply to the resource.
    pattern = PatternType[pattern_type.upper()] if pattern_type else PatternType.MATCH
    type_ = AclResourceType[kind.upper().replace("-", "_")] if kind else AclResourceType.ANY
    named = targets(invocation, PatternType.MATCH)
    if invocation["name"]:
        named.append(Target(type_, invocation["name"], pattern))
    elif kind or not named:
        any_name = pattern if pattern_type in _ACL_PATTERNS else PatternType.ANY
        named.append(Target(type_, None, any_name))
    permission = invocation["permission"]
    return [
        AclFilter(
            principal, invocation["host"], operation,
            AclPermission[permission.upper()] if permission else AclPermission.ANY,
            target.type, target.name, target.pattern,
        )
        for target, principal, operation in product(
            named,
            principals(invocation, "principal") or (None,),
            operations(invocation) or (AclOperation.ANY,),
        )
    ]  # fmt: skip


_ACL_PATTERNS = ("literal", "prefixed")
_FILTERS = ("principal", "host", "operation", "permission", "resource-type", "name", "topic",
           "group", "transactional-id", "delegation-token", "user-principal", "cluster",
           "resource-pattern-type")  # fmt: skip


def _has_filter(invocation: Invocation) -> bool:
    return any(invocation[name] for name in _FILTERS)
