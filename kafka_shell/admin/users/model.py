"""Everything about one user, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.results import ABSENT, Failure
from kafka_shell.base.structs import CodedEnum

if TYPE_CHECKING:
    from kafka_shell.admin.acls.model import AclBinding
    from kafka_shell.admin.client_configs.model import ClientConfig, ClientRegistration
    from kafka_shell.admin.quotas.model import EffectiveQuotas, Quota
    from kafka_shell.admin.tokens.model import DelegationToken
    from kafka_shell.base.plans import Secret


class UserPage(Struct, frozen=True):
    """Everything about one user. A part that could not be read is a Failure.

    `quotas` are the quotas of the user and its client IDs; `limits` the effective ones: first for
    a client ID without quotas, then for each client ID that has some. `client_configs` are the
    dynamic configs (KIP-649), and `registrations` what clients of this user support. `super_user`
    is None if unknown. `acls` include those for everyone (`User:*`). `groups` are the existing
    groups that the user may read, `unknown_groups` those without any ACL if it is not known whether
    everyone may read them. `client_ids` are those in quotas and registrations: a cluster does not
    record which client IDs a user connects with.
    """

    user: str
    principal: str
    super_user: bool | None
    credentials: tuple[ScramCredential, ...] | Failure
    quotas: tuple[Quota, ...] | Failure
    limits: tuple[EffectiveQuotas, ...]
    client_configs: tuple[ClientConfig, ...] | Failure
    registrations: tuple[ClientRegistration, ...] | Failure
    acls: tuple[AclBinding, ...] | Failure
    tokens: tuple[DelegationToken, ...] | Failure
    groups: tuple[str, ...] | Failure
    client_ids: tuple[str, ...]
    unknown_groups: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether anything names this user; True if a part could not be read."""
        own = (self.credentials, self.quotas, self.client_configs, self.registrations, self.tokens)
        acls = self.acls
        if not isinstance(acls, Failure):
            acls = tuple(acl for acl in acls if acl.principal == self.principal)
        parts = (*own, acls)
        return bool(self.super_user) or any(
            part.name not in ABSENT if isinstance(part, Failure) else part for part in parts
        )

    @property
    def ok(self) -> bool:
        """Whether all parts that this cluster supports could be read."""
        parts = (
            self.credentials, self.quotas, self.client_configs, self.registrations, self.acls,
            self.tokens, self.groups,
        )  # fmt: skip
        return all(not isinstance(part, Failure) or part.name in ABSENT for part in parts)


class ScramMechanism(CodedEnum):
    """SCRAM mechanisms by KIP-554's codes; `label` is the name in SASL."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def label(self) -> str:
        """`SCRAM-SHA-256`."""
        return self.name.replace("_", "-")

    def as_data(self) -> str:
        """The mechanism in JSON."""
        return self.label


# The limits of brokers for both mechanisms. The lower one is the default.
MIN_ITERATIONS, MAX_ITERATIONS = 4096, 16384


class ScramCredential(Struct, frozen=True):
    """A credential of a user, as described by a broker: never the password."""

    user: str
    mechanism: ScramMechanism
    iterations: int


class NewScramCredential(Struct, frozen=True):
    """A credential to set. `iterations` is within Kafka's bounds, 4096 to 16384; 0 keeps those of
    an existing credential, or is 4096."""

    user: str
    mechanism: ScramMechanism
    password: Secret
    iterations: int = 0


class GeneratedPassword(Struct, frozen=True):
    """A generated password: shown once and not stored."""

    user: str
    password: Secret
