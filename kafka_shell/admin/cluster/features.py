"""Features and API versions of the brokers (KIP-584, KIP-1022; API keys 18, 57)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.cluster.model import ApiRange, ApiSupport, Feature, FeatureRange, Features
from kafka_shell.admin.cluster.registrations import not_running
from kafka_shell.admin.steps import Field, FieldsStep
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.plans import Advice, Change, Effect, Order, Plan, Value
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    BROKER_NOT_AVAILABLE,
    INVALID_UPDATE_VERSION,
    OPERATION_NOT_ATTEMPTED,
    REQUEST_TIMED_OUT,
)
from kafka_shell.wire.failures import AUTHORIZATION, as_error, failure
from kafka_shell.wire.requests import CONTROLLER, Call, api_name, response_timeout

METADATA = "metadata.version"

# The names of the levels of metadata.version, from level 1; a star if its records differ from those
# of the level below, so that a downgrade is impossible.
METADATA_LEVELS = tuple(
    word
    for line in (
        "3.0-IV1* 3.1-IV0* 3.2-IV0* 3.3-IV0* 3.3-IV1* 3.3-IV2* 3.3-IV3* 3.4-IV0* 3.5-IV0 3.5-IV1",
        "3.5-IV2* 3.6-IV0 3.6-IV1* 3.6-IV2* 3.7-IV0* 3.7-IV1 3.7-IV2* 3.7-IV3 3.7-IV4 3.8-IV0",
        "3.9-IV0 4.0-IV0 4.0-IV1* 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0*",
    )
    for word in line.split()
)

# The level of metadata.version from which new clusters have this level of other features.
_SINCE = (
    ("kraft.version", 1, "3.9-IV0"),
    ("group.version", 1, "4.0-IV0"),
    ("transaction.version", 2, "4.0-IV2"),
    ("eligible.leader.replicas.version", 1, "4.1-IV0"),
    ("share.version", 1, "4.2-IV0"),
    ("streams.version", 1, "4.2-IV1"),
)

_SAME = "no change: already at this level"


# -- describe --------------------------------------------------------------------------------------


def describe(cluster: Cluster) -> Features:
    """The cluster's features: their levels, and levels of all brokers (ApiVersions, API key 18).

    Controllers may support less than brokers; that is unknown here. Raises ShellError if no broker
    responds.
    """
    answers = ask(cluster)
    newest = max(answers, key=lambda answer: answer.finalized_features_epoch)
    levels = {each.name: each.max_version_level for each in newest.finalized_features or ()}
    ranges: dict[str, list[FeatureRange]] = {name: [] for name in levels}
    for broker, answer in answers.values.items():
        for feature in answer.supported_features or ():
            supported = FeatureRange(broker, feature.min_version, feature.max_version)
            ranges.setdefault(feature.name, []).append(supported)
    unread = tuple(answers.failures)
    return Features(
        newest.finalized_features_epoch,
        tuple(_feature(name, levels.get(name, 0), ranges[name], unread) for name in sorted(ranges)),
        tuple(answers.failures.items()),
    )


def ask(cluster: Cluster) -> Results[int, Any]:
    """The ApiVersions responses of all brokers; a failure for each that is not running, too. Raises
    ShellError if none responds."""
    request = messages.ApiVersionsRequest(
        client_software_name="kafka-sh", client_software_version="0.1"
    )
    answers = cluster.each_broker(request)
    if not answers.values:
        raise as_error(next(iter(answers.failures.values())))
    for id in sorted(not_running(cluster)):
        answers.failures[id] = failure(BROKER_NOT_AVAILABLE, text=f"broker {id} is not running")
    return answers


def _feature(
    name: str, level: int, brokers: Sequence[FeatureRange], unread: tuple[int, ...]
) -> Feature:
    lowest = max((broker.lowest for broker in brokers), default=level)
    highest = min((feature_range.highest for feature_range in brokers), default=level)
    return Feature(
        name, level, lowest, highest,
        release=release_of(level) if name == METADATA else "",
        highest_release=release_of(highest) if name == METADATA else "",
        brokers=tuple(brokers), unread=unread,
    )  # fmt: skip


def release_of(level: int) -> str:
    """The name of a level of metadata.version: `4.3-IV0`; "" if unknown."""
    known = 0 < level <= len(METADATA_LEVELS)
    return METADATA_LEVELS[level - 1].rstrip("*") if known else ""


def level_of(release: str) -> int | None:
    """The level of metadata.version of a release (`4.1`: its last level) or name (`4.1-IV0`)."""
    levels = {release_of(level): level for level in range(1, len(METADATA_LEVELS) + 1)}
    if release in levels:
        return levels[release]
    of_release = [level for name, level in levels.items() if name.partition("-")[0] == release]
    return max(of_release, default=None)


def releases() -> tuple[str, ...]:
    """The releases known to `level_of`, the oldest first."""
    return tuple(dict.fromkeys(name.partition("-")[0] for name in METADATA_LEVELS))


def levels_of_release(release: str) -> dict[str, int] | None:
    """The feature levels of a new cluster of this release; None if unknown."""
    level = level_of(release)
    if level is None:
        return None
    others = {name: high if level >= (level_of(since) or 0) else 0 for name, high, since in _SINCE}
    return {METADATA: level} | others


# -- API versions ----------------------------------------------------------------------------------


def api_versions(
    cluster: Cluster, brokers: Sequence[int] | None = None
) -> tuple[tuple[ApiSupport, ...], dict[int, Failure]]:
    """The API versions that these brokers support, or all; and failures by broker (API key 18)."""
    answers = ask(cluster)
    spoken = {
        broker: {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}
        for broker, response in answers.values.items()
        if brokers is None or broker in brokers
    }
    failed = {
        b: failure for b, failure in answers.failures.items() if brokers is None or b in brokers
    }
    return compare(spoken), failed


def compare(spoken: Mapping[int, Mapping[int, tuple[int, int]]]) -> tuple[ApiSupport, ...]:
    """The APIs with the versions that all of these brokers support, and those of each broker."""
    keys = sorted({key for versions in spoken.values() for key in versions})
    return tuple(_api(key, spoken) for key in keys)


def _api(key: int, spoken: Mapping[int, Mapping[int, tuple[int, int]]]) -> ApiSupport:
    ranges = [ApiRange(b, *versions[key]) for b, versions in spoken.items() if key in versions]
    missing = tuple(broker for broker, versions in spoken.items() if key not in versions)
    lowest, highest = max(r.lowest for r in ranges), min(r.highest for r in ranges)
    common = not missing and lowest <= highest
    return ApiSupport(
        key, api_name(key), lowest if common else None, highest if common else None,
        tuple(ranges), missing,
    )  # fmt: skip


def unknown_level(name: str, text: str, span: tuple[int, int] | None) -> UsageError:
    """The error for a level that is neither a number nor a release."""
    what = "a level such as 1" + (" or a release such as 4.1" if name == METADATA else "")
    return UsageError(
        f"{name} must be {what}, got '{text}'",
        hint=f"Use one of: {', '.join(releases())}." if name == METADATA else "",
        code="bad-value",
        span=span,
        see=None if name == METADATA else Resource("feature"),
    )


# Plans that update feature levels (KIP-584; API key 57).

_FOR_ALL = "The update failed for all features since the following feature had an error: "
_UPGRADE, _SAFE, _UNSAFE = 1, 2, 3
ONE_WAY = "kraft.version"  # cannot be downgraded


class UpdateFeatures(FieldsStep[tuple[str, int]], frozen=True):
    """One UpdateFeatures request (API key 57): the new level of each feature. `now` are the levels.

    Since Kafka 4.0 all features are updated or none; before, each one independently.
    """

    unsafe: bool = False
    timeout_ms: int = CHANGE_MS
    validates = True

    def change(self, item: tuple[str, int]) -> Change:
        name, level = item
        before = _level(self.now, name)
        return Change(
            Resource("feature", name), "alter", before=before, after=level,
            note=_note(name, before, level, self.unsafe),
            reversible=_reversible(name, before, level),
        )  # fmt: skip

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        return levels(describe(cluster))

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        downgrade = _UNSAFE if self.unsafe else _SAFE
        request = messages.UpdateFeaturesRequest(
            timeout_ms=self.timeout_ms,
            feature_updates=[
                messages.UpdateFeaturesRequest.FeatureUpdateKey(
                    feature=name,
                    max_version_level=level,
                    upgrade_type=downgrade if level < _level(self.now, name) else _UPGRADE,
                )
                for name, level in self.items
            ],
            validate_only=validate_only,
        )
        timeout = response_timeout(self.timeout_ms)
        call = Call(request, CONTROLLER, lowest=1, check=False, timeout=timeout)
        (response,) = cluster.send_all([call])
        if isinstance(response, Failure):
            return [response] * len(self.items)
        # Since v2 there is one error, and its message names the feature.
        each = {row.feature: (row.error_code, row.error_message) for row in response.results or ()}
        whole = response.error_code, response.error_message
        blamed = [name for name, _ in self.items if _names(name, whole[1])]
        failures: list[Failure | None] = []
        for name, _ in self.items:
            code, message = each.get(name, whole)
            if code and name not in each and blamed and name not in blamed:
                code, message = OPERATION_NOT_ATTEMPTED, None
            failures.append(self._failure(name, code, message) if code else None)
        return failures

    def _failure(self, name: str, code: int, message: str | None) -> Failure:
        about, hint, see = f"feature {name}", "", None
        known = [feature.name for feature, _ in self.now]
        if code == REQUEST_TIMED_OUT:
            hint, see = "Check whether it was applied before you retry.", Resource("feature")
        elif code not in (OPERATION_NOT_ATTEMPTED, *AUTHORIZATION) and name not in known:
            hint, see = did_you_mean(name, known), Resource("feature")
        elif code == INVALID_UPDATE_VERSION:
            see = Resource("feature")
        text = (message or "").removeprefix(_FOR_ALL)
        requires = "ALTER on the cluster"
        return failure(code, text, about=about, hint=hint, see=see, requires=requires)


def levels(features: Features) -> Mapping[Field, Value]:
    """The level of each feature that brokers support."""
    return {(Resource("feature", feature.name), ""): feature.level for feature in features.features}


def plan_update(
    cluster: Cluster,
    wanted: Mapping[str, int],
    *,
    unsafe: bool = False,
    timeout_ms: int = CHANGE_MS,
) -> Plan:
    """Update features to these levels; 0 disables one (API key 57). A lower level is a downgrade,
    which is destructive.

    `unsafe` allows a downgrade that loses metadata.
    """
    supported = describe(cluster)
    now, known = levels(supported), [feature.name for feature in supported.features]
    new = tuple((name, level) for name, level in wanted.items() if level != _level(now, name))
    down = [name for name, level in new if level < _level(now, name)]
    step = UpdateFeatures(new, now, unsafe, timeout_ms)
    same = [(name, level) for name, level in wanted.items() if level == _level(now, name)]
    unknown = [name for name, _ in same if name not in known]  # at level 0 like a disabled one
    return Plan(
        Effect.DESTROY if down else Effect.CHANGE,
        (step,) if new else (),
        order=Order.WHOLE,
        refused=Results({}, {Resource("feature", name): _unknown(name, known) for name in unknown}),
        unchanged=tuple(
            Change(Resource("feature", name), "alter", "", level, level, _SAME)
            for name, level in same
            if name not in unknown
        ),
        advice=Advice(warnings=tuple(_warnings(supported, down, unsafe))),
    )


def _unknown(name: str, known: Sequence[str]) -> Failure:
    message = f"brokers do not support a feature {name}"
    hint = did_you_mean(name, known)
    return failure(INVALID_UPDATE_VERSION, text=message, hint=hint, see=Resource("feature"))


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


def _level(now: Mapping[Field, Value], name: str) -> int:
    return int(now.get((Resource("feature", name), "")) or 0)


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
    return not any(level.endswith("*") for level in passed)


def _names(name: str, message: str | None) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message or "") is not None
