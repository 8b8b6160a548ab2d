"""Messages of the newer group protocols (KIP-848, 932, 1071), which kafka-python does not carry."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

_HERE = __package__


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class ShareGroupDescribeRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class ShareGroupDescribeResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class StreamsGroupDescribeRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class StreamsGroupDescribeResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class AlterShareGroupOffsetsRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class AlterShareGroupOffsetsResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class DeleteShareGroupOffsetsRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]


class DeleteShareGroupOffsetsResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg, misc]
