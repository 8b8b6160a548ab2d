"""Kafka's requests: `messages.MetadataRequest`. Each is loaded, with its response, when it is first
used. Those that kafka-python does not have are here, as schemas in Kafka's JSON format.
"""

from __future__ import annotations

from importlib import import_module
from types import new_class
from typing import Any

# Where kafka-python has them, if not in kafka.protocol.admin.
_HOMES = {
    "FetchRequest": "consumer",
    "ListOffsetsRequest": "consumer",
    "OffsetCommitRequest": "consumer",
    "OffsetDeleteRequest": "consumer",
    "OffsetFetchRequest": "consumer",
    "LeaveGroupRequest": "consumer.group",
    "ApiVersionsRequest": "metadata",
    "FindCoordinatorRequest": "metadata",
    "MetadataRequest": "metadata",
    "InitProducerIdRequest": "producer",
    "ProduceRequest": "producer",
    "WriteTxnMarkersRequest": "producer",
}
_responses: list[Any] = []  # kafka-python refers to them weakly


def __getattr__(name: str) -> Any:
    """The class of a request."""
    if not name.endswith("Request"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"kafka.protocol.{_HOMES.get(name, 'admin')}")
    message = getattr(home, name, None) or _load(name)
    globals()[name] = message
    return message


def _load(name: str) -> Any:
    """The class of a request that is here. That of its response is registered in kafka-python."""
    from kafka.protocol.api_message import ApiMessage

    names = (f"{name.removesuffix('Request')}Response", name)
    response, request = (
        new_class(name_, (ApiMessage,), {"load_json": __package__}) for name_ in names
    )
    _responses.append(response)
    return request
