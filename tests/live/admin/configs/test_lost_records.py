"""Records that lower limits delete, counted on a real broker."""

from __future__ import annotations

import time
from uuid import uuid4

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.advice import advise
from kafka_shell.base.plans import NotChecked
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.altered import plan_of
from tests.support.changes import make_topic
from tests.support.config_alterations import set_, topic_of
from tests.support.produced_records import fill

NOW = round(time.time() * 1000)
HOUR = 3_600_000
TIERED = {"remote.storage.enable": "true"}
NO_SIZES = "sizes do not include remote storage"


def test_sizes_of_a_tiered_topic_are_not_checked(cluster: Cluster, sandbox: Sandbox) -> None:
    """The broker has no remote storage: the topic is only taken for a tiered one."""
    name = make_topic(cluster, f"tiered-{uuid4().hex[:8]}", 2, configs=(("retention.ms", "-1"),))
    fill(sandbox.bootstrap, name, 10, times=[NOW - 3 * HOUR] * 6 + [NOW] * 4)
    lower = {topic_of(name): [set_("retention.ms", "2h")]}
    local = advise(config_changes.plan_alter(cluster, lower), cluster)
    assert (local.advice.stakes, local.advice.not_checked) == ("deletes up to 6 records", ())
    assert " (about " in local.advice.warnings[1], "bytes"
    for key, value, what, stakes in (
        ("retention.ms", "7200000", "size", "deletes up to 6 records"),
        ("retention.bytes", "1073741824", "records",
         "deletes the oldest records of partitions larger than 1GiB, 2 partitions not checked"),
    ):  # fmt: skip
        plan = advise(plan_of(topic_of(name), set_(key, value), now=TIERED), cluster)
        assert plan.advice.stakes == stakes
        assert plan.advice.not_checked == (NotChecked(f"the {what} of 2 partitions", NO_SIZES),)
