"""Plans that update feature levels (KIP-584; API key 57)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.cluster.features import METADATA, METADATA_LEVELS, describe, release_of
from kafka_shell.admin.cluster.model import Features
from kafka_shell.admin.steps import BaseStep
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import (
    INVALID_UPDATE_VERSION,
    OPERATION_NOT_ATTEMPTED,
    REQUEST_TIMED_OUT,
)
from kafka_shell.admin.wire.failures import failure, requires
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.admin.wire.requests import CONTROLLER, Call, response_timeout
from kafka_shell.errors import did_you_mean
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results

DEFAULT_TIMEOUT_MS = 30_000
_FOR_ALL = "The update failed for all features since the following feature had an error: "
_UPGRADE, _SAFE, _UNSAFE = 1, 2, 3
ONE_WAY = "kraft.version"  # cannot be downgraded


class UpdateFeatures(Struct, BaseStep, frozen=True):
    """One UpdateFeatures request (API key 57). `now` are the current levels.

    Since Kafka 4.0 all features are updated or none; before, each one independently.
    """

    wanted: tuple[tuple[str, int], ...]
    now: Features
    unsafe: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(self._change(name, level) for name, level in self.wanted)

    def _change(self, name: str, level: int) -> Change:
        before = _level(self.now, name)
        return Change(
            Resource("feature", name), "alter", before=before, after=level,
            note=_note(name, before, level, self.unsafe),
            reversible=_reversible(name, before, level),
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> UpdateFeatures:
        return UpdateFeatures(self.wanted, describe(cluster), self.unsafe, self.timeout_ms)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import UpdateFeaturesRequest

        downgrade = _UNSAFE if self.unsafe else _SAFE
        request = UpdateFeaturesRequest(
            timeout_ms=self.timeout_ms,
            feature_updates=[
                UpdateFeaturesRequest.FeatureUpdateKey(
                    feature=name,
                    max_version_level=level,
                    upgrade_type=downgrade if level < _level(self.now, name) else _UPGRADE,
                )
                for name, level in self.wanted
            ],
            validate_only=validate_only,
        )
        timeout = response_timeout(self.timeout_ms)
        call = Call(request, CONTROLLER, lowest=1, check=False, timeout=timeout)
        (response,) = cluster.send_all([call])
        if isinstance(response, Failure):
            return Results({}, dict.fromkeys(self.changes, response))
        results = self._outcomes(response)
        if results.ok and not validate_only:
            wait_until_visible(lambda: self._visible(cluster))
        return results

    def _outcomes(self, response: Any) -> Outcomes:
        """The outcome of each feature. Since v2 there is one error, and its message names the
        feature."""
        each = {row.feature: (row.error_code, row.error_message) for row in response.results or ()}
        whole = response.error_code, response.error_message
        blamed = [name for name, _ in self.wanted if _names(name, whole[1])]
        failures: list[Failure | None] = []
        for name, _ in self.wanted:
            code, message = each.get(name, whole)
            if code and name not in each and blamed and name not in blamed:
                code, message = OPERATION_NOT_ATTEMPTED, None
            failures.append(self._failure(name, code, message) if code else None)
        return Results.of(self.changes, failures)

    def _failure(self, name: str, code: int, message: str | None) -> Failure:
        about, hint, see = f"feature {name}", requires(code, "ALTER on the cluster"), None
        if code == REQUEST_TIMED_OUT:
            hint, see = "The change may still be applied.", Resource("feature")
        elif code != OPERATION_NOT_ATTEMPTED and not hint and self.now.get(name) is None:
            known = [feature.name for feature in self.now.features]
            hint, see = did_you_mean(name, known), Resource("feature")
        elif code == INVALID_UPDATE_VERSION:
            see = Resource("feature")
        text = (message or "").removeprefix(_FOR_ALL)
        return failure(code, text, about=about, hint=hint, see=see)

    def _visible(self, cluster: Cluster) -> bool:
        now = describe(cluster)
        return all(_level(now, name) == level for name, level in self.wanted)


def plan_update(
    cluster: Cluster,
    wanted: Mapping[str, int],
    *,
    unsafe: bool = False,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Plan:
    """Update features to these levels; 0 disables one (API key 57). A lower level is a downgrade,
    which is destructive.

    `unsafe` allows a downgrade that loses metadata.
    """
    now = describe(cluster)
    new = tuple((name, level) for name, level in wanted.items() if level != _level(now, name))
    down = [name for name, level in new if level < _level(now, name)]
    step = UpdateFeatures(new, now, unsafe, timeout_ms)
    same = [(name, level) for name, level in wanted.items() if level == _level(now, name)]
    known = [feature.name for feature in now.features]
    unknown = [name for name, _ in same if name not in known]  # at level 0 like a disabled one
    return Plan(
        Effect.DESTROY if down else Effect.CHANGE,
        (step,) if new else (),
        touches=frozenset({"features", "brokers"}),
        fresh=describe,
        whole=True,
        refused=Results({}, {Resource("feature", name): _unknown(name, known) for name in unknown}),
        warnings=tuple(_warnings(now, down, unsafe)),
        unchanged=tuple(
            Change(Resource("feature", name), "alter", before=level, after=level,
                   note="no change: already at this level")
            for name, level in same
            if name not in unknown
        ),
    )  # fmt: skip


def _unknown(name: str, known: Sequence[str]) -> Failure:
    message = f"brokers do not support a feature {name}"
    hint = did_you_mean(name, known)
    return Failure("INVALID_UPDATE_VERSION", message, INVALID_UPDATE_VERSION, hint,
                   Resource("feature"))  # fmt: skip


def _warnings(now: Features, down: Sequence[str], unsafe: bool) -> Iterable[str]:
    if unsafe and down:
        yield "an unsafe downgrade deletes metadata that the lower level does not support"
    if now.unread:
        ids = [str(broker) for broker, _ in now.unread]
        brokers, they = (
            (f"broker {ids[0]} supports", "it")
            if len(ids) == 1
            else (f"brokers {', '.join(ids)} support", "they")
        )
        yield f"the levels that {brokers} are unknown: {they} could not be read"


def _level(now: Features, name: str) -> int:
    found = now.get(name)
    return found.level if found else 0


def _note(name: str, before: int, after: int, unsafe: bool) -> str:
    words = []
    if name == METADATA and release_of(after):
        words.append(f"{release_of(before) or before} -> {release_of(after)}")
    if after < before:
        words.append("unsafe downgrade" if unsafe else "downgrade")
    return ", ".join(words)


def _reversible(name: str, before: int, after: int) -> bool:
    """Whether the previous level can be restored: not if the new one adds records."""
    if name == ONE_WAY:
        return False
    passed = METADATA_LEVELS[before:after] if name == METADATA else ()
    return not any(each.endswith("*") for each in passed)


def _names(name: str, message: str | None) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message or "") is not None
