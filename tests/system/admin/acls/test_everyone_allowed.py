"""ACLs on a broker that allows everyone access to what no ACL matches, which it does not report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.users import read as users
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan
from kafka_shell.base.structs import replace
from kafka_shell.sandbox import config
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic
from tests.support.group_data import commit
from tests.support.program import Program

TOPIC = AclResourceType.TOPIC
READ, ALLOW = AclOperation.READ, AclPermission.ALLOW
RULE = "(allow.everyone.if.no.acl.found cannot be read)"  # brokers do not return its value


@pytest.fixture(scope="module")
def open_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker that allows everyone access to what no ACL matches."""
    folder, settings = tmp_path_factory.mktemp("open"), config.node_settings
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "node_settings", lambda sandbox, broker: {
                **settings(sandbox, broker), "allow.everyone.if.no.acl.found": "true",
            })  # fmt: skip
            sandbox = start(SandboxOptions(folder, port=0))
        with connect(sandbox) as cluster:
            yield cluster
    finally:
        wipe(folder)


def reads(name: str, pattern: PatternType = PatternType.LITERAL) -> AclBinding:
    return AclBinding("User:bob", "*", READ, ALLOW, TOPIC, name, pattern)


def creation(cluster: Cluster, *bindings: AclBinding) -> Plan:
    return advise(acl_changes.plan_create(cluster, bindings), cluster)


def test_the_first_acl_of_a_resource_is_confirmed(open_cluster: Cluster) -> None:
    """Before: everyone else lost access without a word."""
    first = creation(open_cluster, reads("orders"), reads("payments"))
    assert first.advice.warnings == (
        "this adds the first ACL on topic orders, topic payments: all others except super users may"
        f" lose access {RULE}",
    )
    assert first.advice.confirm
    done(creation(open_cluster, reads("orders")), open_cluster)
    second = creation(open_cluster, replace(reads("orders"), principal="User:eve"))
    assert (second.advice.warnings, second.advice.confirm) == ((), False)


def test_patterns_may_be_the_first_acls_of_what_they_match(open_cluster: Cluster) -> None:
    done(creation(open_cluster, reads("sales.eu")), open_cluster)
    prefixed = reads("sales.eu", PatternType.PREFIXED)
    warned = creation(open_cluster, prefixed)
    assert warned.advice.warnings == (
        "this adds the first ACL on resources matched only by prefixed topic sales.eu: all"
        f" others except super users may lose access {RULE}",
    )
    assert warned.advice.confirm
    done(warned, open_cluster)
    for covered in (reads("sales.eu.x"), reads("sales.eu.", PatternType.PREFIXED)):
        plan = creation(open_cluster, covered)
        assert (plan.advice.warnings, plan.advice.confirm) == ((), False)
    assert "only by topic *" in creation(open_cluster, reads("*")).advice.warnings[0]


def test_the_deletion_of_the_last_acl_may_allow_everyone(open_cluster: Cluster) -> None:
    """Before: not if it denies or is prefixed; and another principal's ACL was not seen if one that
    denies was deleted together with one that allows."""
    denied = replace(reads("last.denied"), permission=AclPermission.DENY)
    prefixed = reads("last.prefixed.", PatternType.PREFIXED)
    shared = replace(reads("last.shared"), permission=AclPermission.DENY)
    others = replace(reads("last.shared"), principal="User:carol")
    done(creation(open_cluster, denied, prefixed, shared, others), open_cluster)

    def warned(*bindings: AclBinding) -> str:
        filters = list(map(AclFilter.exactly, bindings))
        plan = advise(acl_changes.plan_delete(open_cluster, filters), open_cluster)
        return "\n".join(plan.advice.warnings)

    for last in (denied, prefixed):
        assert f"this removes the last ACL on {last.target}: access depends on" in warned(last)
    both = "this removes the last ACL on topic last.denied, prefixed topic last"
    assert both in warned(denied, prefixed)
    assert "last.shared" not in warned(shared, prefixed)


def test_brokers_with_the_default_deny_everyone_anyway(cluster: Cluster, name: str) -> None:
    plan = creation(cluster, reads(name), reads(name, PatternType.PREFIXED))
    assert (plan.advice.warnings, plan.advice.notes, plan.advice.confirm) == ((), (), False)


def test_groups_without_acls_are_not_known(open_cluster: Cluster, tmp_path: Path) -> None:
    """Before: describe-user said that there are none that the user may READ."""
    make_topic(open_cluster, "grouped")
    for group in ("with-acl", "without-acl"):
        commit(open_cluster, group, "grouped", 0)
    mine = replace(reads("with-acl"), principal="User:carol", resource_type=AclResourceType.GROUP)
    done(creation(open_cluster, mine), open_cluster)
    page = users.describe(open_cluster, "carol")
    assert (page.groups, page.unknown_groups) == (("with-acl",), ("without-acl",))
    kafka = Program(tmp_path, str(open_cluster.config.bootstrap[0]))
    for user, before in (("carol", "with-acl\n"), ("bob", "groups")):
        shown = kafka.ok("describe-user", user).stdout
        assert f"unknown: 1 group without ACLs {RULE}" in " ".join(shown.split())
        assert before in shown and "none (requires READ)" not in shown
