"""KIP-649 in `config-command`: quotas and dynamic client configs on one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    REGISTRATIONS_TOPIC,
    ClientEntity,
    ClientRegistration,
    registration_record,
)
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity, QuotaFilter
from kafka_shell.admin.records import read as log
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.live.admin.client_configs.test_client_configs import gone
from tests.support.changes import connect, done
from tests.support.program import Program, Run

USER = "alice-649"
OF_USER = ("--entity-type", "users", "--entity-name", USER)
OF_CLIENT = (*OF_USER, "--entity-type", "clients", "--entity-name", "clientid-override")


@pytest.fixture
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with connect(sandbox) as cluster:
        gone(cluster)
        yield cluster
        gone(cluster)
        found = quotas.describe(cluster, QuotaFilter(user=USER))
        lifted = [QuotaAlteration(quota.entity, quota.key, None) for quota in found]
        if lifted:
            done(quota_changes.plan_alter(cluster, lifted), cluster)


@pytest.fixture
def run(sandbox: Sandbox, cluster: Cluster, tmp_path: Path) -> Program:
    return Program(tmp_path, sandbox.bootstrap)


def alter(run: Program, of: tuple[str, ...], *words: str) -> Run:
    return run.ok("config-command", "--alter", *of, *words, "--yes")


def described(run: Program, *of: str) -> list[str]:
    return run.ok("config-command", "--describe", *of).lines


def test_the_proposals_own_lines(run: Program, cluster: Cluster) -> None:
    alter(run, OF_USER, "--add-config", "acks=-1,session.timeout.ms=11000,producer_byte_rate=50000")
    alter(run, OF_CLIENT, "--add-config",
          "acks=0,heartbeat.interval.ms=2000,producer_byte_rate=60000")  # fmt: skip
    assert described(run, *OF_USER) == [
        f"Quota configs for user-principal '{USER}' are producer_byte_rate=50000.0",
        f"Dynamic configs for user-principal '{USER}' are acks=-1, session.timeout.ms=11000",
    ]
    whose = f"user-principal '{USER}', client-id 'clientid-override'"
    of_client = [
        f"Quota configs for {whose} are producer_byte_rate=60000.0",
        f"Dynamic configs for {whose} are acks=0, heartbeat.interval.ms=2000",
    ]
    assert described(run, *OF_CLIENT) == of_client
    assert described(run, *OF_USER, "--entity-type", "clients") == of_client, "children are listed"
    assert {line.split("'")[1] for line in described(run, "--entity-type", "users")
            if line.startswith("Dynamic")} == {USER}  # fmt: skip
    said = ClientRegistration(
        ClientEntity(USER, "clientid-override"), "lib", "x.y.z", ("acks",), 10**15
    )
    log.append(cluster, REGISTRATIONS_TOPIC, [registration_record(said)])
    supported = f"Supported dynamic configs for {whose} are"
    assert described(run, *OF_CLIENT)[-1].startswith(supported)
    assert "softwareName=lib, softwareVersion=x.y.z" in described(run, *OF_CLIENT)[-1]


def test_quotas_and_configs_go_in_one_plan_and_one_can_be_refused(
    run: Program, cluster: Cluster
) -> None:
    words = ("--add-config", "acks=2,producer_byte_rate=5")
    mixed = run("config-command", "--alter", *OF_USER, *words, "--yes")
    assert mixed.status == 1 and "acks must be one of all, -1, 0, 1, got '2'" in mixed.stderr
    assert [q.value for q in quotas.describe(cluster, QuotaFilter(user=USER))] == [5.0]
    assert list(client_configs.describe(cluster)) == []


def test_deleting_both(run: Program, cluster: Cluster) -> None:
    alter(run, OF_USER, "--add-config", "acks=1,producer_byte_rate=5")
    alter(run, OF_USER, "--delete-config", "acks,producer_byte_rate")
    assert list(client_configs.describe(cluster)) == []
    assert quotas.describe(cluster, QuotaFilter(user=USER)) == ()


def test_what_clients_support_is_refreshed_by_deleting_it(run: Program, cluster: Cluster) -> None:
    alter(run, OF_USER, "--add-config", "acks=1")
    said = ClientRegistration(ClientEntity(USER), "lib", "1", ("acks",), 10**15)
    log.append(cluster, REGISTRATIONS_TOPIC, [registration_record(said)])
    assert list(client_configs.registrations(cluster, now=10**15)) == [said]
    alter(run, OF_USER, "--delete-config", "supported.configs")
    assert list(client_configs.registrations(cluster, now=10**15)) == []


@pytest.mark.parametrize(
    ("of", "key", "status", "said"),
    [
        (OF_USER, "ackss", 1, "Did you mean acks?"),
        (OF_USER, "linger.mz", 1, "Did you mean linger.ms?"),
        (OF_USER, "supported.configs", 1, "supported.configs is not a config that a running"),
        (("--entity-type", "users", "--entity-default"), "acks", 2, "requires a named user"),
        (
            ("--entity-type", "clients", "--entity-name", "app"),
            "acks",
            2,
            "requires a named user",
        ),
    ],
)
def test_configs_that_do_not_apply_to_an_entity_are_refused(
    run: Program, of: tuple[str, ...], key: str, status: int, said: str
) -> None:
    """No user may change what binds another's programs: there is no default user (KIP-649)."""
    refused = run("config-command", "--alter", *of, "--add-config", f"{key}=1", "--yes")
    assert refused.status == status and said in refused.stderr


def test_a_users_page_shows_them(run: Program, cluster: Cluster) -> None:
    entity = QuotaEntity(user=USER)
    done(
        quota_changes.plan_alter(cluster, [QuotaAlteration(entity, "producer_byte_rate", 5.0)]),
        cluster,
    )
    alter(run, OF_CLIENT, "--add-config", "session.timeout.ms=11000")
    page = run.ok("describe-user", USER).stdout
    assert "clientid-override  session.timeout.ms  11s" in page
