"""ACLs and delegation tokens: Kafka's own tools and this program report the same state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclBinding, AclFilter
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.commands import REGISTRY
from kafka_shell.language.tokens import tokenize
from kafka_shell.pasted.kafka_tools import translate
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done
from tests.support.jvm_tools import run_tool
from tests.support.logins import log_in
from tests.support.program import Program

ACLS = "org.apache.kafka.tools.AclCommand"
TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"

# The life of some ACLs, as people type it for Kafka's tool. N is a name, P a principal.
LIFE = (
    "--add --allow-principal P --operation Read --operation DescribeConfigs --topic N"
    " --allow-host 10.0.0.1 --allow-host 10.0.0.2",
    "--add --allow-principal P --deny-principal P --deny-host 10.0.0.9 --topic N --group N",
    "--add --allow-principal P --producer --idempotent --topic N.p --transactional-id N",
    "--add --allow-principal P --consumer --topic N.c --group N.c",
    "--add --allow-principal P --producer --consumer --topic N.pc --group N.pc"
    " --resource-pattern-type PREFIXED",
    "--add --allow-principal P --operation Alter --cluster",
    "--add --allow-principal P --operation CreateTokens --user-principal User:N",
    "--add --allow-principal P --operation Describe --delegation-token N",
    "--remove --allow-principal P --operation DescribeConfigs --topic N --allow-host 10.0.0.2"
    " --force",
    "--remove --topic N.c --force",
    "--remove --allow-principal P --consumer --topic N.pcx --group N.pcx"
    " --resource-pattern-type MATCH --force",
)  # fmt: skip
LISTS = (
    "--list --principal P",
    "--list --topic N",
    "--list --topic N.p --resource-pattern-type match --principal P",
    "--list --topic N.pc --resource-pattern-type any",
    "--list --topic N.pcx --resource-pattern-type match --group N",
    "--list --cluster --principal P",
)

_RESOURCE = re.compile(r"resourceType=(\w+), name=(.*), patternType=(\w+)\)")
_ENTRY = re.compile(r"\(principal=(.*), host=(.*), operation=(\w+), permissionType=(\w+)\)")
Fact = tuple[str, ...]


@pytest.fixture(scope="module")
def prefix(cluster: Cluster) -> Iterator[str]:
    prefix = f"d{uuid4().hex[:6]}"
    yield prefix
    for who in ("jvm", "our"):
        mine = AclFilter(f"User:{prefix}-{who}")
        if acls.describe(cluster, mine):
            done(acl_changes.plan_delete(cluster, [mine]), cluster)


def typed(line: str, prefix: str, who: str) -> list[str]:
    filled = re.sub(r"\bN\b", f"{prefix}-{who}", re.sub(r"\bP\b", f"User:{prefix}-{who}", line))
    return filled.split()


def by_tool(sandbox: Sandbox, words: list[str]) -> str:
    run = run_tool(ACLS, "--bootstrap-server", sandbox.bootstrap, *words)
    assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"
    return run.stdout


def by_us(kafka: Program, words: list[str], *more: str) -> str:
    """The line that the program itself gives for what was pasted, run."""
    line = translate(["kafka-acls.sh", *words], REGISTRY)
    assert line is not None
    argv = [word.text for word in tokenize(line).words]
    return kafka.ok(*argv, *more).stdout


def facts(bindings: tuple[AclBinding, ...], name: str) -> set[Fact]:
    """What bindings say, without the name that tells whose life it was."""
    return {
        tuple(part.replace(name, "N") for part in (
            each.principal, each.host, each.operation.name, each.permission.name,
            each.resource_type.name, each.name, each.pattern_type.name,
        ))
        for each in bindings
    }  # fmt: skip


def printed(text: str, name: str) -> set[Fact]:
    """What `kafka-acls --list` prints, as the same facts."""
    found: set[Fact] = set()
    resource: Fact = ()
    for line in text.splitlines():
        if match := _RESOURCE.search(line):
            resource = match.groups()
        elif match := _ENTRY.search(line):
            found.add(tuple(part.replace(name, "N") for part in (*match.groups(), *resource)))
    return found


def test_the_same_lines_leave_the_same_acls_and_list_the_same(
    sandbox: Sandbox, cluster: Cluster, prefix: str, tmp_path: Path
) -> None:
    kafka = Program(tmp_path, sandbox.bootstrap)
    jvm, our = f"{prefix}-jvm", f"{prefix}-our"
    for line in LIFE:
        by_tool(sandbox, typed(line, prefix, "jvm"))
        by_us(kafka, typed(line, prefix, "our"))
        theirs = facts(acls.describe(cluster, AclFilter(f"User:{jvm}")), jvm)
        ours = facts(acls.describe(cluster, AclFilter(f"User:{our}")), our)
        assert ours == theirs, line
    assert len(ours) > 15, "there is hardly anything to compare"
    for line in LISTS:
        words = typed(line, prefix, "our")
        told = printed(by_tool(sandbox, words), our)
        rows = listed(by_us(kafka, words, "--output", "json"), our)
        assert rows == told, line
        assert rows, f"{line} lists nothing"


def listed(text: str, name: str) -> set[Fact]:
    """What `list-acls --output json` prints, as the same facts."""
    return {
        tuple(str(row[key]).replace(name, "N") for key in (
            "principal", "host", "operation", "permission", "resource_type", "name",
            "pattern_type",
        ))
        for row in _upper(json.loads(text))
    }  # fmt: skip


def _upper(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    kept = ("principal", "host", "name")
    return [{key: value if key in kept else value.upper() for key, value in row.items()}
            for row in rows]  # fmt: skip


# -- tokens ----------------------------------------------------------------------------------------


def token_tool(sandbox: Sandbox, *words: str) -> str:
    file = sandbox.client_properties["alice-sasl-plaintext"]
    address = sandbox.bootstraps["SASL_PLAINTEXT"]
    run = run_tool(TOKENS, "--bootstrap-server", address, "--command-config", str(file), *words)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_tokens_of_either_are_told_renewed_and_ended_by_the_other(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    kafka = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    login = ("--command-config", str(secure_sandbox.client_properties["alice-sasl-plaintext"]))
    words = ("--max-life-time-period", "3600000", "--renewer-principal", "User:admin")
    made = token_tool(secure_sandbox, "--create", *words)
    theirs = re.search(r"tokenId : (\S+)", made)
    shown = re.search(
        r'username="(\S+)" password="(\S+)"', kafka.ok("create-token", *words, *login).stdout
    )
    assert theirs, made
    assert shown
    told = token_tool(secure_sandbox, "--describe", "--owner-principal", "User:alice")
    with log_in(secure_sandbox, "alice") as alice:
        ours = {
            token.id: token
            for token in delegation_tokens.describe(alice)
            if token.owner == "User:alice"  # she may renew those of others too
        }
    rows = (line.split() for line in told.splitlines() if " User:alice " in line)
    lines = {row[0]: row for row in rows if len(row) > 5 and row[2] == "User:alice"}
    assert set(lines) == set(ours) >= {theirs[1], shown[1]}
    assert lines[shown[1]][1] == shown[2], "the HMAC is written as Kafka's tool writes it"
    for id, token in ours.items():
        assert token.renewers == ("User:admin",) or id not in (theirs[1], shown[1])
    renewed = token_tool(secure_sandbox, "--renew", "--renew-time-period", "-1", "--hmac", shown[2])
    assert "Completed renew" in renewed
    kafka.ok("renew-token", theirs[1], *login)
    token_tool(secure_sandbox, "--expire", "--expiry-time-period", "-1", "--hmac", shown[2])
    kafka.ok("expire-token", theirs[1], "--yes", *login)
    with log_in(secure_sandbox, "alice") as alice:
        left = {token.id for token in delegation_tokens.describe(alice)}
    assert not left & {theirs[1], shown[1]}
