"""Dynamic configs of clients (KIP-649): whom they bind, what is set, what clients support."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_shell.admin.quotas.model import ANY_NAME, AnyName, Default
from kafka_shell.plan.model import Resource
from kafka_shell.quoting import quote


@dataclass(frozen=True, slots=True, order=True)
class ClientEntity:
    """A user's client id, or, where `client_id` is None, the default of all the user's clients.

    There is always a user: no user may change what binds another's programs (KIP-649).
    """

    user: str
    client_id: str | None = None

    @property
    def resource(self) -> Resource:
        """What a change of its configs is about: `client-config user alice client-id app`."""
        return Resource("client-config", str(self))

    @property
    def order(self) -> tuple[str, bool, str]:
        """A key to sort by: a user before its client ids."""
        return self.user, self.client_id is not None, self.client_id or ""

    def __str__(self) -> str:
        of = f" client-id {quote(self.client_id)}" if self.client_id is not None else ""
        return f"user {quote(self.user)}{of}"


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """One config of one entity, as an administrator set it. `value` is the text of a properties
    file."""

    entity: ClientEntity
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class ClientConfigAlteration:
    """One config to set, or to remove where `value` is None."""

    entity: ClientEntity
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ClientRegistration:
    """The configs that one version of a client software can change while it runs.

    `at` is when a client of this version last said so (epoch milliseconds).
    """

    entity: ClientEntity
    software_name: str
    software_version: str
    supported: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ClientConfigFilter:
    """Which entities to describe. `user` is a name or ANY_NAME; DEFAULT is refused: there is none.

    `client_id` is a name, DEFAULT (the user's own default), ANY_NAME (every client id), or None,
    which does not ask; then `strict` leaves the client ids out.
    """

    user: str | Default | AnyName | None = ANY_NAME
    client_id: str | Default | AnyName | None = None
    strict: bool = False

    def takes(self, entity: ClientEntity) -> bool:
        """Whether the entity passes."""
        if isinstance(self.user, str) and entity.user != self.user:
            return False
        if self.client_id is None:
            return entity.client_id is None or not self.strict
        if isinstance(self.client_id, Default):
            return entity.client_id is None
        if isinstance(self.client_id, AnyName):
            return entity.client_id is not None
        return entity.client_id == self.client_id
