"""Messages of the newer group protocols (KIP-848, 932, 1071)."""

from __future__ import annotations

from kafka_shell.wire.schemas import load

ConsumerGroupDescribeRequest = load("ConsumerGroupDescribe")
ShareGroupDescribeRequest = load("ShareGroupDescribe")
StreamsGroupDescribeRequest = load("StreamsGroupDescribe")
DescribeShareGroupOffsetsRequest = load("DescribeShareGroupOffsets")
AlterShareGroupOffsetsRequest = load("AlterShareGroupOffsets")
DeleteShareGroupOffsetsRequest = load("DeleteShareGroupOffsets")
