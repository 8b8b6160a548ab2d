"""What the options of ACL commands say: resources, and what is to be added and removed.

A rule is one text (`--add 'allow User:bob Read'`); kafka-acls' own way is `--allow-principal
User:bob --operation Read --add`, where --add and --remove stand alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    OPERATIONS_OF,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.errors import UsageError
from kafka_shell.language.acl_rules import (
    FORM,
    OPERATIONS,
    Rule,
    Target,
    check_principal,
    parse_rule,
)

if TYPE_CHECKING:
    from kafka_shell.language.command import Invocation

_NAMED = {
    "topic": AclResourceType.TOPIC,
    "group": AclResourceType.GROUP,
    "transactional-id": AclResourceType.TRANSACTIONAL_ID,
    "delegation-token": AclResourceType.DELEGATION_TOKEN,
    "user-principal": AclResourceType.USER,
}
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
    """The resources of --topic, --group, --cluster ...; `pattern` where the line says none."""
    said = invocation.get("resource-pattern-type")
    how = PatternType[said.upper()] if said else pattern
    found = [
        Target(kind, name, how)
        for option, kind in _NAMED.items()
        for text in invocation[option]
        # No topic's name holds a comma; the other names may.
        for name in (text.split(",") if kind is AclResourceType.TOPIC else [text])
        if name
    ]
    return [*found, _CLUSTER] if invocation["cluster"] else found


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


# -- what is added, what is removed ----------------------------------------------------------------


def added(invocation: Invocation) -> list[AclBinding]:
    """The bindings that the line adds, in its order."""
    found: list[AclBinding] = []
    there = targets(invocation)
    _refuse_conflicts(invocation, there)
    for index, text in enumerate(invocation["add"]):
        if text:
            rule = parse_rule(text)
            places = _places(rule, there, invocation, "add", index)
            span = invocation.span("add", index)
            bindings = rule.bindings(places)
        else:
            span = invocation.span("operation") or invocation.span("add", index)
            bindings = (b for rule in _by_flags(invocation, there) for b in rule.bindings(()))
        for binding in bindings:
            _refuse_senseless(binding, span)
            found.append(binding)
    return found


def copies(invocation: Invocation) -> tuple[str, tuple[str, ...]] | None:
    """Whose ACLs are copied, and to whom; None where the line copies nothing."""
    source, to = principals(invocation, "copy-from"), principals(invocation, "copy-to")
    for here, other in (("copy-from", "copy-to"), ("copy-to", "copy-from")):
        if invocation[here] and not invocation[other]:
            raise _wrong(f"--{here} requires --{other}", invocation, here,
                         f"Add --{other} User:NAME.")  # fmt: skip
    whole = next((name for name in ("copy-from", "remove-principal") if invocation[name]), None)
    if whole and targets(invocation) and not (invocation["add"] or invocation["remove"]):
        raise _wrong(f"--{whole} is about the ACLs on every resource", invocation, whole,
                     "Leave the resource out, or use a rule: --remove 'any User:bob Any'",
                     )  # fmt: skip
    if set(source) & set(to):
        raise _wrong("--copy-from and --copy-to are the same principal", invocation, "copy-to", "")
    return (source[0], tuple(dict.fromkeys(to))) if source else None


def removed(invocation: Invocation) -> list[AclFilter]:
    """The filters of what the line removes, in its order."""
    found: list[AclFilter] = []
    there = targets(invocation)
    for index, text in enumerate(invocation["remove"]):
        if text:
            rule = parse_rule(text, remove=True)
            found += rule.filters(_places(rule, there, invocation, "remove", index))
        elif _sides(invocation):
            found += (f for rule in _by_flags(invocation, there) for f in rule.filters(()))
        else:
            found += _everything(invocation, there)
    return found


def _places(
    rule: Rule, there: Sequence[Target], invocation: Invocation, option: str, index: int
) -> Sequence[Target]:
    """Where a rule holds: on its own resource, or on those of the options."""
    span = invocation.span(option, index)
    if rule.target and there:
        raise UsageError(
            "the rule names its resource, and the line another",
            hint="Leave one of them out.",
            code="two-resources",
            span=span,
        )
    if not (rule.target or there):
        raise _no_resource(span)
    return there


def _no_resource(span: tuple[int, int] | None) -> UsageError:
    return UsageError(
        "no resource is named",
        hint="Add --topic NAME, --group NAME, --cluster ..., or end the rule with: on topic NAME",
        code="no-resource",
        span=span,
    )


def _refuse_conflicts(invocation: Invocation, there: Sequence[Target]) -> None:
    """Kafka's own way wants --add or --remove alone, and what it is about."""
    alone = [name for name in ("add", "remove") if "" in invocation[name]]
    sides = _sides(invocation)
    roles = [role for role in ("producer", "consumer", "idempotent") if invocation[role]]
    if len(alone) > 1 or any(invocation[name].count("") > 1 for name in alone):
        raise _wrong("--add and --remove stand alone once in a line", invocation, "remove",
                     f"A rule goes with it: --add '{FORM}'")  # fmt: skip
    if (sides or roles) and not alone:
        first = f"{sides[0][0]}-principal" if sides else roles[0]
        raise _wrong(f"--{first} does not say whether to add or remove", invocation, first,
                     "Add --add or --remove, alone.")  # fmt: skip
    if alone == ["add"] and not sides:
        raise _wrong("--add alone does not say for whom", invocation, "add",
                     f"Add --allow-principal User:bob, or a rule: --add '{FORM}'")  # fmt: skip
    if alone and not (there or invocation["idempotent"]):
        raise _no_resource(invocation.span(alone[0]))
    for side, _ in _SIDES:
        if invocation[f"{side}-host"] and not invocation[f"{side}-principal"]:
            raise _wrong(f"--{side}-host wants --{side}-principal", invocation, f"{side}-host", "")
    _refuse_roles(invocation, roles, there, bool(sides))


def _refuse_roles(
    invocation: Invocation, roles: Sequence[str], there: Sequence[Target], sides: bool
) -> None:
    kinds = {target.type for target in there}
    wanted = {
        "producer": ({AclResourceType.TOPIC}, "--topic"),
        "consumer": ({AclResourceType.TOPIC, AclResourceType.GROUP}, "--topic and --group"),
    }
    for role in roles:
        needed, words = wanted.get(role, (set(), ""))
        if not needed <= kinds:
            raise _wrong(f"--{role} wants {words}", invocation, role, "")
    if roles == ["idempotent"]:
        raise _wrong("--idempotent goes with --producer", invocation, "idempotent", "")
    if roles and not sides:
        raise _wrong(f"--{roles[0]} wants --allow-principal", invocation, roles[0], "")
    if roles:
        idle = [t for t in there if not _of_roles(invocation, t.type)]
        if idle:
            option = next(o for o, k in (*_NAMED.items(), ("cluster", AclResourceType.CLUSTER))
                          if k is idle[0].type)  # fmt: skip
            raise _wrong(f"--{' and --'.join(roles)} have nothing to do with a"
                         f" {idle[0].type.kind}", invocation, option, "")  # fmt: skip


def _sides(invocation: Invocation) -> list[tuple[str, AclPermission]]:
    return [(side, permission) for side, permission in _SIDES if invocation[f"{side}-principal"]]


def _by_flags(invocation: Invocation, there: Sequence[Target]) -> Iterator[Rule]:
    """The rules of --allow-principal, --operation, --producer ..., each with its resource."""
    for side, permission in _sides(invocation):
        for principal in principals(invocation, f"{side}-principal"):
            for target, wanted in _grants(invocation, there):
                hosts = invocation[f"{side}-host"] or ("*",)
                yield Rule(permission, principal, tuple(wanted), hosts, target)


def _grants(
    invocation: Invocation, there: Iterable[Target]
) -> Iterator[tuple[Target, Iterable[AclOperation]]]:
    """Each resource with the operations on it."""
    if not (invocation["producer"] or invocation["consumer"]):
        yield from ((target, operations(invocation) or (AclOperation.ALL,)) for target in there)
        return
    for target in there:
        yield target, _of_roles(invocation, target.type)
    if invocation["idempotent"] and _CLUSTER not in there:
        yield _CLUSTER, (AclOperation.IDEMPOTENT_WRITE,)


def _of_roles(invocation: Invocation, kind: AclResourceType) -> list[AclOperation]:
    """What producers and consumers do with a kind of resource."""
    roles = ((role, table) for role, table in (("producer", _PRODUCER), ("consumer", _CONSUMER))
             if invocation[role])  # fmt: skip
    found = dict.fromkeys(each for _, table in roles for each in table.get(kind, ()))
    if kind is AclResourceType.CLUSTER and invocation["idempotent"]:
        found[AclOperation.IDEMPOTENT_WRITE] = None
    return list(found)


def _everything(invocation: Invocation, there: Sequence[Target]) -> Iterator[AclFilter]:
    """--remove alone, without a principal: all ACLs of the resources."""
    if not there:
        raise _no_resource(invocation.span("remove"))
    if invocation["operation"]:
        raise _wrong("--operation does not say whose", invocation, "operation",
                     f"Use a rule: --remove 'any any {invocation['operation'][0]}'")  # fmt: skip
    for target in there:
        yield AclFilter(resource_type=target.type, name=target.name, pattern_type=target.pattern)


def _refuse_senseless(binding: AclBinding, span: tuple[int, int] | None) -> None:
    """Brokers keep an ACL on an operation that the resource does not know, to no effect."""
    if binding.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise UsageError(
            f"an ACL cannot be added to {binding.pattern_type.name.lower()} patterns",
            hint="literal or prefixed is what an ACL is on; any and match find what is there.",
            code="bad-pattern-type",
            span=span,
        )
    known = OPERATIONS_OF.get(binding.resource_type, frozenset())
    if binding.operation not in known and binding.operation is not AclOperation.ALL:
        names = ", ".join(each.label for each in sorted(known))
        raise UsageError(
            f"{binding.operation.label} means nothing on a {binding.resource_type.kind}",
            hint=f"There: {names}, All.",
            code="bad-operation",
            span=span,
        )


def _wrong(message: str, invocation: Invocation, option: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad-acl", span=invocation.span(option))
