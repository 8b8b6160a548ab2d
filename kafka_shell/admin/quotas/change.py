"""Plans that alter client quotas (KIP-546; API key 49)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.quotas.model import Default, Quota, QuotaAlteration, QuotaEntity
from kafka_shell.admin.quotas.read import describe_each
from kafka_shell.admin.steps import Field, FieldsStep, read_again, row_failure
from kafka_shell.base.plans import Change, Effect, Plan, Resource, Value
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import INVALID_REQUEST
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import CONTROLLER
from kafka_shell.wire.rounds import in_requests

Entity = tuple[tuple[str, str | None], ...]  # as in requests, sorted


class AlterQuotas(FieldsStep[QuotaAlteration], frozen=True):
    """One AlterClientQuotas request (API key 49). Keys that are not named stay as they are.

    The keys of an entity are altered all or none.
    """

    validates = True

    def change(self, item: QuotaAlteration) -> Change:
        return self.altered(item.entity.resource, item.key, item.value)

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        quotas = describe_each(cluster, [alteration.entity for alteration in self.items])
        return _values(read_again(quotas, "the quotas of").values())

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        kind = messages.AlterClientQuotasRequest.EntryData
        by_entity: dict[QuotaEntity, list[QuotaAlteration]] = {}
        for alteration in self.items:
            by_entity.setdefault(alteration.entity, []).append(alteration)
        request = messages.AlterClientQuotasRequest(
            entries=[
                kind(
                    entity=[
                        kind.EntityData(entity_type=type_, entity_name=name)
                        for type_, name in _wire(entity)
                    ],
                    ops=[
                        kind.OpData(
                            key=quota_alteration.key,
                            value=0.0 if quota_alteration.value is None else quota_alteration.value,
                            remove=quota_alteration.value is None,
                        )
                        for quota_alteration in alterations
                    ],
                )
                for entity, alterations in by_entity.items()
            ],
            validate_only=validate_only,
        )
        response = cluster.send(request, to=CONTROLLER)
        # The response has another order than the request: failures come last.
        rows = {
            tuple(sorted((part.entity_type, part.entity_name) for part in row.entity)): row
            for row in response.entries
        }
        entities = (quota_alteration.entity for quota_alteration in self.items)
        return [_failure(entity, rows.get(_wire(entity))) for entity in entities]


def plan_alter(cluster: Cluster, alterations: Sequence[QuotaAlteration]) -> Plan:
    """Set quotas; a value of None removes a quota (API key 49). Other keys stay.

    An entity is refused alone if a key is given twice, a value is not finite (brokers accept NaN)
    or its quotas cannot be read. Values that are already set are not sent.
    """
    refused = _invalid(alterations)
    requested = [
        alteration.entity for alteration in alterations if alteration.entity.resource not in refused
    ]
    quotas = describe_each(cluster, requested)
    refused |= {entity.resource: failure for entity, failure in quotas.failures.items()}
    wanted = tuple(each for each in alterations if each.entity.resource not in refused)
    now = _values(quotas.values.values())
    new: dict[QuotaEntity, list[QuotaAlteration]] = {}
    same = []
    for each in wanted:
        if now.get((each.entity.resource, each.key)) == each.value:
            same.append(each)
        else:
            new.setdefault(each.entity, []).append(each)
    return Plan(
        Effect.CHANGE,
        tuple(
            AlterQuotas(tuple(quota for entity in entities for quota in new[entity]), now)
            for entities in in_requests(new, lambda entity: len(new[entity]))
        ),
        refused=Results({}, refused),
        unchanged=tuple(
            replace(
                change,
                note="no change: already set" if change.after is not None else "no change: not set",
            )
            for change in AlterQuotas(tuple(same), now).changes
        ),
    )


def _invalid(alterations: Sequence[QuotaAlteration]) -> dict[Resource, Failure]:
    refused: dict[Resource, Failure] = {}
    seen: set[tuple[QuotaEntity, str]] = set()
    for alteration in alterations:
        what = f"{alteration.key} of {alteration.entity}"
        if not alteration.entity.parts:
            message = "a quota requires a user, a client ID or an IP address"
        elif (alteration.entity, alteration.key) in seen:
            message = f"{what} is set twice"
        elif alteration.value is not None and not math.isfinite(alteration.value):
            message = f"{what} must be a finite number, got {alteration.value}"
        else:
            seen.add((alteration.entity, alteration.key))
            continue
        refused[alteration.entity.resource] = failure(INVALID_REQUEST, text=message)
    return refused


def _wire(entity: QuotaEntity) -> Entity:
    """(type, name or None for the default) of each part, sorted."""
    parts = ((kind, None if isinstance(name, Default) else name) for kind, name in entity.parts)
    return tuple(sorted(parts))


def _values(quotas: Iterable[Iterable[Quota]]) -> Mapping[Field, Value]:
    return {(quota.entity.resource, quota.key): quota.value for some in quotas for quota in some}


def _failure(entity: QuotaEntity, row: Any) -> Failure | None:
    requires = "ALTER_CONFIGS on the cluster"
    return row_failure(row, entity, requires=requires, see=Resource("quota"))
