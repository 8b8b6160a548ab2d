"""New topics as requests, and the defaults of a cluster for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.requests import CONTROLLER
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError

DEFAULT_TIMEOUT_MS = 30_000
_ASKED = 20  # topics of which the controller is asked for the defaults


def with_defaults(cluster: Cluster, topics: Sequence[NewTopic]) -> list[NewTopic]:
    """The topics with the cluster's default number of partitions and replication factor, where a
    topic has none and the controller reports them (CreateTopics, validated only; Kafka 2.4). If it
    refuses the topics, because they exist, a broker's configs are read."""
    incomplete = [new for new in topics if has_default(new)][:_ASKED]
    if not incomplete:
        return list(topics)
    from kafka.protocol.admin import CreateTopicsRequest

    request = CreateTopicsRequest(
        topics=[creatable(CreateTopicsRequest, NewTopic(new.name)) for new in incomplete],
        timeout_ms=DEFAULT_TIMEOUT_MS,
        validate_only=True,
    )
    try:
        rows = cluster.send(request, to=CONTROLLER, lowest=5).topics
    except ShellError as error:
        if error.code == "deadline":  # as what follows would
            raise
        return list(topics)  # the defaults apply anyway, and the plan says so
    accepted = [row for row in rows if not row.error_code and row.num_partitions > 0]
    if accepted:
        count, factor = accepted[0].num_partitions, accepted[0].replication_factor
    else:
        try:
            count, factor = _configured(cluster)
        except ShellError:
            return list(topics)
    return [
        replace(
            new,
            partitions=new.partitions or count,
            replication_factor=new.replication_factor or factor,
        )
        if has_default(new)
        else new
        for new in topics
    ]


def _configured(cluster: Cluster) -> tuple[int, int]:
    """The defaults in the configs of a broker. Raises ShellError."""
    from kafka_shell.admin.configs.known import of_some_broker

    keys = ("num.partitions", "default.replication.factor")
    found = of_some_broker(cluster, keys)
    values = [found[key].value if key in found else None for key in keys]
    if not all(value and value.isdecimal() for value in values):
        raise ShellError("the broker does not report the defaults of new topics", code="UNKNOWN")
    return int(values[0] or 0), int(values[1] or 0)


def has_default(new: NewTopic) -> bool:
    """Whether the cluster decides on the number of partitions or the replication factor."""
    return not new.assignment and None in (new.partitions, new.replication_factor)


def creatable(request: Any, new: NewTopic) -> Any:
    """A topic of a CreateTopics request."""
    kind = request.CreatableTopic
    return kind(
        name=new.name,
        num_partitions=-1 if new.partitions is None else new.partitions,
        replication_factor=-1 if new.replication_factor is None else new.replication_factor,
        assignments=[
            kind.CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in enumerate(new.assignment)
        ],
        configs=[kind.CreatableTopicConfig(name=key, value=value) for key, value in new.configs],
    )
