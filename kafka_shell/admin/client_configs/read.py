"""Dynamic configs of clients (KIP-649) on any cluster: its operations over two compacted topics.

Brokers do not implement the requests of the KIP. Administrators write `__client_configs` and read
`__client_config_registrations`; clients do it the other way round (see client_configs/format.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kafka_shell.admin.client_configs import model as records
from kafka_shell.admin.client_configs import store as client_config_store
from kafka_shell.admin.client_configs.checks import check_filter
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfig,
    ClientConfigFilter,
    ClientEntity,
    ClientRegistration,
    resolve,
)
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records.model import Record
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire.cluster import Cluster


def describe(
    cluster: Cluster, which: ClientConfigFilter | None = None
) -> Results[str, ClientConfig]:
    """The configs of the entities that match the filter, sorted by entity and key.

    Reads the log to its end first. Empty if the topic does not exist. Failures are configs of any
    entity that cannot be decoded. Raises ShellError for a filter without a user (InvalidRequest),
    or without READ on the topic.
    """
    wanted = which or ClientConfigFilter()
    check_filter(wanted)
    log_of_configs = read_log(cluster)
    configs = (
        ClientConfig(entity, key, value)
        for (entity, key), value in log_of_configs.values.items()
        if wanted.takes(entity)
    )
    in_order = sorted(configs, key=lambda config: (config.entity.order, config.key))
    return Results({_about(each): each for each in in_order}, _failures(log_of_configs.unread))


def resolved(cluster: Cluster, user: str, client_id: str) -> Results[str, ClientConfig]:
    """The effective configs of one client, each with its level: client ID before user. Failures are
    those of `describe`."""
    configs = describe(cluster, ClientConfigFilter(user))
    effective = resolve(configs, user, client_id).values()
    return Results({_about(config): config for config in effective}, configs.failures)


def registrations(
    cluster: Cluster, which: ClientConfigFilter | None = None, *, now: int
) -> Results[str, ClientRegistration]:
    """The registrations of clients, one per software version, without expired ones.

    `now` is epoch milliseconds. Sorted by entity, software name and version. Failures are those of
    any entity that cannot be decoded.
    """
    wanted = which or ClientConfigFilter()
    check_filter(wanted)
    registered: dict[tuple[ClientEntity, str, str], ClientRegistration] = {}
    not_decoded: dict[str, str] = {}
    for record in _read(cluster, REGISTRATIONS_TOPIC):
        decoded = records.read_registration(record.key, record.value)
        about = f"record with key {(record.key or b'').decode(errors='replace')}"
        not_decoded.pop(about, None)  # the newest record of a key counts
        if isinstance(decoded, records.Unreadable):
            if record.value is not None:
                not_decoded[about] = decoded.why
            continue
        of = (decoded.entity, decoded.software_name, decoded.software_version)
        registered.pop(of, None)
        if isinstance(decoded, ClientRegistration):
            registered[of] = decoded
    kept = (
        decoded
        for decoded in registered.values()
        if wanted.takes(decoded.entity) and now - decoded.at < records.EXPIRES_MS
    )
    in_order = sorted(kept, key=lambda r: (r.entity.order, r.software_name, r.software_version))
    return Results(
        {f"{r.entity.resource} {r.software_name} {r.software_version}": r for r in in_order},
        _failures(not_decoded),
    )


def _about(config: ClientConfig) -> str:
    return f"{config.entity.resource} {config.key}"


def _failures(unread: Mapping[str, str]) -> dict[str, Failure]:
    return {about: Failure("not-decoded", why) for about, why in unread.items()}


class ConfigLog(Struct, frozen=True):
    """The current configs, and why a config could not be decoded, by what is known of it.

    `hidden` are the configs that are set to a value that could not be decoded.
    """

    values: dict[tuple[ClientEntity, str], str]
    unread: dict[str, str]
    hidden: frozenset[tuple[ClientEntity, str]] = frozenset()


def read_log(cluster: Cluster) -> ConfigLog:
    """The current configs, and those that a newer version of this program wrote."""
    current: dict[tuple[ClientEntity, str], str] = {}
    unread: dict[bytes | None, tuple[str, str]] = {}
    hidden: dict[bytes | None, tuple[ClientEntity, str]] = {}
    for record in _read(cluster, CONFIGS_TOPIC):
        unread.pop(record.key, None)  # the newest record of a key counts
        hidden.pop(record.key, None)
        named = records.read_config(record.key, None)
        decoded = records.read_config(record.key, record.value)
        if isinstance(decoded, records.Unreadable):
            about = f"record at offset {record.offset} of {CONFIGS_TOPIC}"
            if not isinstance(named, records.Unreadable):
                if named.key == records.REGISTER_AGAIN:
                    continue
                current.pop((named.entity, named.key), None)
                hidden[record.key] = named.entity, named.key
                about = f"{named.entity.resource} {named.key}"
            elif record.value is None:
                continue
            unread[record.key] = (about, decoded.why)
        elif decoded.key == records.REGISTER_AGAIN:
            continue
        elif decoded.value is None:
            current.pop((decoded.entity, decoded.key), None)
        else:
            current[decoded.entity, decoded.key] = decoded.value
    return ConfigLog(current, dict(unread.values()), frozenset(hidden.values()))


def _read(cluster: Cluster, topic: str) -> tuple[Record, ...]:
    return log.read(cluster, topic) if client_config_store.exists(cluster, topic) else ()
