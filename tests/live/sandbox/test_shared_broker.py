"""The shared sandboxes of the tests respond, log to their file, and have loggers."""

from __future__ import annotations

import stat

import psutil
from kafka.admin import (
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import NoError

from kafka_shell.sandbox.state import Sandbox
from tests.support.sandbox_clients import admin
from tests.support.sandbox_loggers import check_loggers


def test_it_serves_on_loopback_only(sandbox: Sandbox) -> None:
    with admin(sandbox) as client:
        cluster = client.describe_cluster()
    assert cluster["cluster_id"] == sandbox.cluster_id
    assert [broker["rack"] for broker in cluster["brokers"]] == ["rack-a"]
    listening = psutil.Process(sandbox.brokers[0].pid).net_connections("tcp")
    addresses = {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN}
    assert {address.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}


def test_files_are_private(sandbox: Sandbox) -> None:
    assert stat.S_IMODE(sandbox.brokers[0].folder.stat().st_mode) == 0o700
    for path in (sandbox.brokers[0].log, sandbox.brokers[0].java_arguments):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_acls_and_two_log_dirs_can_be_tried(sandbox: Sandbox) -> None:
    with admin(sandbox) as client:
        [broker] = client.describe_log_dirs()
        assert len(broker["log_dirs"]) == 2
        nothing = ResourcePattern(ResourceType.TOPIC, "no-such-topic")
        everything = ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, nothing)
        assert client.describe_acls(everything) == ([], NoError)


def test_loggers_are_listed_and_altered(sandbox: Sandbox) -> None:
    check_loggers(sandbox)
