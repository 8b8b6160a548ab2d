"""The configs that a running client can change: their checks, and when they take effect.

Names are Kafka's; kafka-python spells them with `_`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.units import ConfigType

SESSION, HEARTBEAT, ACKS = "session.timeout.ms", "heartbeat.interval.ms", "acks"
_MOST = 2**31 - 1


class ClientConfigKey(Struct, frozen=True):
    """One key. `of` are the clients that have it; `takes_effect` says when a new value applies."""

    name: str
    type: ConfigType
    of: tuple[str, ...]  # producer, consumer
    about: str
    takes_effect: str
    choices: tuple[str, ...] = ()
    least: int = 0


_PRODUCER, _CONSUMER, _BOTH = ("producer",), ("consumer",), ("producer", "consumer")
_NEXT_BATCH = "with the next batch"
_NEXT_FETCH = "with the next fetch"
_NEXT_REQUEST = "with the next request"
_NEXT_JOIN = "when the member has rejoined its group, which causes a rebalance"
_AT_ONCE = "immediately"

_TABLE = (
    ClientConfigKey(
        ACKS, ConfigType.STRING, _PRODUCER,
        "The acknowledgments that a record requires: all in-sync replicas (all or -1), 1, or 0."
        " A producer with idempotence or transactions always uses all.",
        "with the next request to a broker", choices=("all", "-1", "0", "1"),
    ),
    ClientConfigKey(
        "linger.ms", ConfigType.INT, _PRODUCER,
        "How long a batch waits for more records before it is sent."
        " linger.ms plus request.timeout.ms must not exceed delivery.timeout.ms.",
        "immediately, even for waiting batches",
    ),
    ClientConfigKey(
        "batch.size", ConfigType.INT, _PRODUCER,
        "The maximum size of a batch; 0 disables batching.", _NEXT_BATCH,
    ),
    ClientConfigKey(
        "compression.type", ConfigType.STRING, _PRODUCER,
        "The compression of batches. A client without the codec's library ignores it.",
        _NEXT_BATCH, choices=("none", "gzip", "snappy", "lz4", "zstd"),
    ),
    ClientConfigKey(
        "max.request.size", ConfigType.INT, _PRODUCER,
        "The maximum size of a record and of a request.", "with the next record", least=1,
    ),
    ClientConfigKey(
        "delivery.timeout.ms", ConfigType.INT, _PRODUCER,
        "How long sending a record is retried before it fails."
        " At least linger.ms plus request.timeout.ms.",
        "immediately, even for waiting batches", least=1,
    ),
    ClientConfigKey(
        "retries", ConfigType.INT, _PRODUCER,
        "The maximum number of retries of a batch. Above 0 with idempotence or transactions.",
        "with the next failure",
    ),
    ClientConfigKey(
        "max.block.ms", ConfigType.LONG, _PRODUCER,
        "How long a send waits for the metadata of its topic.", "with the next send",
    ),
    ClientConfigKey(
        SESSION, ConfigType.INT, _CONSUMER,
        "How long the coordinator waits for a heartbeat before it reassigns the member's"
        " partitions. Within group.min.session.timeout.ms and group.max.session.timeout.ms of the"
        " brokers.",
        _NEXT_JOIN, least=1,
    ),
    ClientConfigKey(
        HEARTBEAT, ConfigType.INT, _CONSUMER,
        "How often a member sends a heartbeat to the coordinator. Below session.timeout.ms, so"
        " raise that first.",
        _AT_ONCE, least=1,
    ),
    ClientConfigKey(
        "max.poll.interval.ms", ConfigType.INT, _CONSUMER,
        "The maximum time between two polls before the member leaves the group, and how long a"
        " rebalance waits for it.",
        _NEXT_JOIN, least=1,
    ),
    ClientConfigKey(
        "max.poll.records", ConfigType.INT, _CONSUMER, "The maximum number of records of a poll.",
        "with the next poll", least=1,
    ),
    ClientConfigKey(
        "auto.commit.interval.ms", ConfigType.INT, _CONSUMER,
        "How often offsets are committed if enable.auto.commit is set.",
        "with the next poll", least=1,
    ),
    ClientConfigKey(
        "fetch.max.wait.ms", ConfigType.INT, _CONSUMER,
        "How long a broker may wait for fetch.min.bytes. Below request.timeout.ms.",
        _NEXT_FETCH,
    ),
    ClientConfigKey(
        "fetch.min.bytes", ConfigType.INT, _CONSUMER,
        "The minimum size of a fetch response.", _NEXT_FETCH,
    ),
    ClientConfigKey(
        "fetch.max.bytes", ConfigType.INT, _CONSUMER, "The maximum size of a fetch response.",
        _NEXT_FETCH,
    ),
    ClientConfigKey(
        "max.partition.fetch.bytes", ConfigType.INT, _CONSUMER,
        "The maximum size of a partition's part of a fetch response.", _NEXT_FETCH,
    ),
    ClientConfigKey(
        "request.timeout.ms", ConfigType.INT, _BOTH, "How long to wait for a response.",
        _NEXT_REQUEST, least=1,
    ),
    ClientConfigKey(
        "retry.backoff.ms", ConfigType.LONG, _BOTH,
        "How long to wait before a retry.", "with the next failure",
    ),
    ClientConfigKey(
        "metadata.max.age.ms", ConfigType.LONG, _BOTH,
        "The maximum age of metadata; also the interval at which dynamic configs are checked.",
        _AT_ONCE, least=1_000,
    ),
)  # fmt: skip
KEYS: dict[str, ClientConfigKey] = {key.name: key for key in _TABLE}


def supported_by(kind: str) -> tuple[str, ...]:
    """The keys that a running producer, or consumer, of this program can change."""
    return tuple(key.name for key in _TABLE if kind in key.of)


def check(name: str, value: str) -> None:
    """Raise a ShellError (InvalidRequest, KIP-649) if no client accepts this value."""
    key = KEYS.get(name)
    if key is None:
        return
    if key.choices:
        if value not in key.choices:
            raise _refused(key, value, "one of " + ", ".join(key.choices),
                           did_you_mean(value, key.choices))  # fmt: skip
        return
    number = int(value) if re.fullmatch(r"-?[0-9]{1,10}", value) else None
    if number is None or not key.least <= number <= _MOST:
        raise _refused(key, value, f"an integer from {key.least} to {_MOST}")


def _refused(key: ClientConfigKey, value: str, wanted: str, hint: str = "") -> ShellError:
    return ShellError(
        f"{key.name} must be {wanted}, got {value!r}", hint=hint, code="INVALID_REQUEST"
    )
