"""Everything about one user, read from the other families. Each part can fail alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeVar

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.lost_access import Bindings
from kafka_shell.admin.acls.model import (
    Access,
    AclBinding,
    AclFilter,
    AclOperation,
    AclResourceType,
)
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    ClientConfig,
    ClientConfigFilter,
    ClientRegistration,
)
from kafka_shell.admin.facts import attempt
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import DEFAULT, Default, EffectiveQuotas, Quota, QuotaFilter
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import ScramCredential, UserPage
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error

T = TypeVar("T")
_ANYONE = "User:*"


def describe(cluster: Cluster, name: str) -> UserPage:
    """Everything about a user (`alice` or `User:alice`): credentials, quotas, ACLs, groups ...

    Raises ShellError where no broker can be reached; a refused part is a Failure.
    """
    cluster.brokers()
    user = name.removeprefix("User:")
    principal = f"User:{user}"
    assigned = attempt(lambda: _quotas(cluster, user))
    rules = attempt(lambda: authorizer.read(cluster, ()))
    known = None if isinstance(rules, Failure) else rules.super_users
    bindings = attempt(lambda: _bindings(cluster, principal))
    which = ClientConfigFilter(user=user)
    registrations = attempt(lambda: _registrations(cluster, which))
    readable = attempt(lambda: _groups(cluster, principal, rules, bindings))
    own = bindings
    if not isinstance(bindings, Failure):
        kept = (each for each in bindings if each.principal in (principal, _ANYONE))
        own = tuple(sorted(kept, key=lambda binding: binding.order))
    return UserPage(
        user=user,
        principal=principal,
        super_user=None if known is None else principal in known,
        credentials=attempt(lambda: _credentials(cluster, user)),
        quotas=assigned if isinstance(assigned, Failure) else _of_user(assigned, user),
        limits=() if isinstance(assigned, Failure) else _limits(assigned, user),
        client_configs=attempt(lambda: _client_configs(cluster, which)),
        registrations=registrations,
        acls=own,
        tokens=attempt(lambda: delegation_tokens.describe(cluster, [principal])),
        groups=readable if isinstance(readable, Failure) else readable[0],
        client_ids=_client_ids(user, assigned, registrations),
        unknown_groups=() if isinstance(readable, Failure) else readable[1],
    )


def is_known(cluster: Cluster, principal: str) -> bool:
    """Whether an ACL, a SCRAM credential or a quota names the principal. Raises ShellError if that
    cannot be read."""
    if any(acls.describe_each(cluster, [AclFilter(principal=principal)])[0]):
        return True
    type_, _, user = principal.partition(":")
    if type_ != "User":
        return False
    return bool(_credentials(cluster, user) or quotas.describe(cluster, QuotaFilter(user=user)))


def known_users(cluster: Cluster) -> tuple[str, ...]:
    """The users that ACLs, SCRAM credentials and quotas name, as far as these can be read."""
    bindings = attempt(lambda: acls.describe_each(cluster, [AclFilter()])[0])
    credentials = attempt(lambda: scram.describe(cluster, None).values)
    quoted = attempt(lambda: quotas.describe(cluster, QuotaFilter()))
    names: set[str] = set()
    if not isinstance(bindings, Failure):
        principals = (binding.principal.partition(":") for binding in bindings)
        names.update(name for type_, _, name in principals if type_ == "User" and name != "*")
    if not isinstance(credentials, Failure):
        names.update(credentials)
    if not isinstance(quoted, Failure):
        names.update(q.entity.user for q in quoted if isinstance(q.entity.user, str))
    return tuple(sorted(names))


def _client_configs(cluster: Cluster, which: ClientConfigFilter) -> tuple[ClientConfig, ...]:
    return _decoded(client_configs.describe(cluster, which), "client config")


def _registrations(cluster: Cluster, which: ClientConfigFilter) -> tuple[ClientRegistration, ...]:
    now = int(time.time() * 1000)
    return _decoded(client_configs.registrations(cluster, which, now=now), "registration")


def _decoded(results: Results[str, T], noun: str) -> tuple[T, ...]:
    """The values. Raises ShellError for records that a newer version of this program wrote."""
    for about, why in results.failures.items():
        count = counted(len(results.failures), noun)
        message = f"{count} could not be decoded, such as {about}: {why.message}"
        raise ShellError(message, code="not-decoded")
    return tuple(results)


def _credentials(cluster: Cluster, user: str) -> tuple[ScramCredential, ...]:
    credentials = scram.describe(cluster, [user])
    for failure in credentials.failures.values():
        if failure.name != "RESOURCE_NOT_FOUND":
            raise as_error(failure)
    return credentials.values.get(user, ())


# -- quotas ----------------------------------------------------------------------------------------


def _quotas(cluster: Cluster, user: str) -> tuple[Quota, ...]:
    """The quotas of the user and its client IDs, of the default user, and of client IDs."""
    mine = quotas.describe(cluster, QuotaFilter(user=user))
    named = [quota.entity.client_id for quota in mine if isinstance(quota.entity.client_id, str)]
    clients: list[str | Default] = [*dict.fromkeys(named), DEFAULT]
    others = [QuotaFilter(user=DEFAULT)]
    others += [QuotaFilter(client_id=client, strict=True) for client in clients]
    return (*mine, *quotas.describe_many(cluster, others))


def _of_user(assigned: Sequence[Quota], user: str) -> tuple[Quota, ...]:
    return tuple(quota for quota in assigned if quota.entity.user == user)


def _limits(assigned: Sequence[Quota], user: str) -> tuple[EffectiveQuotas, ...]:
    named = [None, *_named(_of_user(assigned, user))]
    return tuple(quotas.effective_quotas(assigned, user, client) for client in named)


def _named(assigned: Sequence[Quota]) -> list[str]:
    names = (quota.entity.client_id for quota in assigned)
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


# -- access ----------------------------------------------------------------------------------------


def _bindings(cluster: Cluster, principal: str) -> tuple[AclBinding, ...]:
    """The ACLs of the principal and of everyone, and all ACLs on groups."""
    filters = [
        AclFilter(principal=principal),
        AclFilter(principal=_ANYONE),
        AclFilter(resource_type=AclResourceType.GROUP),
    ]
    bindings = acls.describe_each(cluster, filters)
    return tuple(dict.fromkeys(binding for each in bindings for binding in each))


def _groups(
    cluster: Cluster,
    principal: str,
    rules: authorizer.Rules | Failure,
    bindings: tuple[AclBinding, ...] | Failure,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The existing groups that the principal may read from any host, and those for which this is
    not known: no ACL is on them, and what then applies cannot be read."""
    for part in (bindings, rules):
        if isinstance(part, Failure):
            raise as_error(part)
    assert not isinstance(rules, Failure) and not isinstance(bindings, Failure)
    listings = groups.list_groups(cluster)
    for failure in listings.failures.values():
        raise as_error(failure)
    by_name = Bindings(bindings)
    verdicts = {}
    for name in listings.values:
        there = replace(rules, bindings=by_name.matching(AclResourceType.GROUP, name))
        access = Access(principal, AclOperation.READ, AclResourceType.GROUP, name)
        verdicts[name] = authorizer.verdict(there, access).allowed
    return (
        tuple(name for name, allowed in verdicts.items() if allowed),
        tuple(name for name, allowed in verdicts.items() if allowed is None),
    )


def _client_ids(
    user: str,
    assigned: tuple[Quota, ...] | Failure,
    registrations: tuple[ClientRegistration, ...] | Failure,
) -> tuple[str, ...]:
    """The client IDs in the user's quotas and registrations (KIP-649)."""
    quoted = () if isinstance(assigned, Failure) else _of_user(assigned, user)
    registered = () if isinstance(registrations, Failure) else registrations
    names = {*_named(quoted), *(registration.entity.client_id for registration in registered)}
    return tuple(sorted(name for name in names if name))
