"""Plans that unregister brokers (API key 64)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.steps import BaseStep, refused_of, row_failure
from kafka_shell.base.plans import Advice, Change, Effect, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted, some
from kafka_shell.wire import messages, metadata_scan
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import BROKER_ID_NOT_REGISTERED, INVALID_REQUEST
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import CONTROLLER, Call

_NAMED = 3  # partitions that a warning names


class UnregisterBroker(Struct, BaseStep, frozen=True):
    """One UnregisterBroker request (KIP-631, API key 64)."""

    broker: int

    @property
    def changes(self) -> tuple[Change, ...]:
        resource = Resource("broker", str(self.broker))
        return (
            Change(resource, "delete", note="registers again if it is started", reversible=False),
        )

    def reread(self, cluster: Cluster) -> UnregisterBroker:
        failure = _refusal(cluster, self.broker)
        if failure is not None:
            raise as_error(failure)
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        call = Call(
            messages.UnregisterBrokerRequest(broker_id=self.broker), CONTROLLER, check=False
        )
        (row,) = cluster.send_all([call])
        resource = Resource("broker", str(self.broker))
        failure = row_failure(row, resource, requires="ALTER on the cluster", see=resource)
        if failure is None:
            wait_until_visible(lambda: self.broker not in (registered(cluster) or ()))
        return Results.of(self.changes, [failure])


def plan_unregister(cluster: Cluster, brokers: Iterable[int]) -> Plan:
    """Unregister brokers that are permanently down (API key 64).

    A running broker is refused: it would not notice, and could not serve until it is restarted.
    """
    requested = list(dict.fromkeys(brokers))
    refused = {broker: _refusal(cluster, broker) for broker in requested}
    gone = [broker for broker in requested if refused[broker] is None]
    return Plan(
        Effect.DESTROY,
        tuple(UnregisterBroker(broker) for broker in gone),
        refused=refused_of("broker", refused),
        advice=Advice(warnings=tuple(_warnings(cluster, gone))),
    )


def _refusal(cluster: Cluster, broker: int) -> Failure | None:
    if any(node.id == broker for node in cluster.brokers(refresh=True)):
        return failure(
            INVALID_REQUEST,
            text=f"broker {broker} is running",
            hint="Stop it first. Only unregister brokers that are permanently down.",
        )
    known = registered(cluster)
    if known is not None and broker not in known:
        return failure(
            BROKER_ID_NOT_REGISTERED,
            text=f"broker {broker} is not registered",
            hint=f"Use one of: {', '.join(map(str, sorted(known)))}.",
        )
    return None


def _warnings(cluster: Cluster, gone: Collection[int]) -> Iterable[str]:
    if not gone:
        return
    scan = metadata_scan.scan(cluster)
    sick = [partition for name in scan.unhealthy() for partition in scan.topic(name).partitions]
    running = {node.id for node in scan.brokers}
    for broker in gone:
        count = sum(broker in row.replicas for row in sick)
        if count:
            yield (
                f"broker {broker} still has {counted(count, 'replica')}, which"
                f" {'stays' if count == 1 else 'stay'} offline until reassigned to other brokers"
            )
        only = [row for row in sick if broker in (last := _last_in_sync(row, running))
                and last.issubset(gone)]  # fmt: skip
        if only:
            names = some([f"{row.topic}:{row.partition}" for row in only], _NAMED)
            have = "has" if len(only) == 1 else "have"
            yield (
                f"{counted(len(only), 'partition')} ({names}) {have} no in-sync replica on another"
                f" broker: without the disks of broker {broker}, records are lost"
            )


def _last_in_sync(partition: Partition, running: Collection[int]) -> set[int]:
    """The in-sync replicas. They may all be offline (KIP-966): then no running one can lead."""
    if partition.leader is not None or partition.isr:
        return set(partition.isr)
    return set(partition.replicas) - set(running)
