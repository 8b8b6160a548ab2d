"""Plans that unregister brokers (API key 64)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_shell.admin.wire import metadata_scan
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import REQUEST_TIMED_OUT, failure, needs
from kafka_shell.admin.wire.propagation import settle
from kafka_shell.admin.wire.requests import CONTROLLER, Call
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results

from .read import registered

_BROKER_ID_NOT_REGISTERED, _INVALID_REQUEST = 102, 42


# -- unregister ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnregisterBroker:
    """One UnregisterBroker request (KIP-631, API key 64)."""

    broker: int
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """The broker that is forgotten. It registers itself again when it starts."""
        resource = Resource("broker", str(self.broker))
        return (
            Change(resource, "delete", note="it registers again if it starts", reversible=False),
        )

    def again(self, cluster: Cluster) -> UnregisterBroker:
        """Itself, unless the broker has come back."""
        why = _why_not(cluster, self.broker)
        if why is not None:
            raise ShellError(why.message, hint=why.hint, code=why.name)
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Forget it."""
        from kafka_shell.admin.wire.schemas.quorum import UnregisterBrokerRequest

        (change,) = self.changes
        call = Call(UnregisterBrokerRequest(broker_id=self.broker), CONTROLLER, check=False)
        (answer,) = cluster.send_all([call])
        if isinstance(answer, Failure):
            return Results({}, {change: answer})
        if answer.error_code:
            slow = answer.error_code == REQUEST_TIMED_OUT
            hint = "It may still be done. Look: cluster-metadata" if slow else ""
            hint = hint or needs(answer.error_code, "Alter on the cluster")
            about = f"broker {self.broker}"
            why = failure(answer.error_code, answer.error_message, about=about, hint=hint)
            return Results({}, {change: why})
        settle(lambda: self.broker not in (registered(cluster) or ()))
        return Results({change: change})


def plan_unregister(cluster: Cluster, brokers: Iterable[int]) -> Plan:
    """Let the cluster forget brokers that are gone for good.

    One that is up is refused: it would not notice, and could serve nobody until it is started anew.
    """
    asked = list(dict.fromkeys(brokers))
    refused = {broker: _why_not(cluster, broker) for broker in asked}
    gone = [broker for broker in asked if refused[broker] is None]
    return Plan(
        Effect.DESTROY,
        tuple(UnregisterBroker(broker) for broker in gone),
        touches=frozenset({"brokers"}),
        warnings=tuple(_warnings(cluster, gone)),
        refused=Results(
            {}, {Resource("broker", str(b)): why for b, why in refused.items() if why is not None}
        ),
    )


def _why_not(cluster: Cluster, broker: int) -> Failure | None:
    if any(each.id == broker for each in cluster.brokers(refresh=True)):
        return Failure(
            "INVALID_REQUEST",
            f"broker {broker} is up",
            _INVALID_REQUEST,
            "Stop it first: only a broker that is gone for good is unregistered.",
        )
    known = registered(cluster)
    if known is not None and broker not in known:
        return Failure(
            "BROKER_ID_NOT_REGISTERED",
            f"no broker {broker} is registered",
            _BROKER_ID_NOT_REGISTERED,
            f"This cluster has {', '.join(map(str, sorted(known)))}.",
        )
    return None


def _warnings(cluster: Cluster, gone: Iterable[int]) -> Iterable[str]:
    if not gone:
        return
    found = metadata_scan.scan(cluster)
    sick = [found.topic(each.name) for each in found.summaries() if each.under_replicated]
    for broker in gone:
        held = sum(broker in p.replicas for topic in sick for p in topic.partitions)
        if held:
            yield (
                f"broker {broker} still has {held:,} replica{'' if held == 1 else 's'} to hold:"
                f" they stay offline until they are moved: reassign-partitions --drain {broker}"
            )
