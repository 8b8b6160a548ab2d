"""The cluster as a whole: its brokers, and letting go of one (API keys 3, 18, 55, 60, 64)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from kafka_shell.errors import ShellError, Status
from kafka_shell.nouns import Change, ClusterMetadata, Effect, Failure, Plan, Resource, Results

from . import features, quorum, topics
from .connection import CONTROLLER, Call, Cluster, failure
from .failures import REQUEST_TIMED_OUT, needs
from .scan import MetadataScan
from .settle import settle

_BROKER_ID_NOT_REGISTERED, _INVALID_REQUEST = 102, 42


# -- describe --------------------------------------------------------------------------------------


def metadata(cluster: Cluster) -> ClusterMetadata:
    """Brokers with racks and versions, controller, cluster id, counts and features."""
    found = topics.scan(cluster)
    summaries = found.summaries()
    controller = _controller(cluster, found)
    releases = cluster.versions_of_brokers().values
    brokers = tuple(
        replace(broker, controller=broker.id == controller, version=releases.get(broker.id, ""))
        for broker in found.brokers
    )
    return ClusterMetadata(
        cluster_id=found.cluster_id,
        controller=controller,
        brokers=brokers,
        topics=len(summaries),
        internal_topics=sum(summary.internal for summary in summaries),
        partitions=found.partitions,
        bootstrap=",".join(map(str, cluster.config.bootstrap)),
        features=features.describe(cluster).features,
    )


def _controller(cluster: Cluster, found: MetadataScan) -> int | None:
    """The active controller. In KRaft that is the quorum's leader: Metadata names any broker."""
    if cluster.is_kraft():
        try:
            controller = quorum.describe(cluster).leader
        except ShellError as error:
            if error.status is Status.UNREACHABLE or error.code == "deadline":
                raise
            return None  # it takes a permission of its own
    else:
        controller = found.controller_id
    return controller if controller >= 0 else None


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
        from .protocol.quorum import UnregisterBrokerRequest

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


def registered(cluster: Cluster) -> frozenset[int] | None:
    """The brokers that are registered, up or not (DescribeCluster v2, KIP-1073; Kafka 4.0).

    None where brokers are too old to tell.
    """
    from kafka.protocol.admin import DescribeClusterRequest

    if not cluster.supports(DescribeClusterRequest, 2):
        return None
    answer: Any = cluster.send(DescribeClusterRequest(include_fenced_brokers=True), lowest=2)
    return frozenset(broker.broker_id for broker in answer.brokers)


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
    found = topics.scan(cluster)
    sick = [found.topic(each.name) for each in found.summaries() if each.under_replicated]
    for broker in gone:
        held = sum(broker in p.replicas for topic in sick for p in topic.partitions)
        if held:
            yield (
                f"broker {broker} still has {held:,} replica{'' if held == 1 else 's'} to hold:"
                f" they stay offline until they are moved: reassign-partitions --drain {broker}"
            )
