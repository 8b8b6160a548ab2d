"""The admin client for Python programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.calls import Calls, Client
from kafka_shell.base.errors import UsageError

if TYPE_CHECKING:
    from kafka_shell.admin.acls.api import AclsApi
    from kafka_shell.admin.activity.api import ActivityApi
    from kafka_shell.admin.client_configs.api import ClientConfigsApi
    from kafka_shell.admin.cluster.api import ClusterApi
    from kafka_shell.admin.configs.api import ConfigsApi
    from kafka_shell.admin.groups.api import GroupsApi
    from kafka_shell.admin.partitions.api import PartitionsApi
    from kafka_shell.admin.quotas.api import QuotasApi
    from kafka_shell.admin.records.api import RecordsApi
    from kafka_shell.admin.tokens.api import TokensApi
    from kafka_shell.admin.topics.api import TopicsApi
    from kafka_shell.admin.transactions.api import TransactionsApi
    from kafka_shell.admin.users.api import UsersApi

_BOOTSTRAP = "bootstrap.servers"


def _family(name: str) -> Any:
    """The operations of a family, whose module is imported when they are first used."""

    def operations(admin: Admin) -> Any:
        module = import_module(f".{name}.api", __package__)
        return getattr(module, Admin.__annotations__[name])(admin._calls)

    return cached_property(operations)


class Admin(Client):
    """A connection to one cluster, with an attribute for each family of resources.

    `properties` are the properties of Java clients (`bootstrap.servers`, `security.protocol`,
    `sasl.mechanism`, `sasl.jaas.config`, `ssl.truststore.location` ...), or the bootstrap servers
    alone: `host:port[,host:port]`. `timeout` is the maximum duration of a call in seconds; with
    None only `default.api.timeout.ms` applies. Nothing is sent before the first call.

    Raises ShellError without bootstrap servers, or if a property is invalid.

    The methods are thread-safe; calls run one after another. A call that fails as a whole raises
    ShellError; failures of single items are part of the returned Results.
    """

    topics: TopicsApi = _family("topics")
    configs: ConfigsApi = _family("configs")
    quotas: QuotasApi = _family("quotas")
    users: UsersApi = _family("users")
    acls: AclsApi = _family("acls")
    tokens: TokensApi = _family("tokens")
    partitions: PartitionsApi = _family("partitions")
    records: RecordsApi = _family("records")
    groups: GroupsApi = _family("groups")
    transactions: TransactionsApi = _family("transactions")
    cluster: ClusterApi = _family("cluster")
    activity: ActivityApi = _family("activity")
    client_configs: ClientConfigsApi = _family("client_configs")

    def __init__(
        self, properties: Mapping[str, str] | str, *, timeout: float | None = None
    ) -> None:
        if isinstance(properties, str):
            properties = {_BOOTSTRAP: properties}
        self._bootstrap = str(properties.get(_BOOTSTRAP, ""))
        if not self._bootstrap.strip():
            raise UsageError(
                f"{_BOOTSTRAP} is not set", hint="Set it to host:port.", code="no-bootstrap"
            )
        self._calls = Calls(properties, timeout)

    @classmethod
    def from_file(cls, path: str | Path, *, timeout: float | None = None) -> Admin:
        """Return an Admin for a Java properties file, such as one for `--command-config`.

        Raises OSError or ShellError if the file cannot be read.
        """
        from kafka_shell.wire.client_properties import read_properties

        return cls(read_properties(Path(path)), timeout=timeout)

    def __enter__(self) -> Admin:
        return self

    def __exit__(self, *_: object) -> None:
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
