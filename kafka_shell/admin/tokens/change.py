"""Plans that create, renew and expire delegation tokens (KIP-48; API keys 38 to 40)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.steps import BaseStep, keeping_results
from kafka_shell.admin.tokens.model import DelegationToken, NewToken
from kafka_shell.admin.tokens.read import (
    Tokens,
    failure_of,
    format_principal,
    hmac_secret,
    read_tokens,
    split_principal,
)
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Bookkeeping, Change, Effect, Outcomes, Plan, Resource, Secret
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import format_duration, format_time
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import (
    DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    DELEGATION_TOKEN_NOT_FOUND,
)
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import CONTROLLER, Call

_FOR_OTHERS_SINCE = 3  # the first version of CreateDelegationToken with an owner (Kafka 3.3)


# -- create ----------------------------------------------------------------------------------------


class CreateToken(Struct, BaseStep, frozen=True):
    """One CreateDelegationToken request (API key 38).

    Without `owner` the token is for the caller. `max_life` is milliseconds; None is the broker's
    maximum. `created` has the tokens afterwards, as `keep` returned them: only the response has
    them.
    """

    owner: str = ""
    renewers: tuple[str, ...] = ()
    max_life: int | None = None
    keep: Callable[[NewToken], NewToken] = lambda token: token
    created: list[NewToken] = field(default_factory=list)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The creation of a token for its owner; afterwards, of the token by its ID."""
        about = Resource("token for", self.owner or "yourself")
        if self.created:
            about = self.created[-1].token.resource
        notes = [f"renewable by {', '.join(self.renewers)}"] if self.renewers else []
        if self.max_life is not None:
            notes.append(f"maximum lifetime {format_duration(self.max_life)}")
        return (Change(about, "create", note="; ".join(notes)),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        kind, name = split_principal(self.owner) if self.owner else (None, None)
        renewer = messages.CreateDelegationTokenRequest.CreatableRenewers
        request = messages.CreateDelegationTokenRequest(
            owner_principal_type=kind,
            owner_principal_name=name,
            renewers=[
                renewer(principal_type=type_, principal_name=each)
                for type_, each in map(split_principal, self.renewers)
            ],
            max_lifetime_ms=-1 if self.max_life is None else self.max_life,
        )
        lowest = _FOR_OTHERS_SINCE if self.owner else None
        response = cluster.send(request, to=CONTROLLER, lowest=lowest, check=False)
        if response.error_code:
            (change,) = self.changes
            return Results({}, {change: self._refused(response.error_code)})
        self.created.append(self._new(response))
        self.created[-1] = self.keep(self.created[-1])
        token = self.created[-1].token
        (change,) = self.changes
        results: Outcomes = Results({change: change})
        if token.owner == token.requester:  # else the caller may not see it
            with keeping_results(results):
                wait_until_visible(lambda: token.id in read_tokens(cluster))
        return results

    def _new(self, response: Any) -> NewToken:
        token = DelegationToken(
            id=response.token_id,
            owner=format_principal(response.principal_type, response.principal_name),
            requester=format_principal(
                response.token_requester_principal_type, response.token_requester_principal_name
            ),
            renewers=self.renewers,
            issued=response.issue_timestamp_ms,
            expires=response.expiry_timestamp_ms,
            max_time=response.max_timestamp_ms,
        )
        return NewToken(token, hmac_secret(response.hmac))

    def _refused(self, code: int) -> Failure:
        about = f"delegation token for {self.owner}" if self.owner else ""
        if code == DELEGATION_TOKEN_AUTHORIZATION_FAILED:
            message = f"not authorized to create a {about}"
            hint = f"Requires CREATE_TOKENS on user {self.owner}."
            return failure(code, text=message, about=about, hint=hint)
        return failure_of(code, about)


def plan_create(
    cluster: Cluster,
    *,
    owner: str = "",
    renewers: Sequence[str] = (),
    max_life: int | None = None,
    keep: Callable[[NewToken], NewToken] = lambda token: token,
) -> Plan:
    """Create a token for the caller or another owner. `keep` receives the token and returns what is
    shown. Raises ShellError for a malformed principal or a negative lifetime."""
    for principal in (*([owner] if owner else ()), *renewers):
        split_principal(principal)
    _check_period(max_life)
    step = CreateToken(owner, tuple(dict.fromkeys(renewers)), max_life, keep)
    return Plan(
        Effect.CHANGE,
        (step,),
        bookkeeping=Bookkeeping(made=lambda: tuple(step.created[-1:])),
    )


# -- renew, expire ---------------------------------------------------------------------------------


class AlterExpiry(Struct, BaseStep, frozen=True):
    """RenewDelegationToken (API key 39) or ExpireDelegationToken (40) requests, one per token.

    `until` describes the new expiry times; empty for a token that expires at once. `period` is
    milliseconds; -1 is the broker's default for a renewal, and at once for an expiry.
    """

    renew: bool
    tokens: tuple[DelegationToken, ...]
    hmacs: tuple[Secret, ...]
    period: int
    until: tuple[str, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(map(self._change, self.tokens, self.until))

    def _change(self, token: DelegationToken, until: str) -> Change:
        if not until:
            owner = f"of {token.owner}" if token.owner else ""
            return Change(token.resource, "delete", note=owner, reversible=False)
        before = format_time(token.expires) if token.expires else None
        return Change(token.resource, "alter", "expires", before, until, reversible=not self.renew)

    def reread(self, cluster: Cluster) -> AlterExpiry:
        now = read_tokens(cluster)
        return replace(
            self,
            tokens=tuple(now[token.id][0] if token.id in now else token for token in self.tokens),
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        calls = [Call(self._request(hmac), CONTROLLER, check=False) for hmac in self.hmacs]
        failures: list[Failure | None] = []
        expected: dict[str, int] = {}
        for token, response in zip(self.tokens, cluster.send_all(calls), strict=True):
            if isinstance(response, Failure):
                failures.append(response)
            elif response.error_code:
                failures.append(failure_of(response.error_code, str(token.resource)))
            else:
                failures.append(None)
                expected[token.id] = response.expiry_timestamp_ms
        expired = not any(self.until)
        results = Results.of(self.changes, failures)
        if not expired:
            at = {each: format_time(time) for each, time in expected.items()}  # the broker's clock
            results = results.map(
                lambda each: replace(each, after=at.get(each.resource.name, each.after))
            )
        with keeping_results(results):
            wait_until_visible(lambda: _settled(read_tokens(cluster), expected, expired=expired))
        return results

    def _request(self, hmac: Secret) -> Any:
        raw = _decoded(hmac)
        if self.renew:
            return messages.RenewDelegationTokenRequest(hmac=raw, renew_period_ms=self.period)
        return messages.ExpireDelegationTokenRequest(hmac=raw, expiry_time_period_ms=self.period)


def _settled(now: Tokens, expected: dict[str, int], *, expired: bool) -> bool:
    if expired:
        return not expected.keys() & now.keys()
    return all(now[each][0].expires == at for each, at in expected.items() if each in now)


def plan_renew(
    cluster: Cluster, ids: Sequence[str], hmacs: Sequence[Secret], now: int, period: int | None
) -> Plan:
    """Renew tokens for `period` ms from `now`; None is the broker's default. Their maximum lifetime
    stays. Tokens are named by ID, or by HMAC if the caller may not see them. Raises ShellError for
    a malformed HMAC or a negative period."""

    def until(token: DelegationToken) -> str:
        if period is None:
            return "the broker's default from now"
        return format_time(min(now + period, token.max_time or now + period))

    return _plan(cluster, ids, hmacs, period, until, renew=True)


def plan_expire(
    cluster: Cluster, ids: Sequence[str], hmacs: Sequence[Secret], now: int, period: int | None
) -> Plan:
    """Expire tokens at once (None), or `period` ms from `now`. As `plan_renew` otherwise."""

    def until(token: DelegationToken) -> str:
        if period is None:
            return ""
        return format_time(min(now + period, token.max_time or now + period))

    return _plan(cluster, ids, hmacs, period, until, renew=False)


def _plan(
    cluster: Cluster,
    ids: Sequence[str],
    hmacs: Sequence[Secret],
    period: int | None,
    until: Callable[[DelegationToken], str],
    *,
    renew: bool,
) -> Plan:
    _check_period(period)
    for hmac in hmacs:
        _decoded(hmac)
    known = read_tokens(cluster)
    by_hmac = {hmac: token for token, hmac in known.values()}
    chosen = {token: hmac for token_id in ids for token, hmac in [known.get(token_id, (None, None))]
              if token is not None and hmac is not None}  # fmt: skip
    chosen |= {by_hmac.get(hmac, _token_of_hmac(hmac)): hmac for hmac in hmacs}
    missing = {
        Resource("token", token_id): failure_of(DELEGATION_TOKEN_NOT_FOUND, f"token {token_id}")
        for token_id in ids
        if token_id not in known
    }
    tokens = tuple(chosen)
    step = AlterExpiry(
        renew,
        tokens,
        tuple(chosen.values()),
        -1 if period is None else period,
        tuple(map(until, tokens)),
    )
    seen = [token.id for token in tokens]
    return Plan(
        Effect.CHANGE if renew else Effect.DESTROY,
        (step,) if tokens else (),
        fresh=lambda later: _remaining(later, seen) or None,
        refused=Results({}, missing),
    )


def _check_period(period: int | None) -> None:
    if period is not None and period < 0:  # a broker would take it for its default, or for at once
        raise ShellError(
            f"a period must not be negative, got {period} ms",
            code="bad-value",
            status=Status.WRONG,
        )


def _decoded(hmac: Secret) -> bytes:
    try:
        raw = b64decode(hmac.reveal(), validate=True)
    except ValueError:
        raw = b""
    if not raw:
        raise ShellError(
            "the HMAC of a token must be base64",
            hint="To select a token by its ID, omit the HMAC.",
            code="bad-value",
            status=Status.WRONG,
        )
    return raw


def _token_of_hmac(hmac: Secret) -> DelegationToken:
    """A token that is named by its HMAC and that the caller may not see, identified by a digest."""
    digest = sha256(hmac.reveal().encode()).hexdigest()[:8]
    return DelegationToken(f"of the HMAC given ({digest})", "", "", (), 0, 0, 0)


def _remaining(cluster: Cluster, ids: Iterable[str]) -> tuple[DelegationToken, ...]:
    now = read_tokens(cluster)
    return tuple(now[token_id][0] for token_id in ids if token_id in now)
