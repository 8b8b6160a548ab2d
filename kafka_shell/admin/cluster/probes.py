"""Probes: whether brokers and controllers respond, all at once, each over a new connection.

An existing connection proves nothing: a process that hangs keeps its connections.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.wire import frames, versions
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.dial import Loop
from kafka_shell.admin.wire.endpoint import Address, ConnectionConfig
from kafka_shell.admin.wire.exchanges import Login, State
from kafka_shell.admin.wire.link_errors import connect_timeout, silent
from kafka_shell.admin.wire.login import log_in, request_api_versions
from kafka_shell.admin.wire.transport import Link
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Results, as_failure

K = TypeVar("K")
Waiting = Callable[[list[K]], None]

_WAITING_INTERVAL = 0.25  # seconds between two calls of `waiting`


def probe_brokers(
    config: ConnectionConfig,
    brokers: Mapping[int, Address],
    timeout: float,
    waiting: Waiting[int] | None = None,
) -> Results[int, str]:
    """Connect and log in to each broker, and send a request. Returns Kafka releases by broker ID,
    or why one does not respond in time (seconds). `waiting` is called with the pending ones."""
    return _probe(config, brokers, timeout, waiting, login=True)


def probe_controllers(
    config: ConnectionConfig, controllers: Mapping[int, Address], timeout: float
) -> Results[int, str]:
    """The same without a login, as the listeners of controllers usually have different ones."""
    return _probe(config, controllers, timeout, None, login=False)


def addresses(brokers: tuple[Broker, ...]) -> dict[int, Address]:
    """The addresses of brokers by ID."""
    return {broker.id: Address(broker.host, broker.port) for broker in brokers}


def fresh(cluster: Cluster) -> Cluster:
    """New connections to the same cluster through any known broker, with the same deadline:
    existing ones may be to a broker that hangs."""
    known = addresses(cluster.known_brokers()).values()
    bootstrap = tuple(dict.fromkeys([*cluster.config.bootstrap, *known]))
    known_id = cluster.known_id or cluster.config.cluster_id
    own = Cluster(replace(cluster.config, bootstrap=bootstrap, cluster_id=known_id))
    own.join(cluster)
    return own


def without_silent(
    config: ConnectionConfig, brokers: Mapping[int, Address], probed: Results[int, str]
) -> ConnectionConfig:
    """The config for the same cluster through the brokers that responded. The others are not
    used."""
    bootstrap = dict.fromkeys([*(brokers[id] for id in probed.values), *config.bootstrap])
    return replace(config, bootstrap=tuple(bootstrap), avoid=frozenset(probed.failures))


def _probe(
    config: ConnectionConfig,
    targets: Mapping[K, Address],
    timeout: float,
    waiting: Waiting[K] | None,
    *,
    login: bool,
) -> Results[K, str]:
    until = time.monotonic() + timeout
    config = replace(config, connect_timeout=timeout)
    context = None
    if config.uses_tls:
        from kafka_shell.admin.wire.tls import make_context

        context = make_context(config.tls)
    loop = Loop()

    def patience(most: float) -> float:
        return max(0.05, min(most, until - time.monotonic()))

    def entry(config: ConnectionConfig, address: Address) -> Login:
        return log_in(config, address, patience) if login else request_api_versions(config, address)

    links: dict[K, Link] = {}
    found: Results[K, str] = Results()
    try:
        for key, address in targets.items():
            links[key] = Link(loop, config, address, entry, context, patience)
            links[key].diagnosed = True  # the diagnosis would block the other probes
        requested: set[K] = set()
        while outstanding := [key for key in links if not _over(key, links[key], requested, found)]:
            now = time.monotonic()
            if now >= until:
                break
            if waiting is not None:
                waiting(outstanding)
            loop.turn(min(until, now + _WAITING_INTERVAL))
        for key in outstanding:
            found.failures[key] = as_failure(_late(links[key], timeout))
    finally:
        for link in links.values():
            link.close()
        loop.close()
    return Results(
        {key: found.values[key] for key in links if key in found.values},
        {key: found.failures[key] for key in links if key in found.failures},
    )


def _over(key: K, link: Link, requested: set[K], found: Results[K, str]) -> bool:
    """Whether a probe has ended. After the login it sends one more request: before, responses do
    not come from the request handlers."""
    if key in found.values or key in found.failures:
        return True
    if link.closed:
        assert link.error is not None
        found.failures[key] = as_failure(link.error)
        return True
    if link.ready and key not in requested:
        requested.add(key)
        link.send(frames.API_VERSIONS, 0, b"", False)
    elif link.ready and link.responses:
        found.values[key] = versions.release(link.versions)
        return True
    return False


def _late(link: Link, timeout: float) -> ShellError:
    if link.state is State.CONNECTING:
        return connect_timeout(link.address)
    return silent(link.address, timeout)
