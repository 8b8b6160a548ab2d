"""Plans that alter dynamic client configs (KIP-649)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kafka_shell.admin.records import log
from kafka_shell.admin.steps import BaseStep
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Results

from . import format as records
from . import store as client_config_store
from .checks import Held, wrong
from .format import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from .model import (
    ClientConfig,
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
)
from .read import describe, read_configs, registrations

_INVALID = "the value before is invalid and could not be set again"


# -- alter -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlterClientConfigs(BaseStep):
    """One batch of records on `__client_configs`, one a config. `now` is what was set, as read;
    `invalid` of it is what another program wrote and this one would refuse to set again."""

    alterations: tuple[ClientConfigAlteration, ...]
    now: tuple[ClientConfig, ...]
    invalid: tuple[ClientConfig, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        before = {(config.entity, config.key): config.value for config in self.now}
        invalid = {(config.entity, config.key) for config in self.invalid}
        return tuple(
            Change(
                each.entity.resource,
                "alter",
                each.key,
                before.get((each.entity, each.key)),
                each.value,
                note=_INVALID if (each.entity, each.key) in invalid else "",
                reversible=(each.entity, each.key) not in invalid,
            )
            for each in self.alterations
        )

    def again(self, cluster: Cluster) -> AlterClientConfigs:
        now = _of_entities(cluster, self.alterations)
        return replace(self, now=now, invalid=_invalid(cluster, now))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Append them all or none, to every in-sync replica, once. Raises ShellError."""
        written = [records.config_record(each) for each in self.alterations]
        log.append(cluster, CONFIGS_TOPIC, written)
        return Results({change: change for change in self.changes})


def plan_alter(cluster: Cluster, alterations: Sequence[ClientConfigAlteration]) -> Plan:
    """Set and remove configs, each entity on its own; keys that are not named stay (KIP-649).

    An entity is refused alone: a key that no client registered and this program does not know, a
    value no client could take, a heartbeat that would not be below the session timeout. Where the
    two topics are not there yet, the plan makes them first, and asks.
    """
    state = client_config_store.look(cluster)
    if state.refused is not None:
        unfit = {Resource("topic", state.topic): state.refused}
        return Plan(Effect.CHANGE, (), refused=Results({}, unfit))
    held = read_configs(cluster)
    refused = wrong(cluster, alterations, held, lambda: _registered(cluster))
    kept = [each for each in alterations if each.entity.resource not in refused]
    same = tuple(each for each in kept if held.get((each.entity, each.key)) == each.value)
    wanted = tuple(each for each in kept if each not in same)
    now = _among(held, wanted)
    steps = (AlterClientConfigs(wanted, now, _invalid(cluster, now)),) if wanted else ()
    made = client_config_store.plan_create(cluster, state) if wanted else Plan(Effect.CHANGE, ())
    entities = {each.entity for each in wanted}
    return replace(
        made,
        steps=(*made.steps, *steps),
        chained=True,
        touches=made.touches | {"client_configs", "users", "client_ids"},
        fresh=lambda later: tuple(
            config for config in describe(later) if config.entity in entities
        ),
        refused=Results({}, refused),
        unchanged=AlterClientConfigs(same, _among(held, same)).changes,
    )


def _of_entities(
    cluster: Cluster, alterations: Iterable[ClientConfigAlteration]
) -> tuple[ClientConfig, ...]:
    return _among(read_configs(cluster), alterations)


def _among(held: Held, alterations: Iterable[ClientConfigAlteration]) -> tuple[ClientConfig, ...]:
    """What is set of what these alterations are about."""
    return tuple(
        ClientConfig(each.entity, each.key, held[each.entity, each.key])
        for each in alterations
        if (each.entity, each.key) in held
    )


def _invalid(cluster: Cluster, configs: Iterable[ClientConfig]) -> tuple[ClientConfig, ...]:
    """Those that would be refused if they were set: undoing their change would fail."""
    return tuple(
        each
        for each in configs
        if wrong(
            cluster,
            [ClientConfigAlteration(each.entity, each.key, each.value)],
            {},
            lambda: _registered(cluster),
        )
    )


# -- registrations ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForgetRegistrations(BaseStep):
    """Tombstones for registrations: clients that still run register anew (KIP-649's refresh)."""

    registrations: tuple[ClientRegistration, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(each.entity.resource, "delete", "supported.configs",
                   f"{each.software_name} {each.software_version}: {', '.join(each.supported)}",
                   None, note="clients that run register again with their next look",
                   reversible=False)
            for each in self.registrations
        )  # fmt: skip

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Append all tombstones or none, then ask the clients that run to register again."""
        log.append(
            cluster,
            REGISTRATIONS_TOPIC,
            [records.forgetting_record(each) for each in self.registrations],
        )
        now = str(time.time_ns() // 1_000_000)
        asked = dict.fromkeys(each.entity for each in self.registrations)
        wishes = [ClientConfigAlteration(each, records.REGISTER_AGAIN, now) for each in asked]
        if client_config_store.exists(cluster, CONFIGS_TOPIC):
            log.append(cluster, CONFIGS_TOPIC, [records.config_record(each) for each in wishes])
        return Results({change: change for change in self.changes})


def plan_forget(cluster: Cluster, entities: Sequence[ClientEntity], *, now: int) -> Plan:
    """Delete what clients of these entities said they support (`supported.configs`)."""
    wanted = set(entities)
    found = tuple(r for r in registrations(cluster, now=now) if r.entity in wanted)
    return Plan(
        Effect.CHANGE,
        (ForgetRegistrations(found),) if found else (),
        touches=frozenset({"client_configs"}),
    )


def _registered(cluster: Cluster) -> set[str]:
    """Keys that clients of any program say they support."""
    said = registrations(cluster, now=int(time.time() * 1000))
    return {key for registration in said for key in registration.supported}
