"""list-acls, alter-acls and check-acl from the command line."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclFilter, PrincipalAcl
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import apply
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.acls.render import COLUMNS
from kafka_shell.commands.acls.run import list_acls
from kafka_shell.context import Context
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.tables import draw_table
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.program import Program, Run


@pytest.fixture
def bob(cluster: Cluster) -> Iterator[str]:
    """A principal of this test's own, whose ACLs go with it; its name is a topic's too."""
    name = f"bob-{uuid4().hex[:6]}"
    yield name
    mine = AclFilter(f"User:{name}")
    if acls.describe(cluster, mine):
        apply(acl_changes.plan_delete(cluster, [mine]), cluster)


def rules(cluster: Cluster, bob: str) -> list[str]:
    """Bob's ACLs as they are typed, without his name."""
    return [
        str(each).replace(bob, "B") for each in acls.describe(cluster, AclFilter(f"User:{bob}"))
    ]


def test_one_command_that_adds_and_removes_adds_first(
    kafka: Program, cluster: Cluster, bob: str
) -> None:
    kafka.ok("alter-acls", "--topic", bob, "--add", f"allow User:{bob} Read,Write")
    run = kafka.ok(
        "alter-acls", "--topic", bob, "--yes", "--output", "json",
        "--remove", f"allow User:{bob} Read", "--remove", f"allow User:{bob} Write",
        "--add", f"deny User:{bob} Read from 10.0.0.1", "--add", f"allow User:{bob} Write",
    )  # fmt: skip
    assert [
        (row["verb"], row["resource"].replace(bob, "B"), row["status"])
        for row in run.json["changes"]
    ] == [
        ("create", "acl deny User:B Read from 10.0.0.1 on topic B", "done"),
        ("delete", "acl allow User:B Read on topic B", "done"),
        ("create", "acl allow User:B Write on topic B", "unchanged"),
    ]
    assert rules(cluster, bob) == [
        "deny User:B Read from 10.0.0.1 on topic B",
        "allow User:B Write on topic B",
    ]
    assert [line.replace(bob, "B") for line in run.json["undo"]] == [
        "alter-acls --add 'allow User:B Read on topic B'"
        " --remove 'deny User:B Read from 10.0.0.1 on topic B'",
    ], "what was removed and added is as it was"


def test_each_is_reported_on_its_own(kafka: Program, cluster: Cluster, bob: str) -> None:
    run = kafka(
        "alter-acls", "--topic", bob, "--yes", "--output", "json",
        "--add", f"allow User:{bob} Read", "--add", f"allow User:{bob} Write,Write",
    )  # fmt: skip
    assert run.status == 1, str(run)
    told = {row["resource"]: (row["status"], row["error"]) for row in run.json["changes"]}
    assert told == {
        f"acl allow User:{bob} Read on topic {bob}": ("done", None),
        f"acl allow User:{bob} Write on topic {bob}": ("rejected", "INVALID_REQUEST"),
    }
    run = kafka(
        "alter-acls", "--topic", bob, "--yes", "--output", "json",
        "--add", f"allow User:{bob} Describe", "--remove", f"deny User:{bob} All",
    )  # fmt: skip
    assert run.status == 1, str(run)
    told = {row["resource"]: (row["status"], row["error"]) for row in run.json["changes"]}
    assert told == {
        f"acl allow User:{bob} Describe on topic {bob}": ("skipped", None),
        f"acl deny User:{bob} All from * on topic {bob}": ("rejected", "RESOURCE_NOT_FOUND"),
    }
    assert "nothing was changed: 1 of 2 items is invalid" in run.stderr
    assert rules(cluster, bob) == ["allow User:B Read on topic B"]
    twice = [word for _ in range(2) for word in ("--remove", f"allow User:{bob} Read")]
    run = kafka("alter-acls", "--topic", bob, "--yes", *twice)
    assert run.status == 1
    assert "INVALID_REQUEST" in run.stderr
    assert rules(cluster, bob) == ["allow User:B Read on topic B"], "nothing is removed for it"


def test_removal_asks_and_its_undo_works(kafka: Program, cluster: Cluster, bob: str) -> None:
    kafka.ok("alter-acls", "--group", bob, "--add", f"allow User:{bob} Read from 10.0.0.1")
    before = rules(cluster, bob)
    everything = ("alter-acls", "--remove", f"any User:{bob} Any on any resource")
    run = kafka(*everything)
    assert run.status == 2, "there is nobody to ask"
    assert "--yes" in run.stderr
    assert rules(cluster, bob) == before
    run = kafka.ok(*everything, "--yes")
    assert rules(cluster, bob) == []
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("undo: ")]
    kafka.ok(stdin=line.removeprefix("undo: ") + "\n")
    assert rules(cluster, bob) == before


def test_the_ways_of_kafka_acls(kafka: Program, cluster: Cluster, bob: str) -> None:
    who = f"User:{bob}"
    own = ("--allow-principal", who, "--operation", "read", "--operation", "DESCRIBE_CONFIGS")
    kafka.ok("alter-acls", "--topic", bob, *own, "--allow-host", "10.0.0.1", "--add")
    assert rules(cluster, bob) == [
        "allow User:B Read from 10.0.0.1 on topic B",
        "allow User:B DescribeConfigs from 10.0.0.1 on topic B",
    ]
    kafka.ok("alter-acls", "--remove", "--topic", bob, "--yes")
    assert rules(cluster, bob) == []
    kafka.ok("alter-acls", "--add", "--deny-principal", who, "--group", bob,
             "--resource-pattern-type", "prefixed")  # fmt: skip
    assert rules(cluster, bob) == ["deny User:B All on prefixed group B"]
    kafka.ok("alter-acls", "--remove", "--deny-principal", who, "--group", f"{bob}.x",
             "--resource-pattern-type", "match", "--yes")  # fmt: skip
    assert rules(cluster, bob) == []
    both = ("--producer", "--consumer", "--idempotent", "--topic", bob, "--group", bob)
    kafka.ok("alter-acls", "--add", "--allow-principal", who, *both, "--transactional-id", bob)
    assert rules(cluster, bob) == [
        "allow User:B Read on topic B",
        "allow User:B Write on topic B",
        "allow User:B Create on topic B",
        "allow User:B Describe on topic B",
        "allow User:B Read on group B",
        "allow User:B IdempotentWrite on cluster",
        "allow User:B Write on transactional-id B",
        "allow User:B Describe on transactional-id B",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--topic t --allow-principal User:b", "requires at least one of --add, --remove"),
        ("--topic t --allow-principal User:b --add 'allow User:c Read'",
         "requires --add or --remove"),
        ("--topic t --add", "requires a principal"),
        ("--add 'allow User:b Read'", "a resource is required"),
        ("--add --allow-principal User:b", "a resource is required"),
        ("--remove", "a resource is required"),
        ("--topic t --add 'allow User:b Read on topic u'", "both name a resource"),
        ("--topic t --add --remove --allow-principal User:b", "can be used only once"),
        ("--topic t --resource-pattern-type match --add 'allow User:b Read'", "pattern type match"),
        ("--topic t --producer --deny-principal User:b --add", "cannot be used with"),
        ("--topic t --consumer --allow-principal User:b --add", "--topic and --group"),
        ("--topic t --group g --producer --allow-principal User:b --add",
         "--group cannot be used with --producer"),
        ("--topic t --idempotent --allow-principal User:b --add", "requires --producer"),
        ("--topic t --allow-host 10.0.0.1 --remove", "--allow-host requires --allow-principal"),
        ("--topic t --allow-principal bob --add", "'bob' is not a valid principal"),
        ("--remove-principal User:b --operation Write --yes", "--operation requires --add or"),
        ("--copy-from User:b --copy-to User:c --operation Write", "--operation requires --add or"),
        ("--topic t --operation Read --add 'allow User:b Write'", "--operation requires --add or"),
        ("--resource-pattern-type prefixed --add 'allow User:b Read on topic t'",
         "--resource-pattern-type requires an option that names a resource"),
        ("--remove-principal User:b --resource-pattern-type literal --yes",
         "--resource-pattern-type requires an option that names a resource"),
        ("--cluster --resource-pattern-type prefixed --remove --yes",
         "--resource-pattern-type requires an option that names a resource"),
    ],
)  # fmt: skip
def test_invalid_options_name_what_is_missing(kafka: Program, line: str, said: str) -> None:
    run = kafka(stdin=f"alter-acls {line}\n")
    assert run.status == 2, str(run)
    assert said in run.stderr


def test_probable_mistakes_are_warned_about(kafka: Program, bob: str) -> None:
    run = kafka.ok(
        "alter-acls", "--dry-run", "--add", f"allow User:{bob} Read from ::1 on prefixed topic *"
    )
    doubt = "a prefixed * matches only names that begin with an asterisk (*)"
    assert doubt in run.stderr + run.stdout
    assert "0:0:0:0:0:0:0:1" in run.stderr + run.stdout
    run = kafka.ok("alter-acls", "--topic", "t", "--dry-run", "--add", f"allow User:{bob} Read"
                   " from app.example.com")  # fmt: skip
    assert "app.example.com is not an IP address" in run.stderr + run.stdout


@pytest.mark.parametrize(
    "rule", ["allow User:B IdempotentWrite on topic B", "deny User:B Read on cluster"]
)
def test_an_operation_that_a_resource_does_not_have_asks(
    kafka: Program, cluster: Cluster, bob: str, rule: str
) -> None:
    """Before: it was refused. But other clients create such ACLs, and their removal is undone."""
    added = ("alter-acls", "--add", rule.replace("B", bob))
    asked = kafka(*added)
    assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
    what, kind = rule.split()[2], rule.split()[4]
    assert f"{what} has no effect on a {kind}: brokers check only" in asked.stderr
    kafka.ok(*added, "--yes")
    run = kafka.ok("alter-acls", "--remove-principal", f"User:{bob}", "--yes")
    assert rules(cluster, bob) == []
    kafka.ok(*restoring(run), "--yes")
    assert rules(cluster, bob) == [rule]


def test_every_filter(kafka: Program, cluster: Cluster, bob: str) -> None:
    who = f"User:{bob}"
    words = [
        f"allow {who} Read on topic {bob}.x",
        f"allow {who} Write on prefixed topic {bob}.",
        f"deny {who} Read from 10.0.0.1 on group {bob}.x",
        f"allow {who} All on topic *",
    ]
    kafka.ok("alter-acls", *(f"--add={rule}" for rule in words))

    def listed(line: str) -> list[str]:
        invocation = parse(tokenize(f"list-acls --principal {who} {line}"), REGISTRY)
        found = list_acls(invocation, cast(Context, SimpleNamespace(cluster=cluster)))
        if isinstance(found, NoRows):
            return []
        return [f"{row.operation.label} {row.target.replace(bob, 'B')}" for row in found]

    x, begun = "Read topic B.x", "Write prefixed topic B."
    group, star = "Read group B.x", "All topic *"
    assert listed("") == [star, begun, x, group]
    assert listed(f"--topic {bob}.x") == [star, begun, x], "what applies to it"
    assert listed(f"--topic {bob}.x --resource-pattern-type literal") == [x]
    assert listed(f"--topic {bob}. --resource-pattern-type any") == [begun]
    assert listed("--resource-pattern-type prefixed") == [begun]
    assert listed("--resource-type topic") == [star, begun, x]
    assert listed(f"--name {bob}.x") == [star, begun, x, group]
    assert listed(f"--name {bob}.x --resource-pattern-type any") == [x, group]
    assert listed("--operation read") == [x, group]
    assert listed("--operation read,write") == [begun, x, group]
    assert listed("--permission deny") == [group]
    assert listed("--host 10.0.0.1") == [group]
    assert listed("--cluster") == []
    table = kafka.ok("list-acls", "--principal", who)
    assert table.lines[0].split() == ["RESOURCE", "ACL"]
    assert f"group {bob}.x" in table.stdout
    assert f"deny {who} Read from 10.0.0.1" in table.stdout
    by = kafka.ok("list-acls", "--by", "principal", "--principal", who)
    assert by.lines[0].split() == ["PRINCIPAL", "ACL"]
    assert f"deny {who} Read from 10.0.0.1 on group {bob}.x" in by.stdout
    empty = kafka.ok("list-acls", "--principal", f"{who}-not")
    assert (empty.stdout, "no ACLs match" in empty.stderr) == ("", True)


@pytest.mark.parametrize("other", ["--resource-type group", "--name orders"])
@pytest.mark.parametrize("resource", ["--topic orders", "--cluster"])
def test_list_acls_never_lists_more_by_a_second_filter(
    kafka: Program, resource: str, other: str
) -> None:
    """Before: list-acls --topic orders --resource-type group also listed the ACLs of all groups."""
    run = kafka(stdin=f"list-acls {resource} {other}\n")
    assert run.status == 2, str(run)
    assert "cannot be used with" in run.stderr


def restoring(run: Run) -> list[str]:
    """The words that undo a removal, as the run shows them."""
    (line,) = [line for line in run.stderr.splitlines() if "alter-acls --add" in line]
    return shlex.split(line[line.index("alter-acls") :])


def test_all_acls_of_a_principal_are_copied_and_removed(
    kafka: Program, cluster: Cluster, bob: str
) -> None:
    who, other = f"User:{bob}", f"User:{bob}-2"
    kafka.ok("alter-acls", "--add", f"allow {who} Write on topic {bob}",
             "--add", f"deny {who} Read from '10.0.0.1,*' on prefixed group {bob}.",
             "--yes")  # fmt: skip
    had = rules(cluster, bob)
    run = kafka.ok("alter-acls", "--copy-from", who, "--copy-to", other, "--yes")
    assert "alter-acls --remove" in run.stderr, "how to undo it"
    copied = [str(each) for each in acls.describe(cluster, AclFilter(other))]
    assert [each.replace(f"{bob}-2", "B").replace(bob, "B") for each in copied] == had
    assert rules(cluster, bob) == had, "what is copied stays"
    again = kafka.ok("alter-acls", "--copy-from", who, "--copy-to", other)
    assert "already exists" in again.stdout + again.stderr

    run = kafka("alter-acls", "--remove-principal", other)
    assert run.status == 2, "it is asked about"
    assert len(acls.describe(cluster, AclFilter(other))) == 2
    run = kafka.ok("alter-acls", "--remove-principal", other, "--yes")
    assert acls.describe(cluster, AclFilter(other)) == ()
    kafka.ok(*restoring(run), "--yes")
    assert [str(each) for each in acls.describe(cluster, AclFilter(other))] == copied

    # A new name for a principal: both in one line.
    kafka.ok("alter-acls", "--copy-from", other, "--copy-to", f"{other}b",
             "--remove-principal", other, "--yes")  # fmt: skip
    assert acls.describe(cluster, AclFilter(other)) == ()
    assert len(acls.describe(cluster, AclFilter(f"{other}b"))) == 2
    kafka.ok("alter-acls", "--remove-principal", f"{other}b", "--yes")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--copy-from", "User:nobody-at-all", "--copy-to", "User:x"), 1, "has no ACLs"),
        (("--remove-principal", "User:nobody-at-all", "--yes"), 1, "has no ACLs"),
        (("--copy-from", "User:x"), 2, "--copy-from requires --copy-to"),
        (("--copy-to", "User:x", "--remove-principal", "User:y"), 2, "requires --copy-from"),
        (("--copy-from", "User:x", "--copy-to", "User:x"), 2, "the same principal"),
        (("--copy-from", "x", "--copy-to", "User:x"), 2, "'x'"),
        (("--remove-principal", "User:x", "--topic", "t"), 2, "applies to all resources"),
    ],
)
def test_what_cannot_be_copied_or_removed(
    kafka: Program, words: tuple[str, ...], status: int, said: str
) -> None:
    run = kafka("alter-acls", *words)
    assert run.status == status, str(run)
    assert said in run.stderr


def test_a_host_with_commas_is_undone_as_it_was(kafka: Program, cluster: Cluster, bob: str) -> None:
    """It became `from any host`."""

    def hosts() -> list[str]:
        return [each.host for each in acls.describe(cluster, AclFilter(f"User:{bob}"))]

    rule = f"allow User:{bob} Read from '10.0.0.1,*' on topic {bob}"
    kafka.ok("alter-acls", "--add", rule, "--yes")
    assert [each.host for each in acls.describe(cluster, AclFilter(f"User:{bob}"))] == [
        "10.0.0.1,*"
    ]
    run = kafka.ok("alter-acls", "--remove", rule, "--yes")
    kafka.ok(*restoring(run), "--yes")
    assert [each.host for each in acls.describe(cluster, AclFilter(f"User:{bob}"))] == [
        "10.0.0.1,*"
    ]


def test_an_acl_is_whole_on_a_narrow_terminal(kafka: Program, cluster: Cluster, bob: str) -> None:
    kafka.ok("alter-acls", "--topic", bob, "--add", f"allow User:{bob} Write from 10.123.123.123")
    found = acls.describe(cluster, AclFilter(f"User:{bob}"))
    for rows in (found, tuple(map(PrincipalAcl.of, found))):
        lines = [line.plain for line in draw_table(COLUMNS[type(rows[0])], rows, width=60)]
        assert all(len(line) <= 60 for line in lines)
        assert "…" not in "".join(lines)
        assert "10.123.123.123" in "".join(lines)


def test_ranges_and_names_decide_nothing(kafka: Program, bob: str) -> None:
    who = f"User:{bob}"
    kafka.ok("alter-acls", "--topic", bob, "--add", f"allow {who} Write from 127.0.0.0/8",
             "--yes")  # fmt: skip
    asked = ("check-acl", "--principal", who, "--operation", "write", "--topic", bob)
    run = kafka(*asked)
    assert run.status == 1
    assert "allowed" not in run.stdout
    assert "127.0.0.0/8 is not an IP address" in run.stdout
    run = kafka(*asked, "--host", "127.0.0.0/8")
    assert run.status == 2
    assert "--host must be the IP address of a client" in run.stderr
    kafka.ok("alter-acls", "--topic", bob, "--add", f"allow {who} Write from 0:0:0:0:0:0:0:1",
             "--yes")  # fmt: skip
    assert kafka(*asked, "--host", "::1").status == 0


def test_check_acl_shows_the_deciding_acls(kafka: Program, bob: str) -> None:
    who = f"User:{bob}"
    kafka.ok("alter-acls", "--topic", bob, "--add", f"allow {who} Write",
             "--add", f"deny {who} Write from 10.0.0.1")  # fmt: skip
    asked = ("check-acl", "--principal", who, "--operation", "write", "--topic", bob)
    run = kafka.ok(*asked)
    assert run.lines[:2] == [
        f"allowed: {who} Write on topic {bob}",
        f"  allow {who} Write on topic {bob}",
    ]
    assert f"denied: {who} Write on topic {bob} from 10.0.0.1" in run.stdout
    assert f"allowed: {who} Describe on topic {bob}" in run.stdout
    hosts = [row["access.host"] for row in csv.DictReader(kafka(*asked, "--output", "csv").lines)]
    assert "10.0.0.1" in hosts
    run = kafka(*asked, "--host", "10.0.0.1")
    assert run.status == 1
    assert run.lines[1] == f"  deny {who} Write from 10.0.0.1 on topic {bob}"
    run = kafka("check-acl", "--principal", who, "--operation", "Read", "--topic", f"{bob}.none",
                "--output", "json")  # fmt: skip
    assert run.status == 1
    (verdict,) = run.json["verdicts"]
    assert (verdict["allowed"], verdict["because"], verdict["by"]) == (False, "no-acl", [])
    assert "super.users" in verdict["unless"]
    run = kafka("check-acl", "--principal", who, "--operation", "All", "--topic", bob,
                "--group", bob, "--output", "json")  # fmt: skip
    assert run.status == 1, "not all are allowed"
    accesses = [verdict["access"] for verdict in run.json["verdicts"]]
    assert len(accesses) == len({str(access) for access in accesses}) == 8 + 5
    assert not any(access["operation"] == "all" for access in accesses)
    for words, status in (
        (("--operation", "IdempotentWrite", "--topic", bob), 2),
        (("--operation", "All", "--topic", bob), 1),
        (("--operation", "Read"), 2),
        (("--operation", "Read", "--topic", "*"), 2),
        (("--operation", "Raed", "--topic", bob), 2),
    ):
        assert kafka("check-acl", "--principal", who, *words).status == status, words


def test_what_is_not_known_is_said(kafka: Program, bob: str) -> None:
    nosuch = f"User:nosuch-{bob}"
    run = kafka("check-acl", "--principal", nosuch, "--operation", "Describe", "--topic",
                f"{bob}.none")  # fmt: skip
    said = " ".join(run.stdout.split())
    assert f"topic {bob}.none does not exist" in said
    assert f"{nosuch} has no ACLs, SCRAM credentials or quotas" in said
    removed = kafka("alter-acls", "--remove-principal", nosuch, "--yes")
    assert removed.status == 1
    assert f"{nosuch} has no ACLs" in removed.stderr and "any resource:" in removed.stderr


def test_the_missing_permission_on_acls_is_named(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    file = secure_sandbox.client_properties["alice-sasl-plaintext"]
    alice = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    for line in (
        "list-acls",
        "alter-acls --topic t --add 'allow User:alice All'",
        "alter-acls --topic t --remove --yes",
        "check-acl --principal User:alice --operation Read --topic t",
    ):
        run = alice("--command-config", str(file), stdin=line + "\n")
        assert run.status == 1, str(run)
        assert "CLUSTER_AUTHORIZATION" in run.stderr or "not authorized" in run.stderr
        assert "DESCRIBE on the cluster" in run.stderr


def test_a_pattern_is_no_topic_name(kafka: Program) -> None:
    """Before: an ACL that matches nothing was created without a question, a principal was said to
    lose access, and check-acl said that it is allowed on topic payments.*."""
    line = ("alter-acls", "--topic", "payments.*", "--add", "deny User:bob Write")
    asked = kafka(*line)
    assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
    assert (
        "warning: an ACL on topic 'payments.*' matches no topic: topic names never contain *; to"
        " match topics by prefix, use: prefixed topic payments."
    ) in " ".join(asked.stderr.split())
    assert "loses" not in asked.stderr, str(asked)
    checked = kafka("check-acl", "--principal", "User:bob", "--operation", "Write",
                    "--topic", "payments.*")  # fmt: skip
    assert checked.status == 2 and "is not a topic name" in checked.stderr, str(checked)


def test_a_deny_that_takes_access_asks(kafka: Program) -> None:
    """Before: only deletions of ACLs asked."""
    user, topic = f"User:{uuid4().hex[:8]}", f"t-{uuid4().hex[:8]}"
    kafka.ok("alter-acls", "--add", f"allow {user} Read on topic {topic}")
    denied = f"deny {user} Read on topic {topic}"
    asked = kafka("alter-acls", "--add", denied)
    assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
    assert f"{user} loses Read on topic {topic}" in asked.stderr, str(asked)
    kafka.ok("alter-acls", "--add", denied, "--yes")
    kafka.ok("alter-acls", "--remove-principal", user, "--yes")
