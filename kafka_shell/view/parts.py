"""Read the parts of the view that are loaded on demand: groups, users, quotas ...

A part can combine several sources. What could not be read of a source is the error of the part,
which then contains the names that were read, and those that this source had when it was last read
completely.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.model import Feature
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import Quota
from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.registry import client_of
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.users import scram
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import NO_TOKENS, Failure, Results, Rows, as_failure, with_failures
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import NAMES, NO_PROPERTIES, Part, Properties, TopicsOf
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error

T = TypeVar("T")
Found = tuple[T, Failure | None]
Source = Callable[..., Rows[Any]]
LastRead = dict[Source, tuple[Any, ...]]  # what each source had when it was last read completely

_MOST_GROUPS = 500  # more groups are not described for their client IDs
_NOBODY = "kafka-sh: no such user"
_NO_SUCH_USER = "RESOURCE_NOT_FOUND"
_USER = "User:"


def read(
    cluster: Cluster,
    wanted: Iterable[str],
    current: Callable[[str], Part[Any]],
    now: float,
    last_read: LastRead,
    properties: Properties = NO_PROPERTIES,
) -> dict[str, Part[Any]]:
    """Read PARTS of the view, and update `last_read`. Errors are part of the result, except that no
    broker is reachable."""
    reader = _Reader(cluster, last_read, properties)
    parts: dict[str, Part[Any]] = {}
    for name in wanted:
        part, why = reader.part(name)
        value = NameIndex(part) if name in NAMES else part
        parts[name] = Part(value if part or why is None else current(name).value, now, why)
    return parts


class _Reader:
    """Reads each source only once, even if several parts use it."""

    def __init__(self, cluster: Cluster, last_read: LastRead, properties: Properties) -> None:
        self._cluster, self._properties = cluster, properties
        self._last_read = last_read
        self._found: dict[Source, Found[tuple[Any, ...]]] = {}

    def part(self, name: str) -> Found[tuple[Any, ...]]:
        """Return the values of a part, and the error if it is incomplete."""
        sources = _SOURCES[name]
        if name not in NAMES:
            return self._read_once(sources[0])
        names: dict[str, None] = {}
        failure: Failure | None = None
        for source, names_in in sources:
            value, why = self._read_once(source)
            if why is not None:
                value = (*value, *self._last_read.get(source, ()))
            names.update((name, None) for item in value for name in names_in(item))
            failure = failure or why
        return tuple(names), failure

    def _read_once(self, source: Source) -> Found[tuple[Any, ...]]:
        if source not in self._found:
            value, why = self._found[source] = self._read(source)
            if why is None:
                self._last_read[source] = value
        return self._found[source]

    def _read(self, source: Source) -> Found[tuple[Any, ...]]:
        try:
            value = source(self._cluster, self._properties)
            if isinstance(value, Results):
                return tuple(value), next(iter(value.failures.values()), None)
            return value, None
        except ShellError as error:
            if error.status is Status.UNREACHABLE:
                raise
            if error.code in NO_TOKENS:
                return (), None
            return (), as_failure(error)


# -- sources: Results if something could not be read -----------------------------------------------


def _quotas(cluster: Cluster, _: Properties) -> tuple[Quota, ...]:
    return quotas.describe(cluster)


def _scram_users(cluster: Cluster, _: Properties) -> Rows[str]:
    """Return all users with a SCRAM credential.

    Without permission, brokers close the connection if all users are requested, so the permission
    is checked with the name of a user that does not exist first.
    """
    why = scram.describe(cluster, [_NOBODY]).failures.get(_NOBODY)
    if why is not None and why.name != _NO_SUCH_USER:
        raise as_error(why)
    credentials = scram.describe(cluster)
    return with_failures(credentials.values, credentials.failures)


def _acl_principals(cluster: Cluster, _: Properties) -> tuple[str, ...]:
    return tuple(dict.fromkeys(binding.principal for binding in acls.describe(cluster)))


def _groups(cluster: Cluster, _: Properties) -> Rows[str]:
    listings = groups.list_groups(cluster)
    return with_failures(listings.values, listings.failures)


def _client_ids(cluster: Cluster, _: Properties) -> Rows[str]:
    """Return the client IDs of group members, unless there are too many groups."""
    listed = groups.list_groups(cluster)
    if (count := len(listed.values)) > _MOST_GROUPS:
        text = f"members are read for at most {_MOST_GROUPS} groups, there are {count:,}"
        return Results({}, {"groups": Failure("TOO_MANY_GROUPS", text)})
    types = {name: each.type for name, each in listed.values.items()}
    described = groups.describe(cluster, types, types=types)
    names = {member.client_id for group in described for member in group.members}
    return with_failures(names, listed.failures | described.failures)


def _client_metrics(cluster: Cluster, _: Properties) -> tuple[str, ...]:
    return tuple(configs.list_resources(cluster, ResourceType.CLIENT_METRICS))


def _transactional_ids(cluster: Cluster, _: Properties) -> Rows[str]:
    listed = transactions.list_transactions(cluster)
    failures: dict[object, Failure] = dict(listed.failures.items())
    if missing := transactions.without_coordinator(cluster):
        failures["coordinator"] = missing
    return with_failures((row.transactional_id for rows in listed for row in rows), failures)


def _log_dirs(cluster: Cluster, _: Properties) -> Rows[str]:
    directories = log_dirs.describe(cluster, None, [])
    paths = dict.fromkeys(dir.path for dirs in directories for dir in dirs)
    return with_failures(paths, directories.failures)


def _tokens(cluster: Cluster, _: Properties) -> tuple[str, ...]:
    return tuple(token.id for token in delegation_tokens.describe(cluster))


def _subjects(cluster: Cluster, properties: Properties) -> tuple[str, ...]:
    """Return the subjects of the schema registry. A registry that cannot be reached is no reason to
    read the cluster later again."""
    client = client_of(properties, cluster.time_left)
    try:
        return client.subjects() if client is not None else ()
    except SchemaError as error:
        raise ShellError(str(error), code="registry") from None


def _features(cluster: Cluster, _: Properties) -> Rows[Feature]:
    supported = features.describe(cluster)
    return with_failures(supported.features, dict(supported.unread))


def _registered(cluster: Cluster, _: Properties) -> Rows[ClientEntity]:
    """Return the clients that have registered their supported configs (KIP-649)."""
    registered = client_configs.registrations(cluster, now=int(time.time() * 1000))
    failures = {
        about: Failure("NOT_DECODED", f"{about}: {why.message}")
        for about, why in registered.failures.items()
    }
    return with_failures({registration.entity for registration in registered}, failures)


# -- names in the values --------------------------------------------------------------------------


def _itself(name: str) -> Iterable[str]:
    return (name,) if name else ()


def _quota_user(quota: Quota) -> Iterable[str]:
    return (quota.entity.user,) if isinstance(quota.entity.user, str) else ()


def _quota_client(quota: Quota) -> Iterable[str]:
    client = quota.entity.client_id
    return (client,) if isinstance(client, str) else ()


def _registered_user(entity: ClientEntity) -> Iterable[str]:
    return (entity.user,)


def _registered_client(entity: ClientEntity) -> Iterable[str]:
    return (entity.client_id,) if entity.client_id else ()


def _user_of(principal: str) -> Iterable[str]:
    named = principal.startswith(_USER) and principal != f"{_USER}*"
    return (principal.removeprefix(_USER),) if named else ()


def _principal_of(user: str) -> Iterable[str]:
    return (_USER + user,)


def _quota_principal(quota: Quota) -> Iterable[str]:
    return map(str.__add__, [_USER], _quota_user(quota))


_SOURCES: dict[str, Any] = {
    "groups": ((_groups, _itself),),
    "principals": (
        (_acl_principals, _itself), (_scram_users, _principal_of), (_quotas, _quota_principal),
    ),
    "users": (
        (_quotas, _quota_user), (_scram_users, _itself), (_acl_principals, _user_of),
        (_registered, _registered_user),
    ),
    "client_ids": (
        (_quotas, _quota_client), (_client_ids, _itself), (_registered, _registered_client),
    ),
    "client_metrics": ((_client_metrics, _itself),),
    "transactional_ids": ((_transactional_ids, _itself),),
    "log_dirs": ((_log_dirs, _itself),),
    "tokens": ((_tokens, _itself),),
    "subjects": ((_subjects, _itself),),
    "quotas": (_quotas,),
    "features": (_features,),
}  # fmt: skip


def read_group_topics(
    cluster: Cluster, wanted: Iterable[TopicsOf], now: float
) -> dict[TopicsOf, Part[tuple[str, ...]]]:
    """Read the topics of groups; errors are per group. Raises ShellError if no broker is
    reachable."""
    names = [topics_of.group for topics_of in wanted]
    try:
        offsets = group_resets.offsets_of(cluster, names)
    except ShellError as error:
        if error.status is Status.UNREACHABLE:
            raise
        offsets = Results({}, dict.fromkeys(names, as_failure(error)))
    parts: dict[TopicsOf, Part[tuple[str, ...]]] = {}
    for topics_of in wanted:
        why = offsets.failures.get(topics_of.group)
        topics = () if why else tuple(dict.fromkeys(at.topic for at in offsets[topics_of.group]))
        parts[topics_of] = Part(topics, now, why)
    return parts
