"""What a twin copies from its original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.acls.model import AclBinding
from kafka_shell.admin.cluster.model import Feature
from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Broker


class Original(Struct, frozen=True):
    """The metadata of a cluster.

    `release` is its Kafka release (`4.3`). `down` are brokers that have replicas or are registered,
    but are not running. `topics` are the names of those to copy. `users` are the iterations of
    SCRAM credentials by user and mechanism; a twin has random secrets for them. `settings` are
    static broker configs. All other configs are those set on the resources themselves.
    """

    release: str
    brokers: tuple[Broker, ...]
    down: tuple[Broker, ...]
    metadata: MetadataScan
    topics: Sequence[str]
    moving: Mapping[TopicPartition, Reassignment] = field(default_factory=dict)
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)
    acls: Sequence[AclBinding] = ()
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    users: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    features: Sequence[Feature] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
