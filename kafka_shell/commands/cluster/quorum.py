"""Commands on the metadata quorum and on features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.commands.hints import with_hint
from kafka_shell.commands.timeout import timeout_ms
from kafka_shell.language import kinds
from kafka_shell.language.command import TIMEOUT, Argument, Command, Example, Invocation, Option
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import Kind, in_view
from kafka_shell.view.candidates import NONE, Candidate, Candidates, Catalog, pick
from kafka_shell.view.match import LIMIT

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import Features, Quorum, Voter
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster


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
    from kafka_shell.admin.cluster import quorum

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
    from kafka_shell.admin.cluster import quorum

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
    from kafka_shell.admin.cluster.model import Endpoint, Voter

    found = _ADD.fullmatch(text)
    places = [_ENDPOINT.fullmatch(each) for each in found["at"].split(",")] if found else []
    endpoints = tuple(
        Endpoint(place["name"] or "", place["v6"] or place["host"], int(place["port"]))
        for place in places
        if place is not None and 0 < int(place["port"]) < 65_536
    )
    if found is None or len(endpoints) < len(places):
        raise ValueError(text)
    return Voter(int(found["id"]), found["directory"] or "", endpoints)


def _to_remove(invocation: Invocation, index: int) -> Voter:
    from kafka_shell.admin.cluster.model import Voter

    found = _REMOVE.fullmatch(invocation["remove"][index])
    if found is None:
        raise _wrong(invocation, "remove", index, "ID or ID:DIRECTORY-ID")
    return Voter(int(found["id"]), found["directory"] or "")


def _controller(invocation: Invocation) -> Voter:
    from kafka_shell.admin.cluster.model import Voter

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
        text=invocation.text,
    )


# -- features --------------------------------------------------------------------------------------


def describe_features(invocation: Invocation, context: Context) -> Features:
    """The finalized levels of features, and the levels that brokers support."""
    from kafka_shell.admin.cluster import features

    return features.describe(context.cluster)


def update_features(invocation: Invocation, context: Context) -> Plan:
    """Set features to the given levels, or to those of a release."""
    from kafka_shell.admin.cluster import features

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
    from kafka_shell.admin.cluster import features

    pairs = [
        *(("feature", index, *pair) for index, pair in enumerate(invocation["feature"])),
        *(("metadata", 0, features.METADATA, text) for text in (invocation["metadata"],) if text),
        *(("disable", index, name, "0") for index, name in enumerate(invocation["disable"])),
    ]
    requested: dict[str, int] = {}
    for option, index, name, text in pairs:
        span = invocation.span(option, index)
        if name in requested:
            raise UsageError(f"{name} is set twice", span=span, text=invocation.text)
        level = int(text) if re.fullmatch(r"\d{1,4}", text) else None
        if level is None and name == features.METADATA:
            level = features.level_of(text)
        if level is None:
            raise features.unknown_level(name, text, span, invocation.text)
        requested[name] = level
    return requested


def _levels_of_release(invocation: Invocation, context: Context) -> dict[str, int]:
    """The default feature levels of a release, for the features that the brokers support."""
    from kafka_shell.admin.cluster import features

    release = invocation["release-version"]
    levels = features.levels_of_release(release)
    if levels is None:
        known = features.releases()
        raise UsageError(
            f"unknown release '{release}'",
            hint=did_you_mean(release, known, f"Known releases: {', '.join(known)}."),
            span=invocation.span("release-version"),
            text=invocation.text,
        )
    now = features.describe(context.cluster)
    known_here = {feature.name for feature in now.features}
    requested = {name: level for name, level in levels.items() if name in known_here}
    quorum = now.get(features.ONE_WAY)
    if quorum is not None and requested.get(features.ONE_WAY, 0) < quorum.level:
        del requested[features.ONE_WAY]  # cannot be downgraded
    return requested


_LEVELS = "metadata.version can also be a release: metadata.version=4.1."


# Completion of features and their levels.


def _offer(found: CompletionRequest, known: Catalog) -> Candidates:
    """Return the features with their levels, or the supported levels of a feature."""
    features = {each.name: each for each in known.view.features.value}
    if found.part != "value":

        def about(name: str) -> tuple[str, str]:
            each = features[name]
            now = f"level {each.level}" if each.level else "off"
            label = f" ({each.release})" if each.release else ""
            more = f"  up to {each.highest}" if each.highest > each.level else ""
            return now + label + more, ""

        return pick(features, found.prefix, about, found.tail)
    each = features.get(found.key)
    if each is None:
        return NONE
    marks = {0: ("off", "")}
    marks[each.highest] = ("highest level", "")
    marks[each.level] = (f"now {each.release}".rstrip(), "override")
    levels = [*range(each.highest, max(each.lowest, 1) - 1, -1), 0]
    fitting = [level for level in dict.fromkeys(levels) if str(level).startswith(found.prefix)]
    return Candidates(
        tuple(Candidate(str(level), *marks.get(level, ("", ""))) for level in fitting[:LIMIT]),
        max(0, len(fitting) - LIMIT),
    )


FEATURES = in_view("features", _offer)


FEATURE = Kind("feature", FEATURES)
FEATURE_LEVEL = kinds.Pair("feature-level", FEATURES)  # =25 or =4.1

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-quorum",
        summary="Show the metadata quorum: leader, voters, observers and their lag.",
        family="cluster",
        run=describe_quorum,
        search=("controller", "raft", "kraft", "voters", "directory id"),
        elsewhere=tuple(
            (option, "Leave it out: describe-quorum shows status and replication.")
            for option in ("--status", "--replication", "--human-readable")
        ),
        examples=(Example("describe-quorum", "show voters, observers and their lag"),),
        apis=(55,),
    ),
    Command(
        name="alter-quorum",
        summary="Add and remove voters of the metadata quorum.",
        family="cluster",
        run=alter_quorum,
        effect=Effect.DESTROY,
        options=(
            Option("--add", kinds.TEXT,
                   "Add a controller: ID@HOST:PORT[:DIRECTORY-ID]; may be repeated.",
                   many=True, metavar="VOTER"),
            Option("--remove", kinds.TEXT, "Remove a voter: ID[:DIRECTORY-ID]; may be repeated.",
                   many=True, metavar="VOTER"),
            Option("--controller-id", kinds.INTEGER,
                   "The same as --remove, as in kafka-metadata-quorum.",
                   metavar="ID", least=0, most=2**31 - 1),
            Option("--controller-directory-id", kinds.TEXT, "The directory ID of --controller-id.",
                   metavar="DIRECTORY-ID", requires=("--controller-id",)),
            TIMEOUT,
        ),
        at_least_one=(("add", "remove", "controller-id"),),
        search=("controller", "raft", "kraft", "voter", "add-controller", "remove-controller"),
        description=(
            "A controller to add must be running as an observer and be caught up. Its directory ID"
            " is looked up. HOST:PORT is where it listens; write NAME://HOST:PORT if its listener"
            " name differs from that of the other controllers.\n"
            "Requires a dynamic quorum (kraft.version 1). Voters are changed one at a time; voters"
            " are added before others are removed."
        ),
        examples=(
            Example("alter-quorum --remove 3 --dry-run", "preview removing a voter", status=1),
            Example("alter-quorum --add 2@127.0.0.1:19093 --dry-run",
                    "preview (a controller that is not running is rejected)", status=1),
        ),
        apis=(55, 80, 81),
    ),
    Command(
        name="describe-features",
        summary="Show feature levels, and the levels that brokers support.",
        family="cluster",
        run=describe_features,
        apis=(60,),
        search=("metadata.version", "kraft.version", "finalized", "upgrade"),
        examples=(Example("describe-features", "show the level of each feature"),),
    ),
    Command(
        name="update-features",
        summary="Upgrade, downgrade or disable features.",
        family="cluster",
        run=update_features,
        effect=Effect.DESTROY,
        arguments=(
            Argument("feature", FEATURE_LEVEL, "Levels to set: group.version=1. " + _LEVELS,
                     many=True, required=False, option="--feature"),
        ),
        options=(
            Option("--release-version", kinds.TEXT,
                   "Set all features to the defaults of a release: 4.1.",
                   metavar="RELEASE", excludes=("feature", "--metadata", "--disable")),
            Option("--metadata", kinds.TEXT, "The same as metadata.version=RELEASE.",
                   metavar="RELEASE"),
            Option("--disable", FEATURE, "The same as FEATURE=0; may be repeated.", many=True),
            Option("--unsafe", kinds.FLAG, "Allow a downgrade that loses metadata."),
            TIMEOUT,
        ),
        at_least_one=(("feature", "release-version", "metadata", "disable"),),
        search=("upgrade", "downgrade", "metadata.version", "kraft.version", "finalize"),
        description=(
            "All changes are applied or none (since Kafka 4.0). A downgrade asks for confirmation;"
            " one that loses metadata requires --unsafe. With --dry-run the controller validates"
            " all changes. " + _LEVELS
        ),
        examples=(
            Example("update-features --release-version 4.3 --dry-run",
                    "preview finishing an upgrade"),
            Example("update-features streams.version=0 --dry-run", "preview disabling a feature"),
        ),
        apis=(57, 60),
    ),
)  # fmt: skip
