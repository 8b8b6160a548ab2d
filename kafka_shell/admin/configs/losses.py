"""Which altered configs delete records: which records, and in how many topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.config_units import convert_unit, format_config_value
from kafka_shell.plan.model import Change, Resource
from kafka_shell.units import counted

from .model import ConfigEntry, ConfigResource, ConfigType, ResourceType
from .read import by_name, describe

_POLICY = "cleanup.policy"
_REMOTE, _REMOTE_DELETED = "remote.storage.enable", "remote.log.delete.on.disable"
_OF_TOPIC = (
    "retention.ms",
    "retention.bytes",
    "local.retention.ms",
    "local.retention.bytes",
    "delete.retention.ms",
    _POLICY,
    _REMOTE,
    _REMOTE_DELETED,
)
# A broker's key -> the topic's key that inherits it; the first that is set wins.
_OF_BROKER = {
    "log.retention.ms": "retention.ms",
    "log.retention.minutes": "retention.ms",
    "log.retention.hours": "retention.ms",
    "log.retention.bytes": "retention.bytes",
    "log.local.retention.ms": "local.retention.ms",
    "log.local.retention.bytes": "local.retention.bytes",
    "log.cleaner.delete.retention.ms": "delete.retention.ms",
    "log.cleanup.policy": _POLICY,
}
# The cleanup policy that makes the limit delete records.
_DELETED_BY = dict.fromkeys(_OF_TOPIC[:4], "delete") | {"delete.retention.ms": "compact"}
_UNLIMITED = float("inf")


class Loss(Struct, frozen=True):
    """What one altered key deletes: `what` ("records older than 3d"), in short `noun`."""

    what: str
    noun: str = "records"

    @property
    def final(self) -> str:
        """What undoing the alteration does not restore."""
        return f"deleted {self.noun} cannot be restored"


def related(resource: ConfigResource, altered: Iterable[str]) -> tuple[str, ...]:
    """The keys that decide whether altering these deletes records; none if they never do."""
    names = _names(resource)
    return tuple(names) if any(key in names for key in altered) else ()


def losses(
    resource: ConfigResource, known: Mapping[str, ConfigEntry], after: Mapping[str, str | None]
) -> dict[str, Loss]:
    """What the alterations of one resource delete, by key. `after` has the new value of each
    altered key, None if unknown. An unknown value counts as a lowered limit."""
    names = _names(resource)
    old, new = _values(names, known, {}), _values(names, known, after)
    found = {}
    for key in after:
        name = names.get(key, "")
        if name == _POLICY:
            loss = _by_policy(old, new)
        elif name == _REMOTE:
            loss = _by_remote(old, new)
        elif name in _DELETED_BY:
            loss = _by_limit(name, old, new, resource.type is ResourceType.TOPIC)
        else:
            loss = None
        if loss is not None:
            found[key] = loss
    return found


def _names(resource: ConfigResource) -> Mapping[str, str]:
    """The resource's key -> the key of topics."""
    if resource.type is ResourceType.TOPIC:
        return {key: key for key in _OF_TOPIC}
    return _OF_BROKER if resource.type is ResourceType.BROKER else {}


def _values(
    names: Mapping[str, str], known: Mapping[str, ConfigEntry], after: Mapping[str, str | None]
) -> dict[str, str]:
    """The values by the key of topics; unknown values are left out."""
    found: dict[str, str] = {}
    for key, name in names.items():
        entry = known.get(key)
        value = after.get(key, None if entry is None else entry.value)
        turned = None if value is None else convert_unit(value, key, name)
        if turned is not None:
            found.setdefault(name, turned)
    return found


def _by_policy(old: Mapping[str, str], new: Mapping[str, str]) -> Loss | None:
    before, after = _policies(old.get(_POLICY, "")), _policies(new.get(_POLICY, "delete"))
    what = []
    if "delete" in after - before:
        limits = ("retention.ms", "retention.bytes")
        what += [_beyond(key, new) for key in limits if _limit(new, key) != _UNLIMITED]
    if "compact" in after - before:
        what.append("all but the latest record of each key")
    return Loss(" and ".join(what)) if what else None


def _by_remote(old: Mapping[str, str], new: Mapping[str, str]) -> Loss | None:
    ended = old.get(_REMOTE) == "true" and new.get(_REMOTE) != "true"
    return (
        Loss("records in remote storage") if ended and new.get(_REMOTE_DELETED) == "true" else None
    )


def _by_limit(
    name: str, old: Mapping[str, str], new: Mapping[str, str], is_topic: bool
) -> Loss | None:
    policy = new.get(_POLICY)
    if is_topic and policy is not None and _DELETED_BY[name] not in _policies(policy):
        return None
    before, after = _limit(old, name), _limit(new, name)
    if after == _UNLIMITED or (before is not None and after is not None and after >= before):
        return None
    if name.startswith("local."):
        return Loss(f"local copies of {_beyond(name, new)}", "local copies")
    return Loss(_beyond(name, new), "tombstones" if name == "delete.retention.ms" else "records")


def _policies(value: str) -> set[str]:
    return {item.strip() for item in value.split(",")} - {""}


def _limit(values: Mapping[str, str], key: str) -> float | None:
    """A limit of age or size; a negative one is unlimited. None if unknown."""
    try:
        limit = int(values[key])
    except (KeyError, ValueError):
        return None
    return limit if limit >= 0 else _UNLIMITED


def _beyond(key: str, values: Mapping[str, str]) -> str:
    """`records older than 3d`, `the oldest records of partitions larger than 1GiB`."""
    limit = (
        format_config_value(key, ConfigType.LONG, values[key]) if key in values else "the default"
    )
    if key.endswith(".bytes"):
        return f"the oldest records of partitions larger than {limit}"
    noun = "tombstones" if key == "delete.retention.ms" else "records"
    return f"{noun} older than {limit}" if limit != "0" else f"all {noun}"


# -- warnings --------------------------------------------------------------------------------------


def warnings(cluster: Cluster, changes: Iterable[tuple[Change, Loss]]) -> list[str]:
    """One warning for each key and limit: what is deleted, and in how many topics."""
    groups: dict[tuple[str, str, Loss], list[Resource]] = {}
    for change, loss in changes:
        limited = _OF_BROKER.get(change.field, change.field) in _DELETED_BY
        verb = "removing" if change.after is None else "lowering" if limited else "changing"
        groups.setdefault((verb, change.field, loss), []).append(change.resource)
    of_brokers = {key for (_, key, _), about in groups.items() if about[0].kind != "topic"}
    inheriting = _inheriting(cluster, of_brokers) if of_brokers else {}
    found = []
    for (verb, key, loss), about in groups.items():
        several = f" in {len(about):,} topics" if len(about) > 1 else ""
        where = inheriting.get(key) or several
        found.append(f"{verb} {key} deletes {loss.what}{where}; {loss.final}")
    return found


def _inheriting(cluster: Cluster, keys: Iterable[str]) -> dict[str, str]:
    """The number of topics that inherit these broker configs, as text by key."""
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in scan(cluster).names]
    names = {key: _OF_BROKER[key] for key in keys}
    read = describe(cluster, topics, [*dict.fromkeys(names.values()), _POLICY])
    counts = dict.fromkeys(names, 0)
    for found in map(by_name, read.values.values()):
        policy = found.get(_POLICY)
        for key, name in names.items():
            wanted = _DELETED_BY.get(name)
            spared = policy is not None and wanted and wanted not in _policies(policy.value or "")
            counts[key] += not spared and (name not in found or not found[name].overridden)
    unread = f" ({len(read.failures):,} could not be read)" if read.failures else ""
    return {
        key: f" in the {counted(count, 'topic')} without a {names[key]} of their own{unread}"
        for key, count in counts.items()
    }
