"""What this side refuses before anything is sent: keys, types, units (KIP-569)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_shell import config_units
from kafka_shell.errors import ShellError, near_miss
from kafka_shell.resource import Resource

from .model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ConfigType,
    ResourceType,
    Unit,
    own_source,
)
from .read import Known

# Kinds whose broker refuses a key it does not know. Brokers take keys of plugins and prefixes.
_CLOSED = {ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS}
LIST_OPS = {ConfigOp.APPEND, ConfigOp.SUBTRACT}

# Brokers take these and list them only where they are set (KIP-73, KIP-113).
_THROTTLES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
# listener.name.<listener>.<key>, and for SASL listener.name.<listener>.<mechanism>.<key>.
_PREFIXED = re.compile(r"(listener\.name\.[^.]+\.)(.+)")
_DYNAMIC = (ConfigSource.DYNAMIC_BROKER, ConfigSource.DYNAMIC_DEFAULT_BROKER)


class ConfigRefused(ShellError):
    """A key or value that this side refuses before anything is sent. `key` is the config's name."""

    def __init__(
        self, key: str, message: str, *, hint: str = "", code: str, see: Resource | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=code, see=see)
        self.key = key


def entry_of(resource: ConfigResource, known: Known, key: str) -> ConfigEntry | None:
    """What is known of a key: as listed, or told from its name where brokers do not list it.

    A broker's key that nobody knows may hold a plugin's password: it is sensitive, as for Kafka.
    """
    if key in known or resource.type is not ResourceType.BROKER:
        return known.get(key)
    if key in _THROTTLES:
        return ConfigEntry(resource, key, None, ConfigSource.UNKNOWN, type=ConfigType.LONG)
    base = _base(known, key)
    if base is None:
        return ConfigEntry(resource, key, None, ConfigSource.UNKNOWN, sensitive=True)
    # Without the prefix it may be set at this very level: that is another key's value.
    source = ConfigSource.UNKNOWN if base.source is own_source(resource) else base.source
    return replace(base, name=key, source=source, read_only=False, synonyms=())


def _base(known: Known, key: str) -> ConfigEntry | None:
    """The key behind a listener's (and a mechanism's) prefix."""
    prefixed = _PREFIXED.fullmatch(key)
    if prefixed is None:
        return None
    rest = prefixed[2]
    return known.get(rest) or known.get(rest.partition(".")[2])


def check(
    resource: ConfigResource, known: Known, alteration: ConfigAlteration, warnings: dict[str, None]
) -> ConfigAlteration:
    """The alteration as the broker wants it, or ConfigRefused. Doubts are added to `warnings`."""
    key, entry = alteration.key, entry_of(resource, known, alteration.key)
    if entry is None or (entry.type is ConfigType.UNKNOWN and key not in known):
        _unknown(resource, known, key, warnings)
    if entry is None:
        return alteration
    if _is_fixed(entry):
        raise ConfigRefused(
            key,
            f"{key} of {resource} is read-only: it is set in the broker's own file and needs a"
            " restart",
            code="read-only",
        )
    if alteration.op in LIST_OPS and entry.type not in (ConfigType.LIST, ConfigType.UNKNOWN):
        raise ConfigRefused(
            key,
            f"{key} is {_a(entry.type)}, not a list: it cannot be appended to or subtracted from",
            hint=f"Set it: {key}=VALUE",
            code="not-a-list",
        )
    if alteration.value is None or alteration.op is ConfigOp.DELETE:
        return alteration
    _check_choice(key, entry.type, alteration.value)
    return replace(alteration, value=_raw(key, entry.type, alteration.value))


def is_settable(entry: ConfigEntry, value: str) -> bool:
    """Whether this side would take the value for this key: what a broker holds may be refused."""
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


def _is_fixed(entry: ConfigEntry) -> bool:
    """Whether only the broker's file can set it.

    The broker's flag goes by a table of names: it also marks what was set while it ran (a plugin's
    key, a listener's), and that can be set again.
    """
    free = entry.source in _DYNAMIC or entry.type is ConfigType.UNKNOWN
    return entry.read_only and not free and not _PREFIXED.fullmatch(entry.name)


def _raw(key: str, kind: ConfigType, value: str) -> str:
    try:
        return config_units.parse_config_value(key, kind, value)
    except ShellError as error:
        raise ConfigRefused(key, error.message, hint=error.hint, code="wrong-type") from None


def _unknown(resource: ConfigResource, known: Known, key: str, warnings: dict[str, None]) -> None:
    """A key the broker does not list: refused where its list is closed, else a warning."""
    near = _near(key, known)
    if resource.type in _CLOSED and known:
        raise ConfigRefused(
            key,
            f"{resource.kind} configs have no key {key}",
            hint=f"Did you mean {near}?" if near else "",
            code="unknown-key",
            see=Resource(f"{resource.kind}-configs", resource.name) if resource.name else None,
        )
    said = f"the broker does not list {key}; it is sent as it is"
    warnings[f"{said}. Did you mean {near}?" if near else said] = None


def _near(key: str, known: Known) -> str | None:
    prefixed = _PREFIXED.fullmatch(key)
    if prefixed is None:
        return near_miss(key, known)
    near = near_miss(prefixed[2], known)
    return prefixed[1] + near if near else None


def _a(kind: ConfigType) -> str:
    word = kind.name.lower()
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def refuse_twice(keys: Iterable[str], where: str) -> None:
    """A key may stand once in one alteration."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ConfigRefused(
                key,
                f"{key} stands twice for {where}",
                hint="Say once what it is to be.",
                code="twice",
            )
        seen.add(key)


def checked_for_create(
    key_values: Sequence[tuple[str, str]], known: Known
) -> tuple[tuple[str, str], ...]:
    """Configs of a topic to be created, checked against `known` and their units turned.

    Raises ConfigRefused. Without `known` (a cluster with no topic yet) a key whose name has a unit
    is taken for a whole number where its value carries one; the broker checks the rest.
    """
    resource = ConfigResource(ResourceType.TOPIC, "")
    refuse_twice((key for key, _ in key_values), "the new topic")
    checked = []
    for key, value in key_values:
        if known:
            set_to = ConfigAlteration(key, ConfigOp.SET, value)
            value = check(resource, known, set_to, {}).value or ""
        elif config_units.unit_of(key) is not Unit.NONE:
            value = _raw(key, ConfigType.LONG, value)
        else:
            _check_choice(key, ConfigType.LIST, value)
        checked.append((key, value))
    return tuple(checked)
