"""A registry of commands for tests of the language."""

from collections.abc import Sequence

from kafka_shell.base.plans import Effect
from kafka_shell.commands.configs.kinds import (
    CONFIG_KEY,
    CONFIG_KEYS,
    CONFIG_PAIR,
    CONFIG_PAIRS,
    ENTITY,
)
from kafka_shell.commands.topics.spec import ASSIGNMENT, NEW_TOPIC
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    TIMEOUT,
    Argument,
    Command,
    Option,
    Registry,
    Short,
    words_of_command,
)


def registry_of(commands: Sequence[Command]) -> Registry:
    """A registry of these commands."""
    words = [each for command in commands for each in words_of_command(command)]
    return Registry({"": words}, lambda _: commands)


TOPICS = Argument("topic", kinds.TOPIC, "Topics.", many=True, option="--topic")
ANY_TOPIC = Argument("topic", kinds.TOPIC, "Topics.", many=True, required=False, option="--topic",
                     unless=("--broker-id", "--group"))  # fmt: skip
SUBJECTS = (
    Option("--broker-id", kinds.BROKER, "Brokers.", many=True, aliases=("--broker",), metavar="N"),
    Option("--group", kinds.GROUP, "A group.", many=True, metavar="GROUP"),
)

LIST_TOPICS = Command(
    "list-topics", "Names of topics.", "topics", "",
    options=(Option("--long", kinds.FLAG, "More columns."),
             Option("--exclude-internal", kinds.FLAG, "Without Kafka's own.")),
    shorts=(Short("topics", "list-topics"),), search=("show",),
)  # fmt: skip
DESCRIBE_TOPIC = Command(
    "describe-topic", "Partitions of topics.", "topics", "",
    arguments=(Argument("topic", kinds.TOPIC, "Topics.", many=True, required=False,
                        option="--topic"),),
    options=(
        Option("--under-replicated-partitions", kinds.FLAG, "Only these.",
               excludes=("--unavailable-partitions",)),
        Option("--unavailable-partitions", kinds.FLAG, "Only these."),
    ),
    shorts=(Short("topic", "describe-topic"),),
)  # fmt: skip
CREATE_TOPIC = Command(
    "create-topic", "Create topics.", "topics", "", Effect.CHANGE,
    arguments=(Argument("topic", NEW_TOPIC, "Names.", many=True, required=False,
                        option="--topic"),),
    options=(
        Option("--from-file", kinds.FILE, "A file of topics.", metavar="FILE"),
        Option("--partitions", kinds.INTEGER, "Partitions.", metavar="N",
               excludes=("--replica-assignment",)),
        Option("--replication-factor", kinds.INTEGER, "Replicas.",
               excludes=("--replica-assignment",)),
        Option("--replica-assignment", ASSIGNMENT, "Replicas of each partition."),
        Option("--config", CONFIG_PAIR, "A config.", many=True),
        TIMEOUT,
    ),
    exactly_one=(("topic", "--from-file"),),
)  # fmt: skip
ALTER_TOPIC = Command(
    "alter-topic", "Change topics.", "topics", "", Effect.CHANGE,
    arguments=(TOPICS,),
    options=(
        Option("--partitions", kinds.INTEGER, "Partitions."),
        Option("--config", CONFIG_PAIR, "A config.", many=True),
        Option("--delete-config", CONFIG_KEYS, "Keys.", many=True),
    ),
    at_least_one=(("--partitions", "--config", "--delete-config"),),
)  # fmt: skip
DELETE_TOPIC = Command(
    "delete-topic", "Delete topics.", "topics", "", Effect.DESTROY, arguments=(TOPICS,)
)
DESCRIBE_CONFIGS = Command(
    "describe-configs", "Configs.", "configs", "",
    arguments=(ANY_TOPIC, Argument("key", CONFIG_KEY, "Keys.", many=True, required=False)),
    options=(*SUBJECTS, Option("--all", kinds.FLAG, "Defaults too.")),
    shorts=(Short("configs", "describe-configs"), Short("broker", "describe-configs --broker-id")),
)  # fmt: skip
ALTER_CONFIGS = Command(
    "alter-configs", "Change configs.", "configs", "", Effect.CHANGE,
    arguments=(ANY_TOPIC,
               Argument("config", CONFIG_PAIR, "key=value", many=True, required=False)),
    options=(*SUBJECTS,
             Option("--delete-config", CONFIG_KEYS, "Keys.", many=True),
             Option("--append", CONFIG_PAIR, "A config.", many=True)),
)  # fmt: skip
CONFIG_COMMAND = Command(
    "config-command", "KIP-248's.", "configs", "", Effect.CHANGE,
    options=(
        Option("--entity-type", kinds.CHOICE, "Which kind.", many=True,
               choices=("topics", "brokers", "users", "clients", "groups", "client-metrics")),
        Option("--entity-name", ENTITY, "Which one.", many=True),
        Option("--entity-default", kinds.FLAG, "The default one.", excludes=("--entity-name",)),
        Option("--broker", kinds.BROKER, "A broker.", metavar="ID"),
        Option("--describe", kinds.FLAG, "Show."),
        Option("--alter", kinds.FLAG, "Change."),
        Option("--add-config", CONFIG_PAIRS, "k1=v1,k2=[v1,v2]"),
        Option("--delete-config", CONFIG_KEYS, "k1,k2"),
        Option("--secret", kinds.TEXT, "Nobody is told.", hidden=True),
    ),
    exactly_one=(("--describe", "--alter"),),
)  # fmt: skip
RESET_OFFSETS = Command(
    "reset-offsets", "Move a group.", "groups", "", Effect.DESTROY,
    arguments=(Argument("group", kinds.GROUP, "The group.", option="--group"),),
    options=(
        Option("--to", kinds.TEXT, "Where to.", required=True),
        Option("--shift", kinds.INTEGER, "By so many."),
        Option("--throttle", kinds.RATE, "How fast."),
        Option("--client-property", kinds.PROPERTY, "k=v", many=True),
        Option("--throttles", kinds.RATE, "Several.", many=True),
    ),
)  # fmt: skip
WATCH = Command(
    "watch", "Run a command repeatedly.", "shell", "",
    arguments=(Argument("seconds", kinds.INTEGER, "Pause.", required=False),
               Argument("line", kinds.LINE, "The line.")),
)  # fmt: skip
HELP = Command(
    "help", "Help.", "shell", "",
    arguments=(Argument("about", kinds.LINE, "A command.", required=False),),
)  # fmt: skip
SET = Command(
    "set", "Change a setting.", "shell", "",
    arguments=(Argument("name", kinds.CHOICE, "Which.", required=False, choices=("output", "mode")),
               Argument("value", kinds.TEXT, "Its value.", required=False)),
)  # fmt: skip
AUDIT = Command("spark audit", "Audit.", "audit", "",
                options=(Option("--master", kinds.TEXT, "Where."),))  # fmt: skip
SQL = Command("spark sql", "Query.", "audit", "",
              arguments=(Argument("query", kinds.LINE, "SQL."),))  # fmt: skip

REGISTRY = registry_of((
    LIST_TOPICS, DESCRIBE_TOPIC, CREATE_TOPIC, ALTER_TOPIC, DELETE_TOPIC, DESCRIBE_CONFIGS,
    ALTER_CONFIGS, CONFIG_COMMAND, RESET_OFFSETS, WATCH, HELP, SET, AUDIT, SQL,
))  # fmt: skip
