"""Permissions on the two topics of dynamic client configs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
    config_record,
    registration_record,
)
from kafka_shell.admin.client_configs.store import ACLS
from kafka_shell.admin.records import read as log
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Effect, Plan
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.client_configs.run import with_acl_commands
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done
from tests.support.logins import log_in

ALICE = ClientEntity("alice")
SET = ClientConfigAlteration(ALICE, "acks", "1")


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    """The two topics, with one config of alice's in them."""
    with log_in(secure_sandbox, "admin") as cluster:
        done(client_config_changes.plan_alter(cluster, [SET]), cluster)
        yield cluster
        done(topic_changes.plan_delete(cluster, [CONFIGS_TOPIC, REGISTRATIONS_TOPIC]), cluster)


@pytest.fixture
def alice(secure_sandbox: Sandbox, admin: Cluster) -> Iterator[Cluster]:
    """A user with the rights a test gives everybody on the two topics."""
    with log_in(secure_sandbox, "alice") as cluster:
        yield cluster
    for topic in (CONFIGS_TOPIC, REGISTRATIONS_TOPIC):
        which = AclFilter(resource_type=AclResourceType.TOPIC, name=topic)
        if acls.describe(admin, which):
            done(acl_changes.plan_delete(admin, [which]), admin)


def allow(admin: Cluster, topic: str, *operations: AclOperation) -> None:
    done(acl_changes.plan_create(admin, [
        AclBinding("User:*", "*", operation, AclPermission.ALLOW, AclResourceType.TOPIC, topic)
        for operation in operations
    ]), admin)  # fmt: skip


def as_printed(admin: Cluster) -> None:
    """The ACLs that clients need, and that the command for them names."""
    asking = Plan(Effect.CHANGE, (), advice=Advice(confirm=True))
    (warning,) = with_acl_commands(asking).advice.warnings
    line = warning[warning.index("alter-acls") :]
    assert len(parse(tokenize(line), REGISTRY)["add"]) == len(ACLS)
    assert all(str(binding) in line for binding in ACLS), line
    done(acl_changes.plan_create(admin, ACLS), admin)


def test_who_may_register_may_not_override(admin: Cluster, alice: Cluster) -> None:
    as_printed(admin)
    said = ClientRegistration(ALICE, "lib", "1", ("acks",), int(time.time() * 1000))
    log.append(alice, REGISTRATIONS_TOPIC, [registration_record(said)])
    assert next(iter(client_configs.describe(alice))).value == "1", "what binds her she may read"
    with pytest.raises(ShellError) as refused:
        log.append(alice, CONFIGS_TOPIC, [config_record(SET)])
    assert refused.value.code == "TOPIC_AUTHORIZATION_FAILED"
    assert CONFIGS_TOPIC in refused.value.message


def test_who_may_not_write_may_not_alter(admin: Cluster, alice: Cluster) -> None:
    as_printed(admin)
    plan = client_config_changes.plan_alter(alice, [ClientConfigAlteration(ALICE, "acks", "0")])
    with pytest.raises(ShellError) as refused:
        plan.steps[-1].send(alice, validate_only=False)
    assert refused.value.code == "TOPIC_AUTHORIZATION_FAILED"
    assert next(iter(client_configs.describe(admin))).value == "1"


def test_limits_that_may_not_be_read_are_not_checked(admin: Cluster, alice: Cluster) -> None:
    """Before: Kafka's defaults were taken for the limits of these brokers."""
    as_printed(admin)
    ten_ms = ClientConfigAlteration(ALICE, "session.timeout.ms", "10")
    [why] = client_config_changes.plan_alter(admin, [ten_ms]).refused.failures.values()
    assert "brokers accept 6000 to 1800000" in why.message
    plan = client_config_changes.plan_alter(alice, [ten_ms])
    [found] = plan.advice.not_checked
    assert plan.refused.ok and found.what == "whether brokers accept this session.timeout.ms"
    assert "DESCRIBE_CONFIGS" in found.reason, found


def test_who_may_not_read_sees_why(admin: Cluster, alice: Cluster) -> None:
    for rights in ((), (AclOperation.DESCRIBE,)):
        if rights:
            allow(admin, CONFIGS_TOPIC, *rights)
        with pytest.raises(ShellError) as refused:
            client_configs.describe(alice)
        assert refused.value.code == "TOPIC_AUTHORIZATION_FAILED", rights
        assert CONFIGS_TOPIC in refused.value.message, rights
