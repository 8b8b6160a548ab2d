"""ACLs: describe, create, delete (KIP-140, 290; API keys 29, 30, 31)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error, failure, needs
from kafka_shell.admin.wire.requests import Call
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure
from kafka_shell.resource import Resource

from .model import AclBinding, AclFilter, AclOperation, AclPermission, AclResourceType, PatternType

EVERYTHING = AclFilter()
_CLUSTER_AUTHORIZATION_FAILED, _SECURITY_DISABLED = 31, 54
_USER_SINCE = 3  # the version of all three APIs that knows ACLs on users (Kafka 3.3)


# -- describe --------------------------------------------------------------------------------------


def describe(cluster: Cluster, which: AclFilter = EVERYTHING) -> tuple[AclBinding, ...]:
    """The bindings that the filter takes: all of them without one. Sorted by resource, principal.

    Raises ShellError where the broker refuses; SECURITY_DISABLED where it has no authorizer.
    """
    (found,) = describe_each(cluster, [which])
    return found


def describe_each(cluster: Cluster, filters: Sequence[AclFilter]) -> list[tuple[AclBinding, ...]]:
    """What each filter takes, in the order of the filters, all asked at once.

    Raises ShellError where the broker refuses one.
    """
    calls = [
        Call(_describe_request(each), lowest=lowest_version([each]), check=False)
        for each in filters
    ]
    found = []
    for answer in cluster.send_all(calls):
        if isinstance(answer, Failure):
            raise as_error(answer)
        if answer.error_code:
            raise as_error(_unreadable(answer.error_code, answer.error_message))
        found.append(_bindings(answer))
    return found


def _unreadable(code: int, message: str | None) -> Failure:
    hint = needs(code, "Describe on the cluster")
    if code == _SECURITY_DISABLED:
        message, hint = None, "Without one (authorizer.class.name) everyone may do everything."
    return failure(code, message, about="ACLs", hint=hint)


def _describe_request(which: AclFilter) -> Any:
    from kafka.protocol.admin import DescribeAclsRequest

    return DescribeAclsRequest(**filter_fields(which))


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


def _bindings(response: Any) -> tuple[AclBinding, ...]:
    found = [_binding(acl, resource) for resource in response.resources for acl in resource.acls]
    return tuple(sorted(found, key=lambda binding: binding.order))


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
    """The ACLs of one principal, as they would be for others. Raises ShellError for none."""
    found = describe(cluster, AclFilter(source))
    if not found:
        raise ShellError(
            f"{source} has no ACLs",
            code="no-acl",
            see=Resource("principal"),
        )
    return [replace(binding, principal=principal) for principal in to for binding in found]


def doubts(binding: AclBinding) -> Iterator[str]:
    """What is probably not meant: an ACL that never applies, and nobody would tell."""
    if binding.pattern_type is PatternType.PREFIXED and binding.name == "*":
        yield (
            f"a prefixed * takes only names that begin with a star, not every"
            f" {binding.resource_type.kind}: a literal * does"
        )
    if binding.host != "*":
        yield from _doubts_of_host(binding.host)


def _doubts_of_host(host: str) -> Iterator[str]:
    """Brokers compare a host letter by letter with the client's address as Java writes it."""
    spelled = client_address(host)
    if spelled is None:
        yield f"{host} is no address: a host is an IP address or *, names and ranges never match"
    elif spelled != host:
        yield f"{host} never matches: brokers write this address {spelled}"


def client_address(host: str) -> str | None:
    """A client's address as brokers write it and compare it with an ACL's host; None for what is
    no address, such as a name or a range."""
    from ipaddress import ip_address

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
    users = any(each.resource_type is AclResourceType.USER for each in wanted)
    return _USER_SINCE if users else None
