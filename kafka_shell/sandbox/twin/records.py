"""Records of the metadata log of KRaft (`__cluster_metadata`), as Kafka 3.9 and later read them.

Each function returns the value of one record: a frame version, the type, the version of the record,
and its fields in the flexible format. The schemas are in Kafka's `common/metadata/*.json`.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kafka_shell.admin.acls.model import AclBinding
from kafka_shell.admin.cluster.model import Feature
from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.quotas.model import Default, QuotaEntity
from kafka_shell.admin.records.encode import encode_batch
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.files import open_private, private_folder
from kafka_shell.wire.frames import varint
from kafka_shell.wire.model import Partition

_FRAME = 1
_END = b"\0"  # no tagged fields
_PLAINTEXT = 0  # ID of the security protocol
_SECRET_BYTES = {ScramMechanism.SCRAM_SHA_256: 32, ScramMechanism.SCRAM_SHA_512: 64}
_THREE_INT32 = struct.Struct(">iii").pack


def stable_id(*parts: object) -> bytes:
    """An ID of 16 bytes that is always the same for the same parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()[:16]


def feature_level(name: str, level: int) -> bytes:
    """FeatureLevelRecord. That of metadata.version must be the first record."""
    return _head(12, 0) + _string(name) + struct.pack(">h", level) + _END


def broker(
    id: int,
    epoch: int,
    port: int,
    rack: str | None,
    features: Iterable[Feature],
    *,
    directory: bytes,
    fenced: bool,
) -> bytes:
    """RegisterBrokerRecord of a broker at this port of this machine, with one log directory."""
    endpoint = (
        _string("PLAINTEXT") + _string("127.0.0.1") + struct.pack(">Hh", port, _PLAINTEXT) + _END
    )
    supported = [
        _string(feature.name) + struct.pack(">hh", feature.lowest, feature.highest) + _END
        for feature in features
    ]
    directories = b"\x02" + directory
    return b"".join(
        (
            _head(0, 3),
            struct.pack(">i", id),
            b"\0",  # not migrating from ZooKeeper
            stable_id("broker", id),
            struct.pack(">q", epoch),
            _array([endpoint]),
            _array(supported),
            _nullable(rack),
            bytes([fenced]),
            b"\0",  # not in controlled shutdown
            b"\x01\x00" + varint(len(directories)) + directories,
        )
    )


def topic(name: str, id: bytes) -> bytes:
    """TopicRecord."""
    return _head(2, 0) + _string(name) + id + _END


def partition(
    topic_id: bytes,
    row: Partition,
    directories: Mapping[int, bytes],
    adding: Sequence[int] = (),
    removing: Sequence[int] = (),
) -> bytes:
    """PartitionRecord. `directories` is the log directory of each broker."""
    leader = -1 if row.leader is None else row.leader
    return b"".join(
        (
            _PARTITION,
            row.partition.to_bytes(4, "big"),
            topic_id,
            _brokers(row.replicas),
            _brokers(row.isr),
            _brokers(removing),
            _brokers(adding),
            _THREE_INT32(leader, row.leader_epoch, row.leader_epoch),
            varint(len(row.replicas) + 1),
            *[directories[id] for id in row.replicas],
            _END,
        )
    )


def config(resource: ConfigResource, key: str, value: str) -> bytes:
    """ConfigRecord."""
    kind = struct.pack(">b", resource.type)
    return _head(4, 0) + kind + _string(resource.name) + _string(key) + _string(value) + _END


def acl(binding: AclBinding) -> bytes:
    """AccessControlEntryRecord."""
    return b"".join(
        (
            _head(18, 0),
            stable_id("acl", *binding.order),
            bytes([binding.resource_type]),
            _string(binding.name),
            bytes([binding.pattern_type]),
            _string(binding.principal),
            _string(binding.host),
            bytes([binding.operation, binding.permission]),
            _END,
        )
    )


def quota(entity: QuotaEntity, key: str, value: float) -> bytes:
    """ClientQuotaRecord."""
    parts = [
        _string(kind) + _nullable(None if isinstance(name, Default) else name) + _END
        for kind, name in entity.parts
    ]
    return _head(14, 0) + _array(parts) + _string(key) + struct.pack(">d", value) + b"\0" + _END


def scram(user: str, mechanism: ScramMechanism, iterations: int) -> bytes:
    """UserScramCredentialRecord with keys that no password has."""
    size = _SECRET_BYTES[mechanism]
    key = hashlib.shake_256(stable_id("scram", user, mechanism)).digest(size)
    return b"".join(
        (
            _head(11, 0),
            _string(user),
            bytes([mechanism]),
            _bytes(key[:16]),
            _bytes(key),
            _bytes(key),
            struct.pack(">i", iterations),
            _END,
        )
    )


# -- types -----------------------------------------------------------------------------------------


def _head(kind: int, version: int) -> bytes:
    return varint(_FRAME) + varint(kind) + varint(version)


def _bytes(raw: bytes) -> bytes:
    return varint(len(raw) + 1) + raw


def _string(text: str) -> bytes:
    return _bytes(text.encode())


def _nullable(text: str | None) -> bytes:
    return b"\0" if text is None else _string(text)


def _array(items: Sequence[bytes]) -> bytes:
    return varint(len(items) + 1) + b"".join(items)


def _brokers(ids: Sequence[int]) -> bytes:
    return varint(len(ids) + 1) + struct.pack(f">{len(ids)}i", *ids)


_PARTITION = _head(3, 1)


# A snapshot of the metadata log, which a controller loads when it starts (KIP-630).

EPOCH = 1
_BATCH_BYTES = 256 << 10
_HEADER, _FOOTER = 3, 4  # types of control records
_OFFSET = struct.Struct(">q").pack
_TIME = 0  # of all records, so that the same metadata is the same snapshot


def write_snapshot(log_dir: Path, records: Iterable[bytes]) -> None:
    """Write the records as the snapshot of the metadata log in this log directory."""
    folder = private_folder(log_dir / "__cluster_metadata-0")
    unfinished = folder / "snapshot.part"
    end = 0
    with open_private(unfinished, "wb") as file:
        for batch, count in _batches(records):
            file.write(_OFFSET(end) + batch[8:])
            end += count
    unfinished.rename(folder / f"{end:020d}-{EPOCH:010d}.checkpoint")


def _batches(records: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """The batches, each with its number of records; their base offsets are not set."""
    yield _control(_HEADER, struct.pack(">hqb", 0, _TIME, 0)), 1
    waiting: list[NewRecord] = []
    size = 0
    for value in records:
        waiting.append(NewRecord(None, value))
        size += len(value)
        if size > _BATCH_BYTES:
            yield encode_batch(waiting, now=_TIME), len(waiting)
            waiting, size = [], 0
    if waiting:
        yield encode_batch(waiting, now=_TIME), len(waiting)
    yield _control(_FOOTER, struct.pack(">hb", 0, 0)), 1


def _control(kind: int, message: bytes) -> bytes:
    record = NewRecord(struct.pack(">hh", 0, kind), message)
    return encode_batch([record], now=_TIME, control=True)
