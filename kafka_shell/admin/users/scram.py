"""SCRAM credentials: describe, set, delete (KIP-554; API keys 50, 51; Kafka 2.7, KRaft 3.5)."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.admin.wire.chunks import in_requests
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import BrokerError, needs
from kafka_shell.admin.wire.propagation import settle
from kafka_shell.admin.wire.requests import CONTROLLER
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results

from .model import NewScramCredential, ScramCredential, ScramMechanism

MIN_ITERATIONS, MAX_ITERATIONS = 4096, 16384  # the brokers' own bounds, of both mechanisms
_SALT_BYTES = 32
_HASHES = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}
_RESOURCE_NOT_FOUND = 91
_SOMEONE = "kafka-sh"  # need not exist

Credentials = Results[str, tuple[ScramCredential, ...]]
Key = tuple[str, ScramMechanism]
C = TypeVar("C", NewScramCredential, ScramCredential)


# -- describe --------------------------------------------------------------------------------------


def describe(cluster: Cluster, users: Iterable[str] | None = None) -> Credentials:
    """The credentials of each user: mechanisms and iterations, never more. None asks for all users.

    A user who has none is a failure, RESOURCE_NOT_FOUND. Raises ShellError without the right.
    """
    asked = None if users is None else list(dict.fromkeys(users))
    if asked == []:
        return Results()  # a broker would answer with everyone
    if asked is None:
        _ask(cluster, [_SOMEONE])  # a broker cannot answer who may not ask about everyone
    rows = {row.user: row for row in _ask(cluster, asked).results}
    found: Credentials = Results()
    for user in sorted(rows) if asked is None else asked:
        failure = _failure(user, rows.get(user))
        if failure is not None:
            found.failures[user] = failure
            continue
        credentials = (
            ScramCredential(user, ScramMechanism(info.mechanism), info.iterations)
            for info in rows[user].credential_infos
        )
        found.values[user] = tuple(sorted(credentials, key=lambda each: each.mechanism))
    return found


def _ask(cluster: Cluster, users: Sequence[str] | None) -> Any:
    from kafka.protocol.admin import DescribeUserScramCredentialsRequest

    name = DescribeUserScramCredentialsRequest.UserName
    request = DescribeUserScramCredentialsRequest(
        users=None if users is None else [name(name=user) for user in users]
    )
    try:
        return cluster.send(request)
    except BrokerError as error:
        error.hint = needs(error.kafka_code or 0, "Describe on the cluster") or error.hint
        raise


# -- alter -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlterScramCredentials(BaseStep):
    """One AlterUserScramCredentials request (API key 51).

    A controller of KRaft takes one credential a user in one request (else DUPLICATE_RESOURCE), also
    where the mechanisms differ. `now` are the credentials the users concerned have, as read.
    """

    upsertions: tuple[NewScramCredential, ...]
    deletions: tuple[ScramCredential, ...]
    now: tuple[ScramCredential, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a credential, deletions first. An old password cannot be had back."""
        before = {(had.user, had.mechanism): _shape(had) for had in self.now}
        gone = (_deleted(old, before.get((old.user, old.mechanism))) for old in self.deletions)
        came = (_set(new, before.get((new.user, new.mechanism))) for new in self.upsertions)
        return (*gone, *came)

    def again(self, cluster: Cluster) -> AlterScramCredentials:
        """The same over the credentials as they are now."""
        users = [*(old.user for old in self.deletions), *(new.user for new in self.upsertions)]
        found = _existing(cluster, users)
        return AlterScramCredentials(self.upsertions, self.deletions, found)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka.protocol.admin import AlterUserScramCredentialsRequest

        request = AlterUserScramCredentialsRequest(
            deletions=[
                AlterUserScramCredentialsRequest.ScramCredentialDeletion(
                    name=old.user, mechanism=int(old.mechanism)
                )
                for old in self.deletions
            ],
            upsertions=[
                _upsertion(AlterUserScramCredentialsRequest.ScramCredentialUpsertion, new)
                for new in self.upsertions
            ],
        )
        response = cluster.send(request, to=CONTROLLER)
        rows = {row.user: row for row in response.results}
        changes = self.changes
        users = (change.resource.name for change in changes)
        results = Results.of(changes, (_failure(user, rows.get(user)) for user in users))
        self._settle(cluster, {change.resource.name for change in results})
        return results

    def _settle(self, cluster: Cluster, users: Set[str]) -> None:
        """Wait until a broker tells what was just done for these users."""
        wanted = {(new.user, new.mechanism): new.iterations for new in self.upsertions}
        wanted |= {(old.user, old.mechanism): 0 for old in self.deletions}
        wanted = {key: iterations for key, iterations in wanted.items() if key[0] in users}

        def visible() -> bool:
            now = {(had.user, had.mechanism): had for had in _existing(cluster, users)}
            return all((now[key].iterations if key in now else 0) == wanted[key] for key in wanted)

        settle(visible)


def plan_upsert(cluster: Cluster, credentials: Sequence[NewScramCredential]) -> Plan:
    """Set credentials; one that a user has already is replaced, and its password lost.

    A user is refused alone: with a mechanism named twice, iterations out of bounds or no password.
    """
    refused = _wrong(credentials)
    wanted = [new for new in credentials if _resource(new.user) not in refused]
    users = list(dict.fromkeys(new.user for new in wanted))
    now = _existing(cluster, users)
    return Plan(
        Effect.CHANGE,
        tuple(AlterScramCredentials(news, (), now) for news in _rounds(wanted)),
        touches=frozenset({"users"}),
        warnings=tuple(
            f"user {user} will not be able to log in: Kafka's SCRAM takes ASCII names only"
            for user in users
            if not user.isascii()
        ),
        fresh=lambda later: describe(later, users),
        refused=Results({}, refused),
    )


def plan_delete(cluster: Cluster, credentials: Sequence[Key]) -> Plan:
    """Delete credentials, each (user, mechanism). A user is refused alone who lacks one of them."""
    asked = list(dict.fromkeys(credentials))
    found = describe(cluster, [user for user, _ in asked])
    refused = {_resource(user): why for user, why in found.failures.items()}
    had = {(old.user, old.mechanism): old for owned in found for old in owned}
    for user, mechanism in asked:
        if (user, mechanism) not in had:
            missing = Failure(
                "RESOURCE_NOT_FOUND",
                f"user {user} has no {mechanism.label} credential",
                _RESOURCE_NOT_FOUND,
            )
            refused.setdefault(_resource(user), missing)
    gone = [had[key] for key in asked if _resource(key[0]) not in refused]
    return Plan(
        Effect.DESTROY,
        tuple(AlterScramCredentials((), olds, olds) for olds in _rounds(gone)),
        touches=frozenset({"users"}),
        refused=Results({}, refused),
    )


def salted_password(
    mechanism: ScramMechanism, password: str, salt: bytes, iterations: int
) -> bytes:
    """Hi(password, salt, i) of RFC 5802: what a broker keeps instead of the password.

    Java's clients do not normalise a password (SASLprep), so neither does this: they could not
    log in with it.
    """
    return hashlib.pbkdf2_hmac(_HASHES[mechanism], password.encode(), salt, iterations)


# -- shared ----------------------------------------------------------------------------------------


def _rounds(credentials: Iterable[C]) -> list[tuple[C, ...]]:
    """The credentials as requests in which each user stands once."""
    rounds: list[dict[str, C]] = []
    for each in credentials:
        for users in rounds:
            if each.user not in users:
                users[each.user] = each
                break
        else:
            rounds.append({each.user: each})
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
    """The credentials these users have; a user without one has none."""
    return tuple(had for owned in describe(cluster, users) for had in owned)


def _wrong(credentials: Sequence[NewScramCredential]) -> dict[Resource, Failure]:
    refused: dict[Resource, Failure] = {}
    times = Counter((new.user, new.mechanism) for new in credentials)
    for new in credentials:
        what = f"the {new.mechanism.label} credential of user {new.user}"
        if times[new.user, new.mechanism] > 1:
            why = Failure("DUPLICATE_RESOURCE", f"{what} stands twice in one request", 92)
        elif new.mechanism not in _HASHES:
            why = Failure("UNSUPPORTED_SASL_MECHANISM", f"{new.user}: no such mechanism", 33)
        elif not new.user:
            why = Failure("UNACCEPTABLE_CREDENTIAL", "a user's name cannot be empty", 93)
        elif not new.password.reveal():
            why = Failure("UNACCEPTABLE_CREDENTIAL", f"{what} needs a password", 93)
        elif not MIN_ITERATIONS <= new.iterations <= MAX_ITERATIONS:
            said = f"{what} cannot have {new.iterations} iterations"
            hint = f"Between {MIN_ITERATIONS} and {MAX_ITERATIONS}."
            why = Failure("UNACCEPTABLE_CREDENTIAL", said, 93, hint=hint)
        else:
            continue
        refused[_resource(new.user)] = why
    return refused


def _deleted(old: ScramCredential, before: str | None) -> Change:
    return Change(_resource(old.user), "alter", old.mechanism.label, before, None, reversible=False)


def _set(new: NewScramCredential, before: str | None) -> Change:
    note = "" if before is None else "its password is replaced"
    return Change(
        _resource(new.user), "alter", new.mechanism.label, before, f"iterations={new.iterations}",
        note=note, reversible=before is None,
    )  # fmt: skip


def _shape(credential: ScramCredential) -> str:
    return f"iterations={credential.iterations}"


def _resource(user: str) -> Resource:
    return Resource("user", user)


def _failure(user: str, row: Any) -> Failure | None:
    resource = _resource(user)
    return row_failure(row, resource, requires="Alter on the cluster", see=resource)
