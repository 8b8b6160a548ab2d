"""Plans that alter client quotas (KIP-546; API key 49)."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Any

from msgspec import Struct

from kafka_shell.admin.quotas.model import Default, Quota, QuotaAlteration, QuotaEntity
from kafka_shell.admin.quotas.read import describe_each
from kafka_shell.admin.steps import BaseStep, confirmed, read_again, row_failure
from kafka_shell.base.plans import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.wire.connection import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import INVALID_REQUEST
from kafka_shell.wire.requests import CONTROLLER
from kafka_shell.wire.rounds import in_requests

Entity = tuple[tuple[str, str | None], ...]  # as in requests, sorted


class AlterQuotas(Struct, BaseStep, frozen=True):
    """One AlterClientQuotas request (API key 49). Keys that are not named stay as they are.

    The keys of an entity are altered all or none. `now` are the current quotas of the entities.
    """

    alterations: tuple[QuotaAlteration, ...]
    now: tuple[Quota, ...]
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        before = {(quota.entity, quota.key): quota.value for quota in self.now}
        return tuple(
            Change(
                alteration.entity.resource,
                "alter",
                alteration.key,
                before.get((alteration.entity, alteration.key)),
                alteration.value,
            )
            for alteration in self.alterations
        )

    def reread(self, cluster: Cluster) -> AlterQuotas:
        found = describe_each(cluster, [alteration.entity for alteration in self.alterations])
        read_again(found, "the quotas of")
        return AlterQuotas(self.alterations, _flat(found))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import AlterClientQuotasRequest

        kind = AlterClientQuotasRequest.EntryData
        by_entity: dict[QuotaEntity, list[QuotaAlteration]] = {}
        for alteration in self.alterations:
            by_entity.setdefault(alteration.entity, []).append(alteration)
        request = AlterClientQuotasRequest(
            entries=[
                kind(
                    entity=[
                        kind.EntityData(entity_type=type_, entity_name=name)
                        for type_, name in _wire(entity)
                    ],
                    ops=[
                        kind.OpData(
                            key=each.key,
                            value=0.0 if each.value is None else each.value,
                            remove=each.value is None,
                        )
                        for each in alterations
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
        entities = (each.entity for each in self.alterations)
        results = Results.of(self.changes, (_failure(e, rows.get(_wire(e))) for e in entities))
        if not validate_only:
            with confirmed(results):
                self._settle(cluster, {change.resource for change in results})
        return results

    def _settle(self, cluster: Cluster, done: Set[Resource]) -> None:
        """Wait until a broker shows the changes of these entities."""
        wanted = [
            alteration for alteration in self.alterations if alteration.entity.resource in done
        ]
        entities = [each.entity for each in wanted]

        def visible() -> bool:
            found = describe_each(cluster, entities)
            now = {(quota.entity, quota.key): quota.value for quota in _flat(found)}
            return not found.ok or all(now.get((w.entity, w.key)) == w.value for w in wanted)

        wait_until_visible(visible)


def plan_alter(cluster: Cluster, alterations: Sequence[QuotaAlteration]) -> Plan:
    """Set quotas, and remove those whose value is None (API key 49). Other keys stay.

    An entity is refused alone if a key is given twice, a value is not finite (brokers accept NaN)
    or its quotas cannot be read. Values that are already set are not sent.
    """
    refused = _invalid(alterations)
    requested = [
        alteration.entity for alteration in alterations if alteration.entity.resource not in refused
    ]
    found = describe_each(cluster, requested)
    refused |= {entity.resource: failure for entity, failure in found.failures.items()}
    wanted = tuple(each for each in alterations if each.entity.resource not in refused)
    now = _flat(found)
    current = {(quota.entity, quota.key): quota.value for quota in now}
    new: dict[QuotaEntity, list[QuotaAlteration]] = {}
    same = []
    for each in wanted:
        if current.get((each.entity, each.key)) == each.value:
            same.append(each)
        else:
            new.setdefault(each.entity, []).append(each)
    return Plan(
        Effect.CHANGE,
        tuple(
            AlterQuotas(
                tuple(each for entity in entities for each in new[entity]),
                tuple(quota for entity in entities for quota in found[entity]),
            )
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
        refused[alteration.entity.resource] = Failure(
            "INVALID_REQUEST",
            message,
            INVALID_REQUEST,
            hint="No quota of this entity was changed.",
        )
    return refused


def _wire(entity: QuotaEntity) -> Entity:
    """(type, name or None for the default) of each part, sorted."""
    parts = ((kind, None if isinstance(name, Default) else name) for kind, name in entity.parts)
    return tuple(sorted(parts))


def _flat(found: Results[QuotaEntity, tuple[Quota, ...]]) -> tuple[Quota, ...]:
    return tuple(quota for quotas in found for quota in quotas)


def _failure(entity: QuotaEntity, row: Any) -> Failure | None:
    requires = "ALTER_CONFIGS on the cluster"
    return row_failure(row, entity, requires=requires, see=Resource("quota"))
