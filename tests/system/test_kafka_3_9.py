"""Kafka 3.9 answers as the newest Kafka does: tests of a live broker, run on a broker of 3.9."""

# ruff: noqa: F401

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.cluster import features
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.live.admin.client_configs.test_client_configs import (
    test_a_store_that_would_lose_configs_is_refused_with_the_remedy,
    test_the_first_change_makes_the_topics_and_asks,
    without,
)
from tests.live.admin.configs.test_config_alter import (
    test_a_list_starts_from_kafkas_default_not_from_what_holds,
    test_a_topic_deleted_between_fails_alone,
    test_set_append_subtract_and_delete_in_one_request,
    test_the_broker_sees_a_change_at_once,
    test_the_keys_of_a_topic_go_together_and_topics_apart,
)
from tests.live.admin.configs.test_config_alter_brokers import (
    test_a_broker_and_the_default_below_it,
    test_a_logger_is_altered_and_put_back,
    test_a_plugins_key_is_set_set_again_and_deleted,
    test_a_sensitive_value_is_in_no_change,
    test_a_subscription_is_altered,
    test_all_that_is_set_on_a_broker_is_deleted_at_once,
    test_brokers_validate_without_changing,
)
from tests.live.admin.groups.test_groups import (
    group,
    test_a_classic_group,
    test_a_group_of_the_new_protocol,
    test_a_group_that_only_holds_offsets,
    test_groups_that_are_not_there_name_what_was_meant,
    test_lag_grows_as_records_come,
)
from tests.live.admin.partitions.test_log_dirs import (
    partition,
    test_a_move_followed_to_its_end_and_taken_back,
    test_dirs_with_their_replicas_and_room,
    test_only_some_partitions,
    test_what_cannot_be_moved,
)
from tests.live.admin.records.test_offsets import (
    test_every_kind_of_offset,
    test_several_partitions_each_with_its_own_time,
    test_what_is_not_there,
    timed,
)
from tests.live.admin.records.test_records import (
    filled,
    test_a_compacted_topic_keeps_its_records,
    test_nothing_to_delete_is_told_and_not_sent,
    test_offsets_that_are_not_there_are_refused,
    test_to_an_offset_then_to_a_time_then_to_the_end,
    test_what_comes_after_the_plan_stays,
)
from tests.live.admin.topics.test_min_isr import (
    test_brokers_need_no_more_in_sync_replicas_than_there_are,
)
from tests.live.admin.topics.test_topic_deletes import (
    test_a_topic_created_anew_between_is_not_lost,
    test_a_topic_that_vanished_between_fails_alone,
    test_many_are_deleted_and_gone_at_once,
    test_what_is_not_there_is_refused_and_the_rest_deleted,
)
from tests.live.admin.topics.test_topics import (
    test_a_name_twice_is_refused_and_it_alone,
    test_a_topic_is_complete_once_it_is_created,
    test_each_topic_has_its_own_outcome,
    test_many_topics_are_created_by_one_request,
    test_partitions_are_added_and_seen_at_once,
    test_topics_that_cannot_grow_are_refused_each_on_its_own,
    test_validating_creates_nothing,
    test_what_cannot_be_described_says_why,
    test_without_a_timeout_the_topic_is_created_all_the_same,
)
from tests.live.admin.transactions.test_transactions import (
    test_a_fenced_producer_can_do_no_more,
    test_a_hanging_transaction_is_found_and_aborted,
    test_a_transaction_is_listed_and_described_while_it_runs,
    test_a_transaction_that_ends_meanwhile_is_not_hanging,
    test_a_transaction_that_its_coordinator_knows_does_not_hang,
    test_names_that_are_not_there_are_failures_of_their_own,
    test_what_a_partition_remembers_of_a_producer,
)
from tests.support.changes import connect
from tests.support.program import Program
from tests.system.sandbox.test_twin import test_many_partitions_move_with_few_requests


@pytest.fixture(scope="module")
def sandbox(old_sandbox: Sandbox) -> Sandbox:
    return old_sandbox


@pytest.fixture(scope="module")
def cluster(old_sandbox: Sandbox) -> Iterator[Cluster]:
    with connect(old_sandbox) as cluster:
        yield cluster


def test_acls_and_tokens(kafka: Program) -> None:
    rule = "allow User:old Read,Write from 10.0.0.1 on prefixed topic orders."
    kafka.ok("alter-acls", "--add", rule)
    told = kafka.ok("list-acls", "--topic", "orders.x", "--principal", "User:old")
    assert [line.split()[-1] for line in told.lines[1:]] == ["10.0.0.1", "10.0.0.1"]
    words = ("check-acl", "--principal", "User:old", "--operation", "Write", "--topic", "orders.x")
    assert kafka.ok(*words, "--host", "10.0.0.1").lines[0].startswith("allowed")
    assert kafka(*words).status == 1
    kafka.ok("alter-acls", "--remove", "any User:old Any on any resource", "--yes")
    tokens = kafka("describe-tokens")
    assert (tokens.status, "SASL or TLS listener" in tokens.stderr) == (1, True)


def test_quotas(kafka: Program, name: str) -> None:
    kafka.ok("alter-quotas", "--user", name, "--client-id-default", "producer_byte_rate=5MB/s")
    assert "5MB/s" in kafka.ok("describe-quotas", "--user", name).stdout
    assert "5MB/s *" in kafka.ok("resolve-quota", "--user", name).stdout


def test_scram_credentials(kafka: Program, name: str) -> None:
    kafka.ok("scram-credentials", "--add", "SCRAM-SHA-256,SCRAM-SHA-512", "--generate",
             "--username", name)  # fmt: skip
    run = kafka.ok("scram-credentials", "--describe", "--username", name, "--output", "json")
    found = {row["mechanism"]: row["iterations"] for row in run.json if "mechanism" in row}
    assert found == {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 4096}
    assert "SCRAM-SHA-512" in kafka.ok("describe-user", name).stdout


def test_features_of_3_9(cluster: Cluster) -> None:
    found = features.describe(cluster)
    metadata = found.get("metadata.version")
    assert metadata is not None and metadata.release == "3.9-IV0"
    kraft = found.get("kraft.version")
    assert kraft is not None and kraft.level == 1


def test_on_3_9_each_feature_has_an_answer_of_its_own(cluster: Cluster) -> None:
    plan = features.plan_update(cluster, {"metadata.version": 20, "kraft.version": 2})
    found = plan.steps[0].send(cluster, validate_only=True)
    assert [change.resource.name for change in found] == ["metadata.version"]
    assert [change.resource.name for change in found.failures] == ["kraft.version"]


def test_brokers_of_two_releases_differ(demo_sandbox: Sandbox, cluster: Cluster) -> None:
    with connect(demo_sandbox) as newer:
        new, old = newer.api_versions(), cluster.api_versions()
    found = {api.name: api for api in features.compare({1: new, 2: old})}
    metadata = found["Metadata"]
    assert (metadata.lowest, metadata.highest) == (0, 12) and metadata.differs
    assert [(b.broker, b.highest) for b in metadata.brokers] == [(1, 13), (2, 12)]
    share = found["DescribeShareGroupOffsets"]
    assert (share.lowest, share.missing, share.differs) == (None, (2,), True)
    assert not found["SaslHandshake"].differs
