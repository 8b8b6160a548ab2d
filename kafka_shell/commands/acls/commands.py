"""Commands on ACLs (KIP-11, 290), and what they come to."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafka_shell.admin.acls.model import AccessCheck, AclBinding, AclFilter
    from kafka_shell.context import Context

_OPERATIONS = (
    "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction",
    "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens",
    "TwoPhaseCommit",
)  # fmt: skip
_TYPES = ("topic", "group", "cluster", "transactional-id", "delegation-token", "user")


# -- list ------------------------------------------------------------------------------------------


def list_acls(invocation: Invocation, context: Context) -> Sequence[AclBinding] | Nothing:
    """ACLs that pass every filter, by resource or by principal."""
    from kafka_shell.admin.acls import read as acls
    from kafka_shell.admin.acls.model import PrincipalAcl

    filters = _filters(invocation)
    found = {binding for each in acls.describe_each(context.cluster, filters) for binding in each}
    if not found:
        return Nothing("no ACL" if len(filters) == 1 and not _narrowed(invocation)
                       else "no ACL passes these filters")  # fmt: skip
    for warning in dict.fromkeys(w for binding in found for w in acls.doubts(binding)):
        context.note(warning)
    if invocation["by"] == "principal":
        return tuple(
            PrincipalAcl.of(each)
            for each in sorted(found, key=lambda binding: (binding.principal, binding.order))
        )
    return tuple(sorted(found, key=lambda binding: binding.order))


def _filters(invocation: Invocation) -> list[AclFilter]:
    """One filter for each resource, principal and operation that is named."""
    from kafka_shell.admin.acls.model import AclFilter, AclOperation, AclPermission, AclResourceType
    from kafka_shell.admin.acls.model import PatternType as Pattern
    from kafka_shell.language.acl_rules import Target

    from .options import operations, principals, targets

    said, kind = invocation["resource-pattern-type"], invocation["resource-type"]
    # A name alone asks what applies to that very resource.
    pattern = Pattern[said.upper()] if said else Pattern.MATCH
    type_ = AclResourceType[kind.upper().replace("-", "_")] if kind else AclResourceType.ANY
    there = targets(invocation, Pattern.MATCH)
    if invocation["name"]:
        there.append(Target(type_, invocation["name"], pattern))
    elif kind or not there:
        there.append(Target(type_, None, Pattern[said.upper()] if said in _KEPT else Pattern.ANY))
    permission = invocation["permission"]
    return [
        AclFilter(
            principal, invocation["host"], operation,
            AclPermission[permission.upper()] if permission else AclPermission.ANY,
            target.type, target.name, target.pattern,
        )
        for target, principal, operation in product(
            there,
            principals(invocation, "principal") or (None,),
            operations(invocation) or (AclOperation.ANY,),
        )
    ]  # fmt: skip


_KEPT = ("literal", "prefixed")
_NARROW = ("principal", "host", "operation", "permission", "resource-type", "name", "topic",
           "group", "transactional-id", "delegation-token", "user-principal", "cluster",
           "resource-pattern-type")  # fmt: skip


def _narrowed(invocation: Invocation) -> bool:
    return any(invocation[name] for name in _NARROW)


# -- alter -----------------------------------------------------------------------------------------


def alter_acls(invocation: Invocation, context: Context) -> Plan:
    """Remove ACLs, then add ACLs."""
    from kafka_shell.admin.acls import change as acl_changes
    from kafka_shell.admin.acls import read as acls
    from kafka_shell.admin.acls.model import AclFilter

    from .options import added, copies, principals, removed

    wanted, gone = added(invocation), removed(invocation)
    gone += [AclFilter(principal) for principal in principals(invocation, "remove-principal")]
    copied = copies(invocation)
    if copied is not None:
        wanted += acls.copies(context.cluster, *copied)
    return acl_changes.plan_alter(context.cluster, gone, wanted)


# -- check -----------------------------------------------------------------------------------------


def check_acl(invocation: Invocation, context: Context) -> AccessCheck:
    """Whether a principal may, by the authorizer's own rules."""
    from kafka_shell.admin.acls import authorizer
    from kafka_shell.admin.acls.model import OPERATIONS_OF, Access, AclOperation, PatternType

    from .options import operations, principals, targets

    (principal,) = principals(invocation, "principal")
    wanted = operations(invocation)
    for name in _RESOURCE_NAMES:
        if name != "cluster" and "*" in invocation[name]:
            raise UsageError(
                "no client asks for *: it asks for one resource",
                hint=f"Name one: --{name} NAME",
                code="bad-value",
                span=invocation.span(name, invocation[name].index("*")),
            )
    host = _client_host(invocation)
    asked = [
        Access(principal, operation, target.type, target.name or "", host)
        for target in targets(invocation, PatternType.LITERAL)
        for operation in wanted
        if operation in OPERATIONS_OF[target.type]
    ]
    meant = {access.operation for access in asked}
    for operation in wanted:
        if operation is AclOperation.ALL or operation not in meant:
            raise ShellError(
                f"nobody asks for {operation.label} on such a resource",
                hint="Name the operations a client does: --operation Read,Describe",
                code="bad-operation",
                span=invocation.span("operation"),
            )
    return authorizer.check(context.cluster, list(dict.fromkeys(asked)))


def _client_host(invocation: Invocation) -> str | None:
    """The address of --host as brokers write it."""
    from kafka_shell.admin.acls.read import client_address

    host: str | None = invocation["host"]
    address = None if host is None else client_address(host)
    if host is not None and address is None:
        raise UsageError(
            f"--host must be the IP address of a client, got '{host}'",
            hint="Names and ranges never match: brokers compare addresses as text.",
            code="bad-value",
            span=invocation.span("host"),
        )
    return address


# -- options ---------------------------------------------------------------------------------------


def _resources(all_of_them: str) -> tuple[Option, ...]:
    """The options that name resources; the words say what stands for every name."""
    return (
        Option("--topic", Kind.TOPIC, f"A topic{all_of_them}; may be repeated.", many=True,
               metavar="TOPIC"),
        Option("--group", Kind.GROUP, f"A group{all_of_them}; may be repeated.", many=True,
               metavar="GROUP"),
        Option("--cluster", Kind.FLAG, "The cluster itself."),
        Option("--transactional-id", Kind.TRANSACTIONAL_ID,
               f"A transactional id{all_of_them}; may be repeated.", many=True, metavar="ID"),
        Option("--delegation-token", Kind.TOKEN, "A delegation token's id; may be repeated.",
               many=True, metavar="ID"),
        Option("--user-principal", Kind.PRINCIPAL,
               "A user, for whom tokens are made; may be repeated.", many=True,
               metavar="PRINCIPAL"),
    )  # fmt: skip


_RESOURCES, _ONE_RESOURCE = _resources(", or * for all"), _resources("")
_RESOURCE_NAMES = tuple(option.name.removeprefix("--") for option in _RESOURCES)
_PATTERN_HELP = "literal: this very name. prefixed: names that begin so."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-acls",
        summary="ACLs, by resource or by principal.",
        family="access",
        run=list_acls,
        options=(
            *_RESOURCES,
            Option("--resource-type", Kind.CHOICE, "Only on this kind of resource.",
                   choices=_TYPES),
            Option("--name", Kind.TEXT, "Only on resources of this name, of whatever kind.",
                   metavar="NAME"),
            Option("--resource-pattern-type", Kind.CHOICE,
                   f"match (default): all that applies to the name. {_PATTERN_HELP}"
                   " any: both of this very name.",
                   choices=("match", "literal", "prefixed", "any")),
            Option("--principal", Kind.PRINCIPAL, "Only of this principal; may be repeated.",
                   many=True, metavar="PRINCIPAL"),
            Option("--host", Kind.IP, "Only for this host, as the ACL says it (* is one).",
                   metavar="HOST"),
            Option("--operation", Kind.ACL_OPERATION, "Only on these operations: Read,Write",
                   many=True, choices=_OPERATIONS, metavar="OPERATIONS"),
            Option("--permission", Kind.CHOICE, "Only those that allow, or deny.",
                   choices=("allow", "deny")),
            Option("--by", Kind.CHOICE, "How to sort and show them.",
                   choices=("resource", "principal")),
        ),
        shorts=(Short("acls", "list-acls"),),
        search=("permissions", "authorization", "rights", "rules"),
        description=(
            "--topic orders tells what applies to orders: ACLs on orders itself, prefixed ones"
            " and those on *."
        ),
        examples=(
            Example("list-acls", "every ACL of the cluster"),
            Example("list-acls --topic orders.placed", "which ACLs touch this topic"),
            Example("list-acls --principal User:bob --by principal", "what bob may and may not"),
            Example("list-acls --permission deny --output json", "what is denied, for a program"),
            Example("list-acls --resource-type group --operation Read", "who reads in which group"),
        ),
        apis=(29,),
    ),
    Command(
        name="alter-acls",
        summary="Remove and add ACLs.",
        family="access",
        run=alter_acls,
        effect=Effect.CHANGE,
        options=(
            *_RESOURCES,
            Option("--add", Kind.ACL_RULE, "A rule to add; may be repeated.", many=True,
                   metavar="RULE", bare=True),
            Option("--remove", Kind.ACL_RULE, "A rule to remove; may be repeated.", many=True,
                   metavar="RULE", bare=True),
            Option("--copy-from", Kind.PRINCIPAL,
                   "Give all ACLs of this principal to another, too.", metavar="PRINCIPAL"),
            Option("--copy-to", Kind.PRINCIPAL,
                   "Who gets the ACLs of --copy-from; may be repeated.", many=True,
                   metavar="PRINCIPAL"),
            Option("--remove-principal", Kind.PRINCIPAL,
                   "Remove all ACLs of this principal; may be repeated.", many=True,
                   metavar="PRINCIPAL"),
            Option("--resource-pattern-type", Kind.CHOICE,
                   f"{_PATTERN_HELP} To remove also any and match.",
                   choices=("literal", "prefixed", "any", "match")),
            Option("--allow-principal", Kind.PRINCIPAL,
                   "kafka-acls' way, with --add or --remove alone; may be repeated.", many=True,
                   metavar="PRINCIPAL"),
            Option("--deny-principal", Kind.PRINCIPAL, "The same, to deny; may be repeated.",
                   many=True, metavar="PRINCIPAL",
                   excludes=("--producer", "--consumer")),
            Option("--allow-host", Kind.IP, "From where; may be repeated. Default *.", many=True,
                   metavar="HOST"),
            Option("--deny-host", Kind.IP, "From where; may be repeated. Default *.", many=True,
                   metavar="HOST"),
            Option("--operation", Kind.ACL_OPERATION,
                   "Read,Write ...; may be repeated. Default All.", many=True,
                   choices=_OPERATIONS, metavar="OPERATIONS",
                   excludes=("--producer", "--consumer")),
            Option("--producer", Kind.FLAG,
                   "Write, Describe and Create on topics; Write, Describe on transactional ids."),
            Option("--consumer", Kind.FLAG, "Read and Describe on topics, Read on groups."),
            Option("--idempotent", Kind.FLAG,
                   "With --producer: IdempotentWrite on the cluster, before Kafka 3.0."),
        ),
        at_least_one=(("add", "remove", "copy-from", "remove-principal"),),
        search=("permissions", "authorization", "rights", "grant", "revoke", "allow", "deny"),
        description=(
            "A rule reads: allow|deny PRINCIPAL OPERATIONS [from HOSTS] [on RESOURCE], as in"
            " 'allow User:bob Read,Write from 10.0.0.1 on prefixed topic orders.'. The resource"
            " is the options' where the rule has none.\nWhat is removed may leave things open:"
            " 'any User:eve Any on any resource'. --remove alone removes all ACLs of the"
            " resources. Removals come first, and are asked about."
        ),
        examples=(
            Example("alter-acls --topic parcels.sent --add 'allow User:bob Read,Write'",
                    "two rights on one topic"),
            Example("alter-acls --topic payments.captured --add 'allow User:bob Read'"
                    " --remove 'deny User:bob Write' --dry-run",
                    "what removing one rule and adding another would do"),
            Example("alter-acls --producer --allow-principal User:web --topic parcels.sent --add",
                    "all that a producer needs, kafka-acls' way"),
            Example("alter-acls --copy-from User:alice --copy-to User:dave --dry-run",
                    "all that Alice may, for Dave too"),
            Example("alter-acls --remove-principal User:bob --dry-run",
                    "remove every ACL of Bob"),
            Example("alter-acls --remove 'any User:dave Any on any resource' --yes",
                    "the same, as a rule"),
        ),
        apis=(29, 30, 31),
    ),
    Command(
        name="check-acl",
        summary="Whether a principal may do something, and which ACLs decide.",
        family="access",
        run=check_acl,
        options=(
            Option("--principal", Kind.PRINCIPAL, "Who: User:bob.", required=True,
                   metavar="PRINCIPAL"),
            Option("--operation", Kind.ACL_OPERATION, "What: Read,Write ...", many=True,
                   required=True, choices=_OPERATIONS[1:], metavar="OPERATIONS"),
            *_ONE_RESOURCE,
            Option("--host", Kind.IP,
                   "From where: an address. Without it, from one that no ACL names.",
                   metavar="HOST"),
        ),
        at_least_one=(_RESOURCE_NAMES,),
        search=("permissions", "authorization", "allowed", "denied", "may", "can"),
        description=(
            "By the rules of Kafka's StandardAuthorizer: a denial wins; Read, Write, Delete and"
            " Alter allow Describe, AlterConfigs allows DescribeConfigs; without any ACL on the"
            " resource the brokers' allow.everyone.if.no.acl.found holds. Ends with status 1"
            " where something is denied."
        ),
        examples=(
            Example("check-acl --principal User:alice --operation Write --topic orders.placed",
                    "whether alice may produce"),
            Example("check-acl --principal User:bob --operation Write --topic payments.captured",
                    "why bob may not", status=1),
            Example("check-acl --principal User:bob --operation Read --topic orders.placed"
                    " --group billing-sync", "all that a consumer needs"),
        ),
        apis=(29, 32),
    ),
)  # fmt: skip
