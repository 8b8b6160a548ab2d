"""Commands that list, alter and check ACLs (KIP-11, 290)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.structs import replace
from kafka_shell.commands.acls.rules import ACL_OPERATION, ACL_RULE
from kafka_shell.language import kinds
from kafka_shell.language.command import FORCE, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafka_shell.admin.acls.model import AccessCheck, AclBinding, AclFilter
    from kafka_shell.context import Context

_OPERATIONS = (
    "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction",
    "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens",
    "TwoPhaseCommit",
)  # fmt: skip
_TYPES = ("topic", "group", "cluster", "transactional-id", "delegation-token", "user")


# -- list ------------------------------------------------------------------------------------------


def list_acls(invocation: Invocation, context: Context) -> Sequence[AclBinding] | NoRows:
    """The ACLs that match all filters, sorted by resource or by principal."""
    from kafka_shell.admin.acls import read as acls
    from kafka_shell.admin.acls.model import PrincipalAcl

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
    from kafka_shell.admin.acls.model import AclFilter, AclOperation, AclPermission, AclResourceType
    from kafka_shell.admin.acls.model import PatternType as Pattern
    from kafka_shell.commands.acls.options import operations, principals, targets
    from kafka_shell.commands.acls.rules import Target

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


# -- alter -----------------------------------------------------------------------------------------


def alter_acls(invocation: Invocation, context: Context) -> Plan:
    """Remove ACLs, then add ACLs."""
    from kafka_shell.admin.acls import change as acl_changes
    from kafka_shell.admin.acls import read as acls
    from kafka_shell.admin.acls.model import AclFilter
    from kafka_shell.commands.acls.options import added, copies, principals, removed

    requested, removals = added(invocation), removed(invocation)
    removals += [AclFilter(principal) for principal in principals(invocation, "remove-principal")]
    copied = copies(invocation)
    if copied is not None:
        requested += acls.copies(context.cluster, *copied)
    return acl_changes.plan_alter(context.cluster, removals, requested)


# -- check -----------------------------------------------------------------------------------------


def check_acl(invocation: Invocation, context: Context) -> AccessCheck:
    """Whether a principal is allowed each operation, by the rules of Kafka's authorizer."""
    from kafka_shell.admin.acls import authorizer
    from kafka_shell.admin.acls.model import OPERATIONS_OF, Access, AclOperation, PatternType
    from kafka_shell.admin.topics.similar import invalid_characters
    from kafka_shell.commands.acls.options import operations, principals, targets

    (principal,) = principals(invocation, "principal")
    requested = operations(invocation)
    if AclOperation.ALL in requested:
        requested = tuple(AclOperation)
    for name in _RESOURCE_NAMES:
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
    from kafka_shell.admin.users import read as users
    from kafka_shell.wire import metadata_scan

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
    from kafka_shell.admin.acls.read import client_address

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


# -- options ---------------------------------------------------------------------------------------


def _resources(wildcard: str) -> tuple[Option, ...]:
    """The options that name resources; `wildcard` is the help text for `*`."""
    return (
        Option("--topic", kinds.TOPIC, f"A topic{wildcard}; may be repeated.", many=True),
        Option("--group", kinds.GROUP, f"A group{wildcard}; may be repeated.", many=True),
        Option("--cluster", kinds.FLAG, "The cluster itself."),
        Option("--transactional-id", kinds.TRANSACTIONAL_ID,
               f"A transactional ID{wildcard}; may be repeated.", many=True),
        Option("--delegation-token", kinds.TOKEN, "A delegation token ID; may be repeated.",
               many=True),
        Option("--user-principal", kinds.PRINCIPAL,
               "A user whose tokens are managed; may be repeated.", many=True),
    )  # fmt: skip


_RESOURCES, _ONE_RESOURCE = _resources(", or * for all"), _resources("")
_RESOURCE_OPTIONS = tuple(option.name for option in _RESOURCES)
_RESOURCE_NAMES = tuple(name.removeprefix("--") for name in _RESOURCE_OPTIONS)
_PATTERN_HELP = "literal: exactly this name. prefixed: names with this prefix."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-acls",
        summary="List ACLs by resource or by principal.",
        family="access",
        run=list_acls,
        options=(
            *_RESOURCES,
            Option("--resource-type", kinds.CHOICE, "Only ACLs on this type of resource.",
                   choices=_TYPES, excludes=_RESOURCE_OPTIONS),
            Option("--name", kinds.TEXT, "Only ACLs on resources with this name, of any type.",
                   metavar="NAME", excludes=_RESOURCE_OPTIONS),
            Option("--resource-pattern-type", kinds.CHOICE,
                   f"match (default): all ACLs that apply to the name. {_PATTERN_HELP}"
                   " any: literal or prefixed with exactly this name.",
                   choices=("match", "literal", "prefixed", "any")),
            Option("--principal", kinds.PRINCIPAL, "Only ACLs of this principal; may be repeated.",
                   many=True),
            Option("--host", kinds.IP, "Only ACLs with exactly this host (* matches only *).",
                   metavar="HOST"),
            Option("--operation", ACL_OPERATION, "Only ACLs on these operations: Read,Write.",
                   many=True, choices=_OPERATIONS, metavar="OPERATIONS"),
            Option("--permission", kinds.CHOICE, "Only ACLs that allow, or that deny.",
                   choices=("allow", "deny")),
            Option("--by", kinds.CHOICE, "Sort and group by resource (default) or principal.",
                   choices=("resource", "principal")),
        ),
        shorts=(Short("acls", "list-acls"),),
        search=("permissions", "authorization", "rights", "rules"),
        description=(
            "--topic orders lists all ACLs that apply to orders: those on orders itself, on"
            " prefixes of it and on *."
        ),
        examples=(
            Example("list-acls", "list all ACLs"),
            Example("list-acls --topic orders.placed", "list the ACLs that apply to a topic"),
            Example("list-acls --principal User:bob --by principal", "list the ACLs of bob"),
            Example("list-acls --permission deny --output json", "print all deny ACLs as JSON"),
            Example("list-acls --resource-type group --operation Read",
                    "list who may consume with which group"),
        ),
        apis=(29,),
    ),
    Command(
        name="alter-acls",
        summary="Add and remove ACLs.",
        family="access",
        run=alter_acls,
        effect=Effect.CHANGE,
        options=(
            *_RESOURCES,
            Option("--add", ACL_RULE, "Add this rule; may be repeated.", many=True, bare=True),
            Option("--remove", ACL_RULE, "Remove this rule; may be repeated.", many=True,
                   bare=True),
            Option("--copy-from", kinds.PRINCIPAL, "Copy all ACLs of this principal to --copy-to."),
            Option("--copy-to", kinds.PRINCIPAL,
                   "The principal to copy ACLs to; may be repeated.", many=True),
            Option("--remove-principal", kinds.PRINCIPAL,
                   "Remove all ACLs of this principal; may be repeated.", many=True),
            Option("--resource-pattern-type", kinds.CHOICE,
                   f"{_PATTERN_HELP} any and match only for removal.",
                   choices=("literal", "prefixed", "any", "match")),
            Option("--allow-principal", kinds.PRINCIPAL,
                   "Principal to allow, for --add or --remove without a rule; may be repeated.",
                   many=True),
            Option("--deny-principal", kinds.PRINCIPAL, "The same for deny ACLs; may be repeated.",
                   many=True, excludes=("--producer", "--consumer")),
            Option("--allow-host", kinds.IP, "The client host; may be repeated (default: *).",
                   many=True, metavar="HOST"),
            Option("--deny-host", kinds.IP, "The client host; may be repeated (default: *).",
                   many=True, metavar="HOST"),
            Option("--operation", ACL_OPERATION,
                   "Operations: Read,Write; may be repeated (default: All).", many=True,
                   choices=_OPERATIONS, metavar="OPERATIONS",
                   excludes=("--producer", "--consumer")),
            Option("--producer", kinds.FLAG,
                   "Write, Describe and Create on topics; Write, Describe on transactional IDs."),
            Option("--consumer", kinds.FLAG, "Read and Describe on topics, Read on groups."),
            Option("--idempotent", kinds.FLAG,
                   "With --producer: IdempotentWrite on the cluster (before Kafka 3.0)."),
            FORCE,
        ),
        at_least_one=(("add", "remove", "copy-from", "remove-principal"),),
        search=("permissions", "authorization", "rights", "grant", "revoke", "allow", "deny"),
        description=(
            "Rule syntax: allow|deny PRINCIPAL OPERATIONS [from HOSTS] [on RESOURCE], such as "
            "'allow User:bob Read,Write from 10.0.0.1 on prefixed topic orders.'\n"
            "A rule without a resource applies to the resources of the options; a rule to remove "
            "may contain any.\n"
            "--remove without a rule removes all ACLs of the resources.\n"
            "ACLs are added before others are removed, so clients keep access; an ACL in both "
            "lists is kept.\n"
            "Removing ACLs asks for confirmation."
        ),
        examples=(
            Example("alter-acls --topic parcels.sent --add 'allow User:bob Read,Write'",
                    "allow two operations on a topic"),
            Example("alter-acls --topic payments.captured --add 'allow User:bob Read'"
                    " --remove 'deny User:bob Write' --dry-run",
                    "preview adding one rule and removing another"),
            Example("alter-acls --producer --allow-principal User:web --topic parcels.sent --add",
                    "add the ACLs of a producer, as in kafka-acls"),
            Example("alter-acls --copy-from User:alice --copy-to User:dave --dry-run",
                    "preview copying the ACLs of alice to dave"),
            Example("alter-acls --remove-principal User:bob --dry-run",
                    "preview removing all ACLs of bob"),
            Example("alter-acls --remove 'any User:dave Any on any resource' --yes",
                    "remove all ACLs of dave with a rule"),
        ),
        apis=(15, 16, 29, 30, 31, 32, 60, 69, 77, 89),
    ),
    Command(
        name="check-acl",
        summary="Check whether a principal is allowed an operation, and by which ACLs.",
        family="access",
        run=check_acl,
        options=(
            Option("--principal", kinds.PRINCIPAL, "The principal: User:bob.", required=True),
            Option("--operation", ACL_OPERATION, "The operations: Read,Write, or All for each one.",
                   many=True,
                   required=True, choices=_OPERATIONS, metavar="OPERATIONS"),
            *_ONE_RESOURCE,
            Option("--host", kinds.IP,
                   "The client's IP address (default: an address that no ACL names).",
                   metavar="HOST"),
        ),
        at_least_one=(_RESOURCE_NAMES,),
        search=("permissions", "authorization", "allowed", "denied", "may", "can"),
        description=(
            "Uses the rules of Kafka's StandardAuthorizer: deny takes precedence; Read, Write,"
            " Delete and Alter imply Describe, AlterConfigs implies DescribeConfigs; without any"
            " ACL on the resource, allow.everyone.if.no.acl.found of the brokers applies. The exit"
            " status is 1 if an operation is denied."
        ),
        examples=(
            Example("check-acl --principal User:alice --operation Write --topic orders.placed",
                    "check whether alice may produce"),
            Example("check-acl --principal User:bob --operation Write --topic payments.captured",
                    "show why bob may not produce", status=1),
            Example("check-acl --principal User:bob --operation Read --topic orders.placed"
                    " --group billing-sync", "check everything a consumer needs"),
        ),
        apis=(3, 29, 32, 48, 50),
    ),
)  # fmt: skip
