"""Features and API versions of the brokers (KIP-584, KIP-1022; API keys 18, 57)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.nouns import Change, Effect, Failure, Plan, Resource, Results
from kafka_shell.nouns.quorum import ApiRange, ApiSupport, Feature, FeatureRange, Features

from .connection import CONTROLLER, Call, Cluster, failure
from .failures import REQUEST_TIMED_OUT, as_error, needs
from .settle import settle
from .versions import api_name

METADATA = "metadata.version"
DEFAULT_TIMEOUT_MS = 30_000
_FOR_ALL = "The update failed for all features since the following feature had an error: "
_UPGRADE, _SAFE, _UNSAFE = 1, 2, 3
_OPERATION_NOT_ATTEMPTED, _INVALID_UPDATE_VERSION = 55, 95

# What the levels of metadata.version are called, from level 1 on; a star where its records differ
# from those of the level below, so that nobody can go back from it.
_METADATA_LEVELS = tuple(
    word
    for line in (
        "3.0-IV1* 3.1-IV0* 3.2-IV0* 3.3-IV0* 3.3-IV1* 3.3-IV2* 3.3-IV3* 3.4-IV0* 3.5-IV0 3.5-IV1",
        "3.5-IV2* 3.6-IV0 3.6-IV1* 3.6-IV2* 3.7-IV0* 3.7-IV1 3.7-IV2* 3.7-IV3 3.7-IV4 3.8-IV0",
        "3.9-IV0 4.0-IV0 4.0-IV1* 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 4.3-IV0*",
    )
    for word in line.split()
)

# With which level of metadata.version a new cluster has which level of the other features.
_SINCE = (
    ("kraft.version", 1, "3.9-IV0"),
    ("group.version", 1, "4.0-IV0"),
    ("transaction.version", 2, "4.0-IV2"),
    ("eligible.leader.replicas.version", 1, "4.1-IV0"),
    ("share.version", 1, "4.2-IV0"),
    ("streams.version", 1, "4.2-IV1"),
)
ONE_WAY = "kraft.version"  # its voters are in the log for good


# -- describe --------------------------------------------------------------------------------------


def describe(cluster: Cluster) -> Features:
    """The cluster's features: their levels, and what every broker supports (ApiVersions, 18).

    Controllers may support less than brokers: only they can tell. Raises ShellError where no
    broker answers.
    """
    found = ask(cluster)
    newest = max(found, key=lambda answer: answer.finalized_features_epoch)
    levels = {each.name: each.max_version_level for each in newest.finalized_features or ()}
    ranges: dict[str, list[FeatureRange]] = {name: [] for name in levels}
    for broker, answer in found.values.items():
        for each in answer.supported_features or ():
            supported = FeatureRange(broker, each.min_version, each.max_version)
            ranges.setdefault(each.name, []).append(supported)
    return Features(
        newest.finalized_features_epoch,
        tuple(_feature(name, levels.get(name, 0), ranges[name]) for name in sorted(ranges)),
        tuple(found.failures.items()),
    )


def ask(cluster: Cluster) -> Results[int, Any]:
    """Every broker's ApiVersions response. Raises ShellError where none answers."""
    from kafka.protocol.metadata import ApiVersionsRequest

    request = ApiVersionsRequest(client_software_name="kafka-sh", client_software_version="0.1")
    found = cluster.each_broker(lambda broker: request)
    if not found.values:
        raise as_error(next(iter(found.failures.values())))
    return found


def _feature(name: str, level: int, brokers: Sequence[FeatureRange]) -> Feature:
    lowest = max((each.lowest for each in brokers), default=level)
    highest = min((each.highest for each in brokers), default=level)
    return Feature(
        name, level, lowest, highest,
        release=release_of(level) if name == METADATA else "",
        highest_release=release_of(highest) if name == METADATA else "",
        brokers=tuple(brokers),
    )  # fmt: skip


def release_of(level: int) -> str:
    """What a level of metadata.version is called: `4.3-IV0`; "" for one that is not known."""
    known = 0 < level <= len(_METADATA_LEVELS)
    return _METADATA_LEVELS[level - 1].rstrip("*") if known else ""


def level_of(release: str) -> int | None:
    """The level of metadata.version of a release (`4.1`: its last) or of a name (`4.1-IV0`)."""
    levels = {release_of(level): level for level in range(1, len(_METADATA_LEVELS) + 1)}
    if release in levels:
        return levels[release]
    of_release = [level for name, level in levels.items() if name.partition("-")[0] == release]
    return max(of_release, default=None)


def releases() -> tuple[str, ...]:
    """The releases that `level_of` knows, the oldest first."""
    return tuple(dict.fromkeys(name.partition("-")[0] for name in _METADATA_LEVELS))


def levels_of_release(release: str) -> dict[str, int] | None:
    """The level of each feature that a new cluster of this release has; None: not known."""
    level = level_of(release)
    if level is None:
        return None
    others = {name: high if level >= (level_of(since) or 0) else 0 for name, high, since in _SINCE}
    return {METADATA: level} | others


# -- update ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UpdateFeatures:
    """One UpdateFeatures request (API key 57). `now` is as read.

    Since Kafka 4.0 all features are updated or none, before that each on its own.
    """

    wanted: tuple[tuple[str, int], ...]
    now: Features
    unsafe: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a feature."""
        return tuple(self._change(name, level) for name, level in self.wanted)

    def _change(self, name: str, level: int) -> Change:
        before = _level(self.now, name)
        return Change(
            Resource("feature", name), "alter", before=before, after=level,
            note=_note(name, before, level, self.unsafe),
            reversible=_reversible(name, before, level),
        )  # fmt: skip

    def again(self, cluster: Cluster) -> UpdateFeatures:
        """The same update of the features as they are now."""
        return UpdateFeatures(self.wanted, describe(cluster), self.unsafe, self.timeout_ms)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Update, or only validate."""
        from kafka.protocol.admin import UpdateFeaturesRequest

        request = UpdateFeaturesRequest(
            timeout_ms=self.timeout_ms,
            feature_updates=[
                UpdateFeaturesRequest.FeatureUpdateKey(
                    feature=name, max_version_level=level, upgrade_type=self._type(name, level)
                )
                for name, level in self.wanted
            ],
            validate_only=validate_only,
        )
        call = Call(request, CONTROLLER, lowest=1, check=False)
        (answer,) = cluster.send_all([call])
        if isinstance(answer, Failure):
            return Results({}, dict.fromkeys(self.changes, answer))
        results = self._outcomes(answer)
        if results.ok and not validate_only:
            settle(lambda: self._visible(cluster))
        return results

    def _type(self, name: str, level: int) -> int:
        if level >= _level(self.now, name):
            return _UPGRADE
        return _UNSAFE if self.unsafe else _SAFE

    def _outcomes(self, answer: Any) -> Results[Change, Change]:
        """The outcome of each. Since v2 there is one error, whose words name the feature."""
        each = {row.feature: (row.error_code, row.error_message) for row in answer.results or ()}
        whole = answer.error_code, answer.error_message
        blamed = [name for name, _ in self.wanted if _names(name, whole[1])]
        results: Results[Change, Change] = Results()
        for (name, _), change in zip(self.wanted, self.changes, strict=True):
            code, said = each.get(name, whole)
            if not code:
                results.values[change] = change
            elif name in each or not blamed or name in blamed:
                results.failures[change] = self._failure(name, code, said)
            else:
                results.failures[change] = failure(
                    _OPERATION_NOT_ATTEMPTED, about=f"feature {name}"
                )
        return results

    def _failure(self, name: str, code: int, said: str | None) -> Failure:
        hint, said = needs(code, "Alter on the cluster"), (said or "").removeprefix(_FOR_ALL)
        if code == REQUEST_TIMED_OUT:
            hint = "It may still be done. Look: describe-features"
        elif not hint and self.now.get(name) is None:
            known = [feature.name for feature in self.now.features]
            hint = did_you_mean(name, known, "Look: describe-features")
        elif code == _INVALID_UPDATE_VERSION:
            hint = "Look: describe-features"
        return failure(code, said, about=f"feature {name}", hint=hint)

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
    """Take features to these levels; a lower one is a downgrade, and destroys.

    `unsafe` allows a downgrade that loses metadata.
    """
    now = describe(cluster)
    new = tuple((name, level) for name, level in wanted.items() if level != _level(now, name))
    down = [name for name, level in new if level < _level(now, name)]
    step = UpdateFeatures(new, now, unsafe, timeout_ms)
    same = [(name, level) for name, level in wanted.items() if level == _level(now, name)]
    return Plan(
        Effect.DESTROY if down else Effect.CHANGE,
        (step,) if new else (),
        touches=frozenset({"features", "brokers"}),
        fresh=describe,
        warnings=tuple(_warnings(now, down, unsafe)),
        unchanged=tuple(
            Change(Resource("feature", name), "alter", before=level, after=level,
                   note="no change: this is its level")
            for name, level in same
        ),
    )  # fmt: skip


def _warnings(now: Features, down: Sequence[str], unsafe: bool) -> Iterable[str]:
    if unsafe and down:
        yield "an unsafe downgrade deletes metadata that the lower level cannot hold"
    if now.unread:
        brokers = ", ".join(str(broker) for broker, _ in now.unread)
        yield f"what broker {brokers} supports is not known: it did not answer"


def _level(now: Features, name: str) -> int:
    found = now.get(name)
    return found.level if found else 0


def _note(name: str, before: int, after: int, unsafe: bool) -> str:
    words = []
    if name == METADATA and release_of(after):
        words.append(f"{release_of(before) or before} -> {release_of(after)}")
    if after < before:
        words.append("an unsafe downgrade" if unsafe else "a downgrade")
    return ", ".join(words)


def _reversible(name: str, before: int, after: int) -> bool:
    """Whether the level can be what it was again: not where new records came with it."""
    if name == ONE_WAY:
        return False
    passed = _METADATA_LEVELS[before:after] if name == METADATA else ()
    return not any(each.endswith("*") for each in passed)


def _names(name: str, message: str | None) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message or "") is not None


# -- API versions ----------------------------------------------------------------------------------


def api_versions(
    cluster: Cluster, brokers: Sequence[int] | None = None
) -> tuple[tuple[ApiSupport, ...], dict[int, Failure]]:
    """What the brokers speak, by API key; and why some could not be asked."""
    found = ask(cluster)
    spoken = {
        broker: {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
        for broker, answer in found.values.items()
        if brokers is None or broker in brokers
    }
    failed = {b: why for b, why in found.failures.items() if brokers is None or b in brokers}
    return compare(spoken), failed


def compare(spoken: Mapping[int, Mapping[int, tuple[int, int]]]) -> tuple[ApiSupport, ...]:
    """Each API with the versions that all of these brokers speak, and those of each."""
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


def unknown_level(name: str, text: str, span: tuple[int, int] | None, line: str) -> UsageError:
    """The error of a level that is neither a number nor the name of a release."""
    what = "a level such as 1" + (" or a release such as 4.1" if name == METADATA else "")
    known = f"Releases: {', '.join(releases())}." if name == METADATA else "Look: describe-features"
    message = f"{name} wants {what}; got '{text}'"
    return UsageError(message, hint=known, code="bad-value", span=span, text=line)
