"""The authorizer's verdicts: by their rules, and compared with what a real broker allows."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.authorizer import Rules, verdict
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    OPERATIONS_OF,
    Access,
    AccessCheck,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Coordinator, CoordinatorKind
from tests.support.authorizer_cases import said
from tests.support.changes import done, make_topic
from tests.support.logins import log_in

TOPIC, GROUP, CLUSTER = AclResourceType.TOPIC, AclResourceType.GROUP, AclResourceType.CLUSTER
TRANSACTION = AclResourceType.TRANSACTIONAL_ID
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALICE, HERE = "User:alice", "127.0.0.1"


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def alice(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "alice") as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def leave_no_acl(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "admin" in request.fixturenames:
        remove_all(request.getfixturevalue("admin"))


def remove_all(admin: Cluster) -> None:
    mine = [AclFilter(who) for who in (ALICE, "User:*", "User:eve")]
    there = [
        each for each, found in zip(mine, acls.describe_each(admin, mine), strict=True) if found
    ]
    if there:
        done(acl_changes.plan_delete(admin, there), admin)


def make(admin: Cluster, rules: Iterable[AclBinding]) -> None:
    wanted = list(dict.fromkeys(rules))
    if wanted:
        done(acl_changes.plan_create(admin, wanted), admin)


class RuleSets:
    """Random ACLs around some names, of alice, of everyone and of somebody else."""

    def __init__(self, prefix: str, seed: int) -> None:
        self.topics = [f"{prefix}.{end}" for end in ("a", "ab", "abc", "b", "b.c", "z")]
        self.groups = [f"{prefix}.{end}" for end in ("g", "gh", "h")]
        self._prefix, self._random = prefix, random.Random(seed)

    def draw(self) -> list[AclBinding]:
        """Between none and twenty-four of them."""
        return [self._one() for _ in range(self._random.randrange(25))]

    def _one(self) -> AclBinding:
        choose = self._random.choice
        kind = choose([TOPIC, TOPIC, TOPIC, GROUP, CLUSTER])
        pattern = choose([LITERAL, LITERAL, PREFIXED])
        if kind is CLUSTER:
            name, pattern = CLUSTER_NAME, LITERAL
        else:
            known = self.topics if kind is TOPIC else self.groups
            whole = choose(known)
            cut = whole[: self._random.randrange(1, len(whole) + 1)]
            name = choose([whole, "*"]) if pattern is LITERAL else choose([whole, cut, cut, "*"])
        return AclBinding(
            choose([ALICE, ALICE, ALICE, "User:*", "User:eve"]),
            choose(["*", "*", "*", HERE, "10.0.0.1"]),
            choose([AclOperation.ALL, *sorted(OPERATIONS_OF[kind]), READ, WRITE, DESCRIBE]),
            choose([ALLOW, ALLOW, DENY]),
            kind, name, pattern,
        )  # fmt: skip


def may_do(row: Any) -> set[AclOperation]:
    """The operations that a row of an answer says are allowed (KIP-430)."""
    return set() if row.error_code else set(map(AclOperation, row.authorized_operations))


def told_by_broker(
    alice: Cluster, sets: RuleSets
) -> dict[tuple[AclResourceType, str], set[AclOperation]]:
    """What the broker says that alice may do; nothing where she may not even describe."""
    from kafka.protocol.admin import DescribeClusterRequest, DescribeGroupsRequest
    from kafka.protocol.metadata import MetadataRequest

    metadata = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in sets.topics],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    found: dict[tuple[AclResourceType, str], set[AclOperation]] = {}
    for topic in alice.send(metadata, highest=12).topics:
        assert topic.error_code in (0, 29), topic
        found[TOPIC, topic.name] = may_do(topic)
    groups = DescribeGroupsRequest(groups=sets.groups, include_authorized_operations=True)
    for group in alice.send(groups, highest=5).groups:
        assert group.error_code in (0, 30), group
        found[GROUP, group.group_id] = may_do(group)
    whole = alice.send(
        DescribeClusterRequest(include_cluster_authorized_operations=True), highest=0
    )
    found[CLUSTER, CLUSTER_NAME] = may_do(whole)
    return found


def told_by_us(
    rules: Rules, asked: Iterable[tuple[AclResourceType, str]]
) -> dict[tuple[AclResourceType, str], set[AclOperation]]:
    """The same by the verdict."""
    found = {}
    for kind, name in asked:
        question = Access(ALICE, DESCRIBE, kind, name, HERE)
        allowed = {
            each
            for each in OPERATIONS_OF[kind]
            if verdict(rules, replace(question, operation=each)).allowed
        }
        found[kind, name] = allowed if DESCRIBE in allowed else set()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_verdict_is_the_brokers_over_many_rule_sets(
    admin: Cluster, alice: Cluster, seed: int
) -> None:
    from kafka.protocol.admin import DescribeGroupsRequest

    sets = RuleSets(f"v{uuid4().hex[:6]}", seed)
    for topic in sets.topics:
        make_topic(admin, topic)
    for group in sets.groups:  # each has its coordinator before she asks
        request = DescribeGroupsRequest(groups=[group])
        admin.send(request, Coordinator(CoordinatorKind.GROUP, group), highest=5)
    asked = [*((TOPIC, name) for name in sets.topics), *((GROUP, name) for name in sets.groups),
             (CLUSTER, CLUSTER_NAME)]  # fmt: skip
    several = 0
    for _ in range(30):
        remove_all(admin)
        rules = sets.draw()
        make(admin, rules)
        read = authorizer.read(admin, [Access(ALICE, DESCRIBE, *each) for each in asked])
        theirs, ours = told_by_broker(alice, sets), told_by_us(read, asked)
        assert ours == theirs, f"seed {seed}: {[str(each) for each in rules]}"
        several += sum(map(len, theirs.values()))
    assert several > 100, "the rule sets allow hardly anything: they test little"


@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_is_what_a_client_meets(admin: Cluster, alice: Cluster, seed: int) -> None:
    """Producing, reading, and a transaction: by really doing it."""
    prefix = f"w{uuid4().hex[:6]}"
    topic = make_topic(admin, f"{prefix}.t")
    chance = random.Random(seed)
    rules = [
        AclBinding(
            chance.choice([ALICE, "User:*"]), chance.choice(["*", HERE, "10.0.0.1"]),
            chance.choice([READ, WRITE, AclOperation.ALL, DESCRIBE]),
            chance.choice([ALLOW, ALLOW, ALLOW, DENY]), kind,
            chance.choice([f"{prefix}.t", prefix]), chance.choice([LITERAL, PREFIXED]),
        )
        for kind in (TOPIC, TOPIC, TOPIC, TRANSACTION, TRANSACTION)
    ]  # fmt: skip
    make(admin, rules)
    doing = {
        Access(ALICE, WRITE, TOPIC, topic, HERE): produce(alice, topic),
        Access(ALICE, READ, TOPIC, topic, HERE): fetch(alice, topic),
        Access(ALICE, WRITE, TRANSACTION, topic, HERE): begin(alice, topic),
    }
    read = authorizer.read(admin, list(doing))
    said = {access: verdict(read, access).allowed for access in doing}
    assert said == {access: code == 0 for access, code in doing.items()}, [*map(str, rules)]


def produce(cluster: Cluster, topic: str) -> int:
    """The error code of one record sent to the leader."""
    from kafka.protocol.producer import ProduceRequest
    from kafka.record import MemoryRecordsBuilder

    batch = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1024)
    batch.append(timestamp=None, key=None, value=b"x", headers=[])
    batch.close()
    return send(cluster, produce_request(ProduceRequest, topic, bytes(batch.buffer())), "responses")


def produce_request(kind: Any, topic: str, records: bytes) -> Any:
    data = kind.TopicProduceData
    partition = data.PartitionProduceData(index=0, records=records)
    return kind(
        transactional_id=None, acks=1, timeout_ms=5000,
        topic_data=[data(name=topic, partition_data=[partition])],
    )  # fmt: skip


def send(cluster: Cluster, request: Any, rows: str) -> int:
    response = cluster.send(request, highest=9, check=False)
    (topic,) = getattr(response, rows)
    (partition,) = topic.partition_responses if rows == "responses" else topic.partitions
    code: int = partition.error_code
    assert code in (0, 29), f"something else is wrong: {partition}"
    return code


def fetch(cluster: Cluster, topic: str) -> int:
    """The error code of a fetch from the beginning."""
    from kafka.protocol.consumer import FetchRequest as Kind

    partition = Kind.FetchTopic.FetchPartition(
        partition=0, fetch_offset=0, partition_max_bytes=1000, current_leader_epoch=-1,
        log_start_offset=-1,
    )  # fmt: skip
    request = Kind(
        replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=1000, isolation_level=0,
        session_id=0, session_epoch=-1, forgotten_topics_data=[], rack_id="",
        topics=[Kind.FetchTopic(topic=topic, partitions=[partition])],
    )  # fmt: skip
    (answer,) = cluster.send(request, highest=11).responses
    (row,) = answer.partitions
    assert row.error_code in (0, 29), row
    return int(row.error_code)


def begin(cluster: Cluster, transactional_id: str) -> int:
    """The error code of beginning a transaction."""
    from kafka.protocol.producer import InitProducerIdRequest

    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000, producer_id=-1,
        producer_epoch=-1,
    )  # fmt: skip
    code: int = cluster.send(request, highest=4, check=False).error_code
    assert code in (0, 16, 53), code
    return 53 if code == 53 else 0


def checked(admin: Cluster, *asked: Access) -> AccessCheck:
    return authorizer.check(admin, asked)


def test_a_check_tells_what_else_a_client_needs_and_where_hosts_differ(admin: Cluster) -> None:
    name = f"c{uuid4().hex[:6]}"
    write = AclBinding(ALICE, "*", WRITE, ALLOW, TOPIC, name)
    blind = AclBinding("User:*", "*", DESCRIBE, DENY, TOPIC, name)
    there = AclBinding(ALICE, "10.0.0.1", WRITE, DENY, TOPIC, name)
    make(admin, [write, blind, there])
    check = checked(admin, Access(ALICE, WRITE, TOPIC, name))
    assert said(check.verdicts) == [(f"{ALICE} Write on topic {name}", True)]
    assert not check.ok, "a producer that may not DESCRIBE the topic cannot write"
    assert said(check.elsewhere) == [(f"{ALICE} Write on topic {name} from 10.0.0.1", False)]
    assert said(check.besides) == [(f"{ALICE} Describe on topic {name}", False)]
    assert check.besides[0].by == (blind,)
    assert check.verdicts[0].by == (write,)


def test_create_on_the_cluster_is_enough_to_create_a_topic(admin: Cluster) -> None:
    """Before: denied, with a note that it is enough."""
    name = f"c{uuid4().hex[:6]}"
    by = AclBinding(ALICE, "*", AclOperation.CREATE, ALLOW, CLUSTER, CLUSTER_NAME)
    make(admin, [by])
    check = checked(admin, Access(ALICE, AclOperation.CREATE, TOPIC, name))
    assert said(check.verdicts) == [(f"{ALICE} Create on topic {name}", True)]
    assert check.verdicts[0].by == (by,)
    assert check.besides == () and check.ok


def test_create_on_the_cluster_is_enough_from_each_host(admin: Cluster) -> None:
    """Before: denied from hosts that ACLs on the topic name; those of the cluster were left out."""
    name = f"c{uuid4().hex[:6]}"
    asked = Access(ALICE, AclOperation.CREATE, TOPIC, name)
    other = AclBinding(ALICE, "10.0.0.1", READ, ALLOW, TOPIC, name)
    by = AclBinding(ALICE, "*", AclOperation.CREATE, ALLOW, CLUSTER, CLUSTER_NAME)
    make(admin, [other, by])
    assert checked(admin, asked).elsewhere == ()
    make(admin, [AclBinding(ALICE, "10.0.0.2", AclOperation.CREATE, DENY, CLUSTER, CLUSTER_NAME)])
    check = checked(admin, asked)
    assert said(check.elsewhere) == [(f"{ALICE} Create on topic {name} from 10.0.0.2", False)]


def test_super_users_that_a_broker_does_not_tell_are_said(admin: Cluster) -> None:
    check = checked(admin, Access(ALICE, AclOperation.CREATE, CLUSTER, CLUSTER_NAME))
    (one,) = check.verdicts
    assert (one.allowed, one.because) == (False, "no-acl")
    assert "super.users" in one.unless, "the broker keeps its value to itself"
    assert not check.ok
