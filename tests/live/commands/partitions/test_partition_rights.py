"""Commands on partitions without permissions: each error states the missing permission."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.elections import Election, ElectLeaders
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.support.changes import done, make_topic
from tests.support.produced_records import fill
from tests.support.program import Program

ALICE = "User:alice"
MECHANISM = "SCRAM-SHA-256"


def log_in(sandbox: Sandbox, user: str) -> Cluster:
    login = Sasl(MECHANISM, user, Secret(passwords(sandbox)[user]))
    addresses = parse_addresses(sandbox.bootstraps["SASL_PLAINTEXT"])
    return Cluster(ConnectionConfig(addresses, security_protocol="SASL_PLAINTEXT", sasl=login))


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster


@pytest.fixture
def topic(admin: Cluster, secure_sandbox: Sandbox) -> str:
    """A topic with a record."""
    name = make_topic(admin, f"rights-{uuid4().hex[:8]}")
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": MECHANISM}
    password = passwords(secure_sandbox)["admin"]
    fill(secure_sandbox.bootstraps["SASL_PLAINTEXT"], name, 1, sasl_plain_username="admin",
         sasl_plain_password=password, **login)  # fmt: skip
    return name


def allow(admin: Cluster, kind: AclResourceType, name: str) -> None:
    rule = AclBinding(ALICE, "*", AclOperation.DESCRIBE, AclPermission.ALLOW, kind, name)
    done(acl_changes.plan_create(admin, [rule]), admin)


@pytest.fixture
def alice(secure_sandbox: Sandbox, admin: Cluster, topic: str, tmp_path: Path) -> Iterator[Program]:
    """May describe the topic, and nothing else."""
    allow(admin, AclResourceType.TOPIC, topic)
    login = secure_sandbox.client_properties["alice-sasl-plaintext"]
    yield Program(tmp_path, "", {"LOGIN": str(login)})
    done(acl_changes.plan_delete(admin, [AclFilter(principal=ALICE)]), admin)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("list-offsets other", "Requires DESCRIBE on topic other."),
        ("delete-records {topic}:0 --to latest --yes", "Requires DELETE on topic {topic}."),
        ("read-records {topic}", "Requires READ on topic {topic}."),
        ("read-records {topic} --from earliest --output json", "Requires READ on topic {topic}."),
        ("read-records {topic} --count", "Requires READ on topic {topic}."),
        ("copy-records {topic} --to-topic {topic}-b", "Requires DESCRIBE on topic {topic}-b."),
        ("write-record {topic} value", "Requires WRITE on topic {topic}."),
        ("describe-log-dirs", "Requires DESCRIBE on the cluster."),
        ("describe-log-dirs {topic}", "Requires DESCRIBE on the cluster."),
        ("alter-log-dirs {topic}:0 --broker-id 1 --log-dir /x",
         "Requires DESCRIBE on the cluster."),
        ("elect-leaders --election-type unclean other", "Requires DESCRIBE on topic other."),
        ("verify-preferred-replica-leader-election other", "Requires DESCRIBE on topic other."),
    ],
)  # fmt: skip
def test_missing_partitions_are_reported(
    alice: Program, topic: str, line: str, missing: str
) -> None:
    words = line.format(topic=topic).split()
    run = alice(*words, "--command-config", alice.environ["LOGIN"])
    assert run.status == 1, str(run)
    assert missing.format(topic=topic) in run.stderr + run.stdout, str(run)


def test_what_may_be_described_is(alice: Program, topic: str) -> None:
    login = ("--command-config", alice.environ["LOGIN"])
    assert alice.ok("list-offsets", topic, *login).lines[1].split()[1:] == ["0", "0", "1", "1"]
    assert alice.ok("verify-preferred-replica-leader-election", topic, *login)
    assert "nothing to change" in alice.ok("elect-leaders", topic, *login).stderr


def test_looking_at_the_disks_is_not_moving_on_them(
    alice: Program, admin: Cluster, topic: str
) -> None:
    allow(admin, AclResourceType.CLUSTER, CLUSTER_NAME)
    dirs = log_dirs.describe(admin, [1], [TopicPartition(topic, 0)])[1]
    [path] = [dir.path for dir in dirs if not dir.replicas]
    line = ("alter-log-dirs", f"{topic}:0", "--log-dir", path)
    run = alice(*line, "--command-config", alice.environ["LOGIN"])
    assert run.status == 1, str(run)
    assert "Requires ALTER on the cluster." in run.stderr, str(run)


@pytest.mark.usefixtures("alice")
def test_elections_require_alter_on_the_cluster(secure_sandbox: Sandbox, topic: str) -> None:
    step = ElectLeaders((Election(TopicPartition(topic, 0), 1),), {})
    with log_in(secure_sandbox, "alice") as cluster, pytest.raises(ShellError) as caught:
        step.send(cluster, validate_only=False)
    assert caught.value.code == "CLUSTER_AUTHORIZATION_FAILED"
    assert caught.value.hint == "Requires ALTER on the cluster."
