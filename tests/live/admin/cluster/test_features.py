"""Features and API versions of real brokers of two Kafka releases."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster import features
from kafka_shell.base.plans import Effect
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done

NEWEST = {"group.version": (1, 0, 1), "kraft.version": (1, 0, 1), "transaction.version": (2, 0, 2)}


def test_features_of_the_newest(cluster: Cluster) -> None:
    found = features.describe(cluster)
    assert found.epoch > 0 and found.unread == ()
    each = {f.name: (f.level, f.lowest, f.highest) for f in found.features}
    assert {name: each[name] for name in NEWEST} == NEWEST
    metadata = found.get("metadata.version")
    assert metadata is not None
    assert (metadata.level, metadata.release) == (30, "4.3-IV0")
    assert (metadata.lowest, metadata.highest, metadata.highest_release) == (7, 30, "4.3-IV0")
    assert not metadata.differs and [b.broker for b in metadata.brokers] == [1]
    assert found.get("no.such") is None


def test_down_and_up_again(cluster: Cluster) -> None:
    down = features.plan_update(cluster, {"streams.version": 0, "group.version": 1})
    assert down.effect is Effect.DESTROY, "a downgrade asks"
    assert [str(change.resource) for change in down.unchanged] == ["feature group.version"]
    try:
        done(down, cluster)
        now = features.describe(cluster).get("streams.version")
        assert now is not None and now.level == 0, "seen at once"
        assert undo_lines(down.changes) == ("update-features streams.version=1",)
    finally:
        up = features.plan_update(cluster, {"streams.version": 1})
        assert up.effect is Effect.CHANGE
        done(up, cluster)
    now = features.describe(cluster).get("streams.version")
    assert now is not None and now.level == 1
    assert features.plan_update(cluster, {"streams.version": 1}).steps == ()
    misspelled = features.plan_update(cluster, {"stream.version": 0})
    ((about, why),) = misspelled.refused.failures.items()
    assert (str(about), misspelled.unchanged) == ("feature stream.version", ())
    assert why.hint == "Did you mean streams.version?"


def test_all_or_none_and_the_one_to_blame_is_named(cluster: Cluster) -> None:
    plan = features.plan_update(cluster, {"streams.version": 0, "kraft.version": 0})
    (step,) = plan.steps
    for validate_only in (True, False):
        found = step.send(cluster, validate_only=validate_only)
        why = {change.resource.name: failure for change, failure in found.failures.items()}
        assert why["kraft.version"].name == "INVALID_UPDATE_VERSION"
        assert why["kraft.version"].message.startswith('"Invalid update version 0')
        assert why["streams.version"].name == "OPERATION_NOT_ATTEMPTED"
    streams = features.describe(cluster).get("streams.version")
    assert streams is not None and streams.level == 1


@pytest.mark.parametrize(
    ("name", "level", "said", "hint"),
    [
        ("metadata.version", 31, "versions 7-30", "describe-features"),
        ("metadata.version", 29, "downgrade", "describe-features"),
        ("stream.version", 1, "stream.version", "Did you mean streams.version?"),
    ],
)
def test_the_controllers_verdict_without_doing_it(
    cluster: Cluster, name: str, level: int, said: str, hint: str
) -> None:
    plan = features.plan_update(cluster, {name: level})
    (why,) = plan.steps[0].send(cluster, validate_only=True).failures.values()
    assert why.name == "INVALID_UPDATE_VERSION"
    assert said in why.message and hint in hint_of(why)


def test_an_unsafe_downgrade_is_warned_about_and_sent_as_such(cluster: Cluster) -> None:
    plan = features.plan_update(cluster, {"metadata.version": 29}, unsafe=True)
    assert "deletes metadata" in plan.advice.warnings[0]
    (why,) = plan.steps[0].send(cluster, validate_only=True).failures.values()
    safe = features.plan_update(cluster, {"metadata.version": 29})
    (other,) = safe.steps[0].send(cluster, validate_only=True).failures.values()
    assert why.message != other.message, "the controller knows the one from the other"


def test_what_one_broker_speaks(cluster: Cluster) -> None:
    found, failed = features.api_versions(cluster)
    assert not failed
    assert {api.key: (api.lowest, api.highest) for api in found} == cluster.api_versions()
    assert not any(api.differs for api in found)
    names = {api.key: api.name for api in found}
    assert (names[3], names[80]) == ("Metadata", "AddRaftVoter")
