"""The state of the sandbox, as `sandbox status` shows it."""

from __future__ import annotations

from msgspec import Struct


class SandboxReport(Struct, frozen=True):
    """A Kafka cluster on this machine. `state`: up, down or none; `clients`: .properties files.

    `topics` counts those on the `stand_in_brokers`, which have no process.
    """

    state: str
    folder: str
    bootstrap: str = ""
    kafka_version: str = ""
    brokers: int = 0
    stand_in_brokers: int | None = None
    topics: int | None = None
    secure: bool = False
    logs: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
