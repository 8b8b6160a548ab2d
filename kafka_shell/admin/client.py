"""The admin client for Python programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .calls import Calls

if TYPE_CHECKING:
    from types import TracebackType

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

_BOOTSTRAP = "bootstrap.servers"


class Admin:
    """A connection to one cluster, with an attribute for each family of resources.

    `properties` are the properties of Java clients (`bootstrap.servers`, `security.protocol`,
    `sasl.mechanism`, `sasl.jaas.config`, `ssl.truststore.location` ...), or the bootstrap servers
    alone: `host:port[,host:port]`. `timeout` is the maximum duration of a call in seconds; with
    None only `default.api.timeout.ms` applies. Nothing is sent before the first call.

    The methods are thread-safe; calls run one after another. A call that fails as a whole raises
    ShellError; failures of single items are part of the returned Results.
    """

    def __init__(
        self, properties: Mapping[str, str] | str, *, timeout: float | None = None
    ) -> None:
        if isinstance(properties, str):
            properties = {_BOOTSTRAP: properties}
        self._bootstrap = str(properties.get(_BOOTSTRAP, ""))
        self._calls = Calls(properties, timeout)

    @classmethod
    def from_file(cls, path: str | Path, *, timeout: float | None = None) -> Admin:
        """Return an Admin for a Java properties file, such as one for `--command-config`.

        Raises OSError or ShellError if the file cannot be read.
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
        return f"Admin({self._bootstrap!r})"

    def close(self) -> None:
        """Close every connection. A later call opens new ones."""
        self._calls.close()

    @property
    def cluster_id(self) -> str:
        """The ID of the cluster (Metadata, API key 3)."""
        return self._calls.call(lambda cluster: cluster.cluster_id)

    # -- families ----------------------------------------------------------------------------------

    @cached_property
    def topics(self) -> TopicsApi:
        """Topics: list, describe, create, delete, add partitions."""
        from .topics.api import TopicsApi

        return TopicsApi(self._calls)

    @cached_property
    def configs(self) -> ConfigsApi:
        """Configs of topics, brokers, loggers, groups and client metrics subscriptions."""
        from .configs.api import ConfigsApi

        return ConfigsApi(self._calls)

    @cached_property
    def quotas(self) -> QuotasApi:
        """Client quotas."""
        from .quotas.api import QuotasApi

        return QuotasApi(self._calls)

    @cached_property
    def users(self) -> UsersApi:
        """SCRAM credentials."""
        from .users.api import UsersApi

        return UsersApi(self._calls)

    @cached_property
    def acls(self) -> AclsApi:
        """ACLs, and what the authorizer decides from them."""
        from .acls.api import AclsApi

        return AclsApi(self._calls)

    @cached_property
    def tokens(self) -> TokensApi:
        """Delegation tokens."""
        from .tokens.api import TokensApi

        return TokensApi(self._calls)

    @cached_property
    def partitions(self) -> PartitionsApi:
        """Replicas: reassignments, leader elections, log directories."""
        from .partitions.api import PartitionsApi

        return PartitionsApi(self._calls)

    @cached_property
    def records(self) -> RecordsApi:
        """Offsets of partitions, and deleting records."""
        from .records.api import RecordsApi

        return RecordsApi(self._calls)

    @cached_property
    def groups(self) -> GroupsApi:
        """Consumer, share and streams groups."""
        from .groups.api import GroupsApi

        return GroupsApi(self._calls)

    @cached_property
    def transactions(self) -> TransactionsApi:
        """Transactions and the producers behind them."""
        from .transactions.api import TransactionsApi

        return TransactionsApi(self._calls)

    @cached_property
    def cluster(self) -> ClusterApi:
        """Brokers, health, the metadata quorum, features."""
        from .cluster.api import ClusterApi

        return ClusterApi(self._calls)

    @cached_property
    def client_configs(self) -> ClientConfigsApi:
        """Dynamic client configs (KIP-649)."""
        from .client_configs.api import ClientConfigsApi

        return ClientConfigsApi(self._calls)
