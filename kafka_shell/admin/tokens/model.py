"""Delegation tokens (KIP-48, 373, 900): who owns one, who may renew it, and how long it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.plans import Resource

if TYPE_CHECKING:
    from kafka_shell.base.plans import Secret


class DelegationToken(Struct, frozen=True):
    """A delegation token. Times are milliseconds since the epoch.

    A login with it is as `owner`; `requester` created it ("" before Kafka 3.3). It is valid until
    `expires`, and can be renewed until `max_time`. `expired` is by this machine's clock when it was
    read.
    """

    id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued: int
    expires: int
    max_time: int
    expired: bool = False

    @property
    def resource(self) -> Resource:
        """The resource of its changes."""
        return Resource("token", self.id)


class NewToken(Struct, frozen=True):
    """A token that was just created: the only time that its HMAC, the password, is shown.

    `file` is the path of client properties with the login; then the path is shown instead.
    """

    token: DelegationToken
    hmac: Secret
    file: str = ""

    def login(self) -> str:
        """The value of `sasl.jaas.config` for a login with it. Contains the secret."""
        return (
            "org.apache.kafka.common.security.scram.ScramLoginModule required"
            f' username="{self.token.id}" password="{self.hmac.reveal()}" tokenauth="true";'
        )
