"""Plans that create and delete ACLs (API keys 30, 31)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from kafka_shell.admin.acls.model import AclBinding, AclFilter, AclOperation, PatternType
from kafka_shell.admin.acls.read import (
    EVERYTHING,
    describe_each,
    filter_fields,
    lowest_version,
)
from kafka_shell.admin.steps import Field, FieldsStep, row_failure
from kafka_shell.base.plans import (
    Change,
    Effect,
    Order,
    Plan,
    Resource,
    Value,
    merge_plans,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import times
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import INVALID_REQUEST, RESOURCE_NOT_FOUND
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import CONTROLLER
from kafka_shell.wire.rounds import MANY, in_requests

# -- create ----------------------------------------------------------------------------------------


class _AclStep(FieldsStep[AclBinding], frozen=True):
    now: Mapping[Field, Value] = {}
    verb = ""

    def change(self, item: AclBinding) -> Change:
        return Change(item.resource, self.verb)

    def reread(self, cluster: Cluster) -> Self:
        """Return the step itself: a binding has no other value."""
        return self

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        return {(binding.resource, ""): True for binding in _existing(cluster, self.items)}


class CreateAcls(_AclStep, frozen=True):
    """One CreateAcls request (API key 30)."""

    verb = "create"

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        request = messages.CreateAclsRequest(
            creations=[
                messages.CreateAclsRequest.AclCreation(
                    resource_type=int(binding.resource_type),
                    resource_name=binding.name,
                    resource_pattern_type=int(binding.pattern_type),
                    principal=binding.principal,
                    host=binding.host,
                    operation=int(binding.operation),
                    permission_type=int(binding.permission),
                )
                for binding in self.items
            ]
        )
        response = cluster.send(request, to=CONTROLLER, lowest=lowest_version(self.items))
        return _in_order(self.items, response.results, _create_failure)


def plan_create(cluster: Cluster, bindings: Sequence[AclBinding]) -> Plan:
    """Create ACLs (API key 30). A binding given twice is refused alone (KIP-4), as is one with
    parts that only filters can have. Existing bindings are not sent."""
    count = Counter(bindings)
    refused = {}
    for binding, number in count.items():
        if number > 1:
            refused[binding.resource] = _invalid(f"{binding} is named {times(number)}")
        elif _is_incomplete(binding):
            refused[binding.resource] = _invalid(f"{binding} is incomplete")
    fine = tuple(binding for binding in count if binding.resource not in refused)
    existing = _existing(cluster, fine)
    wanted = tuple(binding for binding in fine if binding not in existing)
    return Plan(
        Effect.CHANGE,
        tuple(map(CreateAcls, in_requests(wanted))),
        refused=Results({}, refused),
        unchanged=tuple(
            Change(binding.resource, "create", note="no change: already exists")
            for binding in fine
            if binding in existing
        ),
    )


def plan_alter(cluster: Cluster, removed: Sequence[AclFilter], added: Sequence[AclBinding]) -> Plan:
    """Create bindings, and delete the others that the filters match.

    The result is that of deleting first, as in KIP-4. But clients never lose access in between, or
    because a creation failed: then nothing is deleted.
    """
    if not removed:
        return plan_create(cluster, added)
    plan = plan_delete(cluster, removed, kept=frozenset(added))
    if added:
        plan = replace(merge_plans([plan_create(cluster, added), plan]), order=Order.CHAINED)
    return plan


def _is_incomplete(binding: AclBinding) -> bool:
    """Whether a part of a binding is unknown, or allowed in filters only."""
    codes = (binding.resource_type, binding.operation, binding.permission)
    named = binding.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
    return min(codes) <= AclOperation.ANY or not named


def _existing(cluster: Cluster, bindings: Iterable[AclBinding]) -> frozenset[AclBinding]:
    """The bindings that exist."""
    wanted = frozenset(bindings)
    filters = list(dict.fromkeys(map(AclFilter.on, wanted)))
    filters = filters if len(filters) <= MANY else [EVERYTHING]
    return wanted & {binding for each in describe_each(cluster, filters) for binding in each}


# -- delete ----------------------------------------------------------------------------------------


class DeleteAcls(_AclStep, frozen=True):
    """One DeleteAcls request (API key 31): exactly these bindings."""

    verb = "delete"

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        filters = [AclFilter.exactly(binding) for binding in self.items]
        request = messages.DeleteAclsRequest(
            filters=[
                messages.DeleteAclsRequest.DeleteAclsFilter(**filter_fields(acl_filter))
                for acl_filter in filters
            ]
        )
        response = cluster.send(request, to=CONTROLLER, lowest=lowest_version(filters))
        return _in_order(self.items, response.filter_results, _delete_failure)


def _no_match(wanted: AclFilter) -> str:
    whole = wanted.principal is not None and wanted == AclFilter(wanted.principal)
    return f"{wanted.principal} has no ACLs" if whole else f"no ACL matches {wanted}"


def plan_delete(
    cluster: Cluster, filters: Sequence[AclFilter], kept: frozenset[AclBinding] = frozenset()
) -> Plan:
    """Delete the bindings that match the filters (API key 31), except the bindings in
    `kept`. A filter without a match, or given twice, is rejected (KIP-4)."""
    count = Counter(filters)
    requested = [each for each, number in count.items() if number == 1]
    refused: dict[Resource, Failure] = {
        Resource("acl", str(each)): _invalid(f"{each} is named {times(number)}")
        for each, number in count.items()
        if number > 1
    }
    wanted: dict[AclBinding, None] = {}
    for each, bindings in zip(requested, describe_each(cluster, requested), strict=True):
        wanted.update(dict.fromkeys(binding for binding in bindings if binding not in kept))
        if not bindings:
            refused[Resource("acl", str(each))] = failure(RESOURCE_NOT_FOUND, text=_no_match(each))
    unknown = [binding for binding in wanted if _is_incomplete(binding)]
    for binding in unknown:
        del wanted[binding]
        refused[binding.resource] = _invalid(
            f"{binding} has a type that this version of kafka.sh does not support"
        )
    return Plan(
        Effect.DESTROY if wanted or refused else Effect.CHANGE,
        tuple(map(DeleteAcls, in_requests(wanted))),
        refused=Results({}, refused),
    )


def _delete_failure(about: str, row: Any) -> Failure | None:
    why = _create_failure(about, row)
    if why is not None:
        return why
    if not row.matching_acls:
        message = f"{about}: the controller did not find this ACL"
        return failure(RESOURCE_NOT_FOUND, text=message, see=Resource("acl"))
    # The filter succeeded; the deletion of what it found may still have failed.
    return next(filter(None, (_create_failure(about, acl) for acl in row.matching_acls)), None)


# -- shared ----------------------------------------------------------------------------------------


def _in_order(
    bindings: Sequence[AclBinding],
    rows: Sequence[Any],
    failure_of: Callable[[str, Any], Failure | None],
) -> list[Failure | None]:
    """Why each binding failed by the row at its position: rows have no names."""
    padded = (*rows, *([None] * (len(bindings) - len(rows))))
    pairs = zip(bindings, padded, strict=False)
    return [failure_of(str(binding.resource), row) for binding, row in pairs]


def _create_failure(about: str, row: Any) -> Failure | None:
    return row_failure(row, about, requires="ALTER on the cluster", see=Resource("acl"))


def _invalid(message: str) -> Failure:
    return failure(INVALID_REQUEST, text=message)
