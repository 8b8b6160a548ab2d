"""Probes: whether brokers and controllers respond, all at once, each over a new connection.

An existing connection proves nothing: a process that hangs keeps its connections.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from msgspec import Struct

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.model import Quorum
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.waits import CONTROLLER_S, WAITING_S
from kafka_shell.wire import frames, messages
from kafka_shell.wire import requests as versions
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.dial import Loop
from kafka_shell.wire.endpoint import Address, ConnectionConfig
from kafka_shell.wire.failures import AUTHORIZATION, connect_timeout, silent
from kafka_shell.wire.login import Login, log_in, request_api_versions
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Broker
from kafka_shell.wire.transport import Link, State

K = TypeVar("K")
Waiting = Callable[[list[K]], None]


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
    config: ConnectionConfig, controllers: Mapping[K, Address], timeout: float
) -> Results[K, str]:
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
        from kafka_shell.wire.tls import make_context

        context = make_context(config.tls)
    loop = Loop()

    def patience(most: float) -> float:
        return max(0.05, min(most, until - time.monotonic()))

    def entry(config: ConnectionConfig, address: Address) -> Login:
        return log_in(config, address, patience) if login else request_api_versions(config, address)

    links: dict[K, Link] = {}
    answers: Results[K, str] = Results()
    try:
        for key, address in targets.items():
            links[key] = Link(loop, config, address, entry, context, patience)
            links[key].diagnosed = True  # the diagnosis would block the other probes
        requested: set[K] = set()
        while outstanding := [
            key for key in links if not _over(key, links[key], requested, answers)
        ]:
            now = time.monotonic()
            if now >= until:
                break
            if waiting is not None:
                waiting(outstanding)
            loop.turn(min(until, now + WAITING_S))
        for key in outstanding:
            answers.failures[key] = as_failure(_late(links[key], timeout))
    finally:
        for link in links.values():
            link.close()
        loop.close()
    return Results(
        {key: answers.values[key] for key in links if key in answers.values},
        {key: answers.failures[key] for key in links if key in answers.failures},
    )


def _over(key: K, link: Link, requested: set[K], answers: Results[K, str]) -> bool:
    """Whether a probe has ended. After the login it sends one more request: before, responses do
    not come from the request handlers."""
    if key in answers.values or key in answers.failures:
        return True
    if link.closed:
        assert link.error is not None
        answers.failures[key] = as_failure(link.error)
        return True
    if link.ready and key not in requested:
        requested.add(key)
        link.send(frames.API_VERSIONS, 0, b"", False)
    elif link.ready and link.responses:
        answers.values[key] = versions.release(link.versions)
        return True
    return False


def _late(link: Link, timeout: float) -> ShellError:
    if link.state is State.CONNECTING:
        return connect_timeout(link.address)
    return silent(link.address, timeout)


# Finds the brokers that respond and whose metadata is current, and reads the metadata from them.
#
# Every broker responds from its own copy of the metadata log. A broker that is cut off from the
# controllers or partly hangs still responds, with outdated leaders and in-sync replicas. The active
# controller reports how far each broker has fetched (DescribeQuorum, API key 55).

_ELECTED_S = 1.5  # after an election, until the controller reports which brokers caught up
_ASKED = 3  # brokers: one that is cut off cannot forward the request


class ClusterProbe(Struct, frozen=True):
    """What is known of the brokers before anything else is read.

    `metadata` is from a broker that is not `behind`, if there is one, with the reassignments in
    progress if replicas are not in sync. `probed` has the releases of the brokers that respond, and
    why others do not. `quorum` is None with ZooKeeper, and if it could not be read. `unread` is why
    it could not, or why no broker is current.
    `config` connects only through brokers that respond and are not behind. Requests to a certain
    broker are still sent to it if it is behind, but not if it does not respond.
    """

    metadata: MetadataScan
    probed: Results[int, str]
    quorum: Quorum | None
    unread: Failure | None
    behind: dict[int, Failure]
    config: ConnectionConfig

    @property
    def not_current(self) -> dict[str, Failure]:
        """Why the metadata may be out of date; empty if it is current."""
        return {} if self.unread is None else {"metadata quorum": self.unread}


class Freshness(Struct, frozen=True):
    """The metadata quorum, or why it is `unread`, and which brokers are behind it, and why."""

    quorum: Quorum | None
    unread: Failure | None
    behind: dict[int, Failure]


def probe_cluster(
    cluster: Cluster,
    probe_timeout: float,
    quorum_timeout: float,
    waiting: Waiting[int] | None = None,
) -> ClusterProbe:
    """Probe all brokers, and read the metadata from one that is current. Raises ShellError if no
    broker can be reached. The timeouts are in seconds."""
    with fresh(cluster) as own:
        at = addresses(own.brokers(refresh=True))
        config = own.config
    probed = probe_brokers(config, at, cluster.time_left(probe_timeout), waiting)
    usable = without_silent(config, at, probed)
    with Cluster(usable) as own:
        own.join(cluster)
        known = freshness(own, probed.values, quorum_timeout)
        current = {at[id] for id in probed.values if id not in known.behind}
        # Stand-ins have the address of a broker that answers for them.
        behind = {id: why for id, why in known.behind.items() if at[id] not in current}
        if not behind:
            metadata = _metadata(own, known.unread)
    if behind:
        usable = _without(usable, [at[id] for id in behind])
        with Cluster(usable) as own:
            own.join(cluster)
            metadata = _metadata(own, known.unread)
    more = {id: address for id, address in addresses(metadata.brokers).items() if id not in at}
    if more:  # the first answer was out of date
        late = probe_brokers(config, more, cluster.time_left(probe_timeout), waiting)
        probed = Results.merge((probed, late))
        usable = replace(usable, avoid=frozenset(probed.failures))
    here = {broker.id for broker in metadata.brokers}
    probed = Results(
        {id: release for id, release in probed.values.items() if id in here},
        {id: failure for id, failure in probed.failures.items() if id in here},
    )
    behind = {id: why for id, why in behind.items() if id in here}  # else it is fenced by now
    return ClusterProbe(metadata, probed, known.quorum, known.unread, behind, usable)


def _metadata(cluster: Cluster, unread: Failure | None) -> MetadataScan:
    """The metadata with the reassignments in progress, unless the controller does not respond."""
    if unread is not None:
        return scan(cluster).with_reassignments({}, unread)
    return scan_reassigned(cluster)


def freshness(cluster: Cluster, brokers: Collection[int], seconds: float) -> Freshness:
    """Which of these brokers are behind the active controller by more than 3 s. If all are, that is
    why it is unread: no metadata is current."""
    if not cluster.is_kraft():
        return Freshness(None, None, {})
    try:
        with cluster.within(seconds):
            described, behind = _settled(cluster, sorted(brokers))
    except ShellError as error:
        return Freshness(None, as_failure(error), {})
    if behind and len(behind) == len(brokers):
        return Freshness(described, next(iter(behind.values())), {})
    return Freshness(described, None, behind)


def why_out_of_date(cluster: Cluster) -> Failure | None:
    """Why the metadata that was read may be out of date: no controller responds within 3 s, so
    leaders and in-sync replicas may have changed, or a broker is behind it, which may be the one
    that was asked. None if all are current, if the controller may not be asked (it responds with an
    error, which brokers forward), and if brokers are too old for that."""
    if not cluster.supports(messages.DescribeQuorumRequest):
        return None
    fresh = freshness(cluster, [broker.id for broker in cluster.known_brokers()], CONTROLLER_S)
    if fresh.quorum is not None or fresh.unread is None:
        return fresh.unread or next(iter(fresh.behind.values()), None)
    if fresh.unread.code in AUTHORIZATION:
        return None
    return Failure(
        "STALE_METADATA",
        "the controller does not respond, so the metadata may be out of date:"
        f" {fresh.unread.message}",
        see=Resource("cluster"),
    )


def _settled(cluster: Cluster, brokers: list[int]) -> tuple[Quorum, dict[int, Failure]]:
    """The quorum, and the brokers that are still behind after some time."""
    asked = brokers[:: -(-len(brokers) // _ASKED) or 1]
    for attempt in cluster.attempts(_ELECTED_S):
        try:
            described = quorum.describe_through(cluster, asked)
        except ShellError:
            if not attempt:
                raise
            break
        behind = quorum.behind(described, brokers)
        if not behind:
            break
    return described, behind


def _without(config: ConnectionConfig, behind: list[Address]) -> ConnectionConfig:
    """The config that sends these brokers only requests that no other broker can answer."""
    kept = tuple(address for address in config.bootstrap if address not in behind)
    return replace(config, bootstrap=kept, behind=frozenset(behind))
