from __future__ import annotations

from kafka_shell.admin.configs.model import ConfigSource
from kafka_shell.commands.configs.render import ConfigTable
from tests.support.samples import BROKER, ORDERS, drawn, entry


def test_the_layout_is_the_proposals() -> None:
    table = ConfigTable(
        ORDERS,
        (
            entry("compression.type", "producer"),
            entry("leader.replication.throttled.replicas", ""),
            entry("file.delete.delay.ms", "6000", ConfigSource.DYNAMIC_TOPIC),
            entry("flush.ms", "9223372036854775807", read_only=True),
            entry("follower.replication.throttled.replicas", ""),
        ),
    )
    assert drawn(table).splitlines() == [
        "   CONFIGS FOR TOPIC orders",
        "",
        "                                     Name   Value"
        "                                  Sensitive  Read-only               Source",
        "                         compression.type = producer"
        "                                 false      false         Default config",
        "    leader.replication.throttled.replicas ="
        "                                          false      false         Default config",
        "                     file.delete.delay.ms = 6000"
        "                                     false      false   Dynamic topic config",
        "                                 flush.ms = 9223372036854775807"
        "                      false      true          Default config",
        "  follower.replication.throttled.replicas ="
        "                                          false      false         Default config",
    ]


def test_a_sensitive_value_is_empty_and_a_broker_is_named() -> None:
    secret = entry("ssl.key.password", None, ConfigSource.STATIC_BROKER, BROKER, sensitive=True)
    lines = drawn(ConfigTable(BROKER, (secret,)), width=40).splitlines()
    assert lines[0] == "   CONFIGS FOR BROKER 1"
    assert lines[3].split() == [
        "ssl.key.password",
        "=",
        "true",
        "false",
        "Static",
        "broker",
        "config",
    ]


def test_csv_has_a_row_a_config() -> None:
    table = ConfigTable(ORDERS, (entry("retention.ms", "604800000"),))
    assert drawn(table, "csv").splitlines()[1].startswith("topic orders,retention.ms,604800000,")
