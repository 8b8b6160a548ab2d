"""Client quotas (KIP-13, 124, 546, 599, 612)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import force_setattr

from kafka_shell.base.plans import Resource
from kafka_shell.base.text import quote


class Default(Struct, frozen=True):
    """The default of an entity type. Not a name: a user can be called `<default>`."""

    default: bool = True

    def __str__(self) -> str:
        return "default"


class AnyName(Struct, frozen=True):
    """In a filter: all names of an entity type, and its default."""


DEFAULT: Final = Default()
ANY_NAME: Final = AnyName()


class QuotaEntity(Struct, frozen=True):
    """A quota entity: a user, a client ID, a client ID of a user, or an IP address.

    Each part is a name, DEFAULT, or None if the entity does not have it.
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
        """The resource of its quotas: `user alice client-id app`, `user-default`.

        Names are quoted as in a shell, so that the text is unambiguous.
        """
        words = [word for kind, name in self.parts for word in _words(kind, name)]
        return Resource(words[0] if words else "", " ".join(words[1:]))

    @property
    def order(self) -> tuple[tuple[int, str], ...]:
        """The sort key: the default before names, a user before its client IDs."""
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


class QuotaFilter(Struct, frozen=True):
    """Which entities to describe. None ignores a part, ANY_NAME matches all names.

    `strict` leaves out entities that have a part the filter ignores. An IP address cannot be
    combined with a user or client ID.
    """

    user: str | Default | AnyName | None = None
    client_id: str | Default | AnyName | None = None
    ip: str | Default | AnyName | None = None
    strict: bool = False

    @staticmethod
    def exactly(entity: QuotaEntity) -> QuotaFilter:
        """The filter that matches only this entity."""
        return QuotaFilter(entity.user, entity.client_id, entity.ip, strict=True)


class QuotaSource(Enum):
    """The source of a quota, spelled as in KIP-248; those of IP addresses are newer (KIP-612)."""

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

    @staticmethod
    def of(entity: QuotaEntity) -> QuotaSource:
        """The source of the quotas of this entity."""
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
ENTITY_FIELDS: Final = {"users": "user", "clients": "client_id", "ips": "ip"}
"""Entity type of Kafka's tools -> field of QuotaEntity."""


class Quota(Struct, frozen=True):
    """One limit of one entity.

    `producer_byte_rate` and `consumer_byte_rate` are bytes per second and broker,
    `request_percentage` is of one thread's time, `controller_mutation_rate` partitions per second,
    `connection_creation_rate` connections per second.
    """

    entity: QuotaEntity
    key: str
    value: float
    source: QuotaSource = cast("QuotaSource", None)  # follows from the entity

    def __post_init__(self) -> None:
        force_setattr(self, "source", QuotaSource.of(self.entity))


class QuotaHolder(Struct, frozen=True):
    """An entity with its own quota keys, and the number of entities below it that have quotas.

    The children of a user are its client IDs; those of a client ID are its users.
    """

    entity: QuotaEntity
    keys: tuple[str, ...]
    children: int = 0


class QuotaLevel(Struct, frozen=True):
    """One level at which a broker looks for a quota, and the value set there."""

    source: QuotaSource
    entity: QuotaEntity
    value: float | None


class QuotaResolution(Struct, frozen=True):
    """The level that decides one limit: the first with a value. None: unlimited."""

    key: str
    value: float | None
    source: QuotaSource | None
    entity: QuotaEntity | None
    levels: tuple[QuotaLevel, ...]


class EffectiveQuotas(Struct, frozen=True):
    """The effective quotas of a client. A part that is None is a name that no quota has.

    The empty client ID is Kafka's "none": quotas of client IDs do not apply to it.
    """

    user: str | None
    client_id: str | None
    ip: str | None
    resolutions: tuple[QuotaResolution, ...]


class QuotaAlteration(Struct, frozen=True):
    """One limit to set, or to remove if `value` is None."""

    entity: QuotaEntity
    key: str
    value: float | None
