"""Stand-in brokers: a cluster of a thousand brokers and a hundred thousand topics on one machine.

A KRaft controller accepts registrations (API key 62) and heartbeats (63) from any client. A
stand-in is a registered broker without a process: the real broker serves the metadata of its
topics, which use no disk space. It advertises the address of the real broker, so clients get an
answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any
from uuid import uuid4

from kafka_shell.admin.cluster import features
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.steps import CreateTopics, records_of
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.jars import Report
from kafka_shell.sandbox.security import TWIN_USER
from kafka_shell.sandbox.state import RACKS, Sandbox
from kafka_shell.wire import messages, metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from kafka_shell.wire.failures import as_error
from kafka_shell.wire.requests import Call, Coordinator, CoordinatorKind
from kafka_shell.wire.rounds import in_requests, in_slices

FIRST_ID = 1001
PARTITIONS = 3
FACTOR = 3
# A clean shutdown waits for all other brokers, and stand-ins never respond.
STOP_SECONDS = 2.0
_BROKERS_PER_BATCH = 100
_TIMEOUT_S = 120.0
_INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")
_PLAINTEXT = 0  # ID of the security protocol

_WORDS = (
    "orders payments billing shipping inventory catalog pricing search web mobile identity fraud"
    " ledger returns support loyalty ads metrics audit partners",
    "invoice refund customer parcel basket session product campaign account transfer device"
    " voucher review warehouse courier quote statement click export ticket",
    "created changed deleted approved rejected sent enriched snapshot dlq retry",
)  # parts of a topic name: domain, entity, event


def settings() -> dict[str, str]:
    """Return the configs of the real node: sessions never expire, registrations are not delayed."""
    return {
        "broker.session.timeout.ms": str((1 << 31) - 1),
        "controller.quorum.append.linger.ms": "0",
    }


def heap_mebibytes(topics: int) -> int:
    """Return the heap size of the real node for the metadata of this many topics."""
    return 256 + topics // 50


def add(sandbox: Sandbox, report: Report) -> None:
    """Register the stand-ins and create their topics. Raises ShellError if one is rejected."""
    (real,) = sandbox.brokers
    at_broker, at_controller = (
        replace(connection(sandbox, port), call_timeout=_TIMEOUT_S)
        for port in (*real.ports.values(), real.controller_port)
    )
    ids = range(FIRST_ID, FIRST_ID + sandbox.stand_in_brokers)
    with Cluster(at_broker) as cluster, Cluster(at_controller) as controller:
        _make_internal_topics(cluster)
        _register(controller, cluster, sandbox, ids, report)
        _create_topics(cluster, ids, sandbox.topics, report)


def connection(sandbox: Sandbox, port: int | None) -> ConnectionConfig:
    """Return the connection to a port of the real node: of its broker, or of its controller."""
    config = ConnectionConfig(parse_addresses(f"127.0.0.1:{port}"))
    if not sandbox.password:
        return config
    login = Sasl("PLAIN", TWIN_USER, Secret(sandbox.password))
    return replace(config, security_protocol="SASL_PLAINTEXT", sasl=login)


def unregister_last_run(sandbox: Sandbox) -> None:
    """Unregister the real broker, whose previous run still counts as alive.

    Does nothing if the controller does not respond yet: the broker will retry.
    """
    (real,) = sandbox.brokers
    config = connection(sandbox, real.controller_port)
    with suppress(ShellError), Cluster(config) as controller:
        controller.send(messages.UnregisterBrokerRequest(broker_id=real.id), check=False)


def is_leading(sandbox: Sandbox) -> bool:
    """Return whether the real broker leads the internal topics, which are on it alone.

    After its last run was unregistered, it has to be elected again, which takes a moment.
    """
    (real,) = sandbox.brokers
    (port,) = real.ports.values()
    with suppress(ShellError), Cluster(connection(sandbox, port)) as cluster:
        metadata = metadata_scan.scan(cluster, _INTERNAL_TOPICS)
        alive = any(broker.id == real.id for broker in metadata.brokers)
        return alive and not any(topic.offline for topic in metadata.summaries())
    return False


def topic_names(count: int) -> Iterator[str]:
    """Yield topic names, always the same: `orders.invoice.created.0007`."""
    stems = [".".join(words) for words in product(*map(str.split, _WORDS))]
    random.Random(4).shuffle(stems)
    for number in range(count):
        yield f"{stems[number % len(stems)]}.{number // len(stems):04}"


def _make_internal_topics(cluster: Cluster) -> None:
    """Create the internal topics on the real broker before stand-ins are registered."""
    for kind in (CoordinatorKind.GROUP, CoordinatorKind.TRANSACTION):
        cluster.api_versions(Coordinator(kind, "kafka-sh"))


def _register(
    controller: Cluster, cluster: Cluster, sandbox: Sandbox, ids: Sequence[int], report: Report
) -> None:
    supported = [
        messages.BrokerRegistrationRequest.Feature(
            name=each.name, min_supported_version=each.lowest, max_supported_version=each.highest
        )
        for each in features.describe(cluster).features
    ]
    (real,) = sandbox.brokers
    listeners = [
        messages.BrokerRegistrationRequest.Listener(
            name=name, host="127.0.0.1", port=port, security_protocol=_PLAINTEXT
        )
        for name, port in real.ports.items()
    ]
    done = 0
    for batch in in_slices(ids, _BROKERS_PER_BATCH):
        report("Registering stand-in brokers", done, len(ids))
        registrations = [
            messages.BrokerRegistrationRequest(
                broker_id=number,
                cluster_id=sandbox.cluster_id,
                incarnation_id=uuid4(),
                listeners=listeners,
                features=supported,
                rack=RACKS[number % len(RACKS)],
                log_dirs=[uuid4()],
            )
            for number in batch
        ]
        responses = _checked(controller.send_all([Call(each) for each in registrations]))
        heartbeats = [
            messages.BrokerHeartbeatRequest(
                broker_id=number,
                broker_epoch=response.broker_epoch,
                current_metadata_offset=response.broker_epoch,  # caught up to its registration
                want_fence=False,
                want_shut_down=False,
            )
            for number, response in zip(batch, responses, strict=True)
        ]
        _checked(controller.send_all([Call(heartbeat) for heartbeat in heartbeats]))
        done += len(batch)
    report("Registering stand-in brokers", done, len(ids))


def _create_topics(cluster: Cluster, ids: Sequence[int], count: int, report: Report) -> None:
    """Create topics on the stand-ins and wait until the broker knows the last one."""
    done = 0
    named = enumerate(topic_names(count))
    new = (NewTopic(name, assignment=_assignment(ids, at)) for at, name in named)
    for batch in in_requests(new, records_of):
        report("Creating topics on stand-in brokers", done, count)
        last = done + len(batch) == count
        step = CreateTopics(batch, timeout_ms=int(_TIMEOUT_S * 1000) if last else 0)
        created = step.send(cluster, validate_only=False)
        if not created.ok:
            raise as_error(next(iter(created.failures.values())))
        done += len(batch)
    report("Creating topics on stand-in brokers", done, count)


def _assignment(ids: Sequence[int], topic: int) -> tuple[tuple[int, ...], ...]:
    """Return the replicas of each partition of the nth topic, evenly distributed."""
    copies, many = min(FACTOR, len(ids)), len(ids)
    firsts = range(topic * PARTITIONS, (topic + 1) * PARTITIONS)
    return tuple(tuple(ids[(first + copy) % many] for copy in range(copies)) for first in firsts)


def _checked(responses: Sequence[Any]) -> Sequence[Any]:
    """Return the responses. Raises ShellError if one is a failure."""
    for response in responses:
        if isinstance(response, Failure):
            raise as_error(response)
    return responses
