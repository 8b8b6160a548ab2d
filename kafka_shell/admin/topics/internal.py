"""What becomes of internal topics that are changed, and the names that other systems use."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.client_configs.format import CONFIGS_TOPIC, REGISTRATIONS_TOPIC

# Brokers find the state of a group or a transactional ID in the partition hash(ID) % partitions,
# with the number of partitions when they started.
_ELSEWHERE = "after a restart, brokers look for the state of most {} in another partition: {}"
_READ_IN_ORDER = "kafka.sh and clients require exactly one partition, to read it in order"


class InternalState(Struct, frozen=True):
    """What happens if the topic is deleted, and if it gets more partitions."""

    deleted: str
    grown: str


INTERNAL_STATE = {
    "__consumer_offsets": InternalState(
        "the committed offsets of all groups are lost",
        _ELSEWHERE.format("groups", "their committed offsets are lost"),
    ),
    "__transaction_state": InternalState(
        "the state of all transactional IDs is lost",
        _ELSEWHERE.format(
            "transactional IDs",
            "their open transactions hang, and their old producers are not fenced",
        ),
    ),
    "__share_group_state": InternalState(
        "the state of all share groups is lost",
        _ELSEWHERE.format("partitions of share groups", "their start offsets are lost"),
    ),
    "__remote_log_metadata": InternalState(
        "brokers no longer find the records in remote storage of any topic",
        "after a restart, brokers cannot use remote storage, because the number of partitions must"
        " be that of remote.log.metadata.topic.num.partitions",
    ),
    CONFIGS_TOPIC: InternalState("the dynamic configs of all clients are lost", _READ_IN_ORDER),
    REGISTRATIONS_TOPIC: InternalState("the registrations of all clients are lost", _READ_IN_ORDER),
}

# Topics whose configs and use are decided by Kafka Streams, Kafka Connect, MirrorMaker 2, Schema
# Registry and the like (which begin their names with _).
OF_OTHER_SYSTEMS = (
    r".*-(changelog|repartition)|.*-subscription-(registration|response)-topic"
    r"|(.*[-_.])?connect([-_.].*)?[-_.](configs?|offsets?|status(es)?)"
    r"|mm2-.*|(.*\.)?heartbeats|.*\.checkpoints\.internal|_.*"
)
