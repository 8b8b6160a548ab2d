"""ACLs: who may do what on which resource (KIP-11, 290; codes of API keys 29 to 31)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import astuple

from kafka_shell.base.plans import Resource
from kafka_shell.base.structs import CodedEnum
from kafka_shell.base.text import quote

CLUSTER_NAME = "kafka-cluster"  # the name of the only CLUSTER resource


class _Coded(CodedEnum):
    """A code of Kafka's ACL APIs, with the name that Kafka's tools print."""

    @property
    def label(self) -> str:
        """Its name as Kafka's tools print it: `DescribeConfigs`."""
        return "".join(word.capitalize() for word in self.name.split("_"))


class AclResourceType(_Coded):
    """What an ACL protects. ANY is for filters only."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    @property
    def kind(self) -> str:
        """Its name as users type it: topic, group, transactional-id ..."""
        return self.name.lower().replace("_", "-")


class PatternType(_Coded):
    """The pattern type of an ACL's resource name (KIP-290).

    For filters only: ANY matches literal and prefixed patterns of exactly this name, MATCH all
    patterns that apply to a resource of this name (literal, prefixed and the wildcard `*`).
    """

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(_Coded):
    """An operation. ALL is all operations, ANY is for filters only."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermission(_Coded):
    """Whether an ACL allows or denies. ANY is for filters only."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


# The operations that each resource type has. A broker stores others, but never checks them.
_CONFIGS = "DESCRIBE_CONFIGS ALTER_CONFIGS"
OPERATIONS_OF: dict[AclResourceType, frozenset[AclOperation]] = {
    AclResourceType[kind]: frozenset(AclOperation[name] for name in names.split())
    for kind, names in {
        "TOPIC": f"READ WRITE CREATE DELETE ALTER DESCRIBE {_CONFIGS}",
        "GROUP": f"READ DESCRIBE DELETE {_CONFIGS}",
        "CLUSTER": f"CREATE ALTER DESCRIBE CLUSTER_ACTION IDEMPOTENT_WRITE {_CONFIGS}",
        "TRANSACTIONAL_ID": "WRITE DESCRIBE TWO_PHASE_COMMIT",
        "DELEGATION_TOKEN": "DESCRIBE",
        "USER": "CREATE_TOKENS DESCRIBE_TOKENS",
    }.items()
}


class AclBinding(Struct, frozen=True):
    """One rule on one resource pattern. A `host` is an IP address, or `*` for any."""

    principal: str
    host: str
    operation: AclOperation
    permission: AclPermission
    resource_type: AclResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL

    @property
    def rule(self) -> str:
        """The rule as it is typed: `allow User:bob Read from 10.0.0.1`."""
        return rule_text(self, [self.operation.label])

    @property
    def target(self) -> str:
        """The resource pattern: `topic orders`, `prefixed topic orders.`, `cluster`."""
        return target_text(self.resource_type, self.name, self.pattern_type)

    @property
    def resource(self) -> Resource:
        """The resource of its changes."""
        return Resource("acl", str(self))

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key: resource, principal, DENY before ALLOW."""
        return (
            self.resource_type, self.name, self.pattern_type, self.principal,
            self.permission, self.operation, self.host,
        )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.rule} on {self.target}"


def rule_text(binding: AclBinding, operations: Sequence[str]) -> str:
    """The rule of a binding for these operations: `allow User:bob Read,Write from 10.0.0.1`."""
    where = "" if binding.host == "*" else f" from {_host(binding.host)}"
    verb = binding.permission.name.lower()
    return f"{verb} {word(binding.principal)} {','.join(operations)}{where}"


class PrincipalAcl(AclBinding, frozen=True):
    """A binding listed by its principal."""

    @staticmethod
    def of(binding: AclBinding) -> PrincipalAcl:
        """The binding, to be listed by principal."""
        return PrincipalAcl(*astuple(binding))


class AclFilter(Struct, frozen=True):
    """A filter of bindings; a part that is None matches all. `host` is matched exactly."""

    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: AclPermission = AclPermission.ANY
    resource_type: AclResourceType = AclResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY

    @staticmethod
    def exactly(binding: AclBinding) -> AclFilter:
        """The filter that matches only this binding."""
        return AclFilter(*astuple(binding))

    @staticmethod
    def on(binding: AclBinding) -> AclFilter:
        """The filter that matches all bindings of the same resource pattern."""
        return AclFilter(
            resource_type=binding.resource_type,
            name=binding.name,
            pattern_type=binding.pattern_type,
        )

    def __str__(self) -> str:
        permission = "any" if self.permission is AclPermission.ANY else self.permission.name.lower()
        principal = "any principal" if self.principal is None else word(self.principal)
        where = "" if self.host is None else f" from {_host(self.host)}"
        rule = f"{permission} {principal} {self.operation.label}{where}"
        if self.name is None:
            what = "resource" if self.resource_type is AclResourceType.ANY else ""
            return f"{rule} on any {what or self.resource_type.kind}"
        return f"{rule} on {target_text(self.resource_type, self.name, self.pattern_type)}"


def target_text(kind: AclResourceType, name: str, pattern: PatternType) -> str:
    """A resource pattern as it is typed: `topic orders`, `prefixed topic orders.`, `cluster`."""
    how = "" if pattern is PatternType.LITERAL else f"{pattern.name.lower()} "
    if kind is AclResourceType.CLUSTER and name == CLUSTER_NAME:
        return f"{how}cluster"
    return f"{how}{kind.kind} {word(name)}"


def _host(host: str) -> str:
    """One host as it is typed: unquoted commas separate hosts."""
    # shlex.quote does not quote a word with commas.
    return "'" + host.replace("'", "'\"'\"'") + "'" if "," in host else word(host)


def word(text: str) -> str:
    """A word of a rule as it is typed: quoted only if needed."""
    return text if re.fullmatch(r"[^\s'\"\\]+", text) else quote(text)


class Access(Struct, frozen=True):
    """A request to an authorizer. Without `host` it is from a host that no ACL names."""

    principal: str
    operation: AclOperation
    resource_type: AclResourceType
    name: str
    host: str | None = None

    @property
    def target(self) -> str:
        """The resource: `topic orders`, `cluster`."""
        return target_text(self.resource_type, self.name, PatternType.LITERAL)

    def __str__(self) -> str:
        where = "" if self.host is None else f" from {self.host}"
        return f"{word(self.principal)} {self.operation.label} on {self.target}{where}"


class Verdict(Struct, frozen=True):
    """The decision of an authorizer, and why.

    `allowed` is None if it depends on a config that cannot be read. `because` is super-user, deny,
    allow, nothing-allows, or no-acl (the resource has no ACL at all). `by` are the ACLs that
    decide. `unless` is a condition under which a denial is wrong.
    """

    access: Access
    allowed: bool | None
    because: str
    by: tuple[AclBinding, ...] = ()
    unless: str = ""


class AccessCheck(Struct, frozen=True):
    """The verdicts on the accesses; on hosts with other verdicts (`elsewhere`); on what a client
    also needs (`besides`). `notes` are shown to users."""

    verdicts: tuple[Verdict, ...]
    elsewhere: tuple[Verdict, ...] = ()
    besides: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all accesses are allowed, and what a client also needs for them."""
        return all(verdict.allowed for verdict in (*self.verdicts, *self.besides))
