"""Write a state as a file: YAML or JSON, the same bytes for the same state."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kafka_shell.admin.acls.model import AclBinding, rule_text
from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.base.units import INTEGER, ConfigType, format_config_value, format_quota
from kafka_shell.commands.state.model import (
    DEFAULT_BROKER,
    FACTOR,
    SHAPE,
    Fields,
    State,
    Value,
    order,
)
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.output import data as encoders
from kafka_shell.output.data import dump_yaml

VERSION = 1
DECIMAL = re.compile(r"-?\d{1,15}\.\d{1,15}")
Content = dict[str, Any]


def document(state: State) -> Content:
    """The state as plain data, in the order of the file. Tuples are lists on one line."""
    found: Content = {"version": VERSION}
    if state.scope:
        found["scope"] = {kind: tuple(words) for kind, words in state.scope.items()}
    for kind in KINDS:
        if kind in state.parts:
            resources = state.parts[kind]
            found[kind] = _WRITERS[kind](
                {key: resources[key] for key in sorted(resources, key=order)}, state.lists
            )
    return found


def yaml_text(content: Content) -> str:
    """The document as YAML, with an empty line between its sections."""
    return "\n".join(dump_yaml({name: section}) for name, section in content.items())


def json_text(content: Content) -> str:
    """The document as indented JSON."""
    return "".join(encoders.json_text(content))


# -- kinds -----------------------------------------------------------------------------------------

Lists = set[str]


def _topics(topics: Mapping[str, Fields], lists: Lists) -> Content:
    found: Content = {}
    for name, fields in topics.items():
        row: Content = {key: fields[key] for key in SHAPE if key in fields}
        if isinstance(row.get(FACTOR), str):  # of partitions with different numbers of replicas
            del row[FACTOR]
        configs = {key: value for key, value in fields.items() if key not in SHAPE}
        if configs:
            row["configs"] = _values(configs, lists)
        found[name] = row
    return found


def _acls(acls: Mapping[AclBinding, Fields], lists: Lists) -> Content:
    """The rules of each resource pattern; one rule for all operations of a principal and host."""
    combined: dict[tuple[Any, ...], tuple[AclBinding, list[str]]] = {}
    for each in acls:
        side = (each.target, each.principal, each.permission, each.host)
        combined.setdefault(side, (each, []))[1].append(each.operation.label)
    found: Content = {}
    for (target, *_), (first, operations) in combined.items():
        found.setdefault(target, []).append(rule_text(first, operations))
    return found


def _quotas(quotas: Mapping[QuotaEntity, Fields], lists: Lists) -> Content:
    return {
        str(entity): {key: _number(format_quota(key, float(v))) for key, v in own.items()}
        for entity, own in quotas.items()
    }


def _users(users: Mapping[str, Fields], lists: Lists) -> Content:
    return {
        user: {mechanism: {"iterations": count} for mechanism, count in credentials.items()}
        for user, credentials in users.items()
    }


def _client_configs(configs: Mapping[ClientEntity, Fields], lists: Lists) -> Content:
    return {
        str(entity): {key: _scalar(str(value)) for key, value in fields.items()}
        for entity, fields in configs.items()
    }


def _configs(configs: Mapping[ConfigResource, Fields], lists: Lists) -> Content:
    return {resource.name: _values(fields, lists) for resource, fields in configs.items()}


def _broker_configs(configs: Mapping[ConfigResource, Fields], lists: Lists) -> Content:
    return {
        _scalar(resource.name or DEFAULT_BROKER): _values(fields, lists)
        for resource, fields in configs.items()
    }


_WRITERS: dict[str, Callable[[Any, Lists], Content]] = {
    "topics": _topics,
    "acls": _acls,
    "quotas": _quotas,
    "users": _users,
    "client_configs": _client_configs,
    "broker_configs": _broker_configs,
    "client_metrics": _configs,
    "group_configs": _configs,
}


# -- values ----------------------------------------------------------------------------------------


def _values(fields: Mapping[str, Value], lists: Lists) -> Content:
    return {key: _value(key, str(value), lists) for key, value in fields.items()}


def _value(key: str, raw: str, lists: Lists) -> Any:
    if key in lists:
        items = raw.split(",")
        return tuple(items) if len(items) > 1 and all(items) else raw
    return _scalar(format_config_value(key, ConfigType.UNKNOWN, raw))


def _scalar(text: str) -> Any:
    """The text as the YAML value that needs no quotes, if it reads back as the same text."""
    if text in ("true", "false"):
        return text == "true"
    return _number(text)


def _number(text: str) -> Any:
    if INTEGER.fullmatch(text) and len(text) < 20 and str(int(text)) == text:
        return int(text)
    if DECIMAL.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text
