"""Declarations of the topics commands."""

from __future__ import annotations

import re

from kafka_shell.admin.topics.model import format_assignment
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import replace
from kafka_shell.commands.configs.kinds import CONFIG_KEYS, CONFIG_PAIR
from kafka_shell.commands.partitions.spec import THROTTLE, WAIT
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    FORCE,
    TIMEOUT,
    Argument,
    Command,
    Example,
    Option,
    Parameter,
    Short,
)
from kafka_shell.language.kinds import Fragment, Kind, invalid

_EXCLUDE_INTERNAL = Option("--exclude-internal", kinds.FLAG, "Exclude internal topics.")
FILTERS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)
_REPLICAS = re.compile(r"\s*[0-9]{1,9}\s*(?::\s*[0-9]{1,9}\s*)*")


class _Assignment(Kind):
    """1:2,2:3 -> the replicas of each partition; `-` means standard input, which is read later."""

    def convert(self, parameter: Parameter, text: str) -> tuple[tuple[int, ...], ...] | str:
        return text if text == "-" else convert_assignment(parameter, text)

    def format(self, value: tuple[tuple[int, ...], ...] | str) -> str:
        return value if isinstance(value, str) else format_assignment(value)

    def last_fragment(self, text: str) -> Fragment:
        return Fragment(max(text.rfind(","), text.rfind(":")) + 1)


def convert_assignment(parameter: Parameter, text: str) -> tuple[tuple[int, ...], ...]:
    """Return the replicas of each partition."""
    partitions: list[tuple[int, ...]] = []
    at = 0
    for part in text.split(","):
        place = (at, at + len(part))
        at += len(part) + 1
        if not _REPLICAS.fullmatch(part):
            raise invalid(
                parameter,
                "broker IDs such as 1:2,2:3",
                part or text,
                at=place,
                hint="Give one list per partition, with the preferred leader first.",
            )
        replicas = tuple(int(broker) for broker in part.split(":"))
        if len(set(replicas)) < len(replicas):
            raise invalid(parameter, "a list of distinct brokers per partition", part, at=place)
        if partitions and len(replicas) != len(partitions[0]):
            raise invalid(parameter, "lists with the same number of replicas", part, at=place)
        partitions.append(replicas)
    return tuple(partitions)


NEW_TOPIC = kinds.Names("new-topic")  # the name of a topic to create
ASSIGNMENT = _Assignment("assignment", kinds.BROKER.source, "B:B,B:B")
_TOPICS = Argument("topic", kinds.TOPIC, "Topics: a,b  svc-*  /regex/", many=True,
                   option="--topic")  # fmt: skip
_PARTITIONS = Option("--partitions", kinds.INTEGER, "The number of partitions.",
                     least=1, most=2**31 - 1)  # fmt: skip
REPLICA_ASSIGNMENT = Option(
    "--replica-assignment",
    ASSIGNMENT,
    "Replicas of each partition, preferred leader first: 1:2,2:3; - reads standard input.",
)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-topics",
        summary="List topics.",
        family="topics",
        run="topics.run:list_topics",
        arguments=(
            Argument("topic", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _EXCLUDE_INTERNAL,
            Option("--long", kinds.FLAG, "Also show partitions, replication factor and health.",
                   aliases=("-l",)),
        ),
        shorts=(Short("topics", "list-topics"), Short("ls", "list-topics")),
        search=("show", "names"),
        apis=(46,),
        examples=(
            Example("list-topics", "list all topics, one name per line"),
            Example("list-topics --exclude-internal --long",
                    "include counts, exclude internal topics"),
            Example("list-topics 'payments.*' | wc -l",
                    "count the topics that start with payments"),
        ),
    ),
    Command(
        name="describe-topic",
        summary="Show partitions, replicas and overridden configs of topics.",
        family="topics",
        run="topics.describe:describe_topic",
        apis=(32, 46, 55),
        arguments=(
            Argument("topic", kinds.TOPIC, "Topics: a,b  svc-*  /regex/ (default: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            Option("--under-replicated-partitions", kinds.FLAG,
                   "Only under-replicated partitions."),
            Option("--under-min-isr-partitions", kinds.FLAG,
                   "Only partitions with fewer in-sync replicas than min.insync.replicas."),
            Option("--at-min-isr-partitions", kinds.FLAG,
                   "Only partitions with exactly min.insync.replicas in-sync replicas."),
            Option("--unavailable-partitions", kinds.FLAG, "Only partitions without a leader."),
            Option("--topics-with-overrides", kinds.FLAG, "Only topics with overridden configs.",
                   excludes=tuple(f"--{name}" for name in FILTERS)),
            _EXCLUDE_INTERNAL,
        ),
        shorts=(Short("topic", "describe-topic"),),
        search=("partitions", "replicas", "leader", "isr"),
        examples=(
            Example("describe-topic orders.placed", "describe one topic"),
            Example("describe-topic 'payments.*' --topics-with-overrides",
                    "describe the payments topics with overridden configs"),
            Example("describe-topic --under-replicated-partitions",
                    "find under-replicated partitions of all topics"),
            Example("describe-topic orders.placed --output json", "print JSON for a program"),
        ),
    ),
    Command(
        name="create-topic",
        summary="Create topics.",
        family="topics",
        run="topics.changes:create_topic",
        apis=(19, 29, 30, 32, 46),
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", NEW_TOPIC, "Names of the new topics.", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _PARTITIONS,
            Option("--replication-factor", kinds.INTEGER, "The number of replicas per partition.",
                   least=1, most=32767),
            Option("--replica-assignment", ASSIGNMENT, REPLICA_ASSIGNMENT.help,
                   excludes=("--partitions", "--replication-factor")),
            Option("--config", CONFIG_PAIR, "Set a topic config; may be repeated.", many=True),
            Option("--if-not-exists", kinds.FLAG, "Skip topics that already exist."),
            Option("--like", kinds.TOPIC,
                   "Copy partitions, replication factor and configs of this topic.",
                   metavar="TOPIC"),
            Option("--with-acls", kinds.FLAG, "With --like, also copy its ACLs.",
                   requires=("--like",)),
            Option("--from-file", kinds.FILE,
                   "Create the topics of a state file (YAML, JSON) or a CSV file.",
                   excludes=("--partitions", "--replication-factor", "--replica-assignment",
                             "--config", "--like", "--with-acls")),
            TIMEOUT,
            FORCE,
        ),
        exactly_one=(("topic", "from-file"),),
        description=(
            "Without --partitions, --replication-factor or --replica-assignment the broker's"
            " defaults apply. With --timeout 0 the command does not wait until every partition has"
            " a leader.\n"
            "The file for --from-file is a state file, as export writes it, or a .csv file with the"
            " columns name, partitions, replication_factor, replica_assignment (1:2,2:3) and"
            " configs (k1=v1,k2=[v1,v2])."
        ),
        examples=(
            Example("create-topic parcels.delivered --partitions 6 --config retention.ms=7d",
                    "create a topic that keeps records for a week"),
            Example("create-topic payments.disputed --like payments.captured --with-acls --dry-run",
                    "preview a copy of a topic's settings and ACLs"),
            Example("create-topic parcels.lost parcels.found --dry-run",
                    "validate on the broker without creating anything"),
        ),
    ),
    Command(
        name="alter-topic",
        summary="Add partitions, change the replication factor, set and delete configs.",
        family="topics",
        run="topics.changes:alter_topic",
        apis=(2, 32, 35, 37, 44, 45, 46),
        effect=Effect.CHANGE,
        arguments=(_TOPICS,),
        options=(
            _PARTITIONS,
            REPLICA_ASSIGNMENT,
            Option("--replication-factor", kinds.INTEGER,
                   "Replicas per partition. New replicas are placed in other racks if possible.",
                   least=1, most=32767, excludes=("--partitions", "--replica-assignment")),
            replace(THROTTLE, requires=("--replication-factor",)),
            replace(WAIT, requires=("--replication-factor",)),
            Option("--config", CONFIG_PAIR, "Set a config; may be repeated.", many=True,
                   aliases=("--add-config",)),
            Option("--delete-config", CONFIG_KEYS, "Delete configs: k1,k2; may be repeated.",
                   many=True),
            Option("--if-exists", kinds.FLAG, "Skip topics that do not exist."),
            TIMEOUT,
            FORCE,
        ),
        at_least_one=(
            ("partitions", "replica-assignment", "replication-factor", "config", "delete-config"),
        ),
        search=("increase", "grow", "retention", "replicas"),
        examples=(
            Example("alter-topic orders.placed --partitions 12 --dry-run",
                    "preview adding partitions"),
            Example("alter-topic orders.placed --config retention.ms=90d"
                    " --delete-config segment.ms",
                    "set one config and delete another"),
            Example("alter-topic orders.placed --replication-factor 1 --dry-run",
                    "preview the new replica assignment"),
        ),
    ),
    Command(
        name="delete-topic",
        summary="Delete topics and all their records.",
        family="topics",
        run="topics.changes:delete_topic",
        apis=(2, 9, 15, 16, 20, 29, 35, 46, 60, 61, 69, 77, 89, 90),
        effect=Effect.DESTROY,
        arguments=(_TOPICS,),
        options=(
            Option("--if-exists", kinds.FLAG, "Skip topics that do not exist."),
            TIMEOUT,
            FORCE,
        ),
        search=("remove", "drop"),
        examples=(
            Example("delete-topic 'tmp.*' --dry-run", "show which topics would be deleted"),
            Example("delete-topic tmp.backfill --yes", "delete without confirmation"),
        ),
    ),
)  # fmt: skip
