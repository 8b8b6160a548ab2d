"""Clients and users: quotas (KIP-13, 124, 546, 599, 612) and SCRAM credentials (KIP-554)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from kafka_shell.plan.model import Resource
from kafka_shell.quoting import quote


@dataclass(frozen=True, slots=True)
class Default:
    """The default of an entity type. Not a name: a user may well be called `<default>`."""

    default: bool = True

    def __str__(self) -> str:
        return "default"


@dataclass(frozen=True, slots=True)
class AnyName:
    """In a filter: every name of an entity type, and its default."""


DEFAULT: Final = Default()
ANY_NAME: Final = AnyName()


@dataclass(frozen=True, slots=True)
class QuotaEntity:
    """Whom a quota binds: a user, a client id, a client id of a user, or an ip.

    Each is a name, DEFAULT, or None where the entity does not speak of it.
    """

    user: str | Default | None = None
    client_id: str | Default | None = None
    ip: str | Default | None = None

    @property
    def parts(self) -> tuple[tuple[str, str | Default], ...]:
        """(Kafka's entity type, name or DEFAULT) of each part, in Kafka's order."""
        pairs = (("user", self.user), ("client-id", self.client_id), ("ip", self.ip))
        return tuple((kind, name) for kind, name in pairs if name is not None)

    @property
    def resource(self) -> Resource:
        """What a change of its quotas is about: `user alice client-id app`, `user-default`.

        Read as words (names that are none are quoted as a shell does) it names one entity only.
        """
        words = [word for kind, name in self.parts for word in _words(kind, name)]
        return Resource(words[0] if words else "", " ".join(words[1:]))

    @property
    def order(self) -> tuple[tuple[int, str], ...]:
        """A key to sort by: the default before its names, a user before its client ids."""
        return tuple(map(_rank, (self.ip, self.user, self.client_id)))

    def __str__(self) -> str:
        return str(self.resource)


def _words(kind: str, name: str | Default) -> Iterator[str]:
    if isinstance(name, Default):
        yield f"{kind}-default"
    else:
        yield kind
        yield quote(name)


def _rank(name: str | Default | None) -> tuple[int, str]:
    if name is None:
        return 0, ""
    return (1, "") if isinstance(name, Default) else (2, name)


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """Which entities to describe. None does not ask about a part, ANY_NAME takes all of it.

    `strict` leaves out the entities that have a part the filter does not ask about. An ip cannot be
    asked about together with a user or client id.
    """

    user: str | Default | AnyName | None = None
    client_id: str | Default | AnyName | None = None
    ip: str | Default | AnyName | None = None
    strict: bool = False

    @staticmethod
    def exactly(entity: QuotaEntity) -> QuotaFilter:
        """The filter that only this entity passes."""
        return QuotaFilter(entity.user, entity.client_id, entity.ip, strict=True)


class QuotaSource(Enum):
    """Whose a quota is, by KIP-248's own strings; the two of ips came later (KIP-612)."""

    CLIENT_OF_USER = "Client of user"
    DEFAULT_CLIENT_OF_USER = "Default client of user"
    USER = "User"
    CLIENT_OF_DEFAULT_USER = "Client of default user"
    DEFAULT_CLIENT_OF_DEFAULT_USER = "Default client of default user"
    DEFAULT_USER = "Default user"
    CLIENT = "Client"
    DEFAULT_CLIENT = "Default client"
    IP = "Ip"
    DEFAULT_IP = "Default ip"

    @property
    def label(self) -> str:
        """As KIP-248 spells it."""
        return self.value

    @staticmethod
    def of(entity: QuotaEntity) -> QuotaSource:
        """The source that a quota of this entity is."""
        names = entity.client_id, entity.user, entity.ip
        words = [
            ("default " if isinstance(name, Default) else "") + kind
            for kind, name in zip(("client", "user", "ip"), names, strict=True)
            if name is not None
        ]
        return QuotaSource(" of ".join(words).capitalize())


BYTE_RATES: Final = ("producer_byte_rate", "consumer_byte_rate")
CLIENT_QUOTAS: Final = (*BYTE_RATES, "request_percentage", "controller_mutation_rate")
IP_QUOTAS: Final = ("connection_creation_rate",)


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit of one entity.

    `producer_byte_rate` and `consumer_byte_rate` are bytes per second and broker,
    `request_percentage` is of one thread's time, `controller_mutation_rate` partitions per second,
    `connection_creation_rate` connections per second.
    """

    entity: QuotaEntity
    key: str
    value: float
    source: QuotaSource = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", QuotaSource.of(self.entity))


@dataclass(frozen=True, slots=True)
class QuotaHolder:
    """Who has quotas: its own keys, and how many entities below it have some.

    The children of a user are its client ids; those of a client id, the users that have it.
    """

    entity: QuotaEntity
    keys: tuple[str, ...]
    children: int = 0


@dataclass(frozen=True, slots=True)
class QuotaLevel:
    """One level of the ladder that a broker climbs down, and what is set there."""

    source: QuotaSource
    entity: QuotaEntity
    value: float | None


@dataclass(frozen=True, slots=True)
class QuotaResolution:
    """Which level decides one limit: the first that holds a value. None: nothing limits it."""

    key: str
    value: float | None
    source: QuotaSource | None
    entity: QuotaEntity | None
    levels: tuple[QuotaLevel, ...]


@dataclass(frozen=True, slots=True)
class QuotaLadder:
    """What holds for a client. A part that is None is one that no quota names.

    The empty client id is Kafka's "none": no quota of client ids binds it.
    """

    user: str | None
    client_id: str | None
    ip: str | None
    resolutions: tuple[QuotaResolution, ...]


@dataclass(frozen=True, slots=True)
class QuotaAlteration:
    """One limit to set, or to remove where `value` is None."""

    entity: QuotaEntity
    key: str
    value: float | None
