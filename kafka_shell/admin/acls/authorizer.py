"""The decisions of Kafka's StandardAuthorizer, computed from ACL bindings (KIP-11, 290).

`verdict` is pure. DENY takes precedence over ALLOW. Allowing READ, WRITE, DELETE or ALTER implies
DESCRIBE, and ALTER_CONFIGS implies DESCRIBE_CONFIGS; denying implies nothing. For a resource
without any ACL allow.everyone.if.no.acl.found decides. Super users are always allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    Access,
    AccessCheck,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    Verdict,
)
from kafka_shell.admin.configs.read import of_some_broker
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster

ANYONE = "User:*"
_IMPLY = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.ALTER_CONFIGS}),
}
# Operations before which clients send Metadata or FindCoordinator, which require DESCRIBE.
_LOOKS_UP = {
    AclResourceType.TOPIC: (AclOperation.READ, AclOperation.WRITE),
    AclResourceType.GROUP: (AclOperation.READ, AclOperation.DELETE),
    AclResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE,),
}
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_SUPER_USERS, _NO_ACL = "super.users", "allow.everyone.if.no.acl.found"
_AUTHORIZER = "authorizer.class.name"


class Rules(Struct, frozen=True):
    """The configs that decide. `super_users` and `no_acl_allows` are None if they cannot be
    read."""

    bindings: tuple[AclBinding, ...]
    super_users: frozenset[str] | None = frozenset()
    no_acl_allows: bool | None = False
    authorizer: str = STANDARD


# -- the verdict -----------------------------------------------------------------------------------


def verdict(rules: Rules, access: Access) -> Verdict:
    """The authorizer's decision, and the bindings that decide it."""
    if rules.super_users is not None and access.principal in rules.super_users:
        return Verdict(access, True, "super-user")
    there = [binding for binding in rules.bindings if _matches(binding, access)]
    mine = [binding for binding in there if _applies_to(binding, access)]
    denied = tuple(binding for binding in mine if binding.permission is AclPermission.DENY)
    allowed = tuple(binding for binding in mine if binding.permission is AclPermission.ALLOW)
    unless = ""
    if rules.super_users is None:
        unless = f"{access.principal} is in super.users, which is not visible to clients"
    if denied:
        return Verdict(access, False, "deny", denied, unless)
    if allowed:
        return Verdict(access, True, "allow", allowed)
    if there:
        return Verdict(access, False, "nothing-allows", unless=unless)
    allows = rules.no_acl_allows
    return Verdict(access, allows, "no-acl", unless="" if allows else unless)


def _matches(binding: AclBinding, access: Access) -> bool:
    """Whether the resource pattern matches the resource."""
    if binding.resource_type is not access.resource_type:
        return False
    if binding.pattern_type is PatternType.PREFIXED:
        return access.name.startswith(binding.name)
    return binding.name in (access.name, "*")


def _applies_to(binding: AclBinding, access: Access) -> bool:
    """Whether the binding applies to this principal, host and operation."""
    if binding.principal not in (access.principal, ANYONE):
        return False
    if binding.host not in ("*", access.host):
        return False
    if binding.operation in (AclOperation.ALL, access.operation):
        return True
    implied = _IMPLY.get(access.operation, frozenset())
    return binding.permission is AclPermission.ALLOW and binding.operation in implied


def hosts_of(bindings: Iterable[AclBinding]) -> list[str | None]:
    """The hosts on which verdicts may differ: None for one that no binding names, and those that
    bindings name. Names and ranges are left out: they never match an address."""
    named = {binding.host for binding in bindings}
    return [None, *sorted(host for host in named if acls.client_address(host) == host)]


def implied_by(binding: AclBinding) -> tuple[AclOperation, ...]:
    """The operations that a binding allows in addition to its own."""
    if binding.permission is not AclPermission.ALLOW:
        return ()
    return tuple(each for each, by in _IMPLY.items() if binding.operation in by)


# -- what decides, as the cluster has it -----------------------------------------------------------


def read(cluster: Cluster, asked: Sequence[Access]) -> Rules:
    """The bindings on these resources, and the authorizer configs of the brokers.

    Raises ShellError if the broker refuses to list ACLs, or has no authorizer.
    """
    filters = dict.fromkeys(
        AclFilter(resource_type=each.resource_type, name=each.name, pattern_type=PatternType.MATCH)
        for each in asked
    )
    acl_bindings = acls.describe_each(cluster, list(filters))
    bindings = tuple(dict.fromkeys(binding for acl in acl_bindings for binding in acl))
    return replace(configured(cluster), bindings=bindings)


def configured(cluster: Cluster) -> Rules:
    """Super users and the rule for resources without ACLs, as far as a broker returns them.

    A config listed without a value is set to an unknown value; one that is not listed has Kafka's
    default.
    """
    try:
        configs = of_some_broker(cluster, [_SUPER_USERS, _NO_ACL, _AUTHORIZER])
    except ShellError:
        return Rules((), None, None, "")
    values = {key: entry.value for key, entry in configs.items()}
    users = values.get(_SUPER_USERS, "")
    everyone = values.get(_NO_ACL, "false")
    return Rules(
        (),
        None if users is None else frozenset(filter(None, map(str.strip, users.split(";")))),
        None if everyone is None else everyone.strip().lower() == "true",
        values.get(_AUTHORIZER) or "",
    )


# -- a whole answer --------------------------------------------------------------------------------


def check(cluster: Cluster, asked: Sequence[Access]) -> AccessCheck:
    """The verdicts on the accesses, on hosts where they differ, and on operations also needed."""
    besides = [access for access in _besides(asked) if access not in asked]
    instead = [other for access in asked for other in _instead(access)]
    rules = read(cluster, [*asked, *besides, *instead])
    verdicts = tuple(_best_verdict(rules, access) for access in asked)
    return AccessCheck(
        verdicts,
        tuple(other for each in verdicts for other in _elsewhere(rules, each)),
        tuple(verdict(rules, also) for also in besides),
        tuple(_notes(rules, asked)),
    )


def _elsewhere(rules: Rules, usual: Verdict) -> Iterator[Verdict]:
    """The verdicts for hosts that ACLs name, if they differ."""
    if usual.access.host is not None or usual.because == "super-user":
        return
    enough = (usual.access, *_instead(usual.access))
    there = [each for each in rules.bindings if any(_matches(each, access) for access in enough)]
    for host in hosts_of(there)[1:]:
        other = _best_verdict(rules, replace(usual.access, host=host))
        if other.allowed != usual.allowed:
            yield other


def _best_verdict(rules: Rules, access: Access) -> Verdict:
    """The verdict on the access, or the one on another access that is enough if that is allowed."""
    own = verdict(rules, access)
    others = [verdict(rules, other) for other in _instead(access)] if not own.allowed else []
    by = next((other for other in others if other.allowed), None)
    return own if by is None else replace(by, access=access)


def _instead(access: Access) -> Iterator[Access]:
    """Another access that is enough: CREATE on the cluster for CREATE on a topic."""
    if (access.resource_type, access.operation) == (AclResourceType.TOPIC, AclOperation.CREATE):
        yield replace(access, resource_type=AclResourceType.CLUSTER, name=CLUSTER_NAME)


def _besides(requested: Iterable[Access]) -> Iterator[Access]:
    """What a client also needs for this: it looks up leaders and coordinators first."""
    for access in dict.fromkeys(requested):
        if access.operation in _LOOKS_UP.get(access.resource_type, ()):
            yield replace(access, operation=AclOperation.DESCRIBE)


def _notes(rules: Rules, requested: Sequence[Access]) -> Iterator[str]:
    if rules.authorizer not in ("", STANDARD):
        yield f"the brokers' authorizer is {rules.authorizer}: its rules may differ"
    if not rules.authorizer:
        yield "the configs of the brokers cannot be read: super users are unknown"
    for binding in rules.bindings:
        if any(_matches(binding, access) for access in requested):
            yield from (f"{binding}: {doubt}" for doubt in acls.doubts(binding))
    done = {(access.resource_type, access.operation) for access in requested}
    topic, group = AclResourceType.TOPIC, AclResourceType.GROUP
    if (topic, AclOperation.READ) in done and (group, AclOperation.READ) not in done:
        yield "a consumer in a group also requires Read on the group (not checked)"
    if (group, AclOperation.READ) in done and (topic, AclOperation.READ) not in done:
        yield "a consumer also requires Read on its topics (not checked)"
    transaction = (AclResourceType.TRANSACTIONAL_ID, AclOperation.WRITE)
    if (topic, AclOperation.WRITE) in done and transaction not in done:
        yield "a transactional producer also requires Write on its ID (not checked)"
    if (topic, AclOperation.CREATE) in done:
        yield "Create on the topic or on the cluster is enough to create it"
