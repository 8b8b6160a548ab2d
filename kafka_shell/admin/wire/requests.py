"""Requests, their targets, and calls."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, Protocol

from msgspec import Struct

from kafka_shell.admin.wire import frames
from kafka_shell.admin.wire.versions import api_name
from kafka_shell.errors import ShellError

# API keys that change nothing: their requests are sent again if a connection is lost. Other
# requests may have been executed by then.
_READS = frozenset(
    {1, 2, 3, 9, 10, 15, 16, 17, 18, 23, 29, 32, 35, 41, 46, 48, 50, 55, 60, 61, 65, 66, 69}
    | {74, 75, 77, 89, 90}
)


_FIND_COORDINATOR = 10  # the first one creates the internal topic of the coordinators


class CoordinatorKind(IntEnum):
    """Key types of FindCoordinator (API key 10)."""

    GROUP = 0
    TRANSACTION = 1


class AnyBroker(Struct, frozen=True):
    """Any broker. In KRaft, every broker forwards changes to the controller."""

    def __str__(self) -> str:
        return "any broker"


class Controller(Struct, frozen=True):
    """The controller of a ZooKeeper-mode cluster. In KRaft, any broker, as in Metadata."""

    def __str__(self) -> str:
        return "the controller"


class Node(Struct, frozen=True):
    """The broker with this ID."""

    id: int

    def __str__(self) -> str:
        return f"broker {self.id}"


class Coordinator(Struct, frozen=True):
    """The broker that coordinates this group or transactional ID."""

    kind: CoordinatorKind
    key: str

    def __str__(self) -> str:
        what = {0: "group", 1: "transactional ID", 2: "share group"}[self.kind]
        return f"the coordinator of {what} {self.key}"


ANY = AnyBroker()
CONTROLLER = Controller()
Target = AnyBroker | Controller | Node | Coordinator


class Request(Protocol):
    """What a connection can send. `versions` are the lowest and highest supported ones."""

    @property
    def api_key(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def versions(self) -> tuple[int, int]: ...
    @property
    def validates_only(self) -> bool: ...
    def flexible(self, version: int) -> bool: ...
    def encode(self, version: int) -> bytes: ...
    def decode(self, version: int, body: memoryview) -> Any: ...
    def unsupported_field(self, version: int) -> tuple[str, int] | None: ...


class RawRequest(Struct, frozen=True):
    """A request that does not need kafka-python: `body` encodes a version.

    The response is bytes, or the result of `read` for the version and bytes.
    """

    api_key: int
    versions: tuple[int, int]
    body: Callable[[int], bytes]
    flexible_since: int
    read: Callable[[int, bytes], Any] | None = None
    validates_only: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Kafka's name of the API."""
        return api_name(self.api_key)

    def flexible(self, version: int) -> bool:
        """Whether this version has compact strings and tagged fields."""
        return version >= self.flexible_since

    def encode(self, version: int) -> bytes:
        """The body."""
        return self.body(version)

    def decode(self, version: int, body: memoryview) -> Any:
        """The response's body, or the result of `read`."""
        return bytes(body) if self.read is None else self.read(version, bytes(body))

    def unsupported_field(self, version: int) -> tuple[str, int] | None:
        """None: `body` encodes only fields that the version has."""
        return None


class Call(Struct, frozen=True):
    """A request and its target.

    `request` is a kafka-python message or a RawRequest; None only connects, and the result is the
    Link. `lowest` and `highest` limit the versions. `change` says whether it may alter the cluster;
    the default depends on the API key. Without `check`, a response with an error code is a result,
    not an error. `timeout` (seconds) limits this call.
    """

    request: Any
    to: Target = ANY
    lowest: int | None = None
    highest: int | None = None
    change: bool | None = None
    check: bool = True
    timeout: float | None = None

    def versions(self, request: Request) -> tuple[int, int]:
        """The lowest and highest version to use."""
        low, high = request.versions
        if self.lowest is not None:
            low = max(low, self.lowest)
        if self.highest is not None:
            high = min(high, self.highest)
        return low, high

    def changes(self, request: Request) -> bool:
        """Whether it may change the cluster, so that it must not be sent twice."""
        if self.change is not None:
            return self.change
        return request.api_key not in _READS and not request.validates_only


# Seconds. A broker that uses up its timeout still needs time to respond.
_RESPONSE_GRACE_S = 5.0


def response_timeout(timeout_ms: int) -> float:
    """How long the response to a request may take (seconds) if the broker may take `timeout_ms`."""
    return timeout_ms / 1000 + _RESPONSE_GRACE_S


METADATA = RawRequest(frames.METADATA, frames.METADATA_VERSIONS, frames.metadata_body, 9)
"""Metadata without topics: the brokers, the cluster ID and the controller."""

NO_REQUEST = RawRequest(-1, (0, 0), lambda _: b"", 0)


def read_only(api_key: int, _to: object) -> ShellError | None:
    """Refuse every request that may change the cluster, by its API key. A validate-only mode makes
    no difference. See `ConnectionConfig.refuse`."""
    if api_key in _READS and api_key != _FIND_COORDINATOR:
        return None
    return ShellError(
        f"{api_name(api_key)} was not sent: this connection is read-only", code="read-only"
    )


def as_request(request: Any) -> Request:
    """A kafka-python message, a RawRequest or None as a Request."""
    if request is None:
        return NO_REQUEST
    if isinstance(request, RawRequest):
        return request
    from kafka_shell.admin.wire.codec import Message

    return Message(request)
