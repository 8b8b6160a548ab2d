"""A remedy is a single command that changes only the resource of its finding."""

from __future__ import annotations

import pytest

from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.audit.control import resources_outside, single_command
from kafka_shell.base.plans import Change, Resource
from tests.support.samples import plan


@pytest.mark.parametrize(
    "line",
    [
        "alter-client-configs --user=a acks=1\n!touch PWNED",
        "delete-group --group=g | sh",
        "delete-group --group=g > /etc/passwd",
        "!rm -r .",
        "delete-group --group='open",
        "delete-group --group='a\x1b[2J'",
        "delete-group --group=g # orders",
        "delete-group --group='\u202e'",
        "alter-topic --topic=a$(id) --partitions 3",
        "alter-topic --topic=a`id` --partitions 3",
        "alter-topic --topic=a\\ --partitions 3",
        "alter-topic --topic=* --partitions 3",
        "alter-topic --topic=~root --partitions 3",
        'alter-topic --topic="a" --partitions 3',
    ],
)
def test_a_line_that_is_not_one_printable_command_is_no_remedy(line: str) -> None:
    assert single_command(line) == ""


def test_a_quoted_name_with_operators_is_still_one_command() -> None:
    for name in ("'a | b; c > d && $(e)'", """'a'"'"'b'""", "[a,b]"):
        line = f"delete-group --group={name}"
        assert single_command(line) == line


@pytest.mark.parametrize(
    ("finding", "resource", "field"),
    [
        ("orders", Resource("topic", "orders"), "retention.ms"),
        ("orders:3", Resource("partition", "orders:3"), ""),
        ("orders:3", Resource("partition", "orders:0"), ""),
        ("orders", Resource("partition", "orders:1"), ""),
        ("group billing", Resource("group", "billing"), ""),
        ("group billing orders:0", Resource("group-offsets", "billing"), "orders:0"),
        ("allow User:a All on topic *", Resource("acl", "allow User:a All on topic *"), ""),
        ("user idle", Resource("user", "idle"), "SCRAM-SHA-512"),
        ("user idle SCRAM-SHA-512", Resource("user", "idle"), "SCRAM-SHA-512"),
        ("client-id app producer_byte_rate", QuotaEntity(client_id="app").resource,
         "producer_byte_rate"),
        ("consumer_byte_rate", Resource("user-default", ""), "consumer_byte_rate"),
        ("consumer_byte_rate", Resource("client-id-default", ""), "consumer_byte_rate"),
        ("transactional ID t", Resource("transactional-id", "t"), "epoch"),
        ("orders:0 at offset 5", Resource("transaction", "orders:0 at offset 5"), ""),
        ("brokers", Resource("broker-default", ""), "min.insync.replicas"),
        ("num.io.threads", Resource("broker-default", ""), "num.io.threads"),
        ("broker 1 kafka.log.LogCleaner", Resource("logger", "1"), "kafka.log.LogCleaner"),
        ("broker 1 orders:0", Resource("replica", "orders:0 on broker 1"), ""),
        ("user a b client-id c", Resource("client-config", "user 'a b' client-id c"), "acks"),
    ],
)  # fmt: skip
def test_a_remedy_may_change_the_resource_of_its_finding(
    finding: str, resource: Resource, field: str
) -> None:
    assert resources_outside(plan(Change(resource, "alter", field)), [finding]) == []


@pytest.mark.parametrize(
    ("finding", "resource"),
    [
        ("group --group=orders-enricher", Resource("group", "orders-enricher")),
        ("group a b", Resource("group", "b")),
        ("group a", Resource("group", "group a")),
        ("orders", Resource("topic", "orders.placed")),
        ("orders:1", Resource("topic", "payments")),
        ("user app", Resource("user", "admin")),
        ("brokers", Resource("broker", "1")),
        ("user alice client-id c", Resource("client-config", "user bob client-id c")),
    ],
)
def test_another_resource_is_refused(finding: str, resource: Resource) -> None:
    inside = Change(Resource("topic", finding), "alter")
    assert resources_outside(plan(inside, Change(resource, "delete")), [finding]) == [resource]
