"""The admin client: everything an Apache Kafka cluster lets an administrator read and change.

    from kafka_shell import Admin
    from kafka_shell.admin import NewTopic

    with Admin("broker:9092") as admin:
        plan = admin.topics.plan_create([NewTopic("orders", partitions=3)])
        results = plan.apply()

The models are imported from here when they are first used. Everything else is internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shell.admin.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A public name. All of them are imported when one is first used."""
    public = import_module(".public", __name__)
    if name not in (*public.__all__, "__all__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(public, name)
    return globals()[name]
