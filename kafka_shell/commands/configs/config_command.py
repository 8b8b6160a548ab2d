"""`config-command`: KIP-248's spelling over the verbs of describe-configs and alter-configs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.commands.configs.model import ConfigTable
from kafka_shell.errors import UsageError
from kafka_shell.files import bad_file
from kafka_shell.language.command import Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.plan.results import Results
from kafka_shell.units import to_path

from .commands import alter
from .config_clients import refuse_literal_default, unnamed

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

Tables = Results[ConfigResource, ConfigTable]

_TYPES = {
    "topics": ResourceType.TOPIC,
    "brokers": ResourceType.BROKER,
    "broker-loggers": ResourceType.BROKER_LOGGER,
    "groups": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}
# What these have are quotas and credentials, which other APIs than configs hold: config_clients.
_CLIENTS = ("users", "clients", "ips")
# KIP-248's own shorthands for --entity-type T --entity-name N, as Kafka's tool has them.
_SHORTHANDS = {
    "topic": "topics",
    "broker": "brokers",
    "broker-logger": "broker-loggers",
    "group": "groups",
    "client-metrics": "client-metrics",
}


def config_command(invocation: Invocation, context: Context) -> Plan | Results[Any, Any]:
    """Describe or alter the configs of one kind of entity."""
    from . import config_clients

    refuse_literal_default(invocation)
    if config_clients.is_ours(invocation):
        pairs = _pairs(invocation)
        if not invocation["describe"]:
            _refuse_nothing(invocation, pairs or invocation["delete-config"])
        return config_clients.run(invocation, context, pairs)
    resources = _resources(invocation, context.cluster)
    if invocation["describe"]:
        return _tables(context.cluster, resources)
    alterations = _alterations(invocation)
    _refuse_nothing(invocation, alterations)
    plan = alter(invocation, context.cluster, resources, alterations)
    return replace(plan, fresh=lambda cluster: _tables(cluster, resources))


def _refuse_nothing(invocation: Invocation, alterations: object) -> None:
    if not alterations:
        raise UsageError(
            "--alter wants --add-config, --add-config-file or --delete-config",
            span=invocation.span("alter"),
            text=invocation.text,
        )


def _tables(cluster: Cluster, resources: list[ConfigResource]) -> Tables:
    from kafka_shell.admin.configs import read as configs

    found = configs.describe(cluster, resources)
    tables = {
        resource: ConfigTable(resource, entries) for resource, entries in found.values.items()
    }
    return Results(tables, found.failures)


def _resources(invocation: Invocation, cluster: Cluster) -> list[ConfigResource]:
    entity, name = _entity(invocation)
    kind = _TYPES[entity]
    if name == "" and kind is not ResourceType.BROKER:
        raise UsageError(
            f"{entity} have no default entity",
            hint="Brokers, users, clients and ips have one.",
            span=invocation.span("entity-default") or invocation.span("entity-name"),
            text=invocation.text,
        )
    if name is not None:
        return [ConfigResource(kind, name)]
    if invocation["alter"]:
        raise unnamed(invocation, [entity], default=kind is ResourceType.BROKER)
    return [ConfigResource(kind, found) for found in _all(kind, entity, invocation, cluster)]


def _entity(invocation: Invocation) -> tuple[str, str | None]:
    """(entity type, entity name) by either spelling: the default has the empty name, and None is
    every entity."""
    for option, entity in _SHORTHANDS.items():
        if invocation[option] is not None:
            return entity, invocation[option]
    if len(invocation["entity-type"]) > 1 or len(invocation["entity-name"]) > 1:
        raise UsageError(
            "only users and clients are named together",
            span=invocation.span("entity-type", 1) or invocation.span("entity-name", 1),
            text=invocation.text,
        )
    names = invocation["entity-name"]
    if names and invocation["entity-default"]:
        raise UsageError(
            "--entity-name and --entity-default cannot stand together",
            code="together",
            span=invocation.span("entity-default"),
            text=invocation.text,
        )
    if invocation["entity-default"]:
        names = ("",)
    return invocation["entity-type"][0], names[0] if names else None


def _all(kind: ResourceType, entity: str, invocation: Invocation, cluster: Cluster) -> list[str]:
    """Every entity of this kind, where the cluster can list them."""
    if kind is ResourceType.TOPIC:
        from kafka_shell.admin.wire import metadata_scan

        return sorted(metadata_scan.scan(cluster).names)
    if kind is ResourceType.BROKER:
        return [str(broker.id) for broker in cluster.brokers()]
    if kind in (ResourceType.CLIENT_METRICS, ResourceType.GROUP):
        from kafka_shell.admin.configs import read as configs

        return configs.list_resources(cluster, kind)
    raise UsageError(
        f"--entity-type {entity} wants --entity-name", span=invocation.span("entity-type"),
        text=invocation.text,
    )  # fmt: skip


def _alterations(invocation: Invocation) -> list[ConfigAlteration]:
    return [
        *(ConfigAlteration(key, ConfigOp.SET, value) for key, value in _pairs(invocation)),
        *(ConfigAlteration(key, ConfigOp.DELETE) for key in invocation["delete-config"] or ()),
    ]


def _pairs(invocation: Invocation) -> list[tuple[str, str]]:
    """What the line adds, and the file it names."""
    pairs = list(invocation["add-config"] or ())
    if invocation["add-config-file"]:
        pairs += _from_file(invocation["add-config-file"])
    return pairs


def _from_file(file: str) -> list[tuple[str, str]]:
    from kafka_shell.admin.wire.properties import read_properties

    try:
        return list(read_properties(to_path(file)).items())
    except OSError as error:
        raise bad_file(file, f"cannot be read: {error.strerror}") from None


_SPELLINGS = {
    "--topic": (Kind.TOPIC, "Short for --entity-type topics --entity-name."),
    "--broker": (Kind.BROKER, "A broker's id: short for --entity-type brokers."),
    "--broker-logger": (Kind.BROKER, "Short for --entity-type broker-loggers."),
    "--group": (Kind.GROUP, "Short for --entity-type groups."),
    "--client-metrics": (Kind.CLIENT_METRICS, "Short for --entity-type client-metrics."),
    "--user": (Kind.USER, "Short for --entity-type users; --client may stand beside it."),
    "--user-defaults": (Kind.FLAG, "Short for --entity-type users --entity-default."),
    "--client": (Kind.CLIENT_ID, "Short for --entity-type clients."),
    "--client-defaults": (Kind.FLAG, "Short for --entity-type clients --entity-default."),
    "--ip": (Kind.IP, "Short for --entity-type ips."),
    "--ip-defaults": (Kind.FLAG, "Short for --entity-type ips --entity-default."),
}
_ENTITY = ("--entity-type", "--entity-name", "--entity-default")
_USERS, _IDS = ("--user", "--user-defaults"), ("--client", "--client-defaults")


def _shorthand(name: str) -> Option:
    """One of Kafka's own shorthands; a user and a client may stand together, no others."""
    kind, about = _SPELLINGS[name]
    beside = _IDS if name in _USERS else _USERS if name in _IDS else ()
    others = tuple(each for each in _SPELLINGS if each != name and each not in beside)
    metavar = "" if kind is Kind.FLAG else "NAME"
    return Option(name, kind, about, metavar=metavar, excludes=(*_ENTITY, *others))


COMMANDS = (
    Command(
        name="config-command",
        summary="KIP-248's config command: its options, its table.",
        family="configs",
        run=config_command,
        effect=Effect.CHANGE,
        options=(
            Option("--entity-type", Kind.CHOICE, "The kind of entity; users and clients together"
                   " are a user's client ids.", choices=(*_TYPES, *_CLIENTS), metavar="TYPE",
                   many=True),
            Option("--entity-name", Kind.ENTITY, "Its name: a topic, a broker's id ...",
                   metavar="NAME", many=True),
            Option("--entity-default", Kind.FLAG, "The default entity of brokers, users ..."),
            *map(_shorthand, _SPELLINGS),
            Option("--describe", Kind.FLAG, "Show the configs."),
            Option("--alter", Kind.FLAG, "Change them."),
            Option("--add-config", Kind.CONFIG_PAIRS, "k1=v1,k2=[v1,v2],k3=v3",
                   metavar="PAIRS", excludes=("--describe",)),
            Option("--add-config-file", Kind.FILE, "A .properties file of configs to add.",
                   metavar="FILE", excludes=("--describe",)),
            Option("--delete-config", Kind.CONFIG_KEYS, "k1,k2", metavar="KEYS",
                   excludes=("--describe",)),
        ),
        exactly_one=(("describe", "alter"),),
        at_least_one=(("entity-type", *(name.lstrip("-") for name in _SPELLINGS)),),
        apis=(0, 1, 2, 3, 19, 22, 32, 44, 48, 49, 50, 51, 74),
        description=(
            "--describe without a name: all topics, all brokers. --alter requires one of"
            " --entity-name and --entity-default (an empty name is the default entity), and shows"
            " the new state afterwards."
        ),
        examples=(
            Example("config-command --entity-type topics --entity-name orders.placed --describe",
                    "the table of KIP-248"),
            Example("config-command --entity-type topics --entity-name orders.placed --alter"
                    " --add-config 'cleanup.policy=[compact,delete],retention.ms=86400000'"
                    " --delete-config segment.ms --yes",
                    "change several at once"),
            Example("config-command --broker 1 --describe", "a broker, as Kafka's tool spells it"),
            Example("config-command --entity-type brokers --entity-default --describe",
                    "the default of all brokers"),
            Example("config-command --entity-type users --entity-name alice --describe",
                    "a user's quotas and credentials"),
            Example("config-command --entity-type users --entity-name alice --entity-type clients"
                    " --entity-name app --alter --add-config producer_byte_rate=1048576",
                    "a limit for one client id of a user"),
        ),
    ),
)  # fmt: skip
