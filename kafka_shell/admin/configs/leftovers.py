"""Dynamic configs of brokers that are not running. Unregistering a broker does not delete them.

They cannot be listed, as only the broker itself returns its configs. The active controller deletes
them in response to a direct request (IncrementalAlterConfigs, KIP-339 and 919).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.configs.model import DELETE_ALL, ResourceType
from kafka_shell.admin.steps import BaseStep, refused_of, row_failure
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import Address
from kafka_shell.admin.wire.error_codes import INVALID_REQUEST
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results

_DELETE = 1  # the operation of IncrementalAlterConfigs
_TOO_LATE = (
    "Controllers delete the configs of a stopped broker only while it is registered. If they"
    " are not deleted, they apply to the next broker that starts with this ID."
)
_NOTE = "unknown value: only the broker itself returns it"


class DeleteLeftoverConfigs(Struct, BaseStep, frozen=True):
    """Dynamic configs of one broker, deleted by the active controller all or none. A key that
    is not set counts as deleted."""

    broker: int
    keys: tuple[str, ...]
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        resource = Resource("broker", str(self.broker))
        return tuple(
            Change(resource, "delete", key, note=_NOTE, reversible=False) for key in self.keys
        )

    def reread(self, cluster: Cluster) -> DeleteLeftoverConfigs:
        failure = _running_failure(cluster, self.broker)
        if failure is not None:
            raise as_error(failure)
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        # Controllers have no Metadata that tells the cluster ID: this cluster named the address.
        config = replace(cluster.config, bootstrap=(_controller(cluster),), cluster_id="")
        with Cluster(config) as controller:
            controller.join(cluster)
            response = controller.send(self._request(validate_only), check=False)
        (row,) = response.responses
        about = f"broker {self.broker}"
        failure = row_failure(row, about, requires="ALTER_CONFIGS on the cluster")
        if failure is not None and failure.name == "BROKER_ID_NOT_REGISTERED":
            failure = replace(failure, hint=_TOO_LATE)
        return Results.of(self.changes, [failure] * len(self.keys))

    def _request(self, validate_only: bool) -> Any:
        from kafka.protocol.admin import IncrementalAlterConfigsRequest

        kind = IncrementalAlterConfigsRequest.AlterConfigsResource
        configs = [
            kind.AlterableConfig(name=key, config_operation=_DELETE, value=None)
            for key in self.keys
        ]
        resource = kind(
            resource_type=int(ResourceType.BROKER), resource_name=str(self.broker), configs=configs
        )
        return IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)


def plan_delete(cluster: Cluster, brokers: Sequence[int], keys: Sequence[str]) -> Plan:
    """Delete these dynamic configs of brokers that are not running. A running broker is refused.
    Raises UsageError for `*`: they cannot be listed."""
    if DELETE_ALL.key in keys:
        raise UsageError(
            "'*' cannot be used with other configs of a stopped broker",
            hint="Use '*' alone to delete all of them.",
            code="bad-value",
        )
    refused = {broker: _running_failure(cluster, broker) for broker in brokers}
    return Plan(
        Effect.DESTROY,
        tuple(
            DeleteLeftoverConfigs(broker, tuple(keys))
            for broker in brokers
            if refused[broker] is None
        ),
        touches=frozenset({"configs"}),
        refused=refused_of("broker", refused),
    )


def _running_failure(cluster: Cluster, broker: int) -> Failure | None:
    if all(each.id != broker for each in cluster.brokers(refresh=True)):
        return None
    return Failure("INVALID_REQUEST", f"broker {broker} is running", INVALID_REQUEST)


def _controller(cluster: Cluster) -> Address:
    """The address of the active controller."""
    described = quorum.describe(cluster)
    for replica in described.voters:
        if replica.id == described.leader and replica.endpoints:
            return Address(replica.endpoints[0].host, replica.endpoints[0].port)
    raise ShellError(
        "the address of the active controller is unknown",
        hint="Requires Kafka 3.9 or later, and a metadata quorum with a leader.",
        code="no-controller",
        see=Resource("voter"),
    )
