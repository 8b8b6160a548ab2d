"""`config-command`: describe-configs and alter-configs with the options of kafka-configs
(KIP-248)."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import (
    ENTITY_TYPES,
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.base.errors import UsageError
from kafka_shell.base.files import bad_file
from kafka_shell.base.plans import Plan
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands.configs.kinds import is_client_entity, refuse_literal_default, unnamed
from kafka_shell.commands.configs.render import ConfigTable
from kafka_shell.commands.configs.run import alter
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.client_properties import read_properties
from kafka_shell.wire.cluster import Cluster

Tables = Results[ConfigResource, ConfigTable]

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
    refuse_literal_default(invocation)
    if is_client_entity(invocation):
        from kafka_shell.commands.configs import config_clients

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
    keys = [alteration.key for alteration in alterations]
    return replace(plan, fresh=lambda later: _tables(later, resources, keys))


def _refuse_nothing(invocation: Invocation, alterations: object) -> None:
    if not alterations:
        raise UsageError(
            "--alter requires --add-config, --add-config-file or --delete-config",
            span=invocation.span("alter"),
        )


def _tables(
    cluster: Cluster, resources: list[ConfigResource], keys: list[str] | None = None
) -> Tables:
    """The tables of all configs, or of these keys."""
    read = configs.describe(cluster, resources, keys)
    tables = {resource: ConfigTable(resource, entries) for resource, entries in read.values.items()}
    return Results(tables, read.failures)


def _resources(invocation: Invocation, cluster: Cluster) -> list[ConfigResource]:
    entity, name = _entity(invocation)
    kind = ENTITY_TYPES[entity]
    if name == "" and kind is not ResourceType.BROKER:
        raise UsageError(
            f"--entity-type {entity} has no default entity",
            hint="Use --entity-name; only brokers, users, clients and ips have a default entity.",
            span=invocation.span("entity-default") or invocation.span("entity-name"),
        )
    if name is not None:
        return [ConfigResource(kind, name)]
    if invocation["alter"]:
        raise unnamed(invocation, [entity], default=kind is ResourceType.BROKER)
    return [ConfigResource(kind, listed) for listed in _all(kind, entity, invocation, cluster)]


def _entity(invocation: Invocation) -> tuple[str, str | None]:
    """(entity type, entity name): an empty name is the default entity, None is all entities."""
    for option, entity in _SHORTHANDS.items():
        if invocation[option] is not None:
            return entity, invocation[option]
    if len(invocation["entity-type"]) > 1 or len(invocation["entity-name"]) > 1:
        raise UsageError(
            "only users and clients can be combined",
            span=invocation.span("entity-type", 1) or invocation.span("entity-name", 1),
        )
    names = invocation["entity-name"]
    if names and invocation["entity-default"]:
        raise UsageError(
            "--entity-name cannot be used with --entity-default",
            code="mutually-exclusive",
            span=invocation.span("entity-default"),
        )
    if invocation["entity-default"]:
        names = ("",)
    return invocation["entity-type"][0], names[0] if names else None


def _all(kind: ResourceType, entity: str, invocation: Invocation, cluster: Cluster) -> list[str]:
    """The names of all entities of this kind; UsageError if the cluster cannot list them."""
    if kind is ResourceType.TOPIC:
        return sorted(metadata_scan.scan(cluster).names)
    if kind is ResourceType.BROKER:
        return [str(broker.id) for broker in cluster.brokers()]
    if kind in (ResourceType.CLIENT_METRICS, ResourceType.GROUP):
        return configs.list_resources(cluster, kind)
    raise UsageError(
        f"--entity-type {entity} requires --entity-name", span=invocation.span("entity-type")
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
    try:
        return list(read_properties(to_path(file)).items())
    except OSError as error:
        raise bad_file(file, f"cannot be read: {error.strerror}") from None
