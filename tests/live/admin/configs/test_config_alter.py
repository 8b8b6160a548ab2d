"""Alter configs on real brokers: the described changes and the result (KIP-339)."""

from __future__ import annotations

import pytest
from kafka import KafkaProducer
from kafka.errors import MessageSizeTooLargeError

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import checks as config_checks
from kafka_shell.admin.configs.model import DELETE_ALL
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, failures, make_topic, refusals
from tests.support.config_alterations import (
    DEFAULT,
    alter,
    append,
    delete,
    own,
    restored,
    set_,
    subtract,
    topic_of,
)


def test_the_changes_of_a_step_are_worked_out_once(cluster: Cluster, name: str) -> None:
    """A plan for 10,000 topics asks for them several times for each of them."""
    make_topic(cluster, name)
    plan = config_changes.plan_alter(cluster, {topic_of(name): [set_("retention.ms", "1d")]})
    (step,) = plan.steps
    assert step.changes is step.changes and len(step.changes) == 1


def test_all_configs_of_a_topic_are_reset(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("segment.ms", "1000"), ("retention.ms", "60000")))
    changes = alter(cluster, topic_of(name), delete("*"))
    assert {each.field: each.before for each in changes} == {
        "segment.ms": "1000", "retention.ms": "60000",
    }  # fmt: skip
    assert own(cluster, topic_of(name), "segment.ms") is None
    assert own(cluster, topic_of(name), "retention.ms") is None


def test_a_change_that_changes_nothing_says_so(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("retention.ms", "1000"), ("cleanup.policy", "compact")))
    idle = [
        set_("retention.ms", "1s"),
        append("cleanup.policy", "compact"),
        delete("segment.ms"),
    ]
    plan = config_changes.plan_alter(cluster, {topic_of(name): idle})
    assert plan.steps == (), "it would be sent all the same"
    assert [change.note for change in plan.unchanged] == [
        "no change: already set",
        "no change: already set",
        "no change: not set",
    ]
    part = config_changes.plan_alter(cluster, {topic_of(name): [*idle, set_("flush.ms", "1s")]})
    assert [change.field for change in part.changes] == ["flush.ms"]
    assert part.unchanged == plan.unchanged
    # What holds by default and is set all the same is a change: it holds whatever the default.
    (pinned,) = alter(cluster, topic_of(name), set_("segment.ms", "7d"))
    assert (pinned.before, pinned.after, pinned.note) == (None, "604800000", "")


def test_all_others_are_deleted_beside_those_that_are_set(cluster: Cluster, name: str) -> None:
    """Before: the keys that were set were deleted in the same request, which the broker refuses."""
    before = {"retention.ms": "1000", "segment.ms": "1000", "cleanup.policy": "compact"}
    make_topic(cluster, name, configs=tuple(before.items()))
    resource = topic_of(name)
    alterations = (set_("retention.ms", "7d"), append("cleanup.policy", "delete"), DELETE_ALL)
    alter(cluster, resource, *alterations)
    assert own(cluster, resource, "retention.ms") == "604800000"
    assert own(cluster, resource, "cleanup.policy") == "compact,delete"
    assert own(cluster, resource, "segment.ms") is None


def test_what_deletes_records_is_destructive(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("retention.ms", "100000"), ("retention.bytes", "-1")))
    resource = topic_of(name)
    for alteration, loses in (
        (set_("retention.ms", "99s"), True),
        (set_("retention.ms", "101s"), False),
        (set_("retention.ms", "-1"), False),
        (set_("retention.bytes", "1GiB"), True),
        (set_("delete.retention.ms", "1s"), False),
        (set_("cleanup.policy", "compact"), True),
        (append("cleanup.policy", "compact"), True),
        (set_("cleanup.policy", "delete"), False),
        (set_("segment.ms", "1h"), False),
        (delete("retention.ms"), False),
    ):
        plan = config_changes.plan_alter(cluster, {resource: [alteration]})
        assert [bool(change.lost) for change in plan.changes] == [loses], alteration
        assert plan.effect is (Effect.DESTROY if loses else Effect.CHANGE)


def test_values_of_known_enumerations_are_checked_here(cluster: Cluster, topic: str) -> None:
    for alteration, hint in (
        (set_("cleanup.policy", "delet"), "Did you mean delete?"),
        (set_("cleanup.policy", "delete,compactt"), "Did you mean compact?"),
        (append("cleanup.policy", "shred"), ""),
        (set_("compression.type", "zst"), "Did you mean zstd?"),
    ):
        with pytest.raises(config_checks.ConfigRefused) as refused:
            config_changes.plan_alter(cluster, {topic_of(topic): [alteration]})
        assert (refused.value.code, refused.value.hint) == ("unknown-value", hint)
    config_changes.plan_alter(
        cluster, {topic_of(topic): [set_("cleanup.policy", "compact, delete")]}
    )


def test_a_delete_says_what_holds_then(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("cleanup.policy", "compact"), ("retention.ms", "1000")))
    resource = topic_of(name)
    plan = config_changes.plan_alter(
        cluster, {resource: [delete("cleanup.policy"), delete("retention.ms")]}
    )
    assert [change.note for change in plan.changes] == [
        "inherits delete from log.cleanup.policy=delete, default",
        "inherits 7d from log.retention.hours=168, default",
    ]


def test_an_empty_value_is_a_value(cluster: Cluster, topic: str) -> None:
    key = "follower.replication.throttled.replicas"
    alter(cluster, topic_of(topic), set_(key, ""))
    assert own(cluster, topic_of(topic), key) == ""
    alter(cluster, topic_of(topic), delete(key))
    assert own(cluster, topic_of(topic), key) is None


def test_a_step_read_again_tells_what_is_there_now(cluster: Cluster, topic: str) -> None:
    plan = config_changes.plan_alter(cluster, {topic_of(topic): [set_("retention.ms", "7d")]})
    same = plan.steps[0].reread(cluster)
    assert same.changes == plan.changes
    alter(cluster, topic_of(topic), set_("retention.ms", "5"))
    (now,) = plan.steps[0].reread(cluster).changes
    assert (now.before, now.after) == ("5", "604800000")


def test_nothing_to_alter_is_no_request(cluster: Cluster, topic: str) -> None:
    assert config_changes.plan_alter(cluster, {}).steps == ()
    assert config_changes.plan_alter(cluster, {topic_of(topic): []}).steps == ()


def test_a_lower_limit_of_batches_says_that_larger_ones_are_refused(
    cluster: Cluster, sandbox: Sandbox, topic: str
) -> None:
    plan = config_changes.plan_alter(cluster, {topic_of(topic): [set_("max.message.bytes", "100")]})
    (warning,) = advise(plan, cluster).advice.warnings
    assert warning.endswith("larger than 100 bytes: producers get MESSAGE_TOO_LARGE")
    done(plan, cluster)
    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap)
    try:
        with pytest.raises(MessageSizeTooLargeError):
            producer.send(topic, b"x" * 100).get(30)
    finally:
        producer.close()


def test_set_append_subtract_and_delete_in_one_request(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("segment.ms", "1000"), ("cleanup.policy", "compact")))
    resource = topic_of(name)
    replicas = "leader.replication.throttled.replicas"
    changes = alter(
        cluster,
        resource,
        set_("retention.ms", "7d"),
        append("cleanup.policy", "delete"),
        delete("segment.ms"),
        append(replicas, "0:1"),
    )
    assert [(c.field, c.before, c.after, c.effective, c.source) for c in changes] == [
        ("retention.ms", None, "604800000", "604800000", "default"),
        ("cleanup.policy", "compact", "compact,delete", None, "dynamic topic"),
        ("segment.ms", "1000", None, None, "dynamic topic"),
        (replicas, None, "0:1", "", "default"),
    ]
    assert own(cluster, resource, "retention.ms") == "604800000"
    assert own(cluster, resource, "cleanup.policy") == "compact,delete"
    assert own(cluster, resource, "segment.ms") is None
    assert own(cluster, resource, replicas) == "0:1"
    alter(cluster, resource, subtract("cleanup.policy", "compact"))
    assert own(cluster, resource, "cleanup.policy") == "delete"
    alter(cluster, resource, delete(replicas))  # others look for throttles that nobody needs


def test_the_broker_sees_a_change_at_once(cluster: Cluster, name: str) -> None:
    """The controller answers before the brokers know; who looks afterwards must not be fooled."""
    make_topic(cluster, name)
    for n in range(1, 20):
        alter(cluster, topic_of(name), set_("retention.ms", str(n)))
        assert own(cluster, topic_of(name), "retention.ms") == str(n), f"stale after change {n}"
        if n % 5 == 0:
            alter(cluster, topic_of(name), delete("retention.ms"))
            assert own(cluster, topic_of(name), "retention.ms") is None, f"stale after delete {n}"


def test_a_list_starts_from_kafkas_default_not_from_what_holds(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    resource = topic_of(name)
    with restored(cluster, DEFAULT, "log.cleanup.policy"):
        alter(cluster, DEFAULT, set_("log.cleanup.policy", "compact"))
        (change,) = config_changes.plan_alter(
            cluster, {resource: [append("cleanup.policy", "delete")]}
        ).changes
        assert (change.effective, change.after) == ("compact", "delete")
        assert "Kafka's default delete" in change.note
        alter(cluster, resource, append("cleanup.policy", "delete"))
        assert own(cluster, resource, "cleanup.policy") == "delete", "the plan foretold otherwise"


def test_the_keys_of_a_topic_go_together_and_topics_apart(cluster: Cluster, name: str) -> None:
    good, bad = make_topic(cluster, f"{name}.good"), make_topic(cluster, f"{name}.bad")
    plan = config_changes.plan_alter(
        cluster,
        {
            topic_of(bad): [set_("retention.ms", "7d"), set_("min.insync.replicas", "0")],
            topic_of(f"{name}.gone"): [set_("retention.ms", "7d")],
            topic_of(good): [set_("retention.ms", "7d")],
        },
    )
    assert len(plan.steps) == 1
    assert {k: why.name for k, why in refusals(plan).items()} == {
        f"{name}.gone": "UNKNOWN_TOPIC_OR_PARTITION"
    }
    validated = plan.steps[0].send(cluster, validate_only=True)
    assert failures(validated) == {bad: "INVALID_CONFIG"}
    assert own(cluster, topic_of(good), "retention.ms") is None, "validating changed it"
    results = apply(plan, cluster)
    assert failures(results) == {bad: "INVALID_CONFIG"}
    assert len(results.failures) == 2, "each key has its outcome"
    assert all("min.insync.replicas" in why.message for why in results.failures.values())
    assert own(cluster, topic_of(good), "retention.ms") == "604800000"
    assert own(cluster, topic_of(bad), "retention.ms") is None


def test_a_topic_deleted_between_fails_alone(cluster: Cluster, name: str) -> None:
    stays, goes = make_topic(cluster, f"{name}.stays"), make_topic(cluster, f"{name}.goes")
    wanted = [set_("retention.ms", "7d")]
    plan = config_changes.plan_alter(cluster, {topic_of(goes): wanted, topic_of(stays): wanted})
    done(topic_changes.plan_delete(cluster, [goes]), cluster)
    results = apply(plan, cluster)
    assert failures(results) == {goes: "UNKNOWN_TOPIC_OR_PARTITION"}
    assert own(cluster, topic_of(stays), "retention.ms") == "604800000"
    with pytest.raises(ShellError, match=goes) as gone:
        plan.steps[0].reread(cluster)
    assert "before applying the change" in str(gone.value)
