"""What StandardAuthorizer would answer: the rules of Kafka's own, over the bindings (KIP-11, 290).

`verdict` is pure. A denial wins over whatever allows; READ, WRITE, DELETE and ALTER allow DESCRIBE
too, ALTER_CONFIGS allows DESCRIBE_CONFIGS, but denials imply nothing; a resource without any ACL,
whoever's, falls to allow.everyone.if.no.acl.found; super users are never asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError

from . import read as acls
from .model import (
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

_ANYONE = "User:*"
_IMPLY = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.ALTER_CONFIGS}),
}
_STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_SUPER_USERS, _NO_ACL = "super.users", "allow.everyone.if.no.acl.found"
_AUTHORIZER = "authorizer.class.name"


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides. None in `super_users` or `no_acl_allows` is what could not be read."""

    bindings: tuple[AclBinding, ...]
    super_users: frozenset[str] | None = frozenset()
    no_acl_allows: bool | None = False
    authorizer: str = _STANDARD


# -- the verdict -----------------------------------------------------------------------------------


def verdict(rules: Rules, access: Access) -> Verdict:
    """What the authorizer answers, and the bindings that decide it."""
    if rules.super_users is not None and access.principal in rules.super_users:
        return Verdict(access, True, "super-user")
    there = [binding for binding in rules.bindings if _covers(binding, access)]
    mine = [binding for binding in there if _speaks_of(binding, access)]
    denied = tuple(each for each in mine if each.permission is AclPermission.DENY)
    allowed = tuple(each for each in mine if each.permission is AclPermission.ALLOW)
    unless = ""
    if rules.super_users is None:
        unless = f"{access.principal} is one of super.users, which the brokers do not tell"
    if denied:
        return Verdict(access, False, "deny", denied, unless)
    if allowed:
        return Verdict(access, True, "allow", allowed)
    if there:
        return Verdict(access, False, "nothing-allows", unless=unless)
    allows = rules.no_acl_allows
    return Verdict(access, allows, "no-acl", unless="" if allows else unless)


def _covers(binding: AclBinding, access: Access) -> bool:
    """Whether the resource pattern takes the resource."""
    if binding.resource_type is not access.resource_type:
        return False
    if binding.pattern_type is PatternType.PREFIXED:
        return access.name.startswith(binding.name)
    return binding.name in (access.name, "*")


def _speaks_of(binding: AclBinding, access: Access) -> bool:
    """Whether the binding is about this principal, from this host, doing this."""
    if binding.principal not in (access.principal, _ANYONE):
        return False
    if binding.host not in ("*", access.host):
        return False
    if binding.operation in (AclOperation.ALL, access.operation):
        return True
    implied = _IMPLY.get(access.operation, frozenset())
    return binding.permission is AclPermission.ALLOW and binding.operation in implied


# -- what decides, as the cluster has it -----------------------------------------------------------


def read(cluster: Cluster, asked: Sequence[Access]) -> Rules:
    """The bindings on the resources that are asked about, and the brokers' configs.

    Raises ShellError where the broker refuses to tell ACLs, or has no authorizer.
    """
    filters = dict.fromkeys(
        AclFilter(resource_type=each.resource_type, name=each.name, pattern_type=PatternType.MATCH)
        for each in asked
    )
    found = acls.describe_each(cluster, list(filters))
    bindings = tuple(dict.fromkeys(binding for each in found for binding in each))
    return replace(_configured(cluster), bindings=bindings)


def _configured(cluster: Cluster) -> Rules:
    """Super users and the rule without ACLs, as far as a broker tells.

    A config that a broker lists without its value is set, to something; one that it does not list
    is not set, and Kafka's default holds.
    """
    from kafka_shell.admin.configs.read import of_some_broker

    try:
        told = of_some_broker(cluster, [_SUPER_USERS, _NO_ACL, _AUTHORIZER])
    except ShellError:
        return Rules((), None, None, "")
    values = {key: entry.value for key, entry in told.items()}
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
    """Verdicts on all that is asked, where hosts make a difference, and on what goes with it."""
    besides = [each for each in _besides(asked) if each not in asked]
    rules = read(cluster, [*asked, *besides])
    verdicts = tuple(verdict(rules, each) for each in asked)
    return AccessCheck(
        verdicts,
        tuple(other for each in verdicts for other in _elsewhere(rules, each)),
        tuple(verdict(rules, each) for each in besides),
        tuple(_notes(rules, asked)),
    )


def _elsewhere(rules: Rules, usual: Verdict) -> Iterator[Verdict]:
    """The verdicts from hosts that ACLs name, where they are others."""
    if usual.access.host is not None or usual.because == "super-user":
        return
    hosts = {each.host for each in rules.bindings if _covers(each, usual.access)}
    # Names and ranges never match: no client comes from there.
    for host in sorted(host for host in hosts if acls.client_address(host) == host):
        there = verdict(rules, replace(usual.access, host=host))
        if there.allowed != usual.allowed:
            yield there


def _besides(asked: Iterable[Access]) -> Iterator[Access]:
    """What a client that does this asks for too, on resources whose names are known."""
    topic, group = AclResourceType.TOPIC, AclResourceType.GROUP
    transaction = AclResourceType.TRANSACTIONAL_ID
    seen = set()
    for each in asked:
        wanted: list[Access] = []
        kind, operation = each.resource_type, each.operation
        if kind in (topic, group, transaction) and operation in _IMPLY[AclOperation.DESCRIBE]:
            wanted.append(replace(each, operation=AclOperation.DESCRIBE))
        if operation is AclOperation.ALTER_CONFIGS:
            wanted.append(replace(each, operation=AclOperation.DESCRIBE_CONFIGS))
        if (kind, operation) == (topic, AclOperation.CREATE):
            wanted.append(replace(each, resource_type=AclResourceType.CLUSTER, name=CLUSTER_NAME))
            wanted.append(replace(each, operation=AclOperation.DESCRIBE))
        for access in wanted:
            if access not in seen:
                seen.add(access)
                yield access


def _notes(rules: Rules, asked: Sequence[Access]) -> Iterator[str]:
    if rules.authorizer not in ("", _STANDARD):
        yield f"the brokers' authorizer is {rules.authorizer}: its rules may be others"
    if not rules.authorizer:
        yield "the brokers' configs cannot be read: super users and other authorizers are unknown"
    for binding in rules.bindings:
        if any(_covers(binding, each) for each in asked):
            yield from (f"{binding}: {doubt}" for doubt in acls.doubts(binding))
    done = {(each.resource_type, each.operation) for each in asked}
    topic, group = AclResourceType.TOPIC, AclResourceType.GROUP
    if (topic, AclOperation.READ) in done and (group, AclOperation.READ) not in done:
        yield "a consumer in a group also needs Read on the group: --group GROUP asks about it"
    if (group, AclOperation.READ) in done and (topic, AclOperation.READ) not in done:
        yield "a consumer also needs Read on its topics: --topic TOPIC asks about one"
    transaction = (AclResourceType.TRANSACTIONAL_ID, AclOperation.WRITE)
    if (topic, AclOperation.WRITE) in done and transaction not in done:
        yield "a transactional producer also needs Write on its id: --transactional-id ID"
    if (topic, AclOperation.CREATE) in done:
        yield "Create on the topic or on the cluster is enough to create it"
