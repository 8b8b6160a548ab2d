"""What a deletion of topics affects: records, groups, producers and ACLs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan
from kafka_shell.commands.topics.render import use_page
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, forget
from tests.support.waiting import wait_for


def use_of(plan: Plan) -> dict[str, TopicUse]:
    (use,) = plan.advice.figures
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


def test_a_topic_nobody_uses(cluster: Cluster, topic: str) -> None:
    plan = advise(topic_changes.plan_delete(cluster, [topic]), cluster)
    assert plan.advice.not_checked == ()
    assert use_of(plan) == {topic: TopicUse(topic, 0, 0, (), 0, None, ())}
    assert plan.advice.stakes == "no records"


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
            plan = advise(topic_changes.plan_delete(cluster, [used, other]), cluster)
        assert plan.advice.not_checked == ()
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
        assert plan.advice.stakes.startswith("up to 3 records, ") and plan.advice.stakes.endswith(
            ", 2 groups"
        )
    finally:
        forget(cluster, group, idle)
        done(acl_changes.plan_delete(cluster, [AclFilter(f"User:{name}")]), cluster)
        done(topic_changes.plan_delete(cluster, [used, other]), cluster)


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
