"""kafka.sh: the admin shell for Apache Kafka. See README.md.

`Admin` is the client for programs; its models are in `kafka_shell.admin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shell.admin import Admin as Admin

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`Admin`, imported when it is first used."""
    if name != "Admin":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafka_shell.admin import Admin

    return Admin
