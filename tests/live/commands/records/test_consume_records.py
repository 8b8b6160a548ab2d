"""Records of a share group are read as a member of it, and released, accepted or rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from kafka_shell.admin.configs import change as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.records.share import Acknowledgement, plan_consume
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.changes import done
from tests.support.group_data import described, filled, forget
from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.fixture
def topic(cluster: Cluster, sandbox: Sandbox, name: str) -> str:
    """A topic with ten records in one partition."""
    return filled(sandbox, cluster, name, partitions=1)


def a_share_group(cluster: Cluster, topic: str) -> str:
    """A share group that begins with the first record of a topic, without members."""
    group = f"share-{topic}"
    earliest = ConfigAlteration("share.auto.offset.reset", ConfigOp.SET, "earliest")
    done(
        configs.plan_alter(cluster, {ConfigResource(ResourceType.GROUP, group): [earliest]}),
        cluster,
    )
    with members.share(cluster, group, topic):
        pass
    wait_for("the member has left", lambda: described(cluster, group).state == "Empty")
    return group


@pytest.fixture
def group(cluster: Cluster, topic: str) -> Iterator[str]:
    group = a_share_group(cluster, topic)
    yield group
    forget(cluster, group)


def offsets(kafka: Program, group: str, topic: str, *words: str) -> list[int]:
    line = ("consume-records", group, "--topic", topic, *words, "--output", "json")
    return [json.loads(row)["offset"] for row in kafka.ok(*line).lines]


def test_a_released_record_is_delivered_again(kafka: Program, group: str, topic: str) -> None:
    assert offsets(kafka, group, topic, "--limit", "3") == [0, 1, 2]
    assert offsets(kafka, group, topic, "--limit", "2") == [0, 1]
    run = kafka.ok("consume-records", group, "--topic", topic, "--limit", "2", "--raw")
    assert run.stdout == "x\nx\n", "records alone: the changes are on standard error"
    assert f"altered share group {group}: {topic}:0 offsets 0 to 1 released" in run.stderr


@pytest.mark.parametrize("how", ["accept", "reject"])
def test_what_is_accepted_or_rejected_is_not_delivered_again(
    kafka: Program, cluster: Cluster, group: str, topic: str, how: str
) -> None:
    refused = kafka("consume-records", group, "--topic", topic, "--acknowledge", how)
    assert refused.status == 2 and "Use --yes" in refused.stderr
    assert offsets(kafka, group, topic, "--limit", "4", "--acknowledge", how, "--yes") == [
        0, 1, 2, 3,
    ]  # fmt: skip
    assert offsets(kafka, group, topic, "--limit", "1") == [4]
    # From here on the group has offsets, so that its topics need not be named.
    rest = kafka.ok("consume-records", group, "--limit", "99", "--acknowledge", how, "--yes")
    assert f"{topic}:0 offsets 4 to 9 {how}ed" in rest.stderr
    assert kafka.ok("consume-records", group).stdout == "", "there are no others"
    (row,) = described(cluster, group).offsets or ()
    assert row.lag == 0


def test_the_journal_says_which_records_were_rejected(
    kafka: Program, group: str, topic: str
) -> None:
    offsets(kafka, group, topic, "--limit", "1", "--acknowledge", "reject", "--yes")
    (entry,) = kafka.ok("journal", "--last", "1", "--output", "json").json
    assert entry["changes"][0]["field"] == f"{topic}:0"
    assert entry["changes"][0]["after"] == "offset 0 rejected"
    assert entry["undo"] == []


def test_a_dry_run_joins_no_group(kafka: Program, cluster: Cluster, group: str, topic: str) -> None:
    before = described(cluster, group).epoch
    run = kafka.ok("consume-records", group, "--topic", topic, "--dry-run")
    assert "up to 10 released" in run.stdout
    assert described(cluster, group).epoch == before


def test_a_consumer_group_is_refused(kafka: Program, cluster: Cluster, topic: str) -> None:
    with members.consumer(cluster, f"c-{topic}", topic):
        run = kafka("consume-records", f"c-{topic}", "--topic", topic)
    assert run.status == 1
    assert f"group c-{topic} is a consumer group, not a share group" in run.stderr
    forget(cluster, f"c-{topic}")


def test_a_topic_that_does_not_exist_is_named(kafka: Program, group: str) -> None:
    run = kafka("consume-records", group, "--topic", "no-such-topic")
    assert run.status == 1 and "no-such-topic" in run.stderr


def test_records_are_printed_with_quiet_too(kafka: Program, group: str, topic: str) -> None:
    run = kafka.ok("consume-records", group, "--topic", topic, "--limit", "1", "--quiet", "--raw")
    assert (run.stdout, run.stderr) == ("x\n", "")


def test_members_that_come_and_go_meanwhile_change_nothing(
    cluster: Cluster, group: str, topic: str
) -> None:
    plan, records = plan_consume(cluster, group, [topic], Acknowledgement.RELEASE, 6)
    with members.share(cluster, group, topic):
        assert apply(plan, cluster).ok
    assert [record.offset for record in records] == [0, 1, 2, 3, 4, 5]


def test_what_is_beyond_the_limit_is_released_and_a_marker_is_no_record(
    kafka: Program, sandbox: Sandbox, cluster: Cluster, group: str, topic: str
) -> None:
    producer = Producer({"bootstrap.servers": sandbox.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"x")
    producer.commit_transaction(30)
    accept = ("--acknowledge", "accept", "--yes")
    assert offsets(kafka, group, topic, "--limit", "4", *accept) == [0, 1, 2, 3]
    assert offsets(kafka, group, topic, "--limit", "99", *accept) == [4, 5, 6, 7, 8, 9, 10]
    (row,) = described(cluster, group).offsets or ()
    assert row.lag == 0, "the marker of the transaction, too, is not delivered again"


def test_other_members_are_named(kafka: Program, cluster: Cluster, group: str, topic: str) -> None:
    with members.share(cluster, group, topic):
        run = kafka.ok("consume-records", group, "--topic", topic, "--limit", "1", "--dry-run")
    assert "1 other member" in run.stdout + run.stderr
