"""Checks of configs before they are written (KIP-649's InvalidRequest)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from kafka_shell.admin.client_configs import keys
from kafka_shell.admin.client_configs.model import (
    ClientConfig,
    ClientConfigAlteration,
    ClientConfigFilter,
    ClientEntity,
    resolve,
)
from kafka_shell.admin.configs.read import of_some_broker
from kafka_shell.admin.facts import attempt, not_checked
from kafka_shell.admin.quotas.model import Default
from kafka_shell.base.errors import MistakeCollector, ShellError, did_you_mean
from kafka_shell.base.plans import NotChecked, Resource
from kafka_shell.base.results import Failure
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import INVALID_REQUEST

_TIMEOUTS = (keys.SESSION, keys.HEARTBEAT)
_SESSION_LIMITS = ("group.min.session.timeout.ms", "group.max.session.timeout.ms")

Held = Mapping[tuple[ClientEntity, str], str]
ByUser = Mapping[str, Mapping[ClientEntity, Sequence[ClientConfig]]]


def check_filter(which: ClientConfigFilter) -> None:
    """Raise a ShellError (InvalidRequest) for a filter without a user."""
    if which.user is None or isinstance(which.user, Default):
        raise _refusal(
            "dynamic client configs require a user",
            hint="Name the user.",
        )


def session_limits(cluster: Cluster) -> tuple[int, int]:
    """The shortest and the longest session timeout that brokers accept, in milliseconds. Raises
    ShellError if the brokers' configs cannot be read."""
    configs = of_some_broker(cluster, _SESSION_LIMITS)
    least, most = (configs[name].value if name in configs else None for name in _SESSION_LIMITS)
    return int(least or 6_000), int(most or 1_800_000)


class ConfigConstraints:
    """What values are checked against: each is read once, when it is first needed. `registered`
    returns the keys that clients support, besides those that this program knows. `not_checked` is
    what could not be read."""

    def __init__(self, cluster: Cluster, registered: Callable[[], set[str]]) -> None:
        self._cluster = cluster
        self._registered = registered
        self.not_checked: tuple[NotChecked, ...] = ()

    @cached_property
    def known_keys(self) -> tuple[str, ...]:
        """All known keys, sorted."""
        return tuple(sorted(self._registered().union(keys.KEYS)))

    @cached_property
    def session(self) -> tuple[int, int] | None:
        """See `session_limits`. None if they cannot be read."""
        limits = attempt(lambda: session_limits(self._cluster))
        if isinstance(limits, Failure):
            about = f"whether brokers accept this {keys.SESSION}"
            self.not_checked = (not_checked(about, limits),)
            return None
        return limits


def wrong(
    constraints: ConfigConstraints, alterations: Sequence[ClientConfigAlteration], held: Held
) -> dict[Resource, Failure]:
    """The failures of refused entities. `held` are the current configs."""
    mistakes: dict[Resource, MistakeCollector] = {}
    seen: set[tuple[ClientEntity, str]] = set()
    for alteration in alterations:
        with mistakes.setdefault(alteration.entity.resource, MistakeCollector()).collecting():
            if (alteration.entity, alteration.key) in seen:
                raise _refusal(f"{alteration.key} of {alteration.entity} is set twice")
            seen.add((alteration.entity, alteration.key))
            _check(constraints, alteration)
    refused: dict[Resource, Failure] = {}
    for resource, of_entity in mistakes.items():
        try:
            of_entity.check()
        except ShellError as error:
            refused[resource] = _as_invalid(error)
    before = _by_user(held, [])
    while True:
        kept = [each for each in alterations if each.entity.resource not in refused]
        after = _by_user(held, kept)
        failures = {
            entity.resource: failure
            for entity in dict.fromkeys(config.entity for config in kept if config.key in _TIMEOUTS)
            if (failure := _heartbeat_too_slow(entity, before, after)) is not None
        }
        if not failures:
            return refused
        refused |= failures  # others may have been accepted on the strength of these


def _check(constraints: ConfigConstraints, alteration: ClientConfigAlteration) -> None:
    """Raise a ShellError for an alteration that is wrong by itself."""
    if not alteration.entity.user or alteration.entity.client_id == "":
        raise _refusal("user and client ID must not be empty")
    if alteration.value is None:
        return
    if alteration.key not in keys.KEYS:
        _check_known(alteration.key, constraints.known_keys)
    keys.check(alteration.key, alteration.value)
    if alteration.key == keys.SESSION:
        session = constraints.session
        if session is not None:
            _check_session(int(alteration.value), session)


def _check_known(key: str, known: Sequence[str]) -> None:
    if key not in known:
        near = did_you_mean(key, known)
        raise _refusal(
            f"{key} is not a config that a running client can change",
            hint=" ".join(filter(None, (near, f"Use one of: {', '.join(known)}."))),
        )


def _check_session(value: int, constraints: tuple[int, int]) -> None:
    least, most = constraints
    if not least <= value <= most:
        raise _refusal(
            f"{keys.SESSION}={value}: brokers accept {least} to {most}"
            " (group.min.session.timeout.ms, group.max.session.timeout.ms)"
        )


def _by_user(current: Held, alterations: Sequence[ClientConfigAlteration]) -> ByUser:
    """The configs after the alterations, by user and entity."""
    after: dict[tuple[ClientEntity, str], str | None] = dict(current)
    after |= {(alteration.entity, alteration.key): alteration.value for alteration in alterations}
    grouped: dict[str, dict[ClientEntity, list[ClientConfig]]] = {}
    for (entity, key), value in after.items():
        if value is not None:
            of_user = grouped.setdefault(entity.user, {})
            of_user.setdefault(entity, []).append(ClientConfig(entity, key, value))
    return grouped


def _heartbeat_too_slow(entity: ClientEntity, before: ByUser, after: ByUser) -> Failure | None:
    """The failure if the entity, or a client ID of it, would newly get a heartbeat interval that is
    not below its session timeout."""
    concerned = [entity]
    if entity.client_id is None:
        concerned += sorted(after.get(entity.user, ()), key=lambda who: who.order)
    for who in concerned:
        session, beat = _timeouts(who, after)
        if session is None or beat is None or not _is_too_slow(beat.value, session.value):
            continue
        if (session, beat) == _timeouts(who, before):
            continue
        return _as_invalid(
            _refusal(
                f"{who}: {keys.HEARTBEAT}={beat.value} (of {beat.entity}) is too long for"
                f" {keys.SESSION}={session.value} (of {session.entity})",
            )
        )
    return None


def _timeouts(who: ClientEntity, configs: ByUser) -> tuple[ClientConfig | None, ...]:
    """The effective session timeout and heartbeat interval of an entity."""
    of_user = configs.get(who.user, {})
    of_all_clients = of_user.get(ClientEntity(who.user), ())
    effective = resolve([*of_all_clients, *of_user.get(who, ())], who.user, who.client_id or "")
    return tuple(effective.get(key) for key in _TIMEOUTS)


def _is_too_slow(heartbeat: str, session: str) -> bool:
    """Whether clients would refuse the two. Other programs may have written what is no number,
    which clients ignore by itself."""
    try:
        return int(heartbeat) >= int(session)
    except ValueError:
        return False


def _refusal(message: str, hint: str = "") -> ShellError:
    return ShellError(message, hint=hint, code="INVALID_REQUEST")


def _as_invalid(error: ShellError) -> Failure:
    return Failure(error.code, error.message, INVALID_REQUEST, error.hint, error.see)
