"""Plans that alter dynamic client configs (KIP-649)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set

from msgspec import Struct

from kafka_shell.admin.client_configs import model as records
from kafka_shell.admin.client_configs import store as client_config_store
from kafka_shell.admin.client_configs.checks import ConfigConstraints, wrong
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
)
from kafka_shell.admin.client_configs.read import ConfigLog, read_log, registrations
from kafka_shell.admin.records import read as log
from kafka_shell.admin.steps import BaseStep, Field, FieldsStep
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Change, Effect, Order, Outcomes, Plan, Resource, Value
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster

_INVALID = "the previous value is invalid and cannot be restored"
_HIDDEN = "the previous value could not be decoded and cannot be restored"


# -- alter -----------------------------------------------------------------------------------------


class AlterClientConfigs(FieldsStep[ClientConfigAlteration], frozen=True):
    """One batch of records to `__client_configs`, one per config: all or none are appended.

    `lost` is why a value cannot be restored: it is invalid, or could not be decoded.
    """

    lost: Mapping[Field, str] = {}

    def change(self, item: ClientConfigAlteration) -> Change:
        change = self.altered(item.entity.resource, item.key, item.value)
        note = self.lost.get((change.resource, change.field), "")
        return replace(change, note=note, reversible=not note)

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        return self.reread(cluster).now

    def reread(self, cluster: Cluster) -> AlterClientConfigs:
        return _step(self.items, read_log(cluster), _limits(cluster))

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        written = [records.config_record(alteration) for alteration in self.items]
        log.append(cluster, CONFIGS_TOPIC, written)
        return [None] * len(written)

    def unseen(self, cluster: Cluster, done: Set[Change]) -> Set[Change]:
        """Nothing: readers see records at once."""
        return frozenset()


def plan_alter(cluster: Cluster, alterations: Sequence[ClientConfigAlteration]) -> Plan:
    """Set and remove configs of several entities independently (KIP-649). Other keys stay.

    An entity is refused alone: for a key that no client registered and this program does not
    support, a value that no client accepts, or a heartbeat interval that is not below the session
    timeout. If the two topics do not exist, the plan creates them first: commands ask before that,
    a program's `apply` does not.
    """
    state = client_config_store.check(cluster)
    if state.refused is not None:
        unfit = {Resource("topic", state.topic): state.refused}
        return Plan(Effect.CHANGE, (), refused=Results({}, unfit))
    current, limits = read_log(cluster), _limits(cluster)
    refused = wrong(limits, alterations, current.values)
    kept = [alteration for alteration in alterations if alteration.entity.resource not in refused]
    same = tuple(change for change in kept if _is_set(current, change))
    wanted = tuple(change for change in kept if not _is_set(current, change))
    steps = (_step(wanted, current, limits),) if wanted else ()
    made = client_config_store.plan_create(cluster, state) if wanted else Plan(Effect.CHANGE, ())
    return replace(
        made,
        steps=(*made.steps, *steps),
        order=Order.CHAINED,
        refused=Results({}, refused),
        unchanged=AlterClientConfigs(same, _values(current)).changes,
        advice=made.advice + Advice(not_checked=limits.not_checked),
    )


def _step(
    alterations: tuple[ClientConfigAlteration, ...], current: ConfigLog, limits: ConfigConstraints
) -> AlterClientConfigs:
    lost = {(entity.resource, key): _HIDDEN for entity, key in current.hidden}
    for alteration in alterations:
        before = current.values.get((alteration.entity, alteration.key))
        if before is not None and wrong(limits, [replace(alteration, value=before)], {}):
            lost[alteration.entity.resource, alteration.key] = _INVALID
    return AlterClientConfigs(alterations, _values(current), lost)


def _values(current: ConfigLog) -> Mapping[Field, Value]:
    return {(entity.resource, key): value for (entity, key), value in current.values.items()}


def _is_set(current: ConfigLog, alteration: ClientConfigAlteration) -> bool:
    key = alteration.entity, alteration.key
    return key not in current.hidden and current.values.get(key) == alteration.value


def _limits(cluster: Cluster) -> ConfigConstraints:
    return ConfigConstraints(cluster, lambda: _registered(cluster))


# -- registrations ---------------------------------------------------------------------------------


class ForgetRegistrations(Struct, BaseStep, frozen=True):
    """Tombstones for registrations; running clients register again (KIP-649's refresh)."""

    registrations: tuple[ClientRegistration, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                registration.entity.resource,
                "delete",
                "supported.configs",
                f"{registration.software_name} {registration.software_version}:"
                f" {', '.join(registration.supported)}",
                None,
                note="running clients register again when they next check",
                reversible=False,
            )
            for registration in self.registrations
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Append all tombstones or none, then ask running clients to register again."""
        log.append(
            cluster,
            REGISTRATIONS_TOPIC,
            [records.forgetting_record(registration) for registration in self.registrations],
        )
        try:
            self._request_registration(cluster)
        except ShellError as error:
            return Results({}, dict.fromkeys(self.changes, _not_requested(as_failure(error))))
        return Results({change: change for change in self.changes})

    def _request_registration(self, cluster: Cluster) -> None:
        """Ask running clients to register again."""
        now = str(time.time_ns() // 1_000_000)
        requested = dict.fromkeys(registration.entity for registration in self.registrations)
        requests = [ClientConfigAlteration(key, records.REGISTER_AGAIN, now) for key in requested]
        if client_config_store.exists(cluster, CONFIGS_TOPIC):
            log.append(
                cluster, CONFIGS_TOPIC, [records.config_record(request) for request in requests]
            )


def _not_requested(reason: Failure) -> Failure:
    message = f"deleted, but running clients were not asked to register again: {reason.message}"
    return replace(reason, message=message)


def plan_forget(cluster: Cluster, entities: Sequence[ClientEntity], *, now: int) -> Plan:
    """Delete the registrations of clients of these entities (`supported.configs`)."""
    wanted = set(entities)
    forgotten = tuple(r for r in registrations(cluster, now=now) if r.entity in wanted)
    return Plan(
        Effect.CHANGE,
        (ForgetRegistrations(forgotten),) if forgotten else (),
    )


def _registered(cluster: Cluster) -> set[str]:
    """All keys in registrations."""
    known = registrations(cluster, now=int(time.time() * 1000))
    return {key for registration in known for key in registration.supported}
