"""What throttles replaced, remembered until it is put back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.plan.model import Resource

from .throttle_configs import RATES, Config, entries

_NOT_KNOWN = "what stood there before is not known, and is not put back"


@dataclass(frozen=True, slots=True)
class Setting:
    """One config that a move sets, and what is put back at its end (None: nothing).

    `now` is what it replaces: where another move is throttled already, that is not what stood there
    before. That may not be `known`, as the other move is somebody else's. `throttle_id` is of
    the throttle that it is part of.
    """

    resource: ConfigResource
    key: str
    before: str | None
    value: str
    now: str | None = None
    known: bool = True
    throttle_id: str = ""

    @property
    def config(self) -> Config:
        """Which config it is."""
        return self.resource, self.key

    @property
    def own(self) -> frozenset[str]:
        """Of throttled replicas: the entries that moves have added to those from before."""
        return frozenset(entries(self.value)) - frozenset(entries(self.before))

    @property
    def earlier(self) -> str:
        """The rate of another throttle that it replaces; empty where there was none."""
        return "" if self.now in (None, self.before, self.value) else str(self.now)

    @property
    def is_missed(self) -> bool:
        """Whether it is a rate that is not to be gone at the end."""
        return self.key in RATES and self.known and self.before is not None

    @property
    def note(self) -> str:
        """What there is to say of it."""
        return "" if self.known else _NOT_KNOWN

    @property
    def about(self) -> Resource:
        """What its changes are about: `throttle broker 1`."""
        return Resource("throttle", str(self.resource))


# What moves have set of each config and nobody has put back yet.
Recorded = Mapping[Config, Setting]
NOTHING: Recorded = MappingProxyType({})


class Ledger:
    """What a shell's throttles replaced. This one remembers nothing: for programs that wait for
    what they start."""

    def read(self) -> Recorded:
        """What is not put back yet."""
        return NOTHING

    def keep(self, settings: Iterable[Setting]) -> None:
        """Remember what is about to be set, instead of what was remembered of the same configs.
        Raises ShellError where that cannot be."""

    def forget(self, settings: Iterable[Setting]) -> None:
        """It is put back."""


FORGETFUL = Ledger()


def by_config(settings: Iterable[Setting]) -> Recorded:
    """The last of these of each config."""
    return {each.config: each for each in settings}
