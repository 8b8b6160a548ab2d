"""Declarations of the configs commands."""

from __future__ import annotations

from kafka_shell.admin.configs.model import ENTITY_TYPES, ResourceType
from kafka_shell.base.plans import Effect
from kafka_shell.commands.configs.kinds import (
    CLIENT_METRICS,
    CONFIG_KEY,
    CONFIG_KEYS,
    CONFIG_PAIR,
    CONFIG_PAIRS,
    ENTITY,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import FORCE, Argument, Command, Example, Option, Short

OTHER_SUBJECTS = ("--broker-id", "--broker-default", "--group", "--logger", "--client-metrics")
SUBJECT = Argument(
    "topic", kinds.TOPIC, "Topics: a,b  svc-*  /regex/", required=False, option="--topic",
    unless=OTHER_SUBJECTS,
)  # fmt: skip
SUBJECT_OPTIONS = (
    Option("--broker-id", kinds.BROKER, "Brokers: 1  1,2  '*'.",
           excludes=("--broker-default", "--group", "--logger", "--client-metrics")),
    Option("--broker-default", kinds.FLAG, "The cluster-wide default of all brokers.",
           excludes=("--group", "--logger", "--client-metrics")),
    Option("--group", kinds.GROUP, "A group; may be repeated.", many=True,
           excludes=("--logger", "--client-metrics")),
    Option("--logger", kinds.BROKER, "The loggers of a broker, by broker ID.",
           excludes=("--client-metrics",)),
    Option("--client-metrics", CLIENT_METRICS,
           "A client metrics subscription; may be repeated.", many=True),
)  # fmt: skip

LISTED = {"client-metrics": ResourceType.CLIENT_METRICS, "group": ResourceType.GROUP}
_PAIR = "{} a list config; may be repeated."

# Their configs are quotas and SCRAM credentials, which have their own APIs: see config_clients.
_CLIENTS = ("users", "clients", "ips")
_SPELLINGS = {
    "--topic": (kinds.TOPIC, "Short for --entity-type topics --entity-name."),
    "--broker": (kinds.BROKER, "A broker ID; short for --entity-type brokers."),
    "--broker-logger": (kinds.BROKER, "Short for --entity-type broker-loggers."),
    "--group": (kinds.GROUP, "Short for --entity-type groups."),
    "--client-metrics": (CLIENT_METRICS, "Short for --entity-type client-metrics."),
    "--user": (kinds.USER, "Short for --entity-type users; can be combined with --client."),
    "--user-defaults": (kinds.FLAG, "Short for --entity-type users --entity-default."),
    "--client": (kinds.CLIENT_ID, "Short for --entity-type clients."),
    "--client-defaults": (kinds.FLAG, "Short for --entity-type clients --entity-default."),
    "--ip": (kinds.IP, "Short for --entity-type ips."),
    "--ip-defaults": (kinds.FLAG, "Short for --entity-type ips --entity-default."),
}
_ENTITY = ("--entity-type", "--entity-name", "--entity-default")
_USERS, _IDS = ("--user", "--user-defaults"), ("--client", "--client-defaults")


def _shorthand(name: str) -> Option:
    """A shorthand option of kafka-configs. Only a user and a client can be combined."""
    kind, about = _SPELLINGS[name]
    beside = _IDS if name in _USERS else _USERS if name in _IDS else ()
    others = tuple(each for each in _SPELLINGS if each != name and each not in beside)
    metavar = "" if kind is kinds.FLAG else "NAME"
    return Option(name, kind, about, metavar=metavar, excludes=(*_ENTITY, *others))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-configs",
        rare=True,
        summary="List client metrics subscriptions, or groups with configs.",
        family="configs",
        run="configs.run:list_configs",
        arguments=(
            Argument("kind", kinds.CHOICE, "client-metrics or group.", choices=tuple(LISTED)),
        ),
        search=("subscriptions", "telemetry", "names"),
        description=(
            "These resources exist only through their configs. To list topics and"
            " brokers, use list-topics and cluster-metadata."
        ),
        examples=(
            Example("list-configs client-metrics", "list client metrics subscriptions"),
            Example("list-configs group", "list groups with configs"),
        ),
        apis=(74,),
    ),
    Command(
        name="describe-configs",
        summary="Show configs: values, sources, documentation.",
        family="configs",
        run="configs.run:describe_configs",
        arguments=(
            SUBJECT,
            Argument("key", CONFIG_KEY, "Only these config keys.", many=True, required=False),
        ),
        options=(
            *SUBJECT_OPTIONS,
            Option("--all", kinds.FLAG, "Also show defaults and inherited values."),
            Option("--only-set", kinds.FLAG, "Show only resources that override the named keys.",
                   excludes=("--all",)),
            Option("--documentation", kinds.FLAG, "Include the broker's documentation."),
        ),
        shorts=(
            Short("configs", "describe-configs"),
            Short("config", "describe-configs"),
        ),
        search=("settings", "retention", "defaults"),
        description=(
            "Without keys, shows the configs overridden at this level; --all adds the defaults."
        ),
        examples=(
            Example("describe-configs orders.placed", "show the overridden configs of a topic"),
            Example("describe-configs orders.placed retention.ms --documentation",
                    "show one config with its documentation"),
            Example("describe-configs 'payments.*' cleanup.policy",
                    "compare one config of several topics"),
            Example("describe-configs '*' retention.ms --only-set",
                    "find the topics that override retention.ms"),
            Example("describe-configs --broker-id 1 --all | grep log.retention",
                    "show the effective configs of a broker"),
            Example("describe-configs --logger 1 kafka.request.logger",
                    "show the log level of a logger"),
            Example("describe-configs --client-metrics 'slow*'",
                    "show client metrics subscriptions"),
        ),
        apis=(32, 74),
    ),
    Command(
        name="alter-configs",
        summary="Set, delete, append to and subtract from configs.",
        family="configs",
        run="configs.run:alter_configs",
        effect=Effect.CHANGE,
        arguments=(
            SUBJECT,
            Argument("config", CONFIG_PAIR, "Configs to set: key=value.", many=True,
                     required=False, option="--add-config"),
        ),
        options=(
            *SUBJECT_OPTIONS,
            Option("--delete-config", CONFIG_KEYS,
                   "Delete configs: k1,k2  '*' (all that are set); may be repeated.", many=True),
            Option("--append", CONFIG_PAIR, _PAIR.format("Append to"), many=True),
            Option("--subtract", CONFIG_PAIR, _PAIR.format("Subtract from"), many=True),
            FORCE,
        ),
        at_least_one=(("config", "delete-config", "append", "subtract"),),
        search=("set", "change", "retention"),
        description=(
            "Values are validated against the types the broker reports and may have units:"
            " retention.ms=7d, segment.bytes=512MiB. Lowering retention deletes records and asks"
            " for confirmation.\n"
            "--delete-config also deletes dynamic configs of a stopped broker, which cannot be"
            " listed. The broker must be registered."
        ),
        examples=(
            Example("alter-configs orders.placed retention.ms=90d", "keep records for 90 days"),
            Example("alter-configs orders.placed retention.ms=7d --yes",
                    "keep records for a week, without confirmation"),
            Example("alter-configs 'payments.*' max.message.bytes=2MiB --dry-run",
                    "preview a change to several topics"),
            Example("alter-configs orders.placed --delete-config retention.ms --dry-run",
                    "preview a return to the default"),
            Example("alter-configs orders.placed --append cleanup.policy=compact --dry-run",
                    "add an item to a list"),
            Example("alter-configs --broker-default log.cleaner.threads=2",
                    "set a config on all brokers"),
            Example("alter-configs --logger 1 kafka.request.logger=DEBUG",
                    "change the log level of a running broker"),
        ),
        apis=(2, 32, 35, 44, 55, 74),
    ),
    Command(
        name="config-command",
        rare=True,
        summary="Describe and alter configs with the options of kafka-configs (KIP-248).",
        family="configs",
        run="configs.config_command:config_command",
        effect=Effect.CHANGE,
        options=(
            Option("--entity-type", kinds.CHOICE, "The type of entity; users with clients selects"
                   " client IDs of a user.", choices=(*ENTITY_TYPES, *_CLIENTS), metavar="TYPE",
                   many=True),
            Option("--entity-name", ENTITY, "The name of the entity: a topic, a broker ID ...",
                   many=True),
            Option("--entity-default", kinds.FLAG,
                   "The default entity of brokers, users, clients or ips.",
                   empty_of="entity-name"),
            *map(_shorthand, _SPELLINGS),
            Option("--describe", kinds.FLAG, "Describe the configs."),
            Option("--alter", kinds.FLAG, "Alter the configs."),
            Option("--add-config", CONFIG_PAIRS, "Configs to set: k1=v1,k2=[v1,v2],k3=v3",
                   excludes=("--describe",)),
            Option("--add-config-file", kinds.FILE, "A .properties file of configs to add.",
                   excludes=("--describe",)),
            Option("--delete-config", CONFIG_KEYS, "Configs to delete: k1,k2",
                   excludes=("--describe",)),
            FORCE,
        ),
        exactly_one=(("describe", "alter"),),
        at_least_one=(("entity-type", *(name.lstrip("-") for name in _SPELLINGS)),),
        apis=(0, 1, 2, 3, 19, 22, 32, 35, 44, 48, 49, 50, 51, 74),
        description=(
            "--describe without a name describes all entities of the type. --alter requires"
            " --entity-name or --entity-default (an empty name is the default entity) and"
            " prints the new values of the altered keys."
        ),
        examples=(
            Example("config-command --entity-type topics --entity-name orders.placed --describe",
                    "describe a topic in KIP-248's table"),
            Example("config-command --entity-type topics --entity-name orders.placed --alter"
                    " --add-config 'cleanup.policy=[compact,delete],retention.ms=86400000'"
                    " --delete-config segment.ms --yes",
                    "change several configs at once"),
            Example("config-command --broker 1 --describe",
                    "describe a broker, using the shorthand"),
            Example("config-command --entity-type brokers --entity-default --describe",
                    "describe the cluster-wide broker default"),
            Example("config-command --entity-type users --entity-name alice --describe",
                    "describe the quotas and credentials of a user"),
            Example("config-command --entity-type users --entity-name alice --entity-type clients"
                    " --entity-name app --alter --add-config producer_byte_rate=1048576",
                    "set a quota for one client ID of a user"),
        ),
    ),
)  # fmt: skip
