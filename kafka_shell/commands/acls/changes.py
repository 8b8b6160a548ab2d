"""Read the options of ACL commands: resources, ACLs to add, ACLs to remove.

A rule is one text (`--add 'allow User:bob Read'`). The form of kafka-acls is `--allow-principal
User:bob --operation Read --add`, where --add and --remove have no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.change import plan_alter
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Change, Plan
from kafka_shell.commands.acls.rules import (
    FORM,
    OPERATIONS,
    RESOURCE_OPTIONS,
    Rule,
    Target,
    check_principal,
    parse_rule,
)
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

_SIDES = (("allow", AclPermission.ALLOW), ("deny", AclPermission.DENY))
_PRODUCER = {
    AclResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
    AclResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
}
_CONSUMER = {
    AclResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
    AclResourceType.GROUP: (AclOperation.READ,),
}
_CLUSTER = Target(AclResourceType.CLUSTER, CLUSTER_NAME)


# -- resources -------------------------------------------------------------------------------------


def targets(invocation: Invocation, pattern: PatternType = PatternType.LITERAL) -> list[Target]:
    """The resources of --topic, --group, --cluster ...; `pattern` is the default pattern type."""
    given_pattern = invocation.get("resource-pattern-type")
    pattern_type = PatternType[given_pattern.upper()] if given_pattern else pattern
    resources = [
        Target(kind, name, pattern_type)
        for option, kind in RESOURCE_OPTIONS.items()
        if kind is not AclResourceType.CLUSTER
        for text in invocation[option]
        # Only topic names cannot contain a comma.
        for name in (text.split(",") if kind is AclResourceType.TOPIC else [text])
        if name
    ]
    return [*resources, _CLUSTER] if invocation["cluster"] else resources


def operations(invocation: Invocation) -> tuple[AclOperation, ...]:
    """The operations of --operation."""
    given = invocation["operation"]
    texts = given if isinstance(given, tuple) else (given,) if given else ()
    return tuple(OPERATIONS[name] for text in texts for name in text.split(","))


def principals(invocation: Invocation, option: str) -> tuple[str, ...]:
    """The principals of an option; an error points at one without a type."""
    given = invocation[option]
    words: tuple[str, ...] = given if isinstance(given, tuple) else (given,) if given else ()
    for index, word in enumerate(words):
        check_principal(word, invocation.span(option, index))
    return words


# -- ACLs to add and to remove ---------------------------------------------------------------------


def added(invocation: Invocation) -> list[AclBinding]:
    """The ACLs to add, in the order given."""
    acl_bindings: list[AclBinding] = []
    named = targets(invocation)
    _refuse_conflicts(invocation, named)
    for index, text in enumerate(invocation["add"]):
        if text:
            rule = parse_rule(text)
            rule_targets = _targets_of_rule(rule, named, invocation, "add", index)
            span = invocation.span("add", index)
            bindings = rule.bindings(rule_targets)
        else:
            span = invocation.span("operation") or invocation.span("add", index)
            bindings = (b for rule in _by_flags(invocation, named) for b in rule.bindings(()))
        for binding in bindings:
            _refuse_filter(binding, span)
            acl_bindings.append(binding)
    return acl_bindings


def copies(invocation: Invocation) -> tuple[str, tuple[str, ...]] | None:
    """(--copy-from, --copy-to principals); None without --copy-from."""
    source, to = principals(invocation, "copy-from"), principals(invocation, "copy-to")
    for given, other in (("copy-from", "copy-to"), ("copy-to", "copy-from")):
        if invocation[given] and not invocation[other]:
            raise _wrong(f"--{given} requires --{other}", invocation, given,
                         f"Add --{other} User:NAME.")  # fmt: skip
    option = next((name for name in ("copy-from", "remove-principal") if invocation[name]), None)
    if option and targets(invocation) and not (invocation["add"] or invocation["remove"]):
        raise _wrong(f"--{option} applies to all resources", invocation, option,
                     "Omit the resource, or use a rule: --remove 'any User:bob Any'.",
                     )  # fmt: skip
    if set(source) & set(to):
        raise _wrong("--copy-from and --copy-to are the same principal", invocation, "copy-to", "")
    return (source[0], tuple(dict.fromkeys(to))) if source else None


def removed(invocation: Invocation) -> list[AclFilter]:
    """The filters of the ACLs to remove, in the order given."""
    filters: list[AclFilter] = []
    named = targets(invocation)
    for index, text in enumerate(invocation["remove"]):
        if text:
            rule = parse_rule(text, remove=True)
            filters += rule.filters(_targets_of_rule(rule, named, invocation, "remove", index))
        elif _sides(invocation):
            filters += (f for rule in _by_flags(invocation, named) for f in rule.filters(()))
        else:
            filters += _all_of_resources(invocation, named)
    return filters


def _targets_of_rule(
    rule: Rule, named: Sequence[Target], invocation: Invocation, option: str, index: int
) -> Sequence[Target]:
    """The resources of the options, for a rule without a resource of its own."""
    span = invocation.span(option, index)
    if rule.target and named:
        raise UsageError(
            "the rule and the options both name a resource",
            code="two-resources",
            span=span,
        )
    if not (rule.target or named):
        raise _no_resource(span)
    return named


def _no_resource(span: tuple[int, int] | None) -> UsageError:
    return UsageError(
        "a resource is required",
        hint="Add --topic NAME, --group NAME or --cluster, or end the rule with 'on topic NAME'.",
        code="no-resource",
        span=span,
    )


def _refuse_conflicts(invocation: Invocation, named: Sequence[Target]) -> None:
    """Raise UsageError for an invalid combination of the kafka-acls options."""
    alone = [name for name in ("add", "remove") if "" in invocation[name]]
    sides = _sides(invocation)
    roles = [role for role in ("producer", "consumer", "idempotent") if invocation[role]]
    if len(alone) > 1 or any(invocation[name].count("") > 1 for name in alone):
        raise _wrong("--add or --remove without a rule can be used only once", invocation, "remove",
                     f"Add a rule: --add '{FORM}'.")  # fmt: skip
    if (sides or roles) and not alone:
        first = f"{sides[0][0]}-principal" if sides else roles[0]
        raise _wrong(f"--{first} requires --add or --remove without a rule", invocation, first,
                     f"Use --add or --remove without a rule, or omit --{first}.")  # fmt: skip
    if invocation["operation"] and not alone:
        raise _wrong("--operation requires --add or --remove without a rule",
                     invocation, "operation",
                     "Name the operations in a rule: --remove 'any User:bob Write'.")  # fmt: skip
    if invocation["resource-pattern-type"] and all(target == _CLUSTER for target in named):
        raise _wrong("--resource-pattern-type requires an option that names a resource",
                     invocation, "resource-pattern-type",
                     "Name the type in the rule: 'allow User:bob Read on prefixed topic orders.'.",
                     )  # fmt: skip
    if alone == ["add"] and not sides:
        raise _wrong("--add without a rule requires a principal", invocation, "add",
                     f"Add --allow-principal User:bob, or a rule: --add '{FORM}'.")  # fmt: skip
    if alone and not (named or invocation["idempotent"]):
        raise _no_resource(invocation.span(alone[0]))
    for side, _ in _SIDES:
        if invocation[f"{side}-host"] and not invocation[f"{side}-principal"]:
            raise _wrong(
                f"--{side}-host requires --{side}-principal", invocation, f"{side}-host", ""
            )
    _refuse_roles(invocation, roles, named, bool(sides))


def _refuse_roles(
    invocation: Invocation, roles: Sequence[str], named: Sequence[Target], sides: bool
) -> None:
    kinds = {target.type for target in named}
    requested = {
        "producer": ({AclResourceType.TOPIC}, "--topic"),
        "consumer": ({AclResourceType.TOPIC, AclResourceType.GROUP}, "--topic and --group"),
    }
    for role in roles:
        needed, words = requested.get(role, (set(), ""))
        if not needed <= kinds:
            raise _wrong(f"--{role} requires {words}", invocation, role, "")
    if roles == ["idempotent"]:
        raise _wrong("--idempotent requires --producer", invocation, "idempotent", "")
    if roles and not sides:
        raise _wrong(f"--{roles[0]} requires --allow-principal", invocation, roles[0], "")
    if roles:
        unused = [t for t in named if not _operations_of_roles(invocation, t.type)]
        if unused:
            option = next(o for o, k in RESOURCE_OPTIONS.items() if k is unused[0].type)
            raise _wrong(f"--{option} cannot be used with --{' and --'.join(roles)}",
                         invocation, option, "")  # fmt: skip


def _sides(invocation: Invocation) -> list[tuple[str, AclPermission]]:
    return [(side, permission) for side, permission in _SIDES if invocation[f"{side}-principal"]]


def _by_flags(invocation: Invocation, named: Sequence[Target]) -> Iterator[Rule]:
    """The rules of --allow-principal, --operation, --producer ..., each with its resource."""
    for side, permission in _sides(invocation):
        for principal in principals(invocation, f"{side}-principal"):
            for target, requested in _grants(invocation, named):
                hosts = invocation[f"{side}-host"] or ("*",)
                yield Rule(permission, principal, tuple(requested), hosts, target)


def _grants(
    invocation: Invocation, named: Iterable[Target]
) -> Iterator[tuple[Target, Iterable[AclOperation]]]:
    """Each resource with the operations on it."""
    if not (invocation["producer"] or invocation["consumer"]):
        yield from ((target, operations(invocation) or (AclOperation.ALL,)) for target in named)
        return
    for target in named:
        yield target, _operations_of_roles(invocation, target.type)
    if invocation["idempotent"] and _CLUSTER not in named:
        yield _CLUSTER, (AclOperation.IDEMPOTENT_WRITE,)


def _operations_of_roles(invocation: Invocation, kind: AclResourceType) -> list[AclOperation]:
    """The operations that --producer and --consumer grant on a type of resource."""
    roles = ((role, table) for role, table in (("producer", _PRODUCER), ("consumer", _CONSUMER))
             if invocation[role])  # fmt: skip
    allowed = dict.fromkeys(operation for _, table in roles for operation in table.get(kind, ()))
    if kind is AclResourceType.CLUSTER and invocation["idempotent"]:
        allowed[AclOperation.IDEMPOTENT_WRITE] = None
    return list(allowed)


def _all_of_resources(invocation: Invocation, named: Sequence[Target]) -> Iterator[AclFilter]:
    """The filters of --remove without rule or principal: all ACLs of the resources."""
    if not named:
        raise _no_resource(invocation.span("remove"))
    if invocation["operation"]:
        raise _wrong("--operation requires a principal or a rule", invocation, "operation",
                     f"Use a rule: --remove 'any any {invocation['operation'][0]}'.")  # fmt: skip
    for target in named:
        yield AclFilter(resource_type=target.type, name=target.name, pattern_type=target.pattern)


def _refuse_filter(binding: AclBinding, span: tuple[int, int] | None) -> None:
    """Raise UsageError for an ACL to add with a pattern type that only filters have."""
    if binding.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise UsageError(
            f"an ACL cannot be added with pattern type {binding.pattern_type.name.lower()}",
            hint="Use literal or prefixed; any and match only select existing ACLs.",
            code="bad-pattern-type",
            span=span,
        )


def _wrong(message: str, invocation: Invocation, option: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad-acl", span=invocation.span(option))


# -- alter -----------------------------------------------------------------------------------------


def alter_acls(invocation: Invocation, context: Context) -> Plan:
    """Remove ACLs, then add ACLs."""
    requested, removals = added(invocation), removed(invocation)
    removals += [AclFilter(principal) for principal in principals(invocation, "remove-principal")]
    copied = copies(invocation)
    if copied is not None:
        requested += acls.copies(context.cluster, *copied)
    return acl_changes.plan_alter(context.cluster, removals, requested)


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    bindings = [(c.verb, b) for c in changes for b in parse_rule(c.resource.name).bindings(())]
    removed = [AclFilter.exactly(binding) for verb, binding in bindings if verb == "delete"]
    return plan_alter(context.cluster, removed, [b for verb, b in bindings if verb == "create"])
