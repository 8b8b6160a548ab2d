"""The command that checks whether a principal is authorized (KIP-11, 290)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls.model import (
    OPERATIONS_OF,
    Access,
    AccessCheck,
    AclOperation,
    PatternType,
)
from kafka_shell.admin.acls.read import client_address
from kafka_shell.admin.topics.similar import invalid_characters
from kafka_shell.admin.users import read as users
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.structs import replace
from kafka_shell.commands.acls.changes import operations, principals, targets
from kafka_shell.commands.acls.spec import RESOURCE_NAMES
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire import metadata_scan


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
                hint="Name one topic, or several with commas; patterns are not expanded.",
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
    check = authorizer.check(context.cluster, list(dict.fromkeys(accesses)))
    return replace(check, notes=(*check.notes, *_missing(context, principal, invocation["topic"])))


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
            hint="Use the address that brokers see; ACLs with host names or ranges never match.",
            code="bad-value",
            span=invocation.span("host"),
        )
    return address
