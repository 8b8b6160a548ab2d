"""Create, describe and delete topics and add partitions on real brokers (KIP-4)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics import (
    change as topic_changes,
)
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics import similar as similar_topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.steps import CreatePartitions, CreateTopics
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, Resource, apply
from kafka_shell.base.results import Results
from kafka_shell.output.resource_kinds import touched
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import ANY
from tests.support.changes import described, done, failures, make_topic, refusals
from tests.support.waiting import wait_for


def settings(cluster: Cluster, name: str) -> dict[str, str | None]:
    resource = ConfigResource(ResourceType.TOPIC, name)
    return {
        e.name: e.value for e in configs.describe(cluster, [resource])[resource] if e.overridden
    }


def ids(cluster: Cluster, names: Sequence[str]) -> dict[str, str]:
    return {topic.name: topic.id for topic in topics.describe(cluster, names)}


def test_a_topic_that_is_not_complete_in_time_says_that_it_may_still_appear(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topic(cluster, name)
    monkeypatch.setattr(MetadataScan, "__contains__", lambda self, name: False)
    new = NewTopic(f"{name}.slow", 1, 1)
    results = apply(topic_changes.plan_create([new], timeout_ms=200), cluster)
    (why,) = results.failures.values()
    assert why.name == "REQUEST_TIMED_OUT"
    assert f"{name}.slow" in why.message
    assert why.see == Resource("topic", f"{name}.slow")


def test_a_broker_that_runs_out_of_time_says_that_it_may_still_appear(
    cluster: Cluster, name: str
) -> None:
    """The broker is given a millisecond; should it manage, there is nothing to say."""
    new = [NewTopic(f"{name}.{n}", 100, 1) for n in range(3)]
    results = apply(topic_changes.plan_create(new, timeout_ms=1), cluster)
    assert len(results) == 3
    for change, why in results.failures.items():
        assert why.name == "REQUEST_TIMED_OUT", why
        assert why.see == change.resource, why


def test_a_deadline_while_waiting_does_not_hide_that_it_was_created(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shell.admin.topics import steps as sending

    def late(*_: object) -> MetadataScan:
        raise ShellError("the deadline passed", code="deadline")

    monkeypatch.setattr(sending, "scan", late)
    results = apply(topic_changes.plan_create([NewTopic(name, 1, 1)]), cluster)
    (why,) = results.failures.values()
    assert why.name == "REQUEST_TIMED_OUT" and "the deadline passed" in why.message
    wait_for("the topic is there", lambda: topics.describe(cluster, [name]).ok)


def test_a_topic_is_described_with_its_partitions(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 2)
    topic = described(cluster, name)
    assert topic.partitions == (
        Partition(name, 0, 1, 0, (1,), (1,)),
        Partition(name, 1, 1, 0, (1,), (1,)),
    )
    assert (topic.replication_factor, topic.internal, len(topic.id)) == (1, False, 22)


def test_a_missing_topic_names_its_near_miss(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_topic(cluster, f"{name}.placed")
    for many in (similar_topics._MANY, 0):
        monkeypatch.setattr(similar_topics, "_MANY", many)
        found = topics.describe(cluster, [made[:-1], "nothing.like.it"])
        assert found.failures[made[:-1]].hint == f"Did you mean {made}?"
        assert found.failures["nothing.like.it"].hint == ""
    refused = topic_changes.plan_delete(cluster, [made[:-1]]).refused.failures
    assert [why.hint for why in refused.values()] == [f"Did you mean {made}?"]
    resource = ConfigResource(ResourceType.TOPIC, made[:-1])
    assert configs.describe(cluster, [resource]).failures[resource].hint == f"Did you mean {made}?"


def test_describing_nothing_asks_nothing(cluster: Cluster) -> None:
    assert topics.describe(cluster, []) == Results()


@pytest.mark.parametrize(
    ("count", "assignment", "error"),
    [
        (1, (), "INVALID_PARTITIONS"),
        (2**31, (), "INVALID_PARTITIONS"),
        (3, ((1,), (1,)), "INVALID_REPLICA_ASSIGNMENT"),
        (3, ((1,), (2,), (1,)), "INVALID_REPLICA_ASSIGNMENT"),
        (3, ((1,), (1,), (-1,)), "INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_what_is_wrong_with_an_assignment_is_told_before_it_is_sent(
    cluster: Cluster, name: str, count: int, assignment: tuple[tuple[int, ...], ...], error: str
) -> None:
    make_topic(cluster, name, 2)
    plan = topic_changes.plan_partitions(cluster, [name], count, assignment=assignment)
    assert refusals(plan)[name].name == error
    assert name in refusals(plan)[name].message or "assignment" in refusals(plan)[name].message
    assert plan.steps == ()


def test_the_broker_validates_new_partitions(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    (step,) = topic_changes.plan_partitions(cluster, [name], 2, assignment=((1,), (7,))).steps
    assert failures(step.send(cluster, validate_only=True)) == {name: "INVALID_REPLICA_ASSIGNMENT"}
    (step,) = topic_changes.plan_partitions(cluster, [name], 2).steps
    assert step.send(cluster, validate_only=True).ok
    assert len(described(cluster, name).partitions) == 1, "validating changed it"


def test_a_topic_that_grew_meanwhile_makes_another_plan(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    (step,) = topic_changes.plan_partitions(cluster, [name], 8).steps
    done(topic_changes.plan_partitions(cluster, [name], 3), cluster)
    again = step.reread(cluster)
    assert isinstance(again, CreatePartitions)
    assert [change.before for change in again.changes] == [3]
    done(topic_changes.plan_delete(cluster, [name]), cluster)
    with pytest.raises(ShellError, match="was deleted"):
        step.reread(cluster)


def test_a_broker_without_defaults_says_since_when_there_are_some(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker of 2.3: CreateTopics up to version 3."""
    link = cluster._link(ANY)
    monkeypatch.setitem(link.versions, 19, (0, 3))
    with pytest.raises(ShellError, match=r"defaults .* requires Kafka 2\.4"):
        CreateTopics((NewTopic("any", partitions=1),)).send(cluster, validate_only=True)
    step = CreateTopics((NewTopic("any", partitions=1, replication_factor=1),))
    assert step.send(cluster, validate_only=True).ok


def test_many_topics_are_created_by_one_request(cluster: Cluster, name: str) -> None:
    new = [
        NewTopic(f"{name}.counts", 3, 1),
        NewTopic(f"{name}.placed", assignment=((1,), (1,))),
        NewTopic(f"{name}.defaults"),
        NewTopic(f"{name}.half", partitions=2),
        NewTopic(f"{name}.other-half", replication_factor=1),
        NewTopic(f"{name}.configs", 1, 1, configs=(("retention.ms", "1000"),)),
    ]
    plan = topic_changes.plan_create(new)
    assert plan.effect is Effect.CHANGE
    assert len(plan.steps) == 1, "one request for all"
    assert touched(plan.changes) == {"topics"}
    done(plan, cluster)
    found = topics.describe(cluster, [topic.name for topic in new])
    assert {topic.name: len(topic.partitions) for topic in found} == {
        f"{name}.counts": 3,
        f"{name}.placed": 2,
        f"{name}.defaults": 1,
        f"{name}.half": 2,
        f"{name}.other-half": 1,
        f"{name}.configs": 1,
    }
    assert settings(cluster, f"{name}.configs")["retention.ms"] == "1000"


def test_a_topic_is_complete_once_it_is_created(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 50)
    found = metadata_scan.scan(cluster, [name])
    assert found.summary(name).partitions == 50
    assert found.summary(name).offline == 0


def test_each_topic_has_its_own_outcome(cluster: Cluster, name: str) -> None:
    make_topic(cluster, f"{name}.there")
    results = apply(
        topic_changes.plan_create(
            [
                NewTopic(f"{name}.good", 1, 1),
                NewTopic(f"{name}.there", 1, 1),
                NewTopic(f"{name}_there", 1, 1),
                NewTopic(f"{name}.too-many-copies", 1, 9),
                NewTopic(f"{name}.no-such-key", 1, 1, configs=(("nope", "1"),)),
                NewTopic(f"{name}.bad-value", 1, 1, configs=(("retention.ms", "week"),)),
                NewTopic(f"{name}.nowhere", assignment=((7,),)),
                NewTopic(f"{name}.twice-there", assignment=((1, 1),)),
                NewTopic(f"{name}.hole", assignment=((1,), ())),
                NewTopic(f"{name}.both", 2, 1, assignment=((1,), (1,))),
                NewTopic("bad name", 1, 1),
                NewTopic("..", 1, 1),
                NewTopic("", 1, 1),
                NewTopic(f"{name}.{'x' * 250}", 1, 1),
            ]
        ),
        cluster,
    )
    assert [change.resource.name for change in results.values] == [f"{name}.good"]
    assert failures(results) == {
        f"{name}.there": "TOPIC_ALREADY_EXISTS",
        f"{name}_there": "INVALID_TOPIC_EXCEPTION",  # . and _ collide
        f"{name}.too-many-copies": "INVALID_REPLICATION_FACTOR",
        f"{name}.no-such-key": "INVALID_CONFIG",
        f"{name}.bad-value": "INVALID_CONFIG",
        f"{name}.nowhere": "INVALID_REPLICA_ASSIGNMENT",
        f"{name}.twice-there": "INVALID_REPLICA_ASSIGNMENT",
        f"{name}.hole": "INVALID_REPLICA_ASSIGNMENT",
        f"{name}.both": "INVALID_REQUEST",
        "bad name": "INVALID_TOPIC_EXCEPTION",
        "..": "INVALID_TOPIC_EXCEPTION",
        "": "INVALID_TOPIC_EXCEPTION",
        f"{name}.{'x' * 250}": "INVALID_TOPIC_EXCEPTION",
    }
    for change, why in results.failures.items():
        assert change.resource.name in why.message, f"{why} does not name its topic"


def test_a_name_twice_is_refused_and_it_alone(cluster: Cluster, name: str) -> None:
    plan = topic_changes.plan_create(
        [NewTopic(f"{name}.twice", 1, 1), NewTopic(f"{name}.once", 1, 1), NewTopic(f"{name}.twice")]
    )
    refused = refusals(plan)
    assert refused.keys() == {f"{name}.twice"}
    assert (refused[f"{name}.twice"].name, refused[f"{name}.twice"].code) == ("INVALID_REQUEST", 42)
    assert apply(plan, cluster).ok
    assert ids(cluster, [f"{name}.twice", f"{name}.once"]).keys() == {f"{name}.once"}


def test_validating_creates_nothing(cluster: Cluster, name: str) -> None:
    plan = topic_changes.plan_create([NewTopic(name, 1, 1), NewTopic(f"{name}.big", 1, 9)])
    (step,) = plan.steps
    results = step.send(cluster, validate_only=True)
    assert [change.resource.name for change in results.values] == [name]
    assert failures(results) == {f"{name}.big": "INVALID_REPLICATION_FACTOR"}
    assert name not in metadata_scan.scan(cluster)


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_a_timeout_the_topic_is_created_all_the_same(
    cluster: Cluster, name: str, timeout_ms: int
) -> None:
    plan = topic_changes.plan_create([NewTopic(name, 3, 1)], timeout_ms=timeout_ms)
    done(plan, cluster)
    wait_for("it appears", lambda: name in metadata_scan.scan(cluster, [name]))
    bad = apply(topic_changes.plan_create([NewTopic(name, 1, 1)], timeout_ms=timeout_ms), cluster)
    assert failures(bad) == {name: "TOPIC_ALREADY_EXISTS"}, "it is validated"


def test_what_cannot_be_described_says_why(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    found = topics.describe(cluster, [f"{name}.gone", name, "bad name", name])
    assert list(found.values) == [name], "asked twice, told once"
    assert {key: why.name for key, why in found.failures.items()} == {
        f"{name}.gone": "UNKNOWN_TOPIC_OR_PARTITION",
        "bad name": "INVALID_TOPIC_EXCEPTION",
    }


def test_partitions_are_added_and_seen_at_once(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 2)
    plan = topic_changes.plan_partitions(cluster, [name], 6)
    (change,) = plan.changes
    assert (change.field, change.before, change.after, change.reversible) == (
        "partitions", 2, 6, False,
    )  # fmt: skip
    done(plan, cluster)
    assert len(described(cluster, name).partitions) == 6


def test_topics_that_cannot_grow_are_refused_each_on_its_own(cluster: Cluster, name: str) -> None:
    make_topic(cluster, f"{name}.small")
    make_topic(cluster, f"{name}.big", 5)
    plan = topic_changes.plan_partitions(
        cluster, [f"{name}.small", f"{name}.big", f"{name}.gone"], 4
    )
    assert {key: why.name for key, why in refusals(plan).items()} == {
        f"{name}.big": "INVALID_PARTITIONS",
        f"{name}.gone": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert apply(plan, cluster).ok
    assert len(described(cluster, f"{name}.small").partitions) == 4
    assert len(described(cluster, f"{name}.big").partitions) == 5
