"""Checks of keys, types and units before a config is sent (KIP-569)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ResourceType,
    own_source,
)
from kafka_shell.admin.configs.read import Known
from kafka_shell.base import units as config_units
from kafka_shell.base.errors import MistakeCollector, ShellError, near_miss
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.units import ConfigType, Unit

# Resource types that refuse unknown keys. Brokers accept keys of plugins and with prefixes.
_CLOSED = {ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS}
LIST_OPS = {ConfigOp.APPEND, ConfigOp.SUBTRACT}

# Brokers list these only if they are set (KIP-73, KIP-113).
_THROTTLES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
# listener.name.<listener>.<key>, and for SASL listener.name.<listener>.<mechanism>.<key>.
_PREFIXED = re.compile(r"(listener\.name\.[^.]+\.)(.+)")
_DYNAMIC = (ConfigSource.DYNAMIC_BROKER, ConfigSource.DYNAMIC_DEFAULT_BROKER)


class ConfigRefused(ShellError):
    """An invalid config, refused before anything is sent. `key` is its name, `resource` the one to
    alter or create."""

    def __init__(
        self, key: str, message: str, *, hint: str = "", code: str, see: Resource | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=code, see=see)
        self.key = key
        self.resource: ConfigResource | None = None


class Refusals(MistakeCollector):
    """Keeps the errors for invalid configs, each with its resource."""

    @contextmanager
    def of(self, resource: ConfigResource) -> Iterator[None]:
        """Keep an error for an invalid config of this resource."""
        with self.collecting():
            try:
                yield
            except ConfigRefused as refused:
                refused.resource = resource
                raise


def entry_of(resource: ConfigResource, known: Known, key: str) -> ConfigEntry | None:
    """The entry of a key: as listed, or derived from its name if brokers do not list it.

    An unknown key of a broker may be a plugin's password: it is sensitive, as in Kafka.
    """
    if key in known or resource.type is not ResourceType.BROKER:
        return known.get(key)
    if key in _THROTTLES:
        return ConfigEntry(resource, key, None, ConfigSource.UNKNOWN, type=ConfigType.LONG)
    base = _base(known, key)
    if base is None:
        return ConfigEntry(resource, key, None, ConfigSource.UNKNOWN, sensitive=True)
    # The key without the prefix may be set on this resource: that is another key's value.
    source = ConfigSource.UNKNOWN if base.source is own_source(resource) else base.source
    return replace(base, name=key, source=source, read_only=False, synonyms=())


def _base(known: Known, key: str) -> ConfigEntry | None:
    """The entry of a key without its listener (and mechanism) prefix."""
    prefixed = _PREFIXED.fullmatch(key)
    if prefixed is None:
        return None
    rest = prefixed[2]
    return known.get(rest) or known.get(rest.partition(".")[2])


def check(
    resource: ConfigResource, known: Known, alteration: ConfigAlteration, warnings: dict[str, None]
) -> ConfigAlteration:
    """The alteration with the value in the broker's unit. Adds to `warnings`. Raises
    ConfigRefused."""
    key, entry = alteration.key, entry_of(resource, known, alteration.key)
    if entry is None or (entry.type is ConfigType.UNKNOWN and key not in known):
        _check_unknown(resource, known, alteration, warnings)
    if entry is None:
        return alteration
    if _is_static(entry):
        raise ConfigRefused(
            key,
            f"{key} of {resource} is read-only: it can only be set in the broker's properties"
            " file, with a restart",
            code="read-only",
        )
    if alteration.op in LIST_OPS and entry.type not in (ConfigType.LIST, ConfigType.UNKNOWN):
        raise ConfigRefused(
            key,
            f"{key} is {_with_article(entry.type)}, not a list: it cannot be appended to or"
            " subtracted from",
            hint=f"Set it with {key}=VALUE.",
            code="not-a-list",
        )
    if alteration.value is None or alteration.op is ConfigOp.DELETE:
        return alteration
    _check_choice(key, entry.type, alteration.value)
    return replace(alteration, value=_raw(key, entry.type, alteration.value))


def is_settable(entry: ConfigEntry, value: str) -> bool:
    """Whether a value that a broker has passes the checks, so that it can be set again."""
    try:
        _check_choice(entry.name, entry.type, value)
        return _raw(entry.name, entry.type, value) == value
    except ConfigRefused:
        return False


def _check_choice(key: str, kind: ConfigType, value: str) -> None:
    try:
        config_units.check_enumeration(key, kind, value)
    except ShellError as error:
        raise ConfigRefused(key, error.message, hint=error.hint, code="unknown-value") from None


def _is_static(entry: ConfigEntry) -> bool:
    """Whether only the broker's properties file can set it.

    The broker's read-only flag is a table of names: it also marks keys (of plugins and listeners)
    that were set dynamically, and these can be set again.
    """
    free = entry.source in _DYNAMIC or entry.type is ConfigType.UNKNOWN
    return entry.read_only and not free and not _PREFIXED.fullmatch(entry.name)


def _raw(key: str, kind: ConfigType, value: str) -> str:
    try:
        return config_units.parse_config_value(key, kind, value)
    except ShellError as error:
        raise ConfigRefused(key, error.message, hint=error.hint, code="wrong-type") from None


def _check_unknown(
    resource: ConfigResource,
    known: Known,
    alteration: ConfigAlteration,
    warnings: dict[str, None],
) -> None:
    """Refuse a key that the broker does not list, or warn if such keys are allowed. What is not
    listed is not set, and cannot be deleted."""
    key = alteration.key
    near = _similar_key(key, known)
    if (resource.type in _CLOSED or alteration.op is ConfigOp.DELETE) and known:
        raise ConfigRefused(
            key,
            f"unknown {resource.kind} config '{key}'",
            hint=f"Did you mean {near}?" if near else "",
            code="unknown-key",
            see=Resource(f"{resource.kind}-configs", resource.name) if resource.name else None,
        )
    warning = f"unknown to the broker: {key}; its value is not validated"
    warnings[f"{warning}. Did you mean {near}?" if near else warning] = None


def _similar_key(key: str, known: Known) -> str | None:
    prefixed = _PREFIXED.fullmatch(key)
    if prefixed is None:
        return near_miss(key, known)
    near = near_miss(prefixed[2], known)
    return prefixed[1] + near if near else None


def _with_article(kind: ConfigType) -> str:
    word = kind.name.lower()
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def refuse_twice(keys: Iterable[str], where: str) -> None:
    """Raise ConfigRefused for a key that is given twice."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ConfigRefused(
                key,
                f"{key} is set twice for {where}",
                code="twice",
            )
        seen.add(key)


def checked_for_create(
    topic: str, key_values: Sequence[tuple[str, str]], known: Known, refusals: Refusals
) -> tuple[tuple[str, str], ...]:
    """The configs of a new topic, checked against `known`, with units converted.

    Without `known` (a cluster without topics) a key whose name has a unit is treated as a number;
    the broker checks the rest.
    """
    named, resource = (ConfigResource(ResourceType.TOPIC, name) for name in (topic, ""))
    with refusals.of(named):
        refuse_twice((key for key, _ in key_values), "the new topic")
    checked = []
    for key, value in dict(key_values).items():
        with refusals.of(named):
            if known:
                set_to = ConfigAlteration(key, ConfigOp.SET, value)
                value = check(resource, known, set_to, {}).value or ""
            elif config_units.unit_of(key) is not Unit.NONE:
                value = _raw(key, ConfigType.LONG, value)
            else:
                _check_choice(key, ConfigType.LIST, value)
            checked.append((key, value))
    return tuple(checked)
