"""Whether keys change their partition: with more partitions, most of them do. And what becomes of
the state that internal topics contain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs.read import cleanup_policies
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.admin.topics.steps import CreatePartitions
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice
from kafka_shell.base.units import counted

# Brokers find the state of a group or a transactional ID in the partition hash(ID) % partitions,
# with the number of partitions when they started.
_ELSEWHERE = "after the next restart, coordinators do not find the state of most {}: {}"
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
            "open transactions hang, and zombie producers are not fenced",
        ),
    ),
    "__share_group_state": InternalState(
        "the state of all share groups is lost",
        _ELSEWHERE.format("partitions of share groups", "their start offsets are lost"),
    ),
    "__remote_log_metadata": InternalState(
        "brokers no longer find the records in remote storage of any topic",
        "after a restart, brokers cannot use remote storage, because the number of partitions must"
        " equal remote.log.metadata.topic.num.partitions",
    ),
    CONFIGS_TOPIC: InternalState("the dynamic configs of all clients are lost", _READ_IN_ORDER),
    REGISTRATIONS_TOPIC: InternalState("the registrations of all clients are lost", _READ_IN_ORDER),
}


class Facts(Struct, frozen=True):
    """The topics that get more partitions."""

    before: Mapping[str, int]  # partitions by topic
    compacted: frozenset[str] = frozenset()  # as far as the cleanup policies could be read


def read(reads: Reads) -> Facts | None:
    """Read the cleanup policies of the topics that get more partitions."""
    steps = reads.plan.steps
    growths = [growth for step in steps if isinstance(step, CreatePartitions)
               for growth in step.items]  # fmt: skip
    if not growths:
        return None
    before = {growth.name: growth.before for growth in growths}
    ordinary = [topic for topic in before if topic not in INTERNAL_STATE]
    if not ordinary:
        return Facts(before)
    about = f"cleanup.policy of {counted(len(ordinary), 'topic')}"
    policies = reads.attempt(about, lambda: cleanup_policies(reads.cluster, ordinary))
    if policies is None:
        return Facts(before)
    reads.miss("cleanup.policy of", policies.failures.values(), "topic")
    return Facts(before, frozenset(name for name, of in policies.values.items() if "compact" in of))


def say(facts: Facts) -> Advice:
    """Say what becomes of records with the same key, and of the state of Kafka."""
    internal = [
        f"topic {topic}: {state.grown}"
        for topic, state in INTERNAL_STATE.items()
        if topic in facts.before
    ]
    return Advice(warnings=(*internal, *_of_keys(facts)), confirm=bool(internal))


def _of_keys(facts: Facts) -> Iterator[str]:
    ordinary = [topic for topic in facts.before if topic not in INTERNAL_STATE]
    compacted = [topic for topic in ordinary if topic in facts.compacted]
    if compacted:
        yield (
            f"{named_topics(compacted)}: new records of an existing key may go to another"
            " partition, and compaction then never removes the older ones"
        )
    single = [topic for topic in compacted if facts.before[topic] == 1]
    if single:
        yield (
            "config topics of Kafka Connect and topics of schema registries must keep a single"
            f" partition: {named_topics(single)}"
        )
    others = [topic for topic in ordinary if topic not in facts.compacted]
    if others:
        yield (
            f"{named_topics(others)}: new records of an existing key may go to another partition,"
            " so their order is lost across the change"
        )
