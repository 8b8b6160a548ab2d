"""Everything about one user, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from kafka_shell.plan.results import Failure

if TYPE_CHECKING:
    from kafka_shell.admin.acls.model import AclBinding
    from kafka_shell.admin.client_configs.model import ClientConfig, ClientRegistration
    from kafka_shell.admin.quotas.model import Quota, QuotaLadder
    from kafka_shell.admin.tokens.model import DelegationToken
    from kafka_shell.plan.model import Secret

# What a cluster has not got is no failure: no authorizer, no delegation tokens, no such API.
ABSENT = frozenset(
    {
        "SECURITY_DISABLED", "DELEGATION_TOKEN_AUTH_DISABLED",
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "unsupported-api", "unsupported-version",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UserPage:
    """What can be known of a user; a part that could not be read is its Failure.

    `quotas` are those set for the user and its client ids; `limits` what holds: for a client id
    that no quota names first, then for each that one does. `client_configs` are the dynamic ones
    (KIP-649), and `registrations` what clients of this user support. `super_user` is None where
    the brokers do not tell. `acls` hold those for everyone (`User:*`) too. `groups` are the groups
    there are that the user may read. `client_ids` are those that quotas and registrations name: a
    cluster does not tell which client ids a user connects with.
    """

    user: str
    principal: str
    super_user: bool | None
    credentials: tuple[ScramCredential, ...] | Failure
    quotas: tuple[Quota, ...] | Failure
    limits: tuple[QuotaLadder, ...]
    client_configs: tuple[ClientConfig, ...] | Failure
    registrations: tuple[ClientRegistration, ...] | Failure
    acls: tuple[AclBinding, ...] | Failure
    tokens: tuple[DelegationToken, ...] | Failure
    groups: tuple[str, ...] | Failure
    client_ids: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every part that this cluster has could be read."""
        parts = (
            self.credentials, self.quotas, self.client_configs, self.registrations, self.acls,
            self.tokens, self.groups,
        )  # fmt: skip
        return all(not isinstance(part, Failure) or part.name in ABSENT for part in parts)


class ScramMechanism(IntEnum):
    """SCRAM mechanisms by KIP-554's codes; `label` is the name that SASL knows."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def _missing_(cls, value: object) -> ScramMechanism:
        return cls.UNKNOWN

    @property
    def label(self) -> str:
        """`SCRAM-SHA-256`."""
        return self.name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """A credential of a user, as much as a broker tells of it."""

    user: str
    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class NewScramCredential:
    """A credential to set. `iterations` is within Kafka's bounds, 4096 to 16384."""

    user: str
    mechanism: ScramMechanism
    password: Secret
    iterations: int = 4096


@dataclass(frozen=True, slots=True)
class GeneratedPassword:
    """A password that was made here: shown once, kept nowhere."""

    user: str
    password: Secret
