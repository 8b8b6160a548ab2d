"""Messages that kafka-python does not have: their schemas, in Kafka's JSON format.

`from kafka_shell.wire.schemas import AddRaftVoterRequest` loads it with its response.
"""

from __future__ import annotations

from functools import cache
from types import new_class
from typing import Any

_responses: list[Any] = []  # kafka-python refers to them weakly


def __getattr__(name: str) -> Any:
    """The request class of an API."""
    if not name.endswith("Request"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _load(name.removesuffix("Request"))


@cache
def _load(api: str) -> Any:
    """The request class of an API. Its response class is registered in kafka-python."""
    from kafka.protocol.api_message import ApiMessage

    response, request = (
        new_class(f"{api}{kind}", (ApiMessage,), {"load_json": __package__})
        for kind in ("Response", "Request")
    )
    _responses.append(response)
    return request
