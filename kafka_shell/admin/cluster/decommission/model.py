"""How far a broker is decommissioned, and whether it can be."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.cluster.restart.model import Reason, Verdict
from kafka_shell.admin.wire.endpoint import Address

CORDON = "cordoned.log.dirs"  # KIP-1066
DONE, TO_DO, SKIPPED, NOT_CHECKED = "done", "to do", "skipped", "not checked"


class DecommissionStep(Struct, frozen=True):
    """One step: `done`, `to do`, `skipped` (impossible or not needed here) or `not checked`."""

    name: str  # cordon, drain, stop, voter, configs, unregister
    state: str
    detail: str = ""


class Decommission(Struct, frozen=True):
    """How far a broker is decommissioned.

    `verdict` and `reasons` are those of check-restart, for a cluster without this broker: it can be
    decommissioned if the verdict is SAFE or RISKY. `replicas` are assigned to the broker, of which
    `leaving` are being moved to others; `size` is their size in bytes, or None if unknown.
    """

    broker: int
    state: str  # as in Broker; `unknown` if the cluster does not list it
    verdict: Verdict
    reasons: tuple[Reason, ...]
    replicas: int
    leaving: int
    size: int | None
    steps: tuple[DecommissionStep, ...]

    @property
    def possible(self) -> bool:
        """Whether nothing prevents the steps that are left."""
        return self.verdict in (Verdict.SAFE, Verdict.RISKY)

    @property
    def ok(self) -> bool:
        """Whether nothing is left to do."""
        return not any(self.is_left(step.name) for step in self.steps)

    def step(self, name: str) -> DecommissionStep:
        """The step of this name."""
        return next(step for step in self.steps if step.name == name)

    def is_left(self, name: str) -> bool:
        """Whether a step is neither done nor skipped."""
        return self.step(name).state in (TO_DO, NOT_CHECKED)


class BrokerState(Struct, frozen=True):
    """The state of the broker in the cluster.

    `address` is where it listens, if known. `registered` is None if brokers are too old to list
    registrations. `cordoned` is None if its log directories could not be read. `configs` are the
    names of its dynamic configs, None if it does not run. `voter` is whether it is a voter of the
    metadata quorum (None if that was not read), of `voters` in all; `dynamic` whether voters can
    be removed (KIP-853).
    """

    broker: Broker
    address: Address | None = None
    registered: bool | None = None
    kraft: bool = True
    cordoned: bool | None = None
    can_cordon: bool = False
    configs: tuple[str, ...] | None = None
    voter: bool | None = False
    voters: int = 0
    dynamic: bool = True

    @property
    def running(self) -> bool:
        """Whether it is in the metadata, even if it did not respond to a probe."""
        return self.broker.state in ("up", "not responding")
