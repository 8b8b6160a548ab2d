"""Records that lower limits delete: of tiered topics, log directories contain only a part.

The broker has no remote storage: topics are only taken for tiered ones.
"""

from __future__ import annotations

import time
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import losses as lost_records
from kafka_shell.admin.configs.consequences import Altered, Consequences, find
from kafka_shell.admin.configs.losses import DataLoss, RetentionLimits, is_tiered
from kafka_shell.admin.configs.model import ConfigEntry, ConfigSource
from kafka_shell.base.plans import Change, NotChecked, Resource
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from tests.support.changes import make_topic
from tests.support.config_alterations import topic_of
from tests.support.produced_records import fill

NOW = round(time.time() * 1000)
HOUR = 3_600_000
NO_SIZES = "sizes do not include remote storage"


@pytest.fixture(scope="module")
def aged(cluster: Cluster, sandbox: Sandbox) -> str:
    """A topic of two partitions: of one, six of ten records are older than two hours."""
    name = make_topic(cluster, f"tiered-{uuid4().hex[:8]}", 2, configs=(("retention.ms", "-1"),))
    fill(sandbox.bootstrap, name, 10, times=[NOW - 3 * HOUR] * 6 + [NOW] * 4)
    return name


def test_a_size_limit_of_a_tiered_topic_is_not_checked(cluster: Cluster, aged: str) -> None:
    """Before: "no records would be deleted immediately", as what is on disk is below the limit."""
    limits = {aged: RetentionLimits(None, 1 << 30)}
    lost, missing = lost_records.count(cluster, limits, NOW)
    assert (lost.checked, lost.unread, missing) == (2, 0, [])
    lost, missing = lost_records.count(cluster, limits, NOW, {aged})
    assert (lost.checked, lost.unread) == (0, 2)
    assert missing == [NotChecked("the records of 2 partitions", NO_SIZES)]


def test_an_age_limit_of_a_tiered_topic_counts_records_but_not_bytes(
    cluster: Cluster, aged: str
) -> None:
    lost, missing = lost_records.count(cluster, {aged: RetentionLimits(2 * HOUR)}, NOW, {aged})
    assert lost.text == (
        f"up to 6 of 10 records in 1 of 2 partitions of topic {aged} would be deleted immediately"
    )
    assert missing == [NotChecked("the size of 2 partitions", NO_SIZES)]


def lowered(topic: str, *, tiered: bool) -> Altered:
    change = Change(Resource("topic", topic), "alter", "retention.bytes", "-1", "1073741824")
    loss = DataLoss("the oldest records", limits=RetentionLimits(None, 1 << 30))
    return Altered(change, "1073741824", loss, tiered=tiered)


def test_a_plan_does_not_say_that_a_tiered_topic_loses_nothing(cluster: Cluster, aged: str) -> None:
    means = find(cluster, [lowered(aged, tiered=True)])
    assert means.notes == [] and means.not_checked
    assert means.stakes == "deletes the oldest records, 2 partitions not checked"
    local: Consequences = find(cluster, [lowered(aged, tiered=False)])
    assert len(local.warnings) == 1 and not local.not_checked, "none is lost at once"


@pytest.mark.parametrize(("value", "tiered"), [("true", True), ("false", False)])
def test_a_config_says_whether_a_topic_is_tiered(value: str, tiered: bool) -> None:
    key = "remote.storage.enable"
    entry = ConfigEntry(topic_of("t"), key, value, ConfigSource.DYNAMIC_TOPIC)
    assert is_tiered({key: entry}) is tiered and not is_tiered({})
