"""`config-command`: describe-configs and alter-configs with the options of kafka-configs
(KIP-248)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell.admin.configs.model import (
    ENTITY_TYPES,
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.base.errors import UsageError
from kafka_shell.base.files import bad_file
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands.configs.commands import alter
from kafka_shell.commands.configs.config_clients import refuse_literal_default, unnamed
from kafka_shell.commands.configs.kinds import CLIENT_METRICS, CONFIG_KEYS, CONFIG_PAIRS, ENTITY
from kafka_shell.commands.configs.render import ConfigTable
from kafka_shell.language import kinds
from kafka_shell.language.command import FORCE, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

Tables = Results[ConfigResource, ConfigTable]

# Their configs are quotas and SCRAM credentials, which have their own APIs: see config_clients.
_CLIENTS = ("users", "clients", "ips")
# KIP-248's shorthands for --entity-type T --entity-name N, as in kafka-configs.
_SHORTHANDS = {
    "topic": "topics",
    "broker": "brokers",
    "broker-logger": "broker-loggers",
    "group": "groups",
    "client-metrics": "client-metrics",
}


def config_command(invocation: Invocation, context: Context) -> Plan | Results[Any, Any]:
    """Describe or alter the configs of one kind of entity."""
    from kafka_shell.commands.configs import config_clients

    refuse_literal_default(invocation)
    if config_clients.is_client_entity(invocation):
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
    keys = [each.key for each in alterations]
    return replace(plan, fresh=lambda later: _tables(later, resources, keys))


def _refuse_nothing(invocation: Invocation, alterations: object) -> None:
    if not alterations:
        raise UsageError(
            "--alter requires --add-config, --add-config-file or --delete-config",
            span=invocation.span("alter"),
            text=invocation.text,
        )


def _tables(
    cluster: Cluster, resources: list[ConfigResource], keys: list[str] | None = None
) -> Tables:
    """The tables of all configs, or of these keys."""
    from kafka_shell.admin.configs import read as configs

    found = configs.describe(cluster, resources, keys)
    tables = {
        resource: ConfigTable(resource, entries) for resource, entries in found.values.items()
    }
    return Results(tables, found.failures)


def _resources(invocation: Invocation, cluster: Cluster) -> list[ConfigResource]:
    entity, name = _entity(invocation)
    kind = ENTITY_TYPES[entity]
    if name == "" and kind is not ResourceType.BROKER:
        raise UsageError(
            f"--entity-type {entity} has no default entity",
            hint="Only brokers, users, clients and ips have a default entity.",
            span=invocation.span("entity-default") or invocation.span("entity-name"),
            text=invocation.text,
        )
    if name is not None:
        return [ConfigResource(kind, name)]
    if invocation["alter"]:
        raise unnamed(invocation, [entity], default=kind is ResourceType.BROKER)
    return [ConfigResource(kind, found) for found in _all(kind, entity, invocation, cluster)]


def _entity(invocation: Invocation) -> tuple[str, str | None]:
    """(entity type, entity name): an empty name is the default entity, None is all entities."""
    for option, entity in _SHORTHANDS.items():
        if invocation[option] is not None:
            return entity, invocation[option]
    if len(invocation["entity-type"]) > 1 or len(invocation["entity-name"]) > 1:
        raise UsageError(
            "only users and clients can be combined",
            span=invocation.span("entity-type", 1) or invocation.span("entity-name", 1),
            text=invocation.text,
        )
    names = invocation["entity-name"]
    if names and invocation["entity-default"]:
        raise UsageError(
            "--entity-name cannot be used with --entity-default",
            code="mutually-exclusive",
            span=invocation.span("entity-default"),
            text=invocation.text,
        )
    if invocation["entity-default"]:
        names = ("",)
    return invocation["entity-type"][0], names[0] if names else None


def _all(kind: ResourceType, entity: str, invocation: Invocation, cluster: Cluster) -> list[str]:
    """The names of all entities of this kind; UsageError if the cluster cannot list them."""
    if kind is ResourceType.TOPIC:
        from kafka_shell.wire import metadata_scan

        return sorted(metadata_scan.scan(cluster).names)
    if kind is ResourceType.BROKER:
        return [str(broker.id) for broker in cluster.brokers()]
    if kind in (ResourceType.CLIENT_METRICS, ResourceType.GROUP):
        from kafka_shell.admin.configs import read as configs

        return configs.list_resources(cluster, kind)
    raise UsageError(
        f"--entity-type {entity} requires --entity-name", span=invocation.span("entity-type"),
        text=invocation.text,
    )  # fmt: skip


def _alterations(invocation: Invocation) -> list[ConfigAlteration]:
    return [
        *(ConfigAlteration(key, ConfigOp.SET, value) for key, value in _pairs(invocation)),
        *(ConfigAlteration(key, ConfigOp.DELETE) for key in invocation["delete-config"] or ()),
    ]


def _pairs(invocation: Invocation) -> list[tuple[str, str]]:
    """The configs of --add-config and --add-config-file."""
    pairs = list(invocation["add-config"] or ())
    if invocation["add-config-file"]:
        pairs += _from_file(invocation["add-config-file"])
    return pairs


def _from_file(file: str) -> list[tuple[str, str]]:
    from kafka_shell.wire.client_properties import read_properties

    try:
        return list(read_properties(to_path(file)).items())
    except OSError as error:
        raise bad_file(file, f"cannot be read: {error.strerror}") from None


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


COMMANDS = (
    Command(
        name="config-command",
        rare=True,
        summary="Describe and alter configs with the options of kafka-configs (KIP-248).",
        family="configs",
        run=config_command,
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
