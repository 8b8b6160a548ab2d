"""SCRAM credentials: describe, set, delete (KIP-554; API keys 50, 51; Kafka 2.7, KRaft 3.5)."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kafka_shell.admin.steps import Field, FieldsStep, row_failure
from kafka_shell.admin.users.model import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    NewScramCredential,
    ScramCredential,
    ScramMechanism,
)
from kafka_shell.base.plans import Change, Effect, Plan, Resource, Value
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    DUPLICATE_RESOURCE,
    RESOURCE_NOT_FOUND,
    UNACCEPTABLE_CREDENTIAL,
    UNSUPPORTED_SASL_MECHANISM,
)
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import CONTROLLER
from kafka_shell.wire.rounds import in_requests

_SALT_BYTES = 32
_HASHES = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}
_ANY_USER = "kafka-sh"  # does not have to exist

Credentials = Results[str, tuple[ScramCredential, ...]]
C = TypeVar("C", NewScramCredential, ScramCredential)


# -- describe --------------------------------------------------------------------------------------


def describe(cluster: Cluster, users: Iterable[str] | None = None) -> Credentials:
    """The credentials (mechanisms and iterations) of these users, or of all (API key 50).

    A user without any is a RESOURCE_NOT_FOUND failure. Raises ShellError without permission.
    """
    requested = None if users is None else list(dict.fromkeys(users))
    if requested == []:
        return Results()  # a request without names returns all users
    if requested is None:
        # Without permission, brokers do not respond to a request for all users.
        _ask(cluster, [_ANY_USER])
    rows = {row.user: row for row in _ask(cluster, requested).results}
    accounts: Credentials = Results()
    for user in sorted(rows) if requested is None else requested:
        failure = _failure(user, rows.get(user))
        if failure is not None:
            accounts.failures[user] = failure
            continue
        credentials = (
            ScramCredential(user, ScramMechanism(info.mechanism), info.iterations)
            for info in rows[user].credential_infos
        )
        accounts.values[user] = tuple(
            sorted(credentials, key=lambda credential: credential.mechanism)
        )
    return accounts


def _ask(cluster: Cluster, users: Sequence[str] | None) -> Any:
    name = messages.DescribeUserScramCredentialsRequest.UserName
    request = messages.DescribeUserScramCredentialsRequest(
        users=None if users is None else [name(name=user) for user in users]
    )
    return cluster.send(request, requires="DESCRIBE on the cluster")


# -- alter -----------------------------------------------------------------------------------------


class AlterScramCredentials(FieldsStep[NewScramCredential | ScramCredential], frozen=True):
    """One AlterUserScramCredentials request (API key 51): new credentials, and those to delete.

    A KRaft controller accepts one credential per user in a request (else DUPLICATE_RESOURCE), even
    of different mechanisms. A replaced password cannot be restored.
    """

    def change(self, item: NewScramCredential | ScramCredential) -> Change:
        resource, label = _resource(item.user), item.mechanism.label
        if isinstance(item, ScramCredential):
            return replace(self.altered(resource, label, None), reversible=False)
        change = self.altered(resource, label, _format(item.iterations))
        if change.before is None:
            return change
        return replace(change, note="the password is replaced", reversible=False)

    @property
    def upsertions(self) -> list[NewScramCredential]:
        """The new credentials."""
        return [item for item in self.items if isinstance(item, NewScramCredential)]

    def read(self, cluster: Cluster) -> Mapping[Field, Value]:
        return _values(_existing(cluster, [item.user for item in self.items]))

    def send_request(self, cluster: Cluster, validate_only: bool) -> Iterable[Failure | None]:
        request = messages.AlterUserScramCredentialsRequest(
            deletions=[
                messages.AlterUserScramCredentialsRequest.ScramCredentialDeletion(
                    name=old.user, mechanism=int(old.mechanism)
                )
                for old in self.items
                if isinstance(old, ScramCredential)
            ],
            upsertions=[
                _upsertion(messages.AlterUserScramCredentialsRequest.ScramCredentialUpsertion, new)
                for new in self.upsertions
            ],
        )
        response = cluster.send(request, to=CONTROLLER)
        rows = {row.user: row for row in response.results}
        return [_failure(item.user, rows.get(item.user)) for item in self.items]


def plan_upsert(cluster: Cluster, credentials: Sequence[NewScramCredential]) -> Plan:
    """Set credentials (API key 51). An existing one is replaced, and its password is lost.

    A user is refused alone if a mechanism is given twice, the iterations are out of range, or the
    password is empty.
    """
    refused = _invalid(credentials)
    wanted = [new for new in credentials if _resource(new.user) not in refused]
    users = list(dict.fromkeys(new.user for new in wanted))
    now = _existing(cluster, users)
    kept, values = {(had.user, had.mechanism): had.iterations for had in now}, _values(now)
    wanted = [
        replace(new, iterations=new.iterations or kept.get(key, MIN_ITERATIONS))
        for new in wanted
        for key in [(new.user, new.mechanism)]
    ]
    return Plan(
        Effect.CHANGE,
        tuple(AlterScramCredentials(news, values) for news in _requests(wanted)),
        refused=Results({}, refused),
    )


def plan_delete(cluster: Cluster, credentials: Sequence[tuple[str, ScramMechanism]]) -> Plan:
    """Delete credentials, each (user, mechanism) (API key 51). A user without one of them is
    refused alone, and so is the credential that this connection is logged in with."""
    requested = list(dict.fromkeys(credentials))
    known = describe(cluster, [user for user, _ in requested])
    refused = {_resource(user): why for user, why in known.failures.items()}
    had = {(old.user, old.mechanism): old for owned in known for old in owned}
    for user, mechanism in requested:
        if (user, mechanism) not in had:
            missing = failure(
                RESOURCE_NOT_FOUND, text=f"user {user} has no {mechanism.label} credential"
            )
            refused.setdefault(_resource(user), missing)
        elif _is_login(cluster, user, mechanism):
            refused.setdefault(_resource(user), _own_login(user, mechanism))
    existing = [had[key] for key in requested if _resource(key[0]) not in refused]
    return Plan(
        Effect.DESTROY,
        tuple(AlterScramCredentials(olds, _values(olds)) for olds in _requests(existing)),
        refused=Results({}, refused),
    )


def _is_login(cluster: Cluster, user: str, mechanism: ScramMechanism) -> bool:
    """Whether the connections of this cluster are logged in with this credential."""
    sasl = cluster.config.sasl
    return sasl is not None and (sasl.username, sasl.mechanism) == (user, mechanism.label)


def _own_login(user: str, mechanism: ScramMechanism) -> Failure:
    return Failure(
        "own-login",
        f"this connection is authenticated with the {mechanism.label} credential of user {user}",
        hint="Authenticate as another user to delete it.",
    )


def salted_password(
    mechanism: ScramMechanism, password: str, salt: bytes, iterations: int
) -> bytes:
    """Hi(password, salt, i) of RFC 5802: what a broker stores instead of the password.

    The password is not normalized (SASLprep), as Java clients do not do so either and could not
    log in.
    """
    return hashlib.pbkdf2_hmac(_HASHES[mechanism], password.encode(), salt, iterations)


# -- shared ----------------------------------------------------------------------------------------


def _requests(credentials: Iterable[C]) -> list[tuple[C, ...]]:
    """The credentials split into requests with each user once."""
    rounds: list[dict[str, C]] = []
    for credential in credentials:
        for users in rounds:
            if credential.user not in users:
                users[credential.user] = credential
                break
        else:
            rounds.append({credential.user: credential})
    return [some for users in rounds for some in in_requests(users.values())]


def _upsertion(kind: Any, new: NewScramCredential) -> Any:
    salt = secrets.token_bytes(_SALT_BYTES)
    return kind(
        name=new.user,
        mechanism=int(new.mechanism),
        iterations=new.iterations,
        salt=salt,
        salted_password=salted_password(new.mechanism, new.password.reveal(), salt, new.iterations),
    )


def _existing(cluster: Cluster, users: Iterable[str]) -> tuple[ScramCredential, ...]:
    """The existing credentials of these users."""
    return tuple(had for owned in describe(cluster, users) for had in owned)


def _invalid(credentials: Sequence[NewScramCredential]) -> dict[Resource, Failure]:
    refused: dict[Resource, Failure] = {}
    times = Counter((new.user, new.mechanism) for new in credentials)
    for new in credentials:
        what = f"the {new.mechanism.label} credential of user {new.user}"
        if times[new.user, new.mechanism] > 1:
            why = failure(DUPLICATE_RESOURCE, text=f"{what} is set twice")
        elif new.mechanism not in _HASHES:
            why = failure(UNSUPPORTED_SASL_MECHANISM, text=f"{new.user}: unsupported mechanism")
        elif not new.user:
            why = failure(UNACCEPTABLE_CREDENTIAL, text="the name of a user cannot be empty")
        elif not new.password.reveal():
            why = failure(UNACCEPTABLE_CREDENTIAL, text=f"{what} requires a password")
        elif new.iterations and not MIN_ITERATIONS <= new.iterations <= MAX_ITERATIONS:
            message = f"{what} cannot have {new.iterations} iterations"
            hint = f"Use {MIN_ITERATIONS} to {MAX_ITERATIONS} iterations."
            why = failure(UNACCEPTABLE_CREDENTIAL, text=message, hint=hint)
        else:
            continue
        refused[_resource(new.user)] = why
    return refused


def _values(existing: Iterable[ScramCredential]) -> Mapping[Field, Value]:
    return {(_resource(c.user), c.mechanism.label): _format(c.iterations) for c in existing}


def _format(iterations: int) -> str:
    return f"iterations={iterations}"


def _resource(user: str) -> Resource:
    return Resource("user", user)


def _failure(user: str, row: Any) -> Failure | None:
    resource = _resource(user)
    return row_failure(row, resource, requires="ALTER on the cluster", see=resource)
