"""One broker: what it has, and what is set for it."""

from __future__ import annotations

from dataclasses import dataclass

from .configs import ConfigEntry
from .partitions import LogDirUse
from .results import Failure
from .topics import Broker


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """A broker with its replicas, log directories and the configs that are not as by default.

    `preferred` counts the partitions of which it is the preferred leader, `out_of_sync` its
    replicas that are not in sync. `quorum_role` is leader, voter or observer of the metadata
    quorum, or empty. What could not be read is in `not_read`.
    """

    broker: Broker
    quorum_role: str
    leaders: int
    preferred: int
    replicas: int
    out_of_sync: int
    log_dirs: tuple[LogDirUse, ...] = ()
    configs: tuple[ConfigEntry, ...] = ()
    not_read: tuple[tuple[str, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all of it could be read."""
        return not self.not_read
