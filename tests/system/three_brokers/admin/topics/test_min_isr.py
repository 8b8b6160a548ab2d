"""How many in-sync replicas acks=all requires, compared with real brokers."""

from __future__ import annotations

from kafka import KafkaProducer
from kafka.errors import NotEnoughReplicasError

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.partitions import reassignment
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.advice import advise
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.config_alterations import DEFAULT, delete, restored, set_, topic_of
from tests.support.program import Program
from tests.support.reassigned_topics import Filled, put
from tests.support.waiting import wait_for

KEY = "min.insync.replicas"
ANY_DOWN = "will fail while a broker is down"


def test_the_default_of_the_cluster_counts(old_cluster: Cluster, name: str) -> None:
    """Kafka 4.1 and later do not delete this default again, so it is set on an older broker."""
    above, one = f"{KEY}=2 has no effect on topic {name}", "with a single replica"
    make_topic(old_cluster, name, configs=((KEY, "1"),))
    with restored(old_cluster, DEFAULT, KEY):
        plan = config_changes.plan_alter(old_cluster, {DEFAULT: [set_(KEY, "2")]})
        plan = advise(plan, old_cluster)
        assert not [each for each in plan.advice.warnings if name in each], "it has its own"
        done(plan, old_cluster)
        plan = config_changes.plan_alter(old_cluster, {topic_of(name): [delete(KEY)]})
        plan = advise(plan, old_cluster)
        assert plan.advice.warnings == (f"{above} {one}",)
        new = [
            NewTopic(f"{name}.default"),
            NewTopic(f"{name}.three", 1, 3),
            NewTopic(f"{name}.own", 1, 1, configs=((KEY, "1"),)),
            NewTopic(f"{name}.placed", assignment=((1, 2), (2, 1))),
        ]
        assert advise(topic_changes.plan_create(new), old_cluster).advice.warnings == (
            f"{above}.default {one}",
            f"producers with acks=all to topic {name}.placed {ANY_DOWN} ({KEY}=2, 2 replicas)",
        )
    done(topic_changes.plan_delete(old_cluster, [name]), old_cluster)


def test_a_default_warns_of_the_topics_that_inherit_it(three: Cluster, name: str) -> None:
    names = [make_topic(three, f"{name}.{n}", factor=3) for n in range(5)]
    own = make_topic(three, f"{name}.own", factor=3, configs=((KEY, "1"),))
    plan = advise(config_changes.plan_alter(three, {DEFAULT: [set_(KEY, "3")]}), three)
    (said,) = [each for each in plan.advice.warnings if f"{KEY}=3, 3 replicas" in each]
    assert own not in said
    assert " topics (" in said and " more)" in said and ANY_DOWN in said
    assert any(each.endswith(f" inherit {KEY}") for each in plan.advice.warnings)
    done(topic_changes.plan_delete(three, [*names, own]), three)


def test_fewer_replicas_are_a_warning(three: Cluster, name: str) -> None:
    make_topic(three, name, assignment=((1, 2, 3), (2, 3, 1)), configs=((KEY, "2"),))
    fewer = {TopicPartition(name, 1): (2, 3)}
    plan = reassignment.plan_move(three, fewer)
    assert plan.advice.warnings == (
        f"producers with acks=all to topic {name} {ANY_DOWN} ({KEY}=2, 2 replicas)",
    )
    single = reassignment.plan_move(three, {TopicPartition(name, 0): (1,)})
    assert single.advice.warnings[-1].startswith(
        f"topic {name} would have a single replica: reads and writes"
    )
    other = {TopicPartition(name, 1): (3, 2, 1)}
    assert reassignment.plan_move(three, other).advice.warnings == ()
    done(topic_changes.plan_delete(three, [name]), three)


def test_a_single_replica_on_several_brokers(three: Cluster, cluster: Cluster, name: str) -> None:
    """Also if it is the default of the brokers; on one broker there is no choice."""
    single = (
        f"topic {name} would have a single replica: reads and writes fail while its broker is"
        " down, and a lost disk loses the records"
    )
    default = advise(topic_changes.plan_create([NewTopic(name)]), three)
    assert default.advice.warnings == (single,)
    assigned = advise(topic_changes.plan_create([NewTopic(name, assignment=((1,), (2,)))]), three)
    assert assigned.advice.warnings == (single,)
    two = advise(topic_changes.plan_create([NewTopic(name, replication_factor=2)]), three)
    assert two.advice.warnings == ()
    assert advise(topic_changes.plan_create([NewTopic(name)]), cluster).advice.warnings == ()


def _accepts(bootstrap: str, topic: str) -> bool:
    """Whether a record is acknowledged; not if too few replicas are in sync."""
    producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), acks="all", retries=0)
    try:
        producer.send(topic, b"x", partition=0).get(30)
    except NotEnoughReplicasError:
        return False
    finally:
        producer.close()
    return True


def test_a_move_that_stops_acks_all_producers_is_confirmed(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program
) -> None:
    """Brokers count the replicas that are added before they are in sync."""
    (topic,) = Filled(three_brokers, three, (1,), min_isr=2).topics(1)
    warning = (
        f"producers with acks=all to topic {topic} fail during this move until 1 more replica is in"
        f" sync; to avoid this, set {KEY}=1 until then"
    )
    assert _accepts(three_brokers.bootstrap, topic)
    words = ("alter-topic", topic, "--replication-factor", "3", "--throttle", "1")
    asked = kafka_on_three(*words)
    assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
    assert warning in " ".join(asked.stderr.split()), str(asked)
    kafka_on_three.ok(*words, "--yes")
    wait_for("they fail", lambda: not _accepts(three_brokers.bootstrap, topic))
    put(three, topic_of(topic), KEY, "1")
    wait_for("they write again", lambda: _accepts(three_brokers.bootstrap, topic))
    done(topic_changes.plan_delete(three, [topic]), three)


def test_moves_that_do_not_stop_producers_are_not_confirmed(three: Cluster, name: str) -> None:
    assignment = ((1, 2), (2, 3))
    make_topic(three, name, assignment=assignment, configs=((KEY, "2"),))
    more = reassignment.plan_move(three, {TopicPartition(name, 0): (1, 2, 3)})
    other = reassignment.plan_move(three, {TopicPartition(name, 1): (1, 2)})
    for plan in (more, other):
        advice = plan.advice
        assert (advice.warnings, advice.confirm, advice.not_checked) == ((), False, ())
    put(three, topic_of(name), KEY, "3")
    stops = reassignment.plan_move(three, {TopicPartition(name, 0): (1, 3)})
    assert stops.advice.confirm and "until 1 more replica is in sync" in stops.advice.warnings[0]
    done(topic_changes.plan_delete(three, [name]), three)
