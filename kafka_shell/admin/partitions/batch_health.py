"""Whether the cluster is healthy enough for the next batch of a reassignment.

Every broker answers from its own copy of the metadata, which may be old; KRaft controllers do not
answer such requests at all. So each leader is asked about its own topics, as it is the leader that
accepts or refuses acks=all writes. What any of the answers reports counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kafka_shell.admin.partitions.batch_state import Batch
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.min_isr import partitions_below
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan, request, scan
from kafka_shell.admin.wire.requests import Call, Node
from kafka_shell.common.units import counted, some
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure

_MOST_NAMES = 3
_ANSWER_S = 10.0


def below_min_isr(cluster: Cluster, found: MetadataScan) -> frozenset[TopicPartition]:
    """The partitions that acks=all producers cannot write to, as far as leaders respond."""
    return partitions_below(cluster, [found, *_ask(cluster, found)[0]])


def problem(cluster: Cluster, batch: Batch, known: frozenset[TopicPartition]) -> str:
    """Why a batch cannot be started now; empty if it can. `known` are the partitions below
    min.insync.replicas before the reassignment."""
    try:
        found = scan(cluster)
        receiving = set(_receiving(found, batch))
        answers, silent = _ask(cluster, found, receiving)
        below = sorted(partitions_below(cluster, [found, *answers]) - known)
    except ShellError as error:
        return error.message
    running = set.intersection(*({each.id for each in one.brokers} for one in (found, *answers)))
    if down := sorted(receiving - running):
        return f"broker {down[0]} is down"
    if below:
        names = some(below, _MOST_NAMES)
        return f"{counted(len(below), 'partition')} below min.insync.replicas: {names}"
    return silent[0].message if silent else ""


def _ask(
    cluster: Cluster, found: MetadataScan, others: Collection[int] = ()
) -> tuple[Sequence[MetadataScan], Sequence[Failure]]:
    """The metadata that each leader has of its topics, and why brokers did not respond: leaders,
    and others that run."""
    topics = {each.id: list[str]() for each in found.brokers if each.id in others}
    topics |= found.topics_by_leader()
    calls = [Call(request(names), Node(id), timeout=_ANSWER_S) for id, names in topics.items()]
    answers, silent = list[MetadataScan](), list[Failure]()
    for answer in cluster.send_all(calls):
        if isinstance(answer, Failure):
            silent.append(answer)
        else:
            answers.append(answer)
    return answers, silent


def _receiving(found: MetadataScan, batch: Batch) -> Iterator[int]:
    """The brokers that get replicas which they do not have."""
    topics = {name: found.topic(name) for name in {e.topic for e in batch.target} if name in found}
    for each, after in batch.target.items():
        partitions = topics[each.topic].partitions if each.topic in topics else ()
        now = next((p.replicas for p in partitions if p.partition == each.partition), after)
        yield from (broker for broker in after if broker not in now)
