"""Declarations of the acls commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.commands.acls.rules import ACL_OPERATION, ACL_RULE, OPERATIONS, RESOURCE_TYPES
from kafka_shell.language import kinds
from kafka_shell.language.command import FORCE, Command, Example, Option, Short

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
               "User resource, for CREATE_TOKENS and DESCRIBE_TOKENS; may be repeated.", many=True),
    )  # fmt: skip


_RESOURCES, _ONE_RESOURCE = _resources(", or * for all"), _resources("")
_RESOURCE_OPTIONS = tuple(option.name for option in _RESOURCES)
RESOURCE_NAMES = tuple(name.removeprefix("--") for name in _RESOURCE_OPTIONS)
_PATTERN_HELP = "literal: exactly this name. prefixed: names with this prefix."


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-acls",
        summary="List ACLs by resource or by principal.",
        family="access",
        run="acls.run:list_acls",
        options=(
            *_RESOURCES,
            Option("--resource-type", kinds.CHOICE, "Only ACLs on this type of resource.",
                   choices=tuple(RESOURCE_TYPES), excludes=_RESOURCE_OPTIONS),
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
                   many=True, choices=tuple(OPERATIONS), metavar="OPERATIONS"),
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
        run="acls.changes:alter_acls",
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
                   choices=tuple(OPERATIONS), metavar="OPERATIONS",
                   excludes=("--producer", "--consumer")),
            Option("--producer", kinds.FLAG,
                   "Write, Describe and Create on topics; Write, Describe on transactional IDs."),
            Option("--consumer", kinds.FLAG, "Read and Describe on topics, Read on groups."),
            Option("--idempotent", kinds.FLAG,
                   "With --producer: IdempotentWrite on the cluster (before Kafka 3.0)."),
            FORCE,
        ),
        elsewhere=(("--principal", "Use --allow-principal or --deny-principal."),),
        at_least_one=(("add", "remove", "copy-from", "remove-principal"),),
        search=("permissions", "authorization", "rights", "grant", "revoke", "allow", "deny"),
        description=(
            "Rule syntax: allow|deny PRINCIPAL OPERATIONS [from HOSTS] [on RESOURCE], such as "
            "'allow User:bob Read,Write from 10.0.0.1 on prefixed topic orders.'\n"
            "A rule without a resource applies to the resources of the options; in a rule to"
            " remove, any matches everything.\n"
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
        run="acls.check:check_acl",
        options=(
            Option("--principal", kinds.PRINCIPAL, "The principal: User:bob.", required=True),
            Option("--operation", ACL_OPERATION, "The operations: Read,Write, or All (every one).",
                   many=True, required=True, choices=tuple(OPERATIONS), metavar="OPERATIONS"),
            *_ONE_RESOURCE,
            Option("--host", kinds.IP,
                   "The client's IP address (default: an address that no ACL names).",
                   metavar="HOST"),
        ),
        at_least_one=(RESOURCE_NAMES,),
        search=("permissions", "authorization", "allowed", "denied", "may", "can"),
        description=(
            "Uses the rules of Kafka's StandardAuthorizer; deny takes precedence.\n"
            "Read, Write, Delete and Alter imply Describe; AlterConfigs implies DescribeConfigs.\n"
            "If the resource has no ACL, allow.everyone.if.no.acl.found of the brokers applies.\n"
            "Exit status: 0 if all operations are allowed; 1 if one is denied."
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
