"""The admin client for Python programs: `Admin`, and plans that know their cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

    from kafka_shell.plan.model import Change, Effect, Plan, Report, Resource
    from kafka_shell.plan.results import Results

    from .acls.api import AclsApi
    from .client_configs.api import ClientConfigsApi
    from .cluster.api import ClusterApi
    from .configs.api import ConfigsApi
    from .groups.api import GroupsApi
    from .partitions.api import PartitionsApi
    from .quotas.api import QuotasApi
    from .records.api import RecordsApi
    from .tokens.api import TokensApi
    from .topics.api import TopicsApi
    from .transactions.api import TransactionsApi
    from .users.api import UsersApi
    from .wire.connection import Cluster
    from .wire.endpoint import ConnectionConfig

P = ParamSpec("P")
T = TypeVar("T")

_BOOTSTRAP = "bootstrap.servers"


class Admin:
    """A connection to one cluster, with an attribute for each family of resources.

    `properties` are the properties of Java clients (`bootstrap.servers`, `security.protocol`,
    `sasl.mechanism`, `sasl.jaas.config`, `ssl.truststore.location` ...), or the bootstrap servers
    alone: `host:port[,host:port]`. `timeout` bounds every call (seconds); None sets no bound beyond
    `default.api.timeout.ms`. Nothing is sent before the first call.

    Methods may be called from any thread; calls are sent one after another. Errors of a whole call
    are raised as ShellError; errors of single items are in the Results that are returned.
    """

    def __init__(
        self, properties: Mapping[str, str] | str, *, timeout: float | None = None
    ) -> None:
        if isinstance(properties, str):
            properties = {_BOOTSTRAP: properties}
        self._properties = dict(properties)
        self._timeout = timeout
        self._lock = threading.RLock()

    @classmethod
    def from_file(cls, path: str | Path, *, timeout: float | None = None) -> Admin:
        """An Admin from a Java properties file, as `--command-config` takes it.

        Raises ShellError where the file cannot be read.
        """
        from .wire.properties import read_properties

        return cls(read_properties(Path(path)), timeout=timeout)

    def __enter__(self) -> Admin:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Admin({self._properties.get(_BOOTSTRAP, '')!r})"

    def close(self) -> None:
        """Close every connection. A later call opens new ones."""
        with self._lock:
            if "_cluster" in self.__dict__:
                self._cluster.close()

    @property
    def cluster_id(self) -> str:
        """The id of the cluster (Metadata, API key 3)."""
        return self.call(lambda cluster: cluster.cluster_id)

    def call(
        self, function: Callable[Concatenate[Cluster, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function returns for this cluster, within the time allowed for a call."""
        with self._lock, self._cluster.within(self._timeout):
            return function(self._cluster, *args, **kwargs)

    def plan(
        self, function: Callable[Concatenate[Cluster, P], Plan], *args: P.args, **kwargs: P.kwargs
    ) -> ClusterPlan:
        """The plan that the function makes, bound to this cluster."""
        return ClusterPlan(self, self.call(function, *args, **kwargs))

    @cached_property
    def _cluster(self) -> Cluster:
        from .wire.connection import Cluster

        return Cluster(self._config())

    def _config(self) -> ConnectionConfig:
        from .wire.client_properties import to_connection
        from .wire.properties import Property

        return to_connection(
            {name: Property(str(value), name) for name, value in self._properties.items()}
        )

    # -- families ----------------------------------------------------------------------------------

    @cached_property
    def topics(self) -> TopicsApi:
        """Topics: list, describe, create, delete, add partitions."""
        from .topics.api import TopicsApi

        return TopicsApi(self)

    @cached_property
    def configs(self) -> ConfigsApi:
        """Configs of topics, brokers, loggers, groups and client metrics subscriptions."""
        from .configs.api import ConfigsApi

        return ConfigsApi(self)

    @cached_property
    def quotas(self) -> QuotasApi:
        """Client quotas."""
        from .quotas.api import QuotasApi

        return QuotasApi(self)

    @cached_property
    def users(self) -> UsersApi:
        """SCRAM credentials."""
        from .users.api import UsersApi

        return UsersApi(self)

    @cached_property
    def acls(self) -> AclsApi:
        """ACLs, and what the authorizer decides from them."""
        from .acls.api import AclsApi

        return AclsApi(self)

    @cached_property
    def tokens(self) -> TokensApi:
        """Delegation tokens."""
        from .tokens.api import TokensApi

        return TokensApi(self)

    @cached_property
    def partitions(self) -> PartitionsApi:
        """Replicas: reassignments, leader elections, log directories."""
        from .partitions.api import PartitionsApi

        return PartitionsApi(self)

    @cached_property
    def records(self) -> RecordsApi:
        """Offsets of partitions, and deleting records."""
        from .records.api import RecordsApi

        return RecordsApi(self)

    @cached_property
    def groups(self) -> GroupsApi:
        """Consumer, share and streams groups."""
        from .groups.api import GroupsApi

        return GroupsApi(self)

    @cached_property
    def transactions(self) -> TransactionsApi:
        """Transactions and the producers behind them."""
        from .transactions.api import TransactionsApi

        return TransactionsApi(self)

    @cached_property
    def cluster(self) -> ClusterApi:
        """Brokers, health, the metadata quorum, features."""
        from .cluster.api import ClusterApi

        return ClusterApi(self)

    @cached_property
    def client_configs(self) -> ClientConfigsApi:
        """Dynamic client configs (KIP-649)."""
        from .client_configs.api import ClientConfigsApi

        return ClientConfigsApi(self)


class ClusterPlan:
    """Changes that were worked out and not sent: look at them, validate them, apply them."""

    def __init__(self, admin: Admin, plan: Plan) -> None:
        self._admin = admin
        self.plan = plan

    def __repr__(self) -> str:
        return f"ClusterPlan({len(self.changes)} changes, {len(self.refused.failures)} refused)"

    @property
    def changes(self) -> tuple[Change, ...]:
        """Each change with the value before and after it, in the order in which they are sent."""
        return self.plan.changes

    @property
    def unchanged(self) -> tuple[Change, ...]:
        """What was asked for and is already so. It is not sent."""
        return self.plan.unchanged

    @property
    def refused(self) -> Results[Resource, Any]:
        """The items that are invalid, each with its failure. They are not sent."""
        return self.plan.refused

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before the changes are made."""
        return self.plan.warnings

    @property
    def effect(self) -> Effect:
        """Whether the plan changes the cluster, or destroys data or access (Effect.DESTROY)."""
        return self.plan.effect

    def validate(self) -> Results[Change, Change]:
        """Have the broker validate the changes and make none. Steps whose API has no validate-only
        mode are left out."""
        return self._admin.call(_validated, self.plan)

    def apply(self, report: Report | None = None) -> Results[Change, Change]:
        """Send the changes; the outcome of each.

        `report(task, done, total)` is called while a long change is followed to its end. Raises
        ShellError where the plan destroys something and an item of it was refused: nothing is sent
        then.
        """
        return self._admin.call(_applied, self.plan, report)

    def fresh(self) -> Any:
        """What the changes made, read from the cluster after `apply`; None where the plan does not
        say how to read it."""
        return None if self.plan.fresh is None else self._admin.call(self.plan.fresh)


class Family:
    """The operations on one family of resources."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin


def _validated(cluster: Cluster, plan: Plan) -> Results[Change, Change]:
    from kafka_shell.plan.results import Results

    return Results.merge(
        step.send(cluster, validate_only=True) for step in plan.steps if step.validates
    )


def _applied(cluster: Cluster, plan: Plan, report: Report | None) -> Results[Change, Change]:
    from kafka_shell.errors import ShellError
    from kafka_shell.plan.apply import apply
    from kafka_shell.plan.model import Effect

    if plan.effect is Effect.DESTROY and not plan.refused.ok:
        refused = len(plan.refused.failures)
        raise ShellError(
            f"nothing was sent: {refused} of {refused + len(plan.changes)} items are invalid",
            code="refused",
        )
    return apply(plan, cluster, report)
