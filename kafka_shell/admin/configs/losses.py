"""Which altered configs delete records, and which records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.base.units import convert_unit, format_limit

# A broker's key -> the topic's key that inherits it; of several set ones the first wins.
TOPIC_KEYS = {
    "log.cleaner.delete.retention.ms": "delete.retention.ms",
    "log.cleaner.max.compaction.lag.ms": "max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio": "min.cleanable.dirty.ratio",
    "log.cleaner.min.compaction.lag.ms": "min.compaction.lag.ms",
    "log.cleanup.policy": "cleanup.policy",
    "log.flush.interval.messages": "flush.messages",
    "log.flush.interval.ms": "flush.ms",
    "log.index.interval.bytes": "index.interval.bytes",
    "log.index.size.max.bytes": "segment.index.bytes",
    "log.local.retention.bytes": "local.retention.bytes",
    "log.local.retention.ms": "local.retention.ms",
    "log.message.downconversion.enable": "message.downconversion.enable",
    "log.message.timestamp.after.max.ms": "message.timestamp.after.max.ms",
    "log.message.timestamp.before.max.ms": "message.timestamp.before.max.ms",
    "log.message.timestamp.difference.max.ms": "message.timestamp.difference.max.ms",
    "log.message.timestamp.type": "message.timestamp.type",
    "log.preallocate": "preallocate",
    "log.retention.bytes": "retention.bytes",
    "log.retention.ms": "retention.ms",
    "log.retention.minutes": "retention.ms",
    "log.retention.hours": "retention.ms",
    "log.roll.jitter.ms": "segment.jitter.ms",
    "log.roll.jitter.hours": "segment.jitter.ms",
    "log.roll.ms": "segment.ms",
    "log.roll.hours": "segment.ms",
    "log.segment.bytes": "segment.bytes",
    "log.segment.delete.delay.ms": "file.delete.delay.ms",
    "message.max.bytes": "max.message.bytes",
} | {
    key: key
    for key in (
        "compression.gzip.level", "compression.lz4.level", "compression.type",
        "compression.zstd.level", "min.insync.replicas", "unclean.leader.election.enable",
    )
}  # fmt: skip

POLICY = "cleanup.policy"
_AGE, _SIZE = "retention.ms", "retention.bytes"
REMOTE, _REMOTE_DELETED = "remote.storage.enable", "remote.log.delete.on.disable"
_OF_TOPIC = (
    "retention.ms",
    "retention.bytes",
    "local.retention.ms",
    "local.retention.bytes",
    "delete.retention.ms",
    POLICY,
    REMOTE,
    _REMOTE_DELETED,
)
# A broker's key -> the topic's key that inherits it; the first that is set wins.
OF_BROKER = {key: name for key, name in TOPIC_KEYS.items() if name in _OF_TOPIC}
# The cleanup policy that makes the limit delete records.
DELETED_BY = dict.fromkeys(_OF_TOPIC[:4], "delete") | {"delete.retention.ms": "compact"}
_UNLIMITED = float("inf")


class RetentionLimits(Struct, frozen=True):
    """The age (ms) and size (bytes per partition) beyond which records are deleted. None is
    unlimited."""

    age: int | None = None
    size: int | None = None

    def lower(self, other: RetentionLimits) -> RetentionLimits:
        """The lower one of each."""
        return RetentionLimits(_lower(self.age, other.age), _lower(self.size, other.size))


class DataLoss(Struct, frozen=True):
    """What one altered key deletes: `what` ("records older than 3d"), in short `noun`. `limits` are
    those of records that the key deletes by age or size, as far as the new value is known."""

    what: str
    noun: str = "records"
    limits: RetentionLimits = RetentionLimits()

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
) -> dict[str, DataLoss]:
    """What the alterations of one resource delete, by key. `after` has the new value of each
    altered key, None if unknown. An unknown value counts as a lowered limit."""
    names = _names(resource)
    old, new = _values(names, known, {}), _values(names, known, after)
    data_losses = {}
    for key in after:
        name = names.get(key, "")
        if name == POLICY:
            loss = _by_policy(old, new)
        elif name == REMOTE:
            loss = _by_remote(old, new)
        elif name in DELETED_BY:
            loss = _by_limit(name, old, new, resource.type is ResourceType.TOPIC)
        else:
            loss = None
        if loss is not None:
            data_losses[key] = loss
    return data_losses


def _names(resource: ConfigResource) -> Mapping[str, str]:
    """The resource's key -> the key of topics."""
    if resource.type is ResourceType.TOPIC:
        return {key: key for key in _OF_TOPIC}
    return OF_BROKER if resource.type is ResourceType.BROKER else {}


def _values(
    names: Mapping[str, str], known: Mapping[str, ConfigEntry], after: Mapping[str, str | None]
) -> dict[str, str]:
    """The values by the key of topics; unknown values are left out."""
    values: dict[str, str] = {}
    for key, name in names.items():
        entry = known.get(key)
        value = after.get(key, None if entry is None else entry.value)
        turned = None if value is None else convert_unit(value, key, name)
        if turned is not None:
            values.setdefault(name, turned)
    return values


def _by_policy(old: Mapping[str, str], new: Mapping[str, str]) -> DataLoss | None:
    before, after = policies(old.get(POLICY, "")), policies(new.get(POLICY, "delete"))
    what = []
    limits = RetentionLimits()
    if "delete" in after - before:
        limits = RetentionLimits(_known_limit(new, _AGE), _known_limit(new, _SIZE))
        what += [_beyond(key, new) for key in (_AGE, _SIZE) if _limit(new, key) != _UNLIMITED]
    if "compact" in after - before:
        what.append("all but the latest record of each key")
    return DataLoss(" and ".join(what), limits=limits) if what else None


def _by_remote(old: Mapping[str, str], new: Mapping[str, str]) -> DataLoss | None:
    ended = old.get(REMOTE) == "true" and new.get(REMOTE) != "true"
    return (
        DataLoss("records in remote storage")
        if ended and new.get(_REMOTE_DELETED) == "true"
        else None
    )


def _by_limit(
    name: str, old: Mapping[str, str], new: Mapping[str, str], is_topic: bool
) -> DataLoss | None:
    policy = new.get(POLICY)
    if is_topic and policy is not None and DELETED_BY[name] not in policies(policy):
        return None
    before, after = _limit(old, name), _limit(new, name)
    if after == _UNLIMITED or (before is not None and after is not None and after >= before):
        return None
    if name.startswith("local."):
        return DataLoss(f"local copies of {_beyond(name, new)}", "local copies")
    if name == "delete.retention.ms":
        return DataLoss(_beyond(name, new), "tombstones")
    limit = _known_limit(new, name)
    return DataLoss(
        _beyond(name, new),
        limits=RetentionLimits(limit) if name == _AGE else RetentionLimits(None, limit),
    )


def is_tiered(entries: Mapping[str, ConfigEntry]) -> bool:
    """Whether a topic with these configs has records in remote storage (KIP-405)."""
    return REMOTE in entries and entries[REMOTE].value == "true"


def policies(value: str) -> set[str]:
    """The items of a cleanup.policy."""
    return {item.strip() for item in value.split(",")} - {""}


def _limit(values: Mapping[str, str], key: str) -> float | None:
    """A limit of age or size; a negative one is unlimited. None if unknown."""
    try:
        limit = int(values[key])
    except (KeyError, ValueError):
        return None
    return limit if limit >= 0 else _UNLIMITED


def _known_limit(values: Mapping[str, str], key: str) -> int | None:
    """A limit of age or size, if there is one and it is known."""
    limit = _limit(values, key)
    return None if limit is None or limit == _UNLIMITED else int(limit)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((policy for policy in (one, other) if policy is not None), default=None)


def _beyond(key: str, values: Mapping[str, str]) -> str:
    """`records older than 3d`, `the oldest records of partitions larger than 1GiB`."""
    limit = format_limit(key, values[key]) if key in values else "the default"
    if key.endswith(".bytes"):
        return f"the oldest records of partitions larger than {limit}"
    noun = "tombstones" if key == "delete.retention.ms" else "records"
    return f"{noun} older than {limit}" if limit != "0" else f"all {noun}"
