"""kafka-python clients for tests of the sandbox."""

from __future__ import annotations

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from kafka_shell.sandbox.state import Sandbox


def admin(sandbox: Sandbox, **settings: object) -> KafkaAdminClient:
    """An admin client, of the first listener unless told otherwise."""
    return KafkaAdminClient(**{"bootstrap_servers": sandbox.bootstrap} | settings)


def brokers(sandbox: Sandbox, bootstrap: str | None = None) -> dict[int, str]:
    """The racks of the brokers that are not fenced."""
    with admin(sandbox, bootstrap_servers=bootstrap or sandbox.bootstrap) as client:
        found = client.describe_cluster()["brokers"]
        return {b["broker_id"]: b["rack"] for b in found if not b["is_fenced"]}


def loggers(client: KafkaAdminClient, broker: str = "1") -> dict[str, str]:
    """The broker's loggers and their levels (DescribeConfigs of resource type 8)."""
    resource = ConfigResource(ConfigResourceType.BROKER_LOGGER, broker)
    found = client.describe_configs([resource], config_filter="all")["broker_logger"][broker]
    return {name: config["value"] for name, config in found.items()}


def set_logger(client: KafkaAdminClient, name: str, level: str, broker: str = "1") -> None:
    """Alter one of the broker's loggers (IncrementalAlterConfigs of resource type 8)."""
    resource = ConfigResource(ConfigResourceType.BROKER_LOGGER, broker, {name: level})
    assert client.alter_configs([resource], incremental=True) == {"broker_logger": {broker: "OK"}}
