"""Commands on the metadata quorum and on features."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kafka_shell.errors import UsageError, did_you_mean
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import Features, Quorum, Voter
    from kafka_shell.context import Context

_DIRECTORY = r"[A-Za-z0-9_-]{22}"
_ADD = re.compile(rf"(?P<id>\d{{1,9}})@(?P<at>.+?)(?::(?P<directory>{_DIRECTORY}))?")
_REMOVE = re.compile(rf"(?P<id>\d{{1,9}})(?::(?P<directory>{_DIRECTORY}))?")
_ENDPOINT = re.compile(
    r"(?:(?P<name>[^\s:/,@]+)://)?(?:\[(?P<v6>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:/,@\[\]]+))"
    r":(?P<port>\d{1,5})"
)


# -- the quorum ------------------------------------------------------------------------------------


def describe_quorum(invocation: Invocation, context: Context) -> Quorum:
    """Leader, voters and observers, and how far behind they are."""
    from kafka_shell.admin.cluster import quorum

    return quorum.describe(context.cluster)


def alter_quorum(invocation: Invocation, context: Context) -> Plan:
    """Add and remove voters, one after the other."""
    from kafka_shell.admin.cluster import quorum_change

    add = [_to_add(invocation, index) for index in range(len(invocation["add"]))]
    remove = [_to_remove(invocation, index) for index in range(len(invocation["remove"]))]
    if invocation["controller-id"] is not None:
        remove.append(_controller(invocation))
    elif invocation["controller-directory-id"] is not None:
        raise _wrong(invocation, "controller-directory-id", 0, "--controller-id beside it")
    timeout = invocation.get("timeout")
    return quorum_change.plan_alter(
        context.cluster,
        add,
        remove,
        timeout_ms=quorum_change.DEFAULT_TIMEOUT_MS if timeout is None else timeout,
    )


def _to_add(invocation: Invocation, index: int) -> Voter:
    from kafka_shell.admin.cluster.model import Endpoint, Voter

    found = _ADD.fullmatch(invocation["add"][index])
    places = [_ENDPOINT.fullmatch(each) for each in found["at"].split(",")] if found else []
    endpoints = tuple(
        Endpoint(place["name"] or "", place["v6"] or place["host"], int(place["port"]))
        for place in places
        if place is not None and 0 < int(place["port"]) < 65_536
    )
    if found is None or len(endpoints) < len(places):
        raise _wrong(invocation, "add", index, "a voter such as 4@controller-4:9093")
    return Voter(int(found["id"]), found["directory"] or "", endpoints)


def _to_remove(invocation: Invocation, index: int) -> Voter:
    from kafka_shell.admin.cluster.model import Voter

    found = _REMOVE.fullmatch(invocation["remove"][index])
    if found is None:
        raise _wrong(invocation, "remove", index, "a voter's id, and perhaps ID:DIRECTORY-ID")
    return Voter(int(found["id"]), found["directory"] or "")


def _controller(invocation: Invocation) -> Voter:
    from kafka_shell.admin.cluster.model import Voter

    directory = invocation["controller-directory-id"] or ""
    if directory and not re.fullmatch(_DIRECTORY, directory):
        raise _wrong(invocation, "controller-directory-id", 0, "22 letters as describe-quorum has")
    return Voter(invocation["controller-id"], directory)


def _wrong(invocation: Invocation, name: str, index: int, wanted: str) -> UsageError:
    value = invocation[name]
    got = value[index] if isinstance(value, tuple) else value
    return UsageError(
        f"--{name} wants {wanted}; got '{got}'",
        hint="ID@HOST:PORT[:DIRECTORY-ID]; what is left out is looked up: describe-quorum"
        if name == "add"
        else "Look: describe-quorum",
        code="bad-value",
        span=invocation.span(name, index),
        text=invocation.text,
    )


# -- features --------------------------------------------------------------------------------------


def describe_features(invocation: Invocation, context: Context) -> Features:
    """The levels of the features, and those that brokers support."""
    from kafka_shell.admin.cluster import features

    return features.describe(context.cluster)


def update_features(invocation: Invocation, context: Context) -> Plan:
    """Take features to levels, or to those of a release."""
    from kafka_shell.admin.cluster import feature_change

    timeout = invocation.get("timeout")
    wanted = (
        _of_release(invocation, context) if invocation["release-version"] else _named(invocation)
    )
    return feature_change.plan_update(
        context.cluster,
        wanted,
        unsafe=invocation["unsafe"],
        timeout_ms=feature_change.DEFAULT_TIMEOUT_MS if timeout is None else timeout,
    )


def _named(invocation: Invocation) -> dict[str, int]:
    from kafka_shell.admin.cluster import features

    pairs = [
        *(("feature", index, *pair) for index, pair in enumerate(invocation["feature"])),
        *(("metadata", 0, features.METADATA, text) for text in (invocation["metadata"],) if text),
        *(("disable", index, name, "0") for index, name in enumerate(invocation["disable"])),
    ]
    wanted: dict[str, int] = {}
    for option, index, name, text in pairs:
        span = invocation.span(option, index)
        if name in wanted:
            raise UsageError(f"{name} stands twice in one update", span=span, text=invocation.text)
        level = int(text) if re.fullmatch(r"\d{1,4}", text) else None
        if level is None and name == features.METADATA:
            level = features.level_of(text)
        if level is None:
            raise features.unknown_level(name, text, span, invocation.text)
        wanted[name] = level
    return wanted


def _of_release(invocation: Invocation, context: Context) -> dict[str, int]:
    """What a new cluster of that release has, as far as this cluster's brokers know of it."""
    from kafka_shell.admin.cluster import feature_change, features

    release = invocation["release-version"]
    levels = features.levels_of_release(release)
    if levels is None:
        known = features.releases()
        raise UsageError(
            f"{release} is no release that this kafka.sh knows",
            hint=did_you_mean(release, known, f"Known: {', '.join(known)}."),
            span=invocation.span("release-version"),
            text=invocation.text,
        )
    now = features.describe(context.cluster)
    known_here = {feature.name for feature in now.features}
    wanted = {name: level for name, level in levels.items() if name in known_here}
    quorum = now.get(feature_change.ONE_WAY)
    if quorum is not None and wanted.get(feature_change.ONE_WAY, 0) < quorum.level:
        del wanted[feature_change.ONE_WAY]  # there is no way back, whatever else goes down
    return wanted


_LEVELS = "metadata.version also takes a release: metadata.version=4.1."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-quorum",
        summary="The metadata quorum: leader, voters, observers, and how far behind they are.",
        family="cluster",
        run=describe_quorum,
        search=("controller", "raft", "kraft", "voters", "directory id"),
        elsewhere=tuple(
            (option, "Leave it out: describe-quorum shows the status and the replication.")
            for option in ("--status", "--replication", "--human-readable")
        ),
        examples=(Example("describe-quorum", "who votes, and who lags"),),
        apis=(55,),
    ),
    Command(
        name="alter-quorum",
        summary="Add voters to the metadata quorum, and remove them.",
        family="cluster",
        run=alter_quorum,
        effect=Effect.DESTROY,
        options=(
            Option("--add", Kind.TEXT,
                   "A controller that shall vote: ID@HOST:PORT[:DIRECTORY-ID]; may be repeated.",
                   many=True, metavar="VOTER"),
            Option("--remove", Kind.TEXT,
                   "A voter that shall not: ID[:DIRECTORY-ID]; may be repeated.",
                   many=True, metavar="VOTER"),
            Option("--controller-id", Kind.INTEGER, "The same as --remove, as Kafka's tool has it.",
                   metavar="ID", least=0, most=2**31 - 1),
            Option("--controller-directory-id", Kind.TEXT, "The directory id of --controller-id.",
                   metavar="DIRECTORY-ID"),
        ),
        at_least_one=(("add", "remove", "controller-id"),),
        search=("controller", "raft", "kraft", "voter", "add-controller", "remove-controller"),
        description=(
            "A controller that is added runs already, as an observer, and has caught up. Its"
            " directory id is looked up; HOST:PORT is where it listens, behind NAME:// where the"
            " listener is called other than that of the other controllers.\n"
            "The quorum has to be a dynamic one (kraft.version 1). Voters change one at a time,"
            " added before others are removed."
        ),
        examples=(
            Example("alter-quorum --remove 3 --dry-run", "see what would be left", status=1),
            Example("alter-quorum --add 2@127.0.0.1:19093 --dry-run",
                    "a controller that does not run yet is refused", status=1),
        ),
        apis=(55, 80, 81),
    ),
    Command(
        name="describe-features",
        summary="The features of the cluster: their levels, and what the brokers support.",
        family="cluster",
        run=describe_features,
        search=("metadata.version", "kraft.version", "finalized", "upgrade"),
        examples=(Example("describe-features", "which level each feature is at"),),
    ),
    Command(
        name="update-features",
        summary="Take features to another level: up, down, or off.",
        family="cluster",
        run=update_features,
        effect=Effect.DESTROY,
        arguments=(
            Argument("feature", Kind.FEATURE_LEVEL, "What to set: group.version=1. " + _LEVELS,
                     many=True, required=False, option="--feature"),
        ),
        options=(
            Option("--release-version", Kind.TEXT,
                   "Every feature as a new cluster of this release has it: 4.1.",
                   metavar="RELEASE", excludes=("--metadata", "--disable")),
            Option("--metadata", Kind.TEXT, "The same as metadata.version=RELEASE.",
                   metavar="RELEASE"),
            Option("--disable", Kind.FEATURE, "The same as FEATURE=0; may be repeated.", many=True,
                   metavar="FEATURE"),
            Option("--unsafe", Kind.FLAG, "Allow a downgrade that loses metadata."),
        ),
        at_least_one=(("feature", "release-version", "metadata", "disable"),),
        search=("upgrade", "downgrade", "metadata.version", "kraft.version", "finalize"),
        description=(
            "All of them or none (since Kafka 4.0). A downgrade asks first, and is a safe one"
            " unless --unsafe is there. --dry-run has the controller check everything. " + _LEVELS
        ),
        examples=(
            Example("update-features --release-version 4.3 --dry-run",
                    "what finishing an upgrade would change"),
            Example("update-features streams.version=0 --dry-run", "switch one off"),
        ),
        apis=(57,),
    ),
)  # fmt: skip
