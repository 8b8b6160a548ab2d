"""Commands on the metadata quorum and on features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.cluster import features, quorum
from kafka_shell.admin.cluster.features import plan_update
from kafka_shell.admin.cluster.model import Endpoint, Features, Quorum, Voter
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.plans import Change, Plan
from kafka_shell.commands.options import timeout_ms, with_hint
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.cluster import Cluster

_DIRECTORY = r"[A-Za-z0-9_-]{22}"
_ADD = re.compile(rf"(?P<id>\d{{1,9}})@(?P<at>.+?)(?::(?P<directory>{_DIRECTORY}))?")
_REMOVE = re.compile(rf"(?P<id>\d{{1,9}})(?::(?P<directory>{_DIRECTORY}))?")
_ENDPOINT = re.compile(
    r"(?:(?P<name>[^\s:/,@]+)://)?(?:\[(?P<v6>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:/,@\[\]]+))"
    r":(?P<port>\d{1,5})"
)


# -- the quorum ------------------------------------------------------------------------------------


def describe_quorum(invocation: Invocation, context: Context) -> Quorum:
    """Leader, voters and observers of the metadata quorum, and their lag."""
    return quorum.describe(context.cluster)


def alter_quorum(invocation: Invocation, context: Context) -> Plan:
    """Add and remove voters, one at a time."""
    add = [_to_add(invocation, index) for index in range(len(invocation["add"]))]
    remove = [_to_remove(invocation, index) for index in range(len(invocation["remove"]))]
    if invocation["controller-id"] is not None:
        remove.append(_controller(invocation))
    timeout = timeout_ms(invocation)
    return plan_voters(context.cluster, add, remove, timeout_ms=timeout)


def plan_voters(
    cluster: Cluster, add: Sequence[Voter], remove: Sequence[Voter], **options: int
) -> Plan:
    """The plan that adds and removes voters, with what to do if a controller does not run."""
    hint = (
        "Start the controller first: it must catch up before it can be a voter.\nOr give the"
        " directory ID: --add ID@HOST:PORT:DIRECTORY-ID"
    )
    plan = quorum.plan_alter(cluster, add, remove, **options)
    return with_hint(plan, quorum.UNKNOWN_DIRECTORY_ID, hint)


def _to_add(invocation: Invocation, index: int) -> Voter:
    try:
        return voter_of(invocation["add"][index])
    except ValueError:
        raise _wrong(invocation, "add", index, "a voter such as 4@controller-4:9093") from None


def voter_of(text: str) -> Voter:
    """The voter of ID@HOST:PORT[:DIRECTORY-ID]. Raises ValueError."""
    match = _ADD.fullmatch(text)
    places = [_ENDPOINT.fullmatch(address) for address in match["at"].split(",")] if match else []
    endpoints = tuple(
        Endpoint(place["name"] or "", place["v6"] or place["host"], int(place["port"]))
        for place in places
        if place is not None and 0 < int(place["port"]) < 65_536
    )
    if match is None or len(endpoints) < len(places):
        raise ValueError(text)
    return Voter(int(match["id"]), match["directory"] or "", endpoints)


def _to_remove(invocation: Invocation, index: int) -> Voter:
    match = _REMOVE.fullmatch(invocation["remove"][index])
    if match is None:
        raise _wrong(invocation, "remove", index, "ID or ID:DIRECTORY-ID")
    return Voter(int(match["id"]), match["directory"] or "")


def _controller(invocation: Invocation) -> Voter:
    directory = invocation["controller-directory-id"] or ""
    if directory and not re.fullmatch(_DIRECTORY, directory):
        raise _wrong(invocation, "controller-directory-id", 0, "a directory ID of 22 characters")
    return Voter(invocation["controller-id"], directory)


def _wrong(invocation: Invocation, name: str, index: int, expected: str) -> UsageError:
    value = invocation[name]
    got = value[index] if isinstance(value, tuple) else value
    return UsageError(
        f"--{name} must be {expected}, got '{got}'",
        hint="Use ID@HOST:PORT[:DIRECTORY-ID]; a missing directory ID is looked up."
        if name == "add"
        else "Run describe-quorum to see the voters.",
        code="bad-value",
        span=invocation.span(name, index),
    )


# -- features --------------------------------------------------------------------------------------


def describe_features(invocation: Invocation, context: Context) -> Features:
    """The finalized levels of features, and the levels that brokers support."""
    return features.describe(context.cluster)


def update_features(invocation: Invocation, context: Context) -> Plan:
    """Set features to the given levels, or to those of a release."""
    requested = (
        _levels_of_release(invocation, context)
        if invocation["release-version"]
        else _named(invocation)
    )
    return features.plan_update(
        context.cluster,
        requested,
        unsafe=invocation["unsafe"],
        timeout_ms=timeout_ms(invocation),
    )


def _named(invocation: Invocation) -> dict[str, int]:
    pairs = [
        *(("feature", index, *pair) for index, pair in enumerate(invocation["feature"])),
        *(("metadata", 0, features.METADATA, text) for text in (invocation["metadata"],) if text),
        *(("disable", index, name, "0") for index, name in enumerate(invocation["disable"])),
    ]
    requested: dict[str, int] = {}
    for option, index, name, text in pairs:
        span = invocation.span(option, index)
        if name in requested:
            raise UsageError(f"{name} is set twice", span=span)
        level = int(text) if re.fullmatch(r"\d{1,4}", text) else None
        if level is None and name == features.METADATA:
            level = features.level_of(text)
        if level is None:
            raise features.unknown_level(name, text, span)
        requested[name] = level
    return requested


def _levels_of_release(invocation: Invocation, context: Context) -> dict[str, int]:
    """The default feature levels of a release, for the features that the brokers support."""
    release = invocation["release-version"]
    levels = features.levels_of_release(release)
    if levels is None:
        known = features.releases()
        raise UsageError(
            f"unknown release '{release}'",
            hint=did_you_mean(release, known, f"Use one of: {', '.join(known)}."),
            span=invocation.span("release-version"),
        )
    now = features.describe(context.cluster)
    known_here = {feature.name for feature in now.features}
    requested = {name: level for name, level in levels.items() if name in known_here}
    quorum = now.get(features.ONE_WAY)
    if quorum is not None and requested.get(features.ONE_WAY, 0) < quorum.level:
        del requested[features.ONE_WAY]  # cannot be downgraded
    return requested


def plan_levels(context: Context, changes: Sequence[Change], options: dict[str, Any]) -> Plan:
    """The plan that sets the levels of features."""
    levels = {change.resource.name: int(change.after or 0) for change in changes}
    return plan_update(context.cluster, levels, **options)


def plan_voter_changes(
    context: Context, changes: Sequence[Change], options: dict[str, Any]
) -> Plan:
    """The plan that adds and removes these voters."""
    add, remove = (
        [voter_of(f"{c.resource.name}@{c.after or c.before}") for c in changes if c.verb == verb]
        for verb in ("create", "delete")
    )
    return plan_voters(context.cluster, add, remove, **options)
