"""Remedies that remove ACLs, checked together: each may be right alone, and take all access with
another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct

from kafka_shell.admin.acls.authorizer import ANYONE, Rules
from kafka_shell.admin.acls.change import DeleteAcls
from kafka_shell.admin.acls.lost_access import losses
from kafka_shell.admin.acls.model import AclBinding, AclPermission, AclResourceType
from kafka_shell.plan.model import Plan
from kafka_shell.plan.results import Failure


class AclRemoval(Struct, frozen=True):
    """The ACLs that one remedy removes. If it is `safe`, others must allow the same."""

    bindings: tuple[AclBinding, ...]
    safe: bool = False


def acl_removal(plan: Plan, *, safe: bool) -> AclRemoval:
    """The ACLs that allow something, and that this plan removes."""
    removed = (step.bindings for step in plan.steps if isinstance(step, DeleteAcls))
    return AclRemoval(tuple(each for some in removed for each in some if _allows(each)), safe)


class AclRemovals:
    """The ACLs that are left, after all remedies that were accepted so far.

    `login` is the principal of this connection, if it is known.
    """

    def __init__(self, bindings: Iterable[AclBinding], login: str | None) -> None:
        self._login = login
        self._gone: set[AclBinding] = set()
        self._by_principal: dict[str, list[AclBinding]] = {}
        self._safe: dict[str, list[AclBinding]] = {}  # removed, as others allow the same
        for each in bindings:
            self._by_principal.setdefault(each.principal, []).append(each)

    def refusal(self, wanted: AclRemoval) -> Failure | None:
        """Why a remedy may not remove its ACLs; None if it may, and then they are gone."""
        before = set(self._gone)
        self._gone.update(wanted.bindings)
        if wanted.safe:
            for each in wanted.bindings:
                self._safe.setdefault(each.principal, []).append(each)
        why = next(filter(None, map(self._why, wanted.bindings)), None)
        if why is not None:
            self._gone = before
            if wanted.safe:
                for each in wanted.bindings:
                    self._safe[each.principal].remove(each)
        return why

    def _why(self, removed: AclBinding) -> Failure | None:
        principal = removed.principal
        if self._is_own(removed) and self._is_lost(removed):
            return Failure("own-login", f"{removed} is needed by the current principal")
        if principal != ANYONE and self._is_lost(removed) and not any(self._allowing(principal)):
            return Failure("no-access-left", f"{principal} would have no access left")
        affected = self._safe.values() if principal == ANYONE else [self._safe.get(principal, ())]
        for each in chain.from_iterable(affected):
            if self._is_lost(each):
                why = f"{each} is needed if the other remedies are applied"
                return Failure("needed", why)
        return None

    def _allowing(self, principal: str) -> Iterator[AclBinding]:
        """The ACLs that are left and allow a principal, or everyone, something."""
        return (each for each in self._of(principal) if _allows(each) and each not in self._gone)

    def _of(self, principal: str) -> Iterator[AclBinding]:
        """All ACLs of a principal and of everyone."""
        for name in dict.fromkeys((principal, ANYONE)):
            yield from self._by_principal.get(name, ())

    def _is_lost(self, removed: AclBinding) -> bool:
        """Whether the principal loses access by this removal, after the others."""
        of = self._of(removed.principal)
        before = tuple(each for each in of if each == removed or each not in self._gone)
        lost, _ = losses(Rules(before), [removed], [], {})
        return bool(lost)

    def _is_own(self, binding: AclBinding) -> bool:
        """Whether the login may need it: its own ACLs, and those of everyone on the cluster."""
        everyone = binding.principal == ANYONE
        on_cluster = binding.resource_type is AclResourceType.CLUSTER
        return binding.principal == self._login or (everyone and on_cluster and bool(self._login))


def _allows(binding: AclBinding) -> bool:
    return binding.permission is AclPermission.ALLOW
