"""Who loses access when ACLs are deleted, or when ACLs that deny are created.

The verdicts are those of Kafka's StandardAuthorizer, on the names that exist now and on the
patterns themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted

from .authorizer import ANYONE, Rules, implied_by, verdict
from .model import (
    OPERATIONS_OF,
    Access,
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)

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


class Bindings:
    """ACLs by the names that they match."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        self._by_name: dict[tuple[AclResourceType, PatternType, str], list[AclBinding]] = {}
        self._lengths: dict[AclResourceType, set[int]] = {}
        for each in bindings:
            key = (each.resource_type, each.pattern_type, each.name)
            self._by_name.setdefault(key, []).append(each)
            if each.pattern_type is PatternType.PREFIXED:
                self._lengths.setdefault(each.resource_type, set()).add(len(each.name))

    def matching(self, kind: AclResourceType, name: str) -> tuple[AclBinding, ...]:
        """Those that match a resource."""
        keys = [(kind, PatternType.LITERAL, literal) for literal in dict.fromkeys((name, "*"))]
        lengths = self._lengths.get(kind, ())
        keys += [(kind, PatternType.PREFIXED, name[:at]) for at in lengths if at <= len(name)]
        return tuple(each for key in keys for each in self._by_name.get(key, ()))


def suspects(
    deleted: Iterable[AclBinding], created: Iterable[AclBinding]
) -> tuple[AclBinding, ...]:
    """The bindings whose deletion or creation can take access away."""
    return (
        *(each for each in deleted if each.permission is AclPermission.ALLOW),
        *(each for each in created if each.permission is AclPermission.DENY),
    )


def losses(
    rules: Rules,
    deleted: Collection[AclBinding],
    created: Collection[AclBinding],
    names: Names,
) -> list[Loss]:
    """What principals lose. `rules` are those before, with the ACLs that match the same resources;
    `names` are the existing resources of each type."""
    before = Bindings(rules.bindings)
    gone = frozenset(deleted)
    after = Bindings([each for each in rules.bindings if each not in gone] + list(created))
    left = _MOST_NAMES
    found: dict[tuple[str, str, AclResourceType, str, PatternType], Loss] = {}
    for binding in _by_principal(suspects(deleted, created), rules.bindings):
        matched = _matched(binding, names)
        checked = matched if matched is not None and len(matched) <= left else None
        left -= len(checked or ())
        loss = _loss(rules, before, after, binding, checked)
        if loss is not None:
            key = (
                binding.principal, binding.host, binding.resource_type, binding.name,
                binding.pattern_type,
            )  # fmt: skip
            found[key] = loss if key not in found else _both(found[key], loss)
    return list(found.values())


def _by_principal(
    bindings: Iterable[AclBinding], all: Iterable[AclBinding]
) -> Iterator[AclBinding]:
    """The bindings; one that denies everyone also for each principal with ACLs of its own."""
    for each in bindings:
        yield each
        if each.principal == ANYONE and each.permission is AclPermission.DENY:
            principals = {
                one.principal
                for one in all
                if one.resource_type is each.resource_type and one.principal != ANYONE
            }
            yield from (replace(each, principal=principal) for principal in sorted(principals))


def _both(one: Loss, other: Loss) -> Loss:
    """Two losses of the same principal on the same resources."""
    names = None
    if one.names is not None and other.names is not None:
        names = one.names | other.names
    return Loss(one.binding, tuple(dict.fromkeys(one.operations + other.operations)), names)


def _loss(
    rules: Rules,
    before: Bindings,
    after: Bindings,
    binding: AclBinding,
    names: Sequence[str] | None,
) -> Loss | None:
    """What the principal of a binding loses by its deletion or creation."""
    kind = binding.resource_type
    sample = binding.name
    if is_pattern(binding):
        sample = _NO_NAME if binding.name == "*" else binding.name + _NO_NAME
    operations: list[AclOperation] = []
    lost: set[str] = set()
    for candidates in (_operations(binding), implied_by(binding)):  # what is implied if it is all
        for operation in candidates:
            access = Access(binding.principal, operation, kind, sample, _host(binding))
            missing = [
                name
                for name in names or ()
                if _is_lost(rules, before, after, replace(access, name=name))
            ]
            if missing or _is_lost(rules, before, after, access):
                operations.append(operation)
                lost.update(missing)
        if operations:
            break
    if not operations:
        return None
    return Loss(binding, tuple(operations), None if names is None else frozenset(lost))


def _is_lost(rules: Rules, before: Bindings, after: Bindings, access: Access) -> bool:
    kind, name = access.resource_type, access.name
    was = verdict(replace(rules, bindings=before.matching(kind, name)), access)
    if was.because != "allow" and not (was.because == "no-acl" and was.allowed):
        return False
    then = verdict(replace(rules, bindings=after.matching(kind, name)), access)
    return not then.allowed


def _matched(binding: AclBinding, names: Names) -> Sequence[str] | None:
    """The existing resources that a binding matches; None if they are not known."""
    if not is_pattern(binding):
        return (binding.name,)
    existing = names.get(binding.resource_type)
    if existing is None or binding.name == "*":
        return existing
    return [name for name in existing if name.startswith(binding.name)]


def is_pattern(binding: AclBinding) -> bool:
    """Whether a binding matches more than one name."""
    return binding.pattern_type is PatternType.PREFIXED or binding.name == "*"


def _operations(binding: AclBinding) -> list[AclOperation]:
    if binding.operation is not AclOperation.ALL:
        return [binding.operation]
    return sorted(OPERATIONS_OF.get(binding.resource_type, ()))


def _host(binding: AclBinding) -> str | None:
    return None if binding.host == "*" else binding.host
