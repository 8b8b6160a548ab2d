"""Delegation tokens (KIP-48, 373, 900): who owns one, who may renew it, and how long it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_shell.plan.model import Resource

if TYPE_CHECKING:
    from kafka_shell.plan.model import Secret


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token as a broker tells of it. Times are milliseconds since the epoch.

    `owner` is whom it logs in as, `requester` who had it made ("" before Kafka 3.3). After
    `expires` it is of no use unless it is renewed; after `max_time` it cannot be. `expired` is by
    this machine's clock when it was read.
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
        """What a change of it is about."""
        return Resource("token", self.id)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was made just now: the one time that its HMAC, the password, is shown.

    `file` is where the client properties that log in with it were written; shown is then the path.
    """

    token: DelegationToken
    hmac: Secret
    file: str = ""

    def login(self) -> str:
        """The value of `sasl.jaas.config` that logs in with it: the secret itself."""
        return (
            "org.apache.kafka.common.security.scram.ScramLoginModule required"
            f' username="{self.token.id}" password="{self.hmac.reveal()}" tokenauth="true";'
        )
