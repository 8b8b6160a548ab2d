"""ACLs: describe (KIP-140, 290; API key 29)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address
from typing import Any

from kafka_shell.admin.acls.model import (
    OPERATIONS_OF,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    word,
)
from kafka_shell.admin.topics.similar import invalid_characters
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource, replace
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import SECURITY_DISABLED
from kafka_shell.wire.failures import BrokerError, as_error, failure
from kafka_shell.wire.requests import Call

EVERYTHING = AclFilter()
_WITH_PREFIXES = (AclResourceType.GROUP, AclResourceType.TRANSACTIONAL_ID)  # and topics
_USER_SINCE = 3  # the first version of the three APIs with ACLs on users (Kafka 3.3)


def describe(cluster: Cluster, which: AclFilter = EVERYTHING) -> tuple[AclBinding, ...]:
    """The bindings that match the filter; without a filter, all (API key 29). Sorted by resource.
    None if the brokers have no authorizer. Raises ShellError if the broker refuses.
    """
    try:
        (bindings,) = describe_each(cluster, [which])
    except BrokerError as error:
        if error.kafka_code != SECURITY_DISABLED:
            raise
        return ()
    return bindings


def describe_each(cluster: Cluster, filters: Sequence[AclFilter]) -> list[tuple[AclBinding, ...]]:
    """The bindings that match each filter, in order. All requests are sent at once.

    Raises ShellError if the broker refuses one; SECURITY_DISABLED if it has no authorizer.
    """
    calls = [
        Call(
            messages.DescribeAclsRequest(**filter_fields(acl_filter)),
            lowest=lowest_version([acl_filter]),
            check=False,
        )
        for acl_filter in filters
    ]
    bindings = []
    for response in cluster.send_all(calls):
        if isinstance(response, Failure):
            raise as_error(response)
        if response.error_code:
            raise as_error(_unreadable(response.error_code, response.error_message))
        listed = [_binding(acl, each) for each in response.resources for acl in each.acls]
        bindings.append(tuple(sorted(listed, key=lambda binding: binding.order)))
    return bindings


def _unreadable(code: int, message: str | None) -> Failure:
    hint = ""
    if code == SECURITY_DISABLED:
        message, hint = None, "Without an authorizer (authorizer.class.name) everything is allowed."
    return failure(code, message, about="ACLs", hint=hint, requires="DESCRIBE on the cluster")


def filter_fields(which: AclFilter) -> dict[str, Any]:
    return {
        "resource_type_filter": int(which.resource_type),
        "resource_name_filter": which.name,
        "pattern_type_filter": int(which.pattern_type),
        "principal_filter": which.principal,
        "host_filter": which.host,
        "operation": int(which.operation),
        "permission_type": int(which.permission),
    }


def _binding(acl: Any, resource: Any) -> AclBinding:
    return AclBinding(
        principal=acl.principal,
        host=acl.host,
        operation=AclOperation(acl.operation),
        permission=AclPermission(acl.permission_type),
        resource_type=AclResourceType(resource.resource_type),
        name=resource.resource_name,
        pattern_type=PatternType(resource.pattern_type),
    )


def copies(cluster: Cluster, source: str, to: Sequence[str]) -> list[AclBinding]:
    """The ACLs of one principal, copied for others. Raises ShellError if it has none."""
    bindings = describe(cluster, AclFilter(source))
    if not bindings:
        raise ShellError(
            f"{source} has no ACLs",
            code="no-acl",
            see=Resource("principal"),
        )
    return [replace(binding, principal=principal) for principal in to for binding in bindings]


def invalid_in_topic(binding: AclBinding) -> str:
    """The characters in the name of an ACL on topics that no topic has, for a message."""
    named = binding.resource_type is AclResourceType.TOPIC and binding.name != "*"
    return invalid_characters(binding.name) if named else ""


def doubts(binding: AclBinding) -> Iterator[str]:
    """Warnings about an ACL that never applies, or only to a name that is probably not meant."""
    yield from _doubts_of_principal(binding.principal)
    yield from _doubts_of_name(binding)
    yield from _doubts_of_operation(binding)
    if binding.host != "*":
        yield from _doubts_of_host(binding.host)


def _doubts_of_principal(principal: str) -> Iterator[str]:
    """Warnings about a principal. Brokers compare it as text; only User:* stands for others."""
    kind, _, name = principal.partition(":")
    if kind != "User" and kind.lower() == "user":
        yield f"principal {principal} never matches: types are case-sensitive, use User:{name}"
    # The name of a TLS certificate may be that of a wildcard: CN=*.example.com.
    elif "*" in name and name != "*" and "=" not in name:
        yield (f"principal {principal} matches only the user '{name}': only User:* is a wildcard")


def _doubts_of_name(binding: AclBinding) -> Iterator[str]:
    """Warnings about the name of a resource."""
    kind, name = binding.resource_type, binding.name
    prefix, star, rest = name.partition("*")
    noun = kind.kind.replace("-id", " ID")
    instead = ""
    if prefix and star:
        instead = f"; to match {noun}s by prefix, use: prefixed {kind.kind} {word(prefix)}"
    literal = binding.pattern_type is PatternType.LITERAL
    if binding.pattern_type is PatternType.PREFIXED and name == "*":
        yield (
            f"a prefixed * matches only names that begin with an asterisk (*); a literal * matches"
            f" every {kind.kind}"
        )
    elif characters := invalid_in_topic(binding):
        yield (
            f"an ACL on topic '{name}' matches no topic: topic names never contain"
            f" {characters}{instead}"
        )
    elif kind in _WITH_PREFIXES and instead and not rest:
        begin = "" if literal else "names that begin with "
        yield (
            f"an ACL on {binding.target} matches only {begin}'{name}': the asterisk (*) is not a"
            f" wildcard there{instead}"
        )
    elif kind is AclResourceType.USER and literal and name != "*" and ":" not in name:
        yield f"an ACL on user {word(name)} never matches: use the principal, User:{name}"


def _doubts_of_operation(binding: AclBinding) -> Iterator[str]:
    """A warning about an operation that the resource does not have. Brokers store such ACLs."""
    kind, operation = binding.resource_type.kind, binding.operation
    known = OPERATIONS_OF.get(binding.resource_type, frozenset())
    if known and operation > AclOperation.ALL and operation not in known:
        names = ", ".join(each.label for each in sorted(known))
        yield (f"{operation.label} has no effect on a {kind}: brokers check only {names} and All")


def _doubts_of_host(host: str) -> Iterator[str]:
    """Warnings about a host. Brokers compare it as text with the client's address as Java prints
    it."""
    spelled = client_address(host)
    if spelled is None:
        yield f"host {host} is not an IP address or *: host names and ranges never match"
    elif spelled != host:
        yield f"host {host} never matches: brokers write this address as {spelled}"


def client_address(host: str) -> str | None:
    """A client's address as brokers write it to compare it with an ACL's host; None if it is not an
    address."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if address.version == 4:
        return host
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return ":".join(f"{int(part, 16):x}" for part in address.exploded.partition("%")[0].split(":"))


def lowest_version(wanted: Iterable[AclBinding | AclFilter]) -> int | None:
    users = any(filter_.resource_type is AclResourceType.USER for filter_ in wanted)
    return _USER_SINCE if users else None
