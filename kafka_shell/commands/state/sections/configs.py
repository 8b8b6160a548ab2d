"""Sections of configs: of brokers, client metrics subscriptions and groups."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.cluster.decommission import CORDON
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.configs.read import in_parts, list_resources
from kafka_shell.admin.partitions.throttles import RATE_OF, RATES
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Resource
from kafka_shell.base.text import has_secret_name
from kafka_shell.base.units import (
    INTEGER,
    ConfigType,
    format_config_value,
    parse_config_value,
    shorten,
    unit_of,
)
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, State, Value
from kafka_shell.commands.state.schema import SCALAR, by_name
from kafka_shell.commands.state.section import (
    Content,
    Loaded,
    Loading,
    Read,
    Section,
    StateRequest,
)
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import ANY

# Set for a reassignment or a decommission, and removed at its end: not the desired state.
TEMPORARY = frozenset((*RATES, *RATE_OF, CORDON))
DEFAULT_BROKER = "default"  # the name of the cluster-wide broker default
CONFIGS_SCHEMA = {
    "type": ["object", "null"],
    "additionalProperties": {
        "description": "A value as in alter-configs: 7d, 1GiB, true, or the raw value.",
        "anyOf": [SCALAR, {"type": "array", "items": SCALAR}],
    },
}
_DECIMAL = re.compile(r"-?\d{1,15}\.\d{1,15}")
_GROUP_CONFIGS_SINCE = (4, 0)


class Configs(Section):
    """The configs of resources of a type, by name."""

    typed = True
    type: ResourceType
    description = ""

    def resource(self, key: ConfigResource) -> Resource:
        return Resource(key.kind, key.name)

    def owner(self, key: ConfigResource) -> str:
        return key.name

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        resources = [ConfigResource(self.type, name) for name in self.names(cluster, request)]
        entries = read_configs(cluster, resources, state)
        return {resource: fields for resource, fields in entries.items() if fields}

    def names(self, cluster: Cluster, request: StateRequest) -> Iterable[str]:
        """The names of the resources to read."""
        return list_resources(cluster, self.type)

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        resource = ConfigResource(self.type, text)
        yield resource, load_configs(loading, self.resource(resource), place), at

    def write(self, resources: Mapping[ConfigResource, Fields], lists: Collection[str]) -> Content:
        return {self.owner(key): write_configs(own, lists) for key, own in resources.items()}

    def schema(self) -> Content:
        return by_name(self.description, CONFIGS_SCHEMA)


class BrokerConfigs(Configs):
    """The configs of brokers, and the cluster-wide default."""

    type = ResourceType.BROKER
    optional = TEMPORARY
    description = "Broker configs by broker ID, or default."

    def owner(self, key: ConfigResource) -> str:
        return key.name or DEFAULT_BROKER

    def names(self, cluster: Cluster, request: StateRequest) -> Iterable[str]:
        if request.brokers is not None:
            return request.brokers
        # A broker that is down is reported, not left out.
        live = {broker.id for broker in cluster.brokers(refresh=True)}
        return ["", *map(str, sorted(live | (registered(cluster) or set())))]

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        name = "" if text == DEFAULT_BROKER else text
        if name and not (name.isascii() and name.isdigit() and str(int(name)) == name):
            raise at.error(f"expected a broker ID or {DEFAULT_BROKER}, got {shorten(text)}")
        yield from super().load(loading, name, at, place)

    def write(self, resources: Mapping[ConfigResource, Fields], lists: Collection[str]) -> Content:
        names = super().write(resources, lists)
        return {write_scalar(name): configs for name, configs in names.items()}

    def schema(self) -> Content:
        return {**super().schema(), "propertyNames": {"pattern": "^(default|0|[1-9][0-9]*)$"}}


class ClientMetrics(Configs):
    """Client metrics subscriptions (KIP-714)."""

    type = ResourceType.CLIENT_METRICS
    description = "Client metrics subscriptions by name."


class GroupConfigs(Configs):
    """The configs of groups (KIP-848)."""

    type = ResourceType.GROUP
    description = "Group configs by group ID."

    def may_exist(self, cluster: Cluster) -> bool:
        return tuple(map(int, cluster.release(ANY).split(".")[:2])) >= _GROUP_CONFIGS_SINCE


# -- of a cluster ----------------------------------------------------------------------------------


def read_configs(
    cluster: Cluster, resources: Sequence[ConfigResource], state: State
) -> dict[ConfigResource, Fields]:
    """The configs set on each resource itself, by key. Secrets are left out."""
    by_resource: dict[ConfigResource, Fields] = {}
    for part in in_parts(cluster, resources):
        for resource, why in part.failures.items():
            state.unread[str(resource)] = why
        for resource, entries in part.values.items():
            fields: Fields = {}
            for entry in sorted(entries, key=lambda entry: entry.name):
                hidden = entry.sensitive or has_secret_name(entry.name)
                if hidden and state.sensitive is not None:
                    state.sensitive[str(resource), entry.name] = entry.overridden
                if not entry.overridden:
                    continue
                if hidden or entry.value is None:
                    state.notes.append(f"{resource}: {entry.name} is sensitive and is excluded")
                    continue
                fields[entry.name] = entry.value
                if entry.type is ConfigType.LIST:
                    state.lists.add(entry.name)
                elif entry.type is ConfigType.STRING:
                    state.texts.add(entry.name)
            by_resource[resource] = fields
    return by_resource


# -- in a file -------------------------------------------------------------------------------------


def load_configs(loading: Loading, resource: Resource, place: DocumentValue) -> Fields:
    """Configs by key, sorted, with their raw values."""
    given = {key.name(): value for key, value in place.pairs(f"configs of {resource}")}
    loading.state.config_places |= {(resource, key): value for key, value in given.items()}
    return load_values(loading, given)


def load_values(loading: Loading, given: Mapping[str, DocumentValue]) -> Fields:
    """The raw values of configs, sorted by key."""
    fields: Fields = {}
    for key, value in given.items():
        with loading.mistakes.collecting():
            fields[key] = _raw_value(key, value)
    return dict(sorted(fields.items()))


def _raw_value(key: str, place: DocumentValue) -> str:
    if has_secret_name(key):
        raise place.error(
            f"{key} is sensitive, and a state file contains no secrets",
            f"Set it with alter-configs, and remove {key} from the file.",
        )
    if place.is_list:
        items = [item.text(f"an item of {key}") for item in place.items(key)]
        if any("," in item for item in items):
            raise place.error(f"an item of {key} contains a comma")
        return ",".join(items)
    if place.is_null:
        raise place.error(
            f"{key} has no value",
            "Omit it for the default, or put null in quotes.",
        )
    text = place.text(key)
    if not unit_of(key).value:
        return text
    try:
        return parse_config_value(key, ConfigType.LONG, text)
    except ShellError as error:
        raise place.error(error.message, error.hint) from None


def write_configs(fields: Mapping[str, Value], lists: Collection[str]) -> Content:
    """Configs as they are written in a file."""
    return {key: _written_value(key, str(value), lists) for key, value in fields.items()}


def _written_value(key: str, raw: str, lists: Collection[str]) -> Any:
    if key in lists:
        items = raw.split(",")
        return tuple(items) if len(items) > 1 and all(items) else raw
    return write_scalar(format_config_value(key, ConfigType.UNKNOWN, raw))


def write_scalar(text: str) -> Any:
    """The text as the YAML value that needs no quotes, if it reads back as the same text."""
    if text in ("true", "false"):
        return text == "true"
    return write_number(text)


def write_number(text: str) -> Any:
    """The same for a number."""
    if INTEGER.fullmatch(text) and len(text) < 20 and str(int(text)) == text:
        return int(text)
    if _DECIMAL.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text
