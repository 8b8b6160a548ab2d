"""Requests that tests of the connection send themselves."""

from __future__ import annotations

import pytest
from kafka.protocol.admin import CreateTopicsRequest, DescribeConfigsRequest

from kafka_shell.base.errors import ShellError
from kafka_shell.wire.cluster import Cluster

_TOPIC = 2  # resource type


def create(name: str, **more: object) -> CreateTopicsRequest:
    topic = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=5000, **more)


def describe(name: str) -> DescribeConfigsRequest:
    kind = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=[kind(resource_type=_TOPIC, resource_name=name, configuration_keys=None)]
    )


def error_of(cluster: Cluster, *args: object, **more: object) -> ShellError:
    """The error that sending this request raises."""
    with pytest.raises(ShellError) as caught:
        cluster.send(*args, **more)  # type: ignore[arg-type]
    return caught.value
