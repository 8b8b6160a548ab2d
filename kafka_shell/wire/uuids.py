"""UUIDs in Kafka's base64 format: the IDs of topics, log directories and clusters."""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def uuid_of(topic_id: str) -> UUID:
    """The UUID of an ID in Kafka's base64 format."""
    import base64
    from uuid import UUID

    return UUID(bytes=base64.urlsafe_b64decode(topic_id + "=="))


def format_uuid(raw: bytes) -> str:
    """An ID in Kafka's base64 format (22 characters)."""
    return b2a_base64(raw, newline=False).rstrip(b"=").translate(_URL_SAFE).decode()
