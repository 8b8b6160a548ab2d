"""Assignments of kafka-reassign-partitions --generate, run in the JVM of the tests."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from typing import Any

from kafka_shell.admin.partitions.model import Assignment, Racks, TopicPartition
from tests.support.jvm_tools import java

_COMMAND = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"


def generate(
    assignment: Assignment, brokers: Collection[int], racks: Racks
) -> dict[TopicPartition, tuple[int, ...]]:
    """What Kafka's tool would propose for these partitions on these brokers. As one text each way:
    every element of a Java collection takes several calls."""
    jvm: Any = java()
    rows = [
        {"topic": each.topic, "partition": each.partition, "replicas": replicas}
        for each, replicas in assignment.items()
    ]
    text = json.dumps({"version": 1, "partitions": rows})
    current = _method("parseExecuteAssignmentArgs").invoke(None, _array(jvm, text)).getKey()
    usable = jvm.java.util.ArrayList()
    for broker in sorted(brokers):
        rack = jvm.java.util.Optional.ofNullable(racks.get(broker))
        usable.add(jvm.org.apache.kafka.metadata.placement.UsableBroker(broker, rack, False))
    proposed = _method("calculateAssignment").invoke(None, _array(jvm, current, usable))
    command = jvm.org.apache.kafka.tools.reassign.ReassignPartitionsCommand
    answer = command.formatAsReassignmentJson(proposed, jvm.java.util.HashMap())
    return {
        TopicPartition(each["topic"], each["partition"]): tuple(each["replicas"])
        for each in json.loads(answer)["partitions"]
    }


@cache
def _method(name: str) -> Any:
    """A method of the tool that is not public."""
    methods = java().java.lang.Class.forName(_COMMAND).getDeclaredMethods()
    (method,) = (each for each in methods if each.getName() == name)
    method.setAccessible(True)
    return method


def _array(jvm: Any, *values: Any) -> Any:
    return jvm.java.util.List.of(*values).toArray()
