"""A registry that covers the contract, apart from the real one."""

from typing import Any

from kafka_shell.language.command import Argument, Command, Invocation, Kind, Option, Short
from kafka_shell.language.registry import Registry
from kafka_shell.plan.model import Effect


def nothing(invocation: Invocation, context: Any) -> None:
    """Commands of this registry are never run."""


TOPICS = Argument("topic", Kind.TOPIC, "Topics.", many=True, option="--topic")
ANY_TOPIC = Argument("topic", Kind.TOPIC, "Topics.", many=True, required=False, option="--topic",
                     unless=("--broker-id", "--group"))  # fmt: skip
SUBJECTS = (
    Option("--broker-id", Kind.BROKER, "Brokers.", many=True, aliases=("--broker",), metavar="N"),
    Option("--group", Kind.GROUP, "A group.", many=True, metavar="GROUP"),
)

LIST_TOPICS = Command(
    "list-topics", "Names of topics.", "topics", nothing,
    options=(Option("--long", Kind.FLAG, "More columns."),
             Option("--exclude-internal", Kind.FLAG, "Without Kafka's own.")),
    shorts=(Short("topics", "list-topics"),), search=("show",),
)  # fmt: skip
DESCRIBE_TOPIC = Command(
    "describe-topic", "Partitions of topics.", "topics", nothing,
    arguments=(Argument("topic", Kind.TOPIC, "Topics.", many=True, required=False,
                        option="--topic"),),
    options=(
        Option("--under-replicated-partitions", Kind.FLAG, "Only these.",
               excludes=("--unavailable-partitions",)),
        Option("--unavailable-partitions", Kind.FLAG, "Only these."),
    ),
    shorts=(Short("topic", "describe-topic"),),
)  # fmt: skip
CREATE_TOPIC = Command(
    "create-topic", "Create topics.", "topics", nothing, Effect.CHANGE,
    arguments=(Argument("topic", Kind.NEW_TOPIC, "Names.", many=True, required=False,
                        option="--topic"),),
    options=(
        Option("--from-file", Kind.FILE, "A file of topics.", metavar="FILE"),
        Option("--partitions", Kind.INTEGER, "Partitions.", metavar="N",
               excludes=("--replica-assignment",)),
        Option("--replication-factor", Kind.INTEGER, "Replicas.",
               excludes=("--replica-assignment",)),
        Option("--replica-assignment", Kind.ASSIGNMENT, "Replicas of each partition."),
        Option("--config", Kind.CONFIG_PAIR, "A config.", many=True),
    ),
    exactly_one=(("topic", "--from-file"),),
)  # fmt: skip
ALTER_TOPIC = Command(
    "alter-topic", "Change topics.", "topics", nothing, Effect.CHANGE,
    arguments=(TOPICS,),
    options=(
        Option("--partitions", Kind.INTEGER, "Partitions."),
        Option("--config", Kind.CONFIG_PAIR, "A config.", many=True),
        Option("--delete-config", Kind.CONFIG_KEYS, "Keys.", many=True),
    ),
    at_least_one=(("--partitions", "--config", "--delete-config"),),
)  # fmt: skip
DELETE_TOPIC = Command(
    "delete-topic", "Delete topics.", "topics", nothing, Effect.DESTROY, arguments=(TOPICS,)
)
DESCRIBE_CONFIGS = Command(
    "describe-configs", "Configs.", "configs", nothing,
    arguments=(ANY_TOPIC, Argument("key", Kind.CONFIG_KEY, "Keys.", many=True, required=False)),
    options=(*SUBJECTS, Option("--all", Kind.FLAG, "Defaults too.")),
    shorts=(Short("configs", "describe-configs"), Short("broker", "describe-configs --broker-id")),
)  # fmt: skip
ALTER_CONFIGS = Command(
    "alter-configs", "Change configs.", "configs", nothing, Effect.CHANGE,
    arguments=(ANY_TOPIC,
               Argument("config", Kind.CONFIG_PAIR, "key=value", many=True, required=False)),
    options=(*SUBJECTS,
             Option("--delete-config", Kind.CONFIG_KEYS, "Keys.", many=True),
             Option("--append", Kind.CONFIG_PAIR, "A config.", many=True)),
)  # fmt: skip
CONFIG_COMMAND = Command(
    "config-command", "KIP-248's.", "configs", nothing, Effect.CHANGE,
    options=(
        Option("--entity-type", Kind.CHOICE, "Which kind.", many=True,
               choices=("topics", "brokers", "users", "clients", "groups", "client-metrics")),
        Option("--entity-name", Kind.ENTITY, "Which one.", many=True),
        Option("--entity-default", Kind.FLAG, "The default one.", excludes=("--entity-name",)),
        Option("--broker", Kind.BROKER, "A broker.", metavar="ID"),
        Option("--describe", Kind.FLAG, "Show."),
        Option("--alter", Kind.FLAG, "Change."),
        Option("--add-config", Kind.CONFIG_PAIRS, "k1=v1,k2=[v1,v2]"),
        Option("--delete-config", Kind.CONFIG_KEYS, "k1,k2"),
        Option("--secret", Kind.TEXT, "Nobody is told.", hidden=True),
    ),
    exactly_one=(("--describe", "--alter"),),
)  # fmt: skip
RESET_OFFSETS = Command(
    "reset-offsets", "Move a group.", "groups", nothing, Effect.DESTROY,
    arguments=(Argument("group", Kind.GROUP, "The group.", option="--group"),),
    options=(
        Option("--to", Kind.TEXT, "Where to.", required=True),
        Option("--shift", Kind.INTEGER, "By so many."),
        Option("--ratio", Kind.NUMBER, "How much."),
        Option("--throttle", Kind.BYTES, "How fast.", metavar="RATE"),
        Option("--client-property", Kind.PROPERTY, "k=v", many=True),
        Option("--throttles", Kind.BYTES, "Several.", many=True),
    ),
)  # fmt: skip
WATCH = Command(
    "watch", "Run a command repeatedly.", "shell", nothing,
    arguments=(Argument("seconds", Kind.NUMBER, "Pause.", required=False),
               Argument("line", Kind.LINE, "The line.")),
)  # fmt: skip
HELP = Command(
    "help", "Help.", "shell", nothing,
    arguments=(Argument("about", Kind.LINE, "A command.", required=False),),
)  # fmt: skip
SET = Command(
    "set", "Change a setting.", "shell", nothing,
    arguments=(Argument("name", Kind.CHOICE, "Which.", required=False, choices=("output", "mode")),
               Argument("value", Kind.TEXT, "Its value.", required=False)),
)  # fmt: skip
AUDIT = Command("spark audit", "Audit.", "audit", nothing,
                options=(Option("--master", Kind.TEXT, "Where."),))  # fmt: skip
SQL = Command("spark sql", "Query.", "audit", nothing,
              arguments=(Argument("query", Kind.LINE, "SQL."),))  # fmt: skip

REGISTRY = Registry.of((
    LIST_TOPICS, DESCRIBE_TOPIC, CREATE_TOPIC, ALTER_TOPIC, DELETE_TOPIC, DESCRIBE_CONFIGS,
    ALTER_CONFIGS, CONFIG_COMMAND, RESET_OFFSETS, WATCH, HELP, SET, AUDIT, SQL,
))  # fmt: skip
