"""Dynamic configs of clients (KIP-649): entities, configs, and what clients support."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.quotas.model import ANY_NAME, AnyName, Default
from kafka_shell.common.quoting import quote
from kafka_shell.plan.model import Resource


class ClientEntity(Struct, frozen=True, order=True):
    """A client ID of a user, or, if `client_id` is None, the default of all clients of the user.

    There is always a user, as no user may change the configs of another user's clients (KIP-649).
    """

    user: str
    client_id: str | None = None

    @property
    def resource(self) -> Resource:
        """The resource of its configs: `client-config user alice client-id app`."""
        return Resource("client-config", str(self))

    @property
    def order(self) -> tuple[str, bool, str]:
        """The sort key: a user before its client IDs."""
        return self.user, self.client_id is not None, self.client_id or ""

    def __str__(self) -> str:
        of = f" client-id {quote(self.client_id)}" if self.client_id is not None else ""
        return f"user {quote(self.user)}{of}"


class ClientConfig(Struct, frozen=True):
    """One config of one entity. `value` is text as in a properties file."""

    entity: ClientEntity
    key: str
    value: str


class ClientConfigAlteration(Struct, frozen=True):
    """One config to set, or to remove if `value` is None."""

    entity: ClientEntity
    key: str
    value: str | None


class ClientRegistration(Struct, frozen=True):
    """The configs that a running client of one software version can change.

    `at` is when a client of this version last registered (epoch milliseconds).
    """

    entity: ClientEntity
    software_name: str
    software_version: str
    supported: tuple[str, ...]
    at: int


class ClientConfigFilter(Struct, frozen=True):
    """Which entities to describe. `user` is a name or ANY_NAME; DEFAULT is refused.

    `client_id` is a name, DEFAULT (the user's default), ANY_NAME (all client IDs), or None for no
    condition; then `strict` leaves client IDs out.
    """

    user: str | Default | AnyName | None = ANY_NAME
    client_id: str | Default | AnyName | None = None
    strict: bool = False

    def takes(self, entity: ClientEntity) -> bool:
        """Whether the entity matches."""
        if isinstance(self.user, str) and entity.user != self.user:
            return False
        if self.client_id is None:
            return entity.client_id is None or not self.strict
        if isinstance(self.client_id, Default):
            return entity.client_id is None
        if isinstance(self.client_id, AnyName):
            return entity.client_id is not None
        return entity.client_id == self.client_id
