"""What a deletion of topics affects: records, groups, producers and ACLs."""

from __future__ import annotations

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan
from kafka_shell.commands.topics.render import use_page
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic
from tests.support.group_data import commit, forget
from tests.support.outages import silent
from tests.support.produced_records import fill


def use_of(plan: Plan) -> dict[str, TopicUse]:
    (use,) = plan.advice.figures
    assert isinstance(use, TopicsUse)
    return {topic.topic: topic for topic in use.topics}


def test_an_older_broker_reports_it_too(
    old_sandbox: Sandbox, old_cluster: Cluster, name: str
) -> None:
    make_topic(old_cluster, name)
    fill(old_sandbox.bootstrap, name, 4)
    commit(old_cluster, f"{name}-g", name, 2)
    plan = advise(topic_changes.plan_delete(old_cluster, [name]), old_cluster)
    assert plan.advice.not_checked == ()
    found = use_of(plan)[name]
    assert found.max_records == 4
    assert [(each.group, each.offsets) for each in found.readers or ()] == [(f"{name}-g", 1)]
    forget(old_cluster, f"{name}-g")
    done(plan, old_cluster)


def test_a_silent_broker_does_not_hold_up_the_plan(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    """What it does not report is named, and the plan is there within its time."""
    make_topic(three, name, assignment=((1, 2), (2, 3), (3, 1)))
    for partition in range(3):
        fill(three_brokers.bootstrap, name, 2, partition=partition)
    with silent(three_brokers) as two, connect(two) as cluster, cluster.within(30):
        plan = advise(topic_changes.plan_delete(cluster, [name]), cluster)
    missing = {each.what: each.reason for each in plan.advice.not_checked}
    assert "the records of 1 partition" in missing, missing
    assert "the size of replicas on 1 broker" in missing, missing
    found = use_of(plan)[name]
    assert found.max_records == 4, "the others are counted"
    assert (found.unread_partitions, found.unread_replicas) == (1, 2)
    assert plan.advice.stakes.endswith(", 1 partition not checked"), plan.advice.stakes
    shown = "\n".join(line.plain for line in use_page(TopicsUse((found,)), None))
    assert "4+, " in shown and "+ on disk" in shown, shown
    done(topic_changes.plan_delete(three, [name]), three)


def test_a_topic_of_which_nothing_can_be_read_is_not_called_empty(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, assignment=((3,),))
    fill(three_brokers.bootstrap, name, 2)
    with silent(three_brokers) as two, connect(two) as cluster, cluster.within(30):
        plan = advise(topic_changes.plan_delete(cluster, [name]), cluster)
    found = use_of(plan)[name]
    assert (found.max_records, found.bytes, found.unread_partitions) == (None, None, 1)
    assert plan.advice.stakes == "1 partition not checked"
    shown = [line.plain for line in use_page(TopicsUse((found,)), None)]
    assert "no records" not in "".join(shown), shown
    done(topic_changes.plan_delete(three, [name]), three)
