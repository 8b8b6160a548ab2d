"""Who loses access when ACLs are deleted, or when ACLs that deny are created.

The verdicts are those of Kafka's StandardAuthorizer, on the names that exist now and on the
patterns themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.acls.authorizer import ANYONE, Rules, hosts_of, implied_by, verdict
from kafka_shell.admin.acls.model import (
    OPERATIONS_OF,
    Access,
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.acls.read import doubts
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted

_MOST_NAMES = 50_000  # existing names that are checked one by one
_NO_NAME = "\0"  # in no name: only patterns match it

Names = Mapping[AclResourceType, Sequence[str]]


class Loss(Struct, frozen=True):
    """The operations that a principal loses on the resources that an ACL matches. `names` are the
    existing ones, None if they were not checked."""

    binding: AclBinding
    operations: tuple[AclOperation, ...]
    names: frozenset[str] | None = None

    @property
    def text(self) -> str:
        """`Read,Write on prefixed topic orders. (12 topics now)`."""
        every = set(self.operations) == set(OPERATIONS_OF.get(self.binding.resource_type, ()))
        what = "all operations" if every else ",".join(each.label for each in self.operations)
        now = ""
        if self.names is not None and is_pattern(self.binding):
            now = f" ({counted(len(self.names), self.binding.resource_type.kind)} now)"
        return f"{what} on {self.binding.target}{now}"

    def covers(self, name: str) -> bool:
        """Whether the loss applies to an existing resource of this name, as far as known."""
        if self.names is not None:
            return name in self.names
        return name.startswith("" if self.binding.name == "*" else self.binding.name)


_Pattern = tuple[AclResourceType, PatternType, str]


class Bindings:
    """ACLs by the names that they match, and by principal."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        self._by_pattern: dict[_Pattern, dict[str, list[AclBinding]]] = {}
        self._lengths: dict[AclResourceType, set[int]] = {}
        for binding in bindings:
            key = (binding.resource_type, binding.pattern_type, binding.name)
            self._by_pattern.setdefault(key, {}).setdefault(binding.principal, []).append(binding)
            if binding.pattern_type is PatternType.PREFIXED:
                self._lengths.setdefault(binding.resource_type, set()).add(len(binding.name))

    def patterns(self, kind: AclResourceType, name: str) -> tuple[_Pattern, ...]:
        """The patterns with ACLs that match a resource."""
        keys = [(kind, PatternType.LITERAL, literal) for literal in dict.fromkeys((name, "*"))]
        lengths = self._lengths.get(kind, ())
        keys += [(kind, PatternType.PREFIXED, name[:at]) for at in lengths if at <= len(name)]
        return tuple(key for key in keys if key in self._by_pattern)

    def matching(self, kind: AclResourceType, name: str) -> tuple[AclBinding, ...]:
        """The ACLs that match a resource."""
        there = (self._by_pattern[key] for key in self.patterns(kind, name))
        return tuple(binding for own in there for of_one in own.values() for binding in of_one)

    def deciding(self, principal: str, patterns: Sequence[_Pattern]) -> tuple[AclBinding, ...]:
        """The ACLs on these patterns that decide for a principal: its own and those of everyone. If
        there are none, one of another principal: a resource without any ACL has another rule."""
        there = [self._by_pattern[key] for key in patterns]
        who = dict.fromkeys((principal, ANYONE))
        mine = tuple(binding for own in there for one in who for binding in own.get(one, ()))
        return mine or tuple(next(iter(own.values()))[0] for own in there[:1])


class _OutOfTime(Exception):
    pass


class _Comparison:
    """What principals may do before and after a change. Resources that the same patterns match are
    alike: they are compared once."""

    def __init__(
        self, rules: Rules, before: Bindings, after: Bindings, over: Callable[[], bool]
    ) -> None:
        self._rules = rules
        self._before, self._after, self._over = before, after, over
        self._alike: dict[tuple[AclResourceType, str], int] = {}
        self._numbers: dict[tuple[tuple[_Pattern, ...], tuple[_Pattern, ...]], int] = {}
        self._examples: list[tuple[tuple[_Pattern, ...], tuple[_Pattern, ...], str]] = []

    def alike(self, kind: AclResourceType, name: str) -> int:
        """A number that is the same for all resources that are alike."""
        number = self._alike.get((kind, name))
        if number is None:
            patterns = self._before.patterns(kind, name), self._after.patterns(kind, name)
            number = self._numbers.setdefault(patterns, len(self._examples))
            if number == len(self._examples):
                self._examples.append((*patterns, name))
            self._alike[kind, name] = number
        return number

    def lost(
        self, binding: AclBinding, operations: Sequence[AclOperation], number: int
    ) -> frozenset[AclOperation]:
        """The operations that the principal of a binding loses on resources of this number, on any
        host that the binding applies to. Raises _OutOfTime."""
        if self._over():
            raise _OutOfTime
        before, after, name = self._examples[number]
        was = self._before.deciding(binding.principal, before)
        then = self._after.deciding(binding.principal, after)
        if was == then:
            return frozenset()
        rules = replace(self._rules, bindings=was), replace(self._rules, bindings=then)
        kind, lost = binding.resource_type, set[AclOperation]()
        # Where nothing is lost on a host that no ACL names, it may be on one that an ACL allows.
        for host in hosts_of(was) if binding.host == "*" else hosts_of([binding])[1:]:
            if host is not None and self._over():
                raise _OutOfTime
            accesses = [Access(binding.principal, each, kind, name, host) for each in operations]
            lost |= {access.operation for access in accesses if _is_lost(*rules, access)}
        return frozenset(lost)


def suspects(
    deleted: Iterable[AclBinding], created: Iterable[AclBinding]
) -> tuple[AclBinding, ...]:
    """The bindings whose deletion or creation can take access away. A created one that probably
    matches no client is left out: it has a warning of its own."""
    return (
        *(binding for binding in deleted if binding.permission is AclPermission.ALLOW),
        *(
            binding
            for binding in created
            if binding.permission is AclPermission.DENY and not any(doubts(binding))
        ),
    )


def losses(
    rules: Rules,
    deleted: Collection[AclBinding],
    created: Collection[AclBinding],
    names: Names,
    over: Callable[[], bool] = lambda: False,
) -> tuple[list[Loss], int]:
    """What principals lose, and how many ACLs were left out because the time is `over`. `rules` are
    those before, with the ACLs that match the same resources; `names` are the existing resources of
    each type."""
    gone = frozenset(deleted)
    after = Bindings([acl for acl in rules.bindings if acl not in gone] + list(created))
    comparison = _Comparison(rules, Bindings(rules.bindings), after, over)
    left = _MOST_NAMES
    by_key: dict[tuple[str, str, AclResourceType, str, PatternType], Loss] = {}
    changed = suspects(deleted, created)
    for index, suspect in enumerate(changed):
        matched = _matched(suspect, names)
        for binding in _by_principal(suspect, rules.bindings):
            checked = matched if matched is not None and len(matched) <= left else None
            left -= len(checked or ())
            try:
                loss = _loss(comparison, binding, checked)
            except _OutOfTime:
                return list(by_key.values()), len(changed) - index
            if loss is not None:
                key = (
                    binding.principal, binding.host, binding.resource_type, binding.name,
                    binding.pattern_type,
                )  # fmt: skip
                by_key[key] = loss if key not in by_key else _both(by_key[key], loss)
    return list(by_key.values()), 0


def _by_principal(binding: AclBinding, all: Iterable[AclBinding]) -> Iterator[AclBinding]:
    """The binding; if it denies everyone, also for each principal with ACLs of its own."""
    yield binding
    if binding.principal == ANYONE and binding.permission is AclPermission.DENY:
        principals = {
            one.principal
            for one in all
            if one.resource_type is binding.resource_type and one.principal != ANYONE
        }
        yield from (replace(binding, principal=principal) for principal in sorted(principals))


def _both(one: Loss, other: Loss) -> Loss:
    """Two losses of the same principal on the same resources."""
    names = None
    if one.names is not None and other.names is not None:
        names = one.names | other.names
    return Loss(one.binding, tuple(dict.fromkeys(one.operations + other.operations)), names)


def _loss(comparison: _Comparison, binding: AclBinding, names: Sequence[str] | None) -> Loss | None:
    """What the principal of a binding loses by its deletion or creation."""
    kind = binding.resource_type
    numbers = {name: comparison.alike(kind, name) for name in names or ()}
    every = dict.fromkeys((comparison.alike(kind, sample_name(binding)), *numbers.values()))
    for candidates in (_operations(binding), implied_by(binding)):  # what is implied if it is all
        lost = {access: comparison.lost(binding, candidates, access) for access in every}
        operations = frozenset().union(*lost.values())
        if operations:
            existing = frozenset(name for name, number in numbers.items() if lost[number])
            in_order = tuple(candidate for candidate in candidates if candidate in operations)
            return Loss(binding, in_order, None if names is None else existing)
    return None


def _is_lost(before: Rules, after: Rules, access: Access) -> bool:
    was = verdict(before, access)
    if was.because != "allow" and not (was.because == "no-acl" and was.allowed):
        return False
    return not verdict(after, access).allowed


def _matched(binding: AclBinding, names: Names) -> Sequence[str] | None:
    """The existing resources that a binding matches; None if they are not known."""
    if not is_pattern(binding):
        return (binding.name,)
    existing = names.get(binding.resource_type)
    if existing is None or binding.name == "*":
        return existing
    return [name for name in existing if name.startswith(binding.name)]


def sample_name(binding: AclBinding) -> str:
    """The name of a binding; if it matches several, one that only this pattern and those that cover
    it match."""
    if not is_pattern(binding):
        return binding.name
    return _NO_NAME if binding.name == "*" else binding.name + _NO_NAME


def is_pattern(binding: AclBinding) -> bool:
    """Whether a binding matches more than one name."""
    return binding.pattern_type is PatternType.PREFIXED or binding.name == "*"


def _operations(binding: AclBinding) -> list[AclOperation]:
    if binding.operation is not AclOperation.ALL:
        return [binding.operation]
    return sorted(OPERATIONS_OF.get(binding.resource_type, ()))
