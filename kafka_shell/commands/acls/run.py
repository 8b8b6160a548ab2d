"""The command that lists ACLs (KIP-11, 290)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    OPERATIONS_OF,
    Access,
    AccessCheck,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    PrincipalAcl,
)
from kafka_shell.admin.acls.model import PatternType as Pattern
from kafka_shell.admin.acls.read import client_address
from kafka_shell.admin.topics.similar import invalid_characters
from kafka_shell.admin.users import read as users
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.structs import replace
from kafka_shell.commands.acls.changes import operations, principals, targets
from kafka_shell.commands.acls.rules import Target
from kafka_shell.commands.acls.spec import RESOURCE_NAMES
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire import metadata_scan


def list_acls(invocation: Invocation, context: Context) -> Sequence[AclBinding] | NoRows:
    """The ACLs that match all filters, sorted by resource or by principal."""
    filters = _filters(invocation)
    try:
        listed = acls.describe_each(context.cluster, filters)
    except ShellError as error:
        if error.code != "SECURITY_DISABLED":
            raise
        return NoRows(f"no ACLs: {error.message.removeprefix('ACLs: ')}")
    found = {binding for each in listed for binding in each}
    if not found:
        return NoRows("no ACLs" if len(filters) == 1 and not _has_filter(invocation)
                       else "no ACLs match these filters")  # fmt: skip
    in_order = sorted(found, key=lambda binding: binding.order)
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
    pattern = Pattern[pattern_type.upper()] if pattern_type else Pattern.MATCH
    type_ = AclResourceType[kind.upper().replace("-", "_")] if kind else AclResourceType.ANY
    named = targets(invocation, Pattern.MATCH)
    if invocation["name"]:
        named.append(Target(type_, invocation["name"], pattern))
    elif kind or not named:
        any_name = Pattern[pattern_type.upper()] if pattern_type in _ACL_PATTERNS else Pattern.ANY
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


# -- The command that checks whether a principal is authorized -------------------------------------


def check_acl(invocation: Invocation, context: Context) -> AccessCheck:
    """Whether a principal is allowed each operation, by the rules of Kafka's authorizer."""
    (principal,) = principals(invocation, "principal")
    requested = operations(invocation)
    if AclOperation.ALL in requested:
        requested = tuple(AclOperation)
    for name in RESOURCE_NAMES:
        if name != "cluster" and "*" in invocation[name]:
            raise UsageError(
                f"--{name} must be one resource, got '*'",
                hint=f"Name a resource: --{name} NAME.",
                code="bad-value",
                span=invocation.span(name, invocation[name].index("*")),
            )
    for index, name in enumerate(invocation["topic"]):
        if characters := invalid_characters(name.replace(",", "")):
            raise UsageError(
                f"'{name}' is not a topic name: names never contain {characters}",
                hint="Patterns are not expanded here: name one topic, or several with commas.",
                code="bad-value",
                span=invocation.span("topic", index),
            )
    host = _client_host(invocation)
    accesses = [
        Access(principal, operation, target.type, target.name or "", host)
        for target in targets(invocation, PatternType.LITERAL)
        for operation in requested
        if operation in OPERATIONS_OF[target.type]
    ]
    applicable = {access.operation for access in accesses}
    for operation in operations(invocation):
        if operation is not AclOperation.ALL and operation not in applicable:
            raise UsageError(
                f"operation {operation.label} does not apply to these resources",
                hint="Name operations of a client, such as --operation Read,Describe.",
                code="bad-operation",
                span=invocation.span("operation"),
            )
    found = authorizer.check(context.cluster, list(dict.fromkeys(accesses)))
    return replace(found, notes=(*found.notes, *_missing(context, principal, invocation["topic"])))


def _missing(context: Context, principal: str, topics: Sequence[str]) -> Iterator[str]:
    """Notes on topics that do not exist, and on a principal that nothing mentions."""
    if topics:
        existing = metadata_scan.scan(context.cluster, topics).names
        for name in dict.fromkeys(topics):
            if name not in existing:
                yield f"topic {name} does not exist, or you are not authorized to DESCRIBE it"
    try:
        known = users.is_known(context.cluster, principal)
    except ShellError as error:
        yield f"not checked: ACLs, SCRAM credentials and quotas of {principal}: {error.message}"
        return
    if not known:
        yield f"{principal} has no ACLs, SCRAM credentials or quotas: check the spelling"


def _client_host(invocation: Invocation) -> str | None:
    """The address of --host in the form brokers use."""
    host: str | None = invocation["host"]
    address = None if host is None else client_address(host)
    if host is not None and address is None:
        raise UsageError(
            f"--host must be the IP address of a client, got '{host}'",
            hint="Host names and ranges never match: brokers compare addresses as text.",
            code="bad-value",
            span=invocation.span("host"),
        )
    return address
