"""What a deletion of topics affects: records, groups, producers and ACLs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kafka import KafkaConsumer, KafkaProducer

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.commands.topics.use_render import use_page
from kafka_shell.plan.model import Plan
from kafka_shell.sandbox.state import Sandbox
from tests.admin.group_data import commit, forget
from tests.admin.helpers import done, make_topic, wait_for
from tests.outages import frozen
from tests.produced_records import fill

quick = pytest.mark.quick


def use_of(plan: Plan) -> dict[str, TopicUse]:
    (use,) = plan.figures
    assert isinstance(use, TopicsUse)
    return {topic.topic: topic for topic in use.topics}


@contextmanager
def reading(sandbox: Sandbox, group: str, topic: str) -> Iterator[None]:
    """A member of the group that has a partition of the topic."""
    consumer = KafkaConsumer(
        topic, bootstrap_servers=sandbox.bootstrap, group_id=group, client_id="reader-1"
    )
    try:
        wait_for("the consumer has a partition",
                 lambda: bool(consumer.poll(1_000) or consumer.assignment()))  # fmt: skip
        yield
    finally:
        consumer.close()


@quick
def test_a_topic_nobody_uses(cluster: Cluster, topic: str) -> None:
    plan = topic_changes.plan_delete(cluster, [topic])
    assert plan.not_checked == ()
    assert use_of(plan) == {topic: TopicUse(topic, 0, 0, (), 0, None, ())}
    assert plan.stakes == "no records"


@quick
def test_records_groups_producers_and_acls(sandbox: Sandbox, cluster: Cluster, name: str) -> None:
    used, other = make_topic(cluster, f"{name}.used", 2), make_topic(cluster, f"{name}.other")
    group, idle = f"{name}-active", f"{name}-idle"
    binding = AclBinding(
        f"User:{name}", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.TOPIC, used
    )
    prefixed = AclBinding(
        f"User:{name}", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.TOPIC, name,
        PatternType.PREFIXED,
    )  # fmt: skip
    done(acl_changes.plan_create(cluster, [binding, prefixed]), cluster)
    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap, enable_idempotence=True)
    try:
        for partition in (0, 0, 1):
            producer.send(used, b"x" * 1000, partition=partition).get(30)
    finally:
        producer.close()
    commit(cluster, idle, used, 1, 0)
    try:
        with reading(sandbox, group, used):
            plan = topic_changes.plan_delete(cluster, [used, other])
        assert plan.not_checked == ()
        found = use_of(plan)
        assert found[other] == TopicUse(other, 0, 0, (), 0, None, ())
        assert found[used].max_records == 3
        assert (found[used].bytes or 0) > 3000
        readers = {each.group: each for each in found[used].readers or ()}
        assert [each.group for each in found[used].readers or ()] == [group, idle]
        assert readers[group].members == 1 and readers[group].clients == ("reader-1",)
        assert readers[idle].members == 0 and readers[idle].offsets == 2
        assert found[used].producers == 1
        assert found[used].last_written is not None
        assert found[used].acls == (str(binding),), "a prefixed ACL is not about this topic only"
        assert plan.stakes.startswith("up to 3 records, ") and plan.stakes.endswith(", 2 groups")
    finally:
        forget(cluster, group, idle)
        done(acl_changes.plan_delete(cluster, [AclFilter(f"User:{name}")]), cluster)
        done(topic_changes.plan_delete(cluster, [used, other]), cluster)


@quick
def test_topics_without_records_are_one_line() -> None:
    def lines(*topics: TopicUse) -> list[str]:
        return [line.plain for line in use_page(TopicsUse(topics), None)]

    empty = [TopicUse(f"e{number}", 0, 0, (), 0, None, ()) for number in range(30)]
    used = TopicUse("used", 5, 100, (), 0, None, ())
    heading, row, rest = lines(*empty, used)
    assert heading.split() == ["TOPIC", "MAX-RECORDS", "ON-DISK"]
    assert row.split() == ["used", "5", "100", "B"]
    assert rest == "30 topics without records, groups, producers or ACLs"
    unread = TopicUse("unread", 0, 2048, None, None, None, None)
    assert lines(*empty[:2], unread, used)[-1] == "3 topics without records (2.0 KiB on disk)"
    assert lines(*empty) == ["  no records"]
    many = [TopicUse(f"u{number}", 1, 0, (), 0, None, ()) for number in range(25)]
    assert lines(*empty, *many)[-2:] == [
        "... and 5 more topics with up to 5 records"
        " (for the full list, use --dry-run --output json)",
        "30 topics without records, groups, producers or ACLs",
    ]


def test_an_older_broker_reports_it_too(
    old_sandbox: Sandbox, old_cluster: Cluster, name: str
) -> None:
    make_topic(old_cluster, name)
    fill(old_sandbox.bootstrap, name, 4)
    commit(old_cluster, f"{name}-g", name, 2)
    plan = topic_changes.plan_delete(old_cluster, [name])
    assert plan.not_checked == ()
    found = use_of(plan)[name]
    assert found.max_records == 4
    assert [(each.group, each.offsets) for each in found.readers or ()] == [(f"{name}-g", 1)]
    forget(old_cluster, f"{name}-g")
    done(plan, old_cluster)


def test_a_frozen_broker_does_not_hold_up_the_plan(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    """What it does not report is named, and the plan is there within its time."""
    make_topic(three, name, assignment=((1, 2), (2, 3), (3, 1)))
    for partition in range(3):
        fill(three_brokers.bootstrap, name, 2, partition=partition)
    with frozen(three_brokers, 2), three.within(30):
        plan = topic_changes.plan_delete(three, [name])
    missing = {each.what: each.reason for each in plan.not_checked}
    assert "the records of 1 partition" in missing, missing
    assert "the size of replicas on 1 broker" in missing, missing
    found = use_of(plan)[name]
    assert found.max_records == 4, "the others are counted"
    assert (found.unread_partitions, found.unread_replicas) == (1, 2)
    assert plan.stakes.endswith(", 1 partition not checked"), plan.stakes
    shown = "\n".join(line.plain for line in use_page(TopicsUse((found,)), None))
    assert "4+, " in shown and "+ on disk" in shown, shown
    done(topic_changes.plan_delete(three, [name]), three)


def test_a_topic_of_which_nothing_can_be_read_is_not_called_empty(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, assignment=((2,),))
    fill(three_brokers.bootstrap, name, 2)
    with frozen(three_brokers, 2), three.within(30):
        plan = topic_changes.plan_delete(three, [name])
    found = use_of(plan)[name]
    assert (found.max_records, found.bytes, found.unread_partitions) == (None, None, 1)
    assert plan.stakes == "1 partition not checked"
    shown = [line.plain for line in use_page(TopicsUse((found,)), None)]
    assert "no records" not in "".join(shown), shown
    done(topic_changes.plan_delete(three, [name]), three)
