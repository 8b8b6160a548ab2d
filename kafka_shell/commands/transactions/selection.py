"""The partitions and the broker that commands on transactions select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.commands import select
from kafka_shell.common.structs import replace
from kafka_shell.errors import UsageError
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option
from kafka_shell.plan.model import Resource
from kafka_shell.plan.results import Failure

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.wire.connection import Cluster


def broker_of(invocation: Invocation) -> int | None:
    """The ID in --broker-id, or None. Raises UsageError if it is not one ID."""
    text = invocation["broker-id"]
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    raise UsageError(
        f"--broker-id must be one broker ID, got '{text}'",
        code="bad-value",
        span=invocation.span("broker-id"),
    )


def partitions_of(
    invocation: Invocation, cluster: Cluster
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    """The selected partitions, and a failure for each that does not exist."""

    numbers = invocation["partition"]
    if numbers:
        named = invocation["topic"]
        if len(named) != 1 or named[0][1] is not None:
            raise UsageError(
                "--partition requires exactly one topic without partitions",
                hint="For several topics, use orders:0,3-5 payments:1.",
                span=invocation.span("partition"),
            )
        values = {**invocation.values, "topic": ((named[0][0], tuple(numbers)),)}
        invocation = replace(invocation, values=values)
    found = select.partitions(invocation, cluster)
    return select.topic_partitions(found), found.failures


TOPIC_HELP = "Partitions: orders:0,3-5, or orders for all of them"
PARTITION = Option("--partition", kinds.INTEGER, "A partition of the --topic; may be repeated.",
                    many=True, least=0, most=2**31 - 1)  # fmt: skip
BROKER = Option("--broker-id", kinds.BROKER, "Query this broker's replica instead of the"
                 " leader.", metavar="N")  # fmt: skip
