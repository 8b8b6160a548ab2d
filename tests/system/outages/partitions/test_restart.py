"""The verdict on a restart while a broker hangs or is stopped."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import Verdict
from kafka_shell.admin.cluster.restart.read import read_state, wait_in_sync
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import make_topic
from tests.support.outages import frozen, stopped
from tests.support.waiting import applied, wait_for


def test_a_frozen_broker_counts_as_gone_before_the_cluster_knows(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, assignment=((1, 2, 3),), configs=(("min.insync.replicas", "2"),))
    applied(three)
    hanging, stays = sorted({1, 2, 3} - {quorum.describe(three).leader})
    with frozen(three_brokers, hanging):
        (check,) = judge.check_each(read_state(three, [stays]), [stays]).checks
        assert check.verdict is Verdict.UNSAFE
        reasons = {reason.check for reason in check.reasons}
        assert {"brokers", "quorum", "under-min-isr"} <= reasons, check.reasons
        with three.within(6), pytest.raises(ShellError) as caught:
            wait_in_sync(three, [hanging], lambda *_: None)
        assert caught.value.code == "deadline"
    back = wait_in_sync(three, [hanging], lambda *_: None)
    assert back.replicas > 0


def test_a_broker_that_is_not_running_is_refused(three_brokers: Sandbox, three: Cluster) -> None:
    with pytest.raises(ShellError, match="broker 9 does not exist"):
        read_state(three, [9])
    with stopped(three_brokers, 1):
        wait_for("it is out", lambda: 1 not in {each.id for each in scan(three).brokers})
        with pytest.raises(ShellError, match="broker 1 is not running"):
            read_state(three, [1])
        (check,) = judge.check_each(read_state(three, [2]), [2]).checks
        assert "quorum" in {reason.check for reason in check.reasons}, "a stopped voter counts"
