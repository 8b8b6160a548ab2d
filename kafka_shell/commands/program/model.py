"""The sandbox, as `sandbox status` tells of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """A Kafka on this machine. `state` is up, down, or none; `clients` are .properties files.

    `topics` are those on the `stand_in_brokers`, which have no process.
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
