"""Kafka's own planner (kafka-reassign-partitions --generate) in the tests' JVM."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kafka_shell.admin.partitions.model import Assignment, Racks, TopicPartition
from tests.jvm_tools import java

_COMMAND = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


def generate(
    assignment: Assignment, brokers: Collection[int], racks: Racks
) -> dict[TopicPartition, tuple[int, ...]]:
    """What Kafka's tool would propose for these partitions on these brokers."""
    jvm: Any = java()
    current, usable = jvm.java.util.HashMap(), jvm.java.util.ArrayList()
    for each, replicas in assignment.items():
        partition = jvm.org.apache.kafka.common.TopicPartition(each.topic, each.partition)
        current.put(partition, jvm.java.util.ArrayList(jvm.java.util.List.of(*replicas)))
    for broker in sorted(brokers):
        rack = jvm.java.util.Optional.ofNullable(racks.get(broker))
        usable.add(jvm.org.apache.kafka.metadata.placement.UsableBroker(broker, rack, False))
    (method,) = (
        each
        for each in jvm.java.lang.Class.forName(_COMMAND).getDeclaredMethods()
        if each.getName() == "calculateAssignment"
    )
    method.setAccessible(True)
    proposed = method.invoke(None, _array(jvm, current, usable))
    return {
        TopicPartition(each.getKey().topic(), each.getKey().partition()): tuple(each.getValue())
        for each in proposed.entrySet()
    }


def _array(jvm: Any, *values: Any) -> Any:
    return jvm.java.util.List.of(*values).toArray()
