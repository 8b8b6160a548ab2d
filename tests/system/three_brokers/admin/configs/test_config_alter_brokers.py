"""Configs of several brokers, altered."""

from __future__ import annotations

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.advice import advise
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, done, refusals
from tests.support.config_alterations import (
    DEFAULT,
    delete,
    own,
    set_,
)
from tests.support.outages import silent


def test_each_broker_is_its_own_request(three_brokers: Sandbox) -> None:
    key = "log.cleaner.threads"
    with connect(three_brokers) as three:
        brokers = [ConfigResource(ResourceType.BROKER, str(n)) for n in (1, 2, 3)]
        plan = config_changes.plan_alter(three, {b: [set_(key, "2")] for b in brokers})
        assert len(plan.steps) == 3
        try:
            done(plan, three)
            assert [own(three, b, key) for b in brokers] == ["2", "2", "2"]
            default = config_changes.plan_alter(three, {DEFAULT: [set_(key, "4")]})
            assert advise(default, three).advice.warnings == (f"brokers 1, 2, 3 override {key}=2",)
        finally:
            done(config_changes.plan_alter(three, {b: [delete(key)] for b in brokers}), three)
        nobody = ConfigResource(ResourceType.BROKER, "9")
        part = config_changes.plan_alter(
            three, {nobody: [set_(key, "2")], brokers[0]: [set_(key, "2")]}
        )
        assert refusals(part)["9"].name == "unknown-broker"
        assert len(part.steps) == 1


def test_a_silent_broker_does_not_delay_the_plan(three_brokers: Sandbox) -> None:
    alterations = {DEFAULT: [set_("log.cleaner.threads", "4")]}
    with silent(three_brokers) as two, connect(two) as cluster, cluster.within(3600):
        plan = advise(config_changes.plan_alter(cluster, alterations), cluster)
    (warned,) = plan.advice.warnings
    assert warned.startswith("broker 3 may override the cluster-wide default"), warned
