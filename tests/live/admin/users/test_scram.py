"""SCRAM credentials on a real broker, and logins with them on a secure one."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from hmac import digest
from typing import Any
from uuid import uuid4

import pytest
from kafka.protocol.admin import AlterUserScramCredentialsRequest

from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import NewScramCredential, ScramCredential, ScramMechanism
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, Secret, apply
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.support.changes import done

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512


@pytest.fixture
def user(cluster: Cluster) -> Iterator[str]:
    """A user of this test's own, whose credentials go with it."""
    name = f"user-{uuid4().hex[:8]}"
    yield name
    left = [(c.user, c.mechanism) for c in scram.describe(cluster, [name]).values.get(name, ())]
    assert apply(scram.plan_delete(cluster, left), cluster).ok


def new(
    user: str, mechanism: ScramMechanism = SHA_256, iterations: int = 4096
) -> NewScramCredential:
    return NewScramCredential(user, mechanism, Secret("pa55"), iterations)


def make(cluster: Cluster, *credentials: NewScramCredential) -> None:
    plan = scram.plan_upsert(cluster, credentials)
    assert plan.refused.ok, plan.refused
    results = apply(plan, cluster)
    assert results.ok, results


def test_credentials_are_set_replaced_and_deleted(cluster: Cluster, user: str) -> None:
    make(cluster, new(user), new(user, SHA_512, 8192))
    had = (ScramCredential(user, SHA_256, 4096), ScramCredential(user, SHA_512, 8192))
    assert scram.describe(cluster, [user]).values == {user: had}
    make(cluster, new(user, SHA_256, 16384))
    assert scram.describe(cluster).values[user][0].iterations == 16384
    plan = scram.plan_delete(cluster, [(user, SHA_512)])
    assert plan.effect is Effect.DESTROY
    assert plan.steps[0].reread(cluster).changes == plan.changes
    assert apply(plan, cluster).ok
    assert scram.describe(cluster, [user]).values == {
        user: (ScramCredential(user, SHA_256, 16384),)
    }


def test_a_deletion_that_a_broker_sends_again_is_done(
    cluster: Cluster, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a broker does whose controller responds late."""
    make(cluster, new(user))
    plan = scram.plan_delete(cluster, [(user, SHA_256)])
    send = Cluster.send

    def twice(self: Cluster, request: Any, **how: Any) -> Any:
        if isinstance(request, AlterUserScramCredentialsRequest):
            send(self, request, **how)
        return send(self, request, **how)

    monkeypatch.setattr(Cluster, "send", twice)
    done(plan, cluster)


def test_a_plan_says_what_is_replaced_and_never_the_password(cluster: Cluster, user: str) -> None:
    make(cluster, new(user, SHA_256, 8192))
    plan = scram.plan_upsert(cluster, [new(user), new(user, SHA_512)])
    replaced, added = plan.changes
    assert (replaced.field, replaced.before, replaced.after) == (
        "SCRAM-SHA-256", "iterations=8192", "iterations=4096",
    )  # fmt: skip
    assert (added.before, added.after) == (None, "iterations=4096")
    assert (replaced.reversible, added.reversible) == (False, True)
    assert "pa55" not in repr(plan)
    assert [step.reread(cluster) for step in plan.steps] == list(plan.steps)


def test_a_user_without_credentials_is_a_failure_and_nobody_is_not_everybody(
    cluster: Cluster, user: str
) -> None:
    make(cluster, new(user))
    found = scram.describe(cluster, [user, "nobody-here", user])
    assert set(found.values) == {user}
    assert found.failures["nobody-here"].name == "RESOURCE_NOT_FOUND"
    assert len(scram.describe(cluster, [])) == 0


def test_what_a_broker_would_refuse_is_refused_for_that_user_alone(
    cluster: Cluster, user: str
) -> None:
    plan = scram.plan_upsert(
        cluster,
        [
            new(user),
            new("few", SHA_256, 4095),
            new("many", SHA_256, 16385),
            new("twice"),
            new("twice"),
            new(""),
            replace(new("silent"), password=Secret("")),
            new("odd", ScramMechanism.UNKNOWN),
        ],
    )
    assert [change.resource.name for change in plan.changes] == [user]
    names = {resource.name: why.name for resource, why in plan.refused.failures.items()}
    assert names == {
        "few": "UNACCEPTABLE_CREDENTIAL",
        "many": "UNACCEPTABLE_CREDENTIAL",
        "twice": "DUPLICATE_RESOURCE",
        "": "UNACCEPTABLE_CREDENTIAL",
        "silent": "UNACCEPTABLE_CREDENTIAL",
        "odd": "UNSUPPORTED_SASL_MECHANISM",
    }


def test_every_error_of_the_broker_is_a_failure_but_what_is_gone_counts_as_deleted(
    cluster: Cluster, user: str
) -> None:
    step = scram.AlterScramCredentials(
        (
            ScramCredential("gone", SHA_512, 4096),
            new(user),
            new("few", SHA_256, 100),
            new("both"),
            new("both", SHA_512),
        ),
        {},
    )
    results = step.send(cluster, validate_only=False)
    assert [change.resource.name for change in results.values] == ["gone", user]
    failed = {change.resource.name: why for change, why in results.failures.items()}
    assert {name: why.name for name, why in failed.items()} == {
        "few": "UNACCEPTABLE_CREDENTIAL",
        "both": "DUPLICATE_RESOURCE",  # so a plan makes two requests of it
    }
    assert all(name in why.message for name, why in failed.items())


def test_deleting_what_is_not_there_is_refused(cluster: Cluster, user: str) -> None:
    make(cluster, new(user))
    plan = scram.plan_delete(cluster, [(user, SHA_512), ("nobody-here", SHA_256)])
    assert plan.steps == ()
    assert {resource.name: why.name for resource, why in plan.refused.failures.items()} == {
        user: "RESOURCE_NOT_FOUND",
        "nobody-here": "RESOURCE_NOT_FOUND",
    }


def test_salting_is_that_of_rfc_7677() -> None:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = scram.salted_password(SHA_256, "pencil", salt, 4096)
    server_key = digest(salted, b"Server Key", sha256)
    auth_message = (
        b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    signature = digest(server_key, auth_message, sha256)
    assert signature == b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_the_credential_logs_in_until_it_is_deleted(
    secure_sandbox: Sandbox, mechanism: ScramMechanism
) -> None:
    def enter(user: str, password: str, with_: ScramMechanism = mechanism) -> Cluster:
        config = ConnectionConfig(
            parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"]),
            security_protocol="SASL_PLAINTEXT",
            sasl=Sasl(with_.label, user, Secret(password)),
        )
        return Cluster(config)

    name, password = f"zoe, the {uuid4().hex[:6]}=", "Grüße=ﬁ ,\u00a0!"
    with enter("admin", passwords(secure_sandbox)["admin"]) as admin:
        make(admin, NewScramCredential(name, mechanism, Secret(password), 5000))
        with enter(name, password) as cluster:
            assert cluster.cluster_id == admin.cluster_id
        with enter(name, f"{password}?") as cluster, pytest.raises(ShellError, match="failed"):
            _ = cluster.cluster_id
        assert apply(scram.plan_delete(admin, [(name, mechanism)]), admin).ok
        with enter(name, password) as cluster, pytest.raises(ShellError, match="failed"):
            _ = cluster.cluster_id


def test_the_credential_of_the_own_login_is_not_deleted(secure_sandbox: Sandbox) -> None:
    """Nobody could log in to take it back."""
    config = ConnectionConfig(
        parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"]),
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl(SHA_256.label, "admin", Secret(passwords(secure_sandbox)["admin"])),
    )
    with Cluster(config) as admin:
        own = scram.plan_delete(admin, [("admin", SHA_256)])
        assert not own.steps
        (failure,) = own.refused.failures.values()
        assert failure.name == "own-login"
        assert "this connection is authenticated with the" in failure.message
        other = scram.plan_delete(admin, [("admin", SHA_512), ("alice", SHA_256)])
        assert other.refused.ok and other.steps
