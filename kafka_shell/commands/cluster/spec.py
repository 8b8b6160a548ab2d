"""Declarations of the cluster commands."""

from __future__ import annotations

import re

from msgspec import Struct

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import replace
from kafka_shell.base.units import INTEGER, parse_duration
from kafka_shell.commands import by_name
from kafka_shell.commands.partitions.spec import BATCHES, THROTTLE
from kafka_shell.language import kinds
from kafka_shell.language.command import TIMEOUT, Argument, Command, Example, Option, Short
from kafka_shell.language.kinds import Kind, in_view

_MOST_PROBE_MS = 3_000  # health answers within 10 seconds
_LEVELS = "metadata.version can also be a release: metadata.version=4.1."
FEATURES = in_view("features", by_name("cluster.complete:offer_features"))
FEATURE = Kind("feature", FEATURES)
FEATURE_LEVEL = kinds.Pair("feature-level", FEATURES)  # =25 or =4.1
_LAG = re.compile(r"\s*lag\s+(.+?)\s*(<=?)\s*([^\s<=]+)\s*", re.DOTALL)


class WaitCondition(Struct, frozen=True):
    """The groups that a word selects have at most this lag: records, or with `in_time`
    milliseconds. Without groups: the cluster is healthy."""

    text: str
    groups: str | None = None
    most: int = 0
    in_time: bool = False


class Condition(Kind):
    """`healthy`, `lag GROUP < 1000`, `lag GROUP <= 5m`."""

    def convert(self, parameter: Argument | Option, text: str) -> WaitCondition:
        if text.strip() == "healthy":
            return WaitCondition(text)
        match = _LAG.fullmatch(text)
        if match is None:
            raise kinds.invalid(parameter, "'healthy' or 'lag GROUP < 1000'", text)
        word, operator, limit = match.groups()
        quoted = len(word) > 1 and word[0] == word[-1] == "'"
        in_time = not INTEGER.fullmatch(limit)
        try:
            most = parse_duration(limit) - (operator == "<")
        except ShellError:
            most = -1
        if most < 0:
            expected = "a lag in records (1000) or in time (5m)"
            raise kinds.invalid(parameter, expected, limit, at=match.span(3))
        return WaitCondition(text, word[1:-1] if quoted else word, most, in_time)

    def format(self, value: WaitCondition) -> str:
        return value.text


CONDITION = Condition("condition", in_view("groups", by_name("cluster.complete:offer_conditions")))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="cluster-metadata",
        summary="Show brokers, controller, cluster ID, counts and features.",
        family="cluster",
        run="cluster.run:cluster_metadata",
        options=(Option("--quorum", kinds.FLAG, "Show the metadata quorum, as describe-quorum."),),
        shorts=(Short("brokers", "cluster-metadata"), Short("cluster", "cluster-metadata")),
        search=("nodes", "racks", "version", "controller", "quorum"),
        examples=(
            Example("cluster-metadata", "show all brokers"),
            Example("cluster-metadata --quorum", "show voters and their lag"),
        ),
        apis=(35, 46, 55, 60),
    ),
    Command(
        name="health",
        summary="Check the cluster and show problems, worst first.",
        family="cluster",
        run="cluster.health:health",
        search=("status", "check", "offline", "under-replicated"),
        options=(
            Option("--probe-timeout", kinds.DURATION,
                   "Timeout for each broker and controller: 2s (100ms to 3s).",
                   least=100, most=_MOST_PROBE_MS),
            Option("--verbose", kinds.FLAG, "Also show the consequences of problems, and notes."),
        ),
        description=(
            "Probes every broker and controller, within 10 seconds.\n"
            "Checks partitions, the metadata quorum, partition reassignments and leftover"
            " throttles, log directories, groups and hanging transactions.\n"
            "Consequences of a problem, such as offline partitions when a broker is down, are"
            " counted in its line.\n"
            "Repeated (watch 15 health), it also finds partitions in which a group with members is"
            " stuck: its committed offset has not moved for 10 seconds while records arrived.\n"
            "Exit status: 0 if healthy (notes do not count); 1 if there are problems or a check"
            " could not run."
        ),
        examples=(
            Example("health", "check the cluster"),
            Example("health --output json", "print JSON for monitoring"),
        ),
        apis=(2, 9, 15, 16, 32, 35, 46, 55, 60, 61, 65, 66, 69, 77, 89, 90),
    ),
    Command(
        name="wait-until",
        summary="Wait until the cluster is healthy, or the lag of groups is below a limit.",
        family="cluster",
        run="cluster.health:wait_until",
        arguments=(
            Argument("condition", CONDITION,
                     "healthy, or 'lag GROUP < 1000' (records), 'lag GROUP < 5m' (time)."),
        ),
        search=("wait", "poll", "lag", "health", "script", "deadline"),
        description=(
            "Groups are selected as in lag; the condition must be true for all of them, and the lag"
            " of every partition must be known. <= is supported, too.\n"
            "Also waits for brokers that cannot be reached and groups that do not exist yet; a"
            " missing permission is an error.\n"
            "Exit status: 0 when the condition is true; 1 at the --deadline, with the last value; 3"
            " if no broker responded by then. Without --deadline, it waits until Ctrl-C."
        ),
        examples=(
            Example("wait-until healthy --deadline 30s", "wait for a healthy cluster"),
            Example("wait-until 'lag orders-enricher < 1000' --deadline 1m",
                    "wait until a group has caught up"),
        ),
        apis=(1, 2, 9, 15, 16, 32, 35, 46, 55, 60, 61, 65, 66, 69, 77, 89, 90),
    ),
    Command(
        name="api-versions",
        summary="Show the API versions that brokers support, and differences.",
        family="cluster",
        run="cluster.run:api_versions",
        arguments=(
            Argument("api", kinds.TEXT, "Only these APIs: a key or part of a name.", many=True,
                     required=False),
        ),
        options=(
            Option("--broker-id", kinds.BROKER, "Only these brokers.", many=True),
            Option("--differences", kinds.FLAG, "Only APIs whose versions differ between brokers."),
        ),
        apis=(60,),
        search=("protocol", "compatibility", "rolling upgrade"),
        examples=(
            Example("api-versions", "show all APIs"),
            Example("api-versions ShareGroup Raft", "show APIs by part of their names"),
            Example("api-versions --differences", "show differences during a rolling upgrade"),
        ),
    ),
    Command(
        name="unregister-broker",
        summary="Unregister brokers that are permanently down.",
        family="cluster",
        run="cluster.run:unregister_broker",
        effect=Effect.DESTROY,
        arguments=(
            Argument("broker-id", kinds.BROKER, "IDs of stopped brokers: 4 or 4,5.",
                     many=True, option="--broker-id"),
        ),
        search=("remove broker", "decommission"),
        description=(
            "Before: move the replicas away (reassign-partitions --drain), stop the broker, and"
            " delete its dynamic configs (alter-configs --broker-id 4 --delete-config KEY), which"
            " is not possible once it is unregistered. decommission does all of this. A running"
            " broker is rejected."
        ),
        examples=(
            Example("unregister-broker 1 --dry-run", "preview (a running broker is rejected)",
                    status=1),
        ),
        apis=(60, 64),
    ),
    Command(
        name="describe-broker",
        summary="Show brokers: state, replicas, log directories, non-default configs.",
        family="cluster",
        run="cluster.run:describe_broker",
        arguments=(
            Argument("broker-id", kinds.BROKER, "Brokers: 1  1,2  '*'", many=True,
                     option="--broker-id"),
        ),
        shorts=(Short("broker", "describe-broker"),),
        search=("node", "rack", "disk", "leaders"),
        description=(
            "Includes brokers that are fenced, do not respond, or have replicas but are not"
            " registered. cluster-metadata lists all brokers."
        ),
        examples=(
            Example("describe-broker 1", "describe broker 1"),
        ),
        apis=(32, 35, 55, 60),
    ),
    Command(
        name="check-restart",
        summary="Check whether brokers can be stopped, and plan a rolling restart.",
        family="cluster",
        run="cluster.health:check_restart",
        arguments=(
            Argument("broker-id", kinds.BROKER,
                     "Brokers to stop together: 1  1,2  (default: each broker alone).",
                     many=True, required=False, option="--broker-id"),
        ),
        options=(
            Option("--plan", kinds.FLAG,
                   "Show an order for a rolling restart: batches of brokers that can be down"
                   " together.", excludes=("--each", "--wait")),
            Option("--each", kinds.FLAG, "Check the brokers one by one instead of together.",
                   excludes=("--wait",)),
            Option("--wait", kinds.FLAG,
                   "Wait until the brokers are back and all their replicas are in sync."),
        ),
        search=("rolling restart", "stop broker", "maintenance", "shutdown", "upgrade"),
        description=(
            "unsafe: a partition would have no leader or too few in-sync replicas for producers"
            " with acks=all, or the metadata quorum would lose its majority.\n"
            "risky: nothing fails, but a reassignment or recovery should complete first, or one"
            " in-sync replica would be left.\n"
            "unknown: something could not be read; safe: none of these (replicas that are not in"
            " sync count as unavailable).\n"
            "--plan assumes that a batch is back in sync before the next one is stopped; the"
            " active controller is in the last batch.\n"
            "Exit status: 0 if all brokers are safe, else 1."
        ),
        examples=(
            Example("check-restart 1", "check whether broker 1 can be stopped", status=1),
            Example("check-restart --plan", "show an order for a rolling restart", status=1),
            Example("check-restart 1 --wait", "wait until broker 1 is back in sync"),
        ),
        apis=(3, 32, 35, 46, 55, 60),
    ),
    Command(
        name="decommission",
        summary="Remove a broker: cordon, drain, wait until it stops, unregister.",
        family="cluster",
        run="cluster.decommission:decommission",
        effect=Effect.DESTROY,
        arguments=(
            Argument("broker-id", kinds.BROKER, "The ID of the broker: 4.", option="--broker-id"),
        ),
        options=(
            replace(THROTTLE, excludes=("--undo",)),
            *BATCHES,
            Option("--keep-configs", kinds.FLAG,
                   "Keep the dynamic configs of the broker.", excludes=("--undo",)),
            Option("--undo", kinds.FLAG,
                   "Only remove the cordon, so that the broker gets new replicas again. Replicas"
                   " that were moved stay where they are."),
        ),
        search=("remove broker", "retire", "shrink", "scale in", "cordon", "drain"),
        description=(
            "Checks whether the other brokers are sufficient: replication factors, racks, disk"
            " space, the majority of the metadata quorum.\n"
            "After one confirmation: cordons the broker (Kafka 4.3), moves its replicas, waits"
            " until you stop it, removes its voter and dynamic configs, and unregisters it.\n"
            "Deleting configs requires a connection to the controllers: without one, use"
            " --keep-configs.\n"
            "After an interruption, run the same command again; it also removes a broker that is"
            " permanently down, if every partition has a leader.\n"
            "Exit status: 0 if the broker is decommissioned; 1 if a check or a step failed; 130"
            " after Ctrl-C."
        ),
        apis=(2, 32, 34, 35, 44, 45, 46, 55, 60, 64, 81),
        examples=(
            Example("decommission 1 --dry-run", "check whether broker 1 can be removed", status=1),
            Example("decommission 1 --undo", "let broker 1 get new replicas again"),
        ),
    ),
    Command(
        name="describe-quorum",
        summary="Show the metadata quorum: leader, voters, observers and their lag.",
        family="cluster",
        run="cluster.quorum:describe_quorum",
        search=("controller", "raft", "kraft", "voters", "directory id"),
        elsewhere=tuple(
            (option, "Omit it: describe-quorum shows status and replication.")
            for option in ("--status", "--replication", "--human-readable")
        ),
        examples=(Example("describe-quorum", "show voters, observers and their lag"),),
        apis=(55,),
    ),
    Command(
        name="alter-quorum",
        summary="Add and remove voters of the metadata quorum.",
        family="cluster",
        run="cluster.quorum:alter_quorum",
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
            "A controller to add must run as an observer that has caught up. Its directory ID"
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
        run="cluster.quorum:describe_features",
        apis=(60,),
        search=("metadata.version", "kraft.version", "finalized", "upgrade"),
        examples=(Example("describe-features", "show the level of each feature"),),
    ),
    Command(
        name="update-features",
        summary="Upgrade, downgrade or disable features.",
        family="cluster",
        run="cluster.quorum:update_features",
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
            "All changes are applied or none (since Kafka 4.0). A downgrade asks for confirmation,"
            " and requires --unsafe if it loses metadata. With --dry-run the controller validates"
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
