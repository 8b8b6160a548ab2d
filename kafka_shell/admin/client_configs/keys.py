"""The configs that a running client can change, each with its check and how it takes effect.

A further key is a further row. Names are Kafka's; a kafka-python program spells them with `_`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_shell.admin.configs.model import ConfigType
from kafka_shell.errors import ShellError, did_you_mean

SESSION, HEARTBEAT, ACKS = "session.timeout.ms", "heartbeat.interval.ms", "acks"
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ClientConfigKey:
    """One key. `of` are the clients that have it; `takes_effect` says when a new value holds."""

    name: str
    type: ConfigType
    of: tuple[str, ...]  # producer, consumer
    about: str
    takes_effect: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = _MOST


_PRODUCER, _CONSUMER, _BOTH = ("producer",), ("consumer",), ("producer", "consumer")
_NEXT_BATCH = "with the next batch"
_NEXT_FETCH = "with the next fetch"
_NEXT_REQUEST = "with the next request"
_NEXT_JOIN = "once the member has joined its group again, which rebalances the group"
_AT_ONCE = "at once"

_TABLE = (
    ClientConfigKey(
        ACKS, ConfigType.STRING, _PRODUCER,
        "How many replicas must have a record before it counts as written: all (-1), 1, or 0."
        " A producer with idempotence or transactions keeps to all.",
        "with the next request to a broker", choices=("all", "-1", "0", "1"),
    ),
    ClientConfigKey(
        "linger.ms", ConfigType.INT, _PRODUCER,
        "How long a batch waits for more records before it is sent."
        " With request.timeout.ms, no more than delivery.timeout.ms.",
        "at once, for batches that wait too",
    ),
    ClientConfigKey(
        "batch.size", ConfigType.INT, _PRODUCER,
        "The most bytes of one batch; 0 sends each record alone.", _NEXT_BATCH,
    ),
    ClientConfigKey(
        "compression.type", ConfigType.STRING, _PRODUCER,
        "How batches are compressed. A program without the codec's library ignores it.",
        _NEXT_BATCH, choices=("none", "gzip", "snappy", "lz4", "zstd"),
    ),
    ClientConfigKey(
        "max.request.size", ConfigType.INT, _PRODUCER,
        "The most bytes of one record, and of one request.", "with the next record", least=1,
    ),
    ClientConfigKey(
        "delivery.timeout.ms", ConfigType.INT, _PRODUCER,
        "How long a record is tried before it fails."
        " At least linger.ms and request.timeout.ms together.",
        "at once, for batches that wait too", least=1,
    ),
    ClientConfigKey(
        "retries", ConfigType.INT, _PRODUCER,
        "How often a batch that failed is sent again. Above 0 with idempotence or transactions.",
        "with the next failure",
    ),
    ClientConfigKey(
        "max.block.ms", ConfigType.LONG, _PRODUCER,
        "How long a send waits for the metadata of its topic.", "with the next send",
    ),
    ClientConfigKey(
        SESSION, ConfigType.INT, _CONSUMER,
        "How long the coordinator waits for a heartbeat before it gives the member's partitions"
        " away. Within the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms.",
        _NEXT_JOIN, least=1,
    ),
    ClientConfigKey(
        HEARTBEAT, ConfigType.INT, _CONSUMER,
        "How often a member tells the coordinator that it lives. Below session.timeout.ms; a longer"
        " one waits until the coordinator knows of a longer session timeout.",
        _AT_ONCE, least=1,
    ),
    ClientConfigKey(
        "max.poll.interval.ms", ConfigType.INT, _CONSUMER,
        "How long a program may work between two polls before its member leaves the group, and how"
        " long a rebalance waits for it.",
        _NEXT_JOIN, least=1,
    ),
    ClientConfigKey(
        "max.poll.records", ConfigType.INT, _CONSUMER, "The most records of one poll.",
        "with the next poll", least=1,
    ),
    ClientConfigKey(
        "auto.commit.interval.ms", ConfigType.INT, _CONSUMER,
        "How often offsets are committed, where enable.auto.commit is on.",
        "with the next poll", least=1,
    ),
    ClientConfigKey(
        "fetch.max.wait.ms", ConfigType.INT, _CONSUMER,
        "How long a broker may wait until fetch.min.bytes are there. Below request.timeout.ms.",
        _NEXT_FETCH,
    ),
    ClientConfigKey(
        "fetch.min.bytes", ConfigType.INT, _CONSUMER,
        "How many bytes a broker waits for before it answers.", _NEXT_FETCH,
    ),
    ClientConfigKey(
        "fetch.max.bytes", ConfigType.INT, _CONSUMER, "The most bytes of one answer.", _NEXT_FETCH,
    ),
    ClientConfigKey(
        "max.partition.fetch.bytes", ConfigType.INT, _CONSUMER,
        "The most bytes of one partition in one answer.", _NEXT_FETCH,
    ),
    ClientConfigKey(
        "request.timeout.ms", ConfigType.INT, _BOTH, "How long an answer is waited for.",
        _NEXT_REQUEST, least=1,
    ),
    ClientConfigKey(
        "retry.backoff.ms", ConfigType.LONG, _BOTH,
        "How long to wait before what failed is tried again.", "with the next failure",
    ),
    ClientConfigKey(
        "metadata.max.age.ms", ConfigType.LONG, _BOTH,
        "How old metadata may get; also how often dynamic configs are looked for.",
        _AT_ONCE, least=1_000,
    ),
)  # fmt: skip
KEYS: dict[str, ClientConfigKey] = {key.name: key for key in _TABLE}


def supported_by(kind: str) -> tuple[str, ...]:
    """The keys that a producer, or a consumer, of this program can change while it runs."""
    return tuple(key.name for key in _TABLE if kind in key.of)


def check(name: str, value: str) -> None:
    """Raise a ShellError (InvalidRequest, KIP-649) where no client could take this value."""
    key = KEYS.get(name)
    if key is not None:
        _check(key, value)


def _check(key: ClientConfigKey, value: str) -> None:
    if key.choices:
        if value not in key.choices:
            raise _refused(key, value, "one of " + ", ".join(key.choices),
                           did_you_mean(value, key.choices))  # fmt: skip
        return
    number = int(value) if re.fullmatch(r"-?[0-9]{1,10}", value) else None
    if number is None or not key.least <= number <= key.most:
        raise _refused(key, value, f"a whole number from {key.least} to {key.most}")


def _refused(key: ClientConfigKey, value: str, wanted: str, hint: str = "") -> ShellError:
    return ShellError(f"{key.name}={value}: {wanted} is wanted", hint=hint, code="INVALID_REQUEST")
