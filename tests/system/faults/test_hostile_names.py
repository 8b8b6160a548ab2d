"""Hostile names in every field of a cluster, with all commands that show them: a terminal receives
no control characters, and files contain the exact names."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import AclBinding, AclOperation, AclPermission, AclResourceType
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect
from tests.support.group_data import commit
from tests.support.hostile_names import NAMES, TOPICS
from tests.support.program import Program

COMMANDS = (
    "list-groups", "list-groups --long", "describe-group GROUPS", "describe-group GROUPS --state",
    "describe-group GROUPS --offsets", "list-quotas", "describe-quotas --user USER",
    "list-acls", "list-acls --principal PRINCIPAL", "list-topics", "list-topics --long",
    "describe-topic TOPICS", "list-offsets TOPICS", "describe-configs TOPICS",
    "describe-user USER", "list-transactions", "describe-log-dirs", "cluster-metadata", "health",
    "describe-group 'no\x1bsuch\u202e'", "describe-topic nosuch", "list-configs groups", "journal",
    "describe-producers TOPICS", "list-reassignments", "api-versions", "describe-features",
)  # fmt: skip
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker on which everything has a bad name."""
    folder = tmp_path_factory.mktemp("hostile")
    try:
        sandbox = start(SandboxOptions(folder, port=0))
        with connect(sandbox) as cluster:
            _fill(cluster)
        yield sandbox
    finally:
        wipe(folder)


def _fill(cluster: Cluster) -> None:
    apply(topic_changes.plan_create([NewTopic(name, 1, 1) for name in TOPICS]), cluster)
    for name in NAMES:
        commit(cluster, name, TOPICS[1], 0)
    entities = [QuotaEntity(user=name) for name in NAMES]
    entities += [QuotaEntity(client_id=name) for name in NAMES]
    for each in entities:
        apply(quota_changes.plan_alter(cluster, [QuotaAlteration(each, "producer_byte_rate", 1e6)]),
              cluster)  # fmt: skip
    bindings = [
        AclBinding(f"User:{name}", "*", AclOperation.READ, AclPermission.ALLOW,
                   AclResourceType.GROUP, name)
        for name in NAMES
    ]  # fmt: skip
    for binding in bindings:
        apply(acl_changes.plan_create(cluster, [binding]), cluster)


def _typed(word: str) -> str:
    """A word as a POSIX shell has it, raw: what somebody pastes."""
    return "'" + word.replace("'", "'\\''") + "'"


def _script() -> str:
    words = {
        "GROUPS": " ".join(["--", *map(_typed, NAMES)]),
        "TOPICS": " ".join(["--", *map(_typed, TOPICS)]),
        "USER": _typed(NAMES[0]),
        "PRINCIPAL": _typed(f"User:{NAMES[0]}"),
    }
    lines = []
    for command in COMMANDS:
        for name, value in words.items():
            # options go before the names, which follow `--`
            if value.startswith("--") and f" {name} " in command:
                before, _, after = command.partition(f" {name} ")
                command = f"{before} {after} {name}"
            command = command.replace(name, value)
        lines.append(command)
    return "\n".join(lines) + "\n"


def _on_a_terminal(kafka: Program, *argv: str, stdin: str) -> str:
    """All that arrives on a terminal."""
    parent, child = pty.openpty()
    caught: list[bytes] = []

    def read() -> None:
        while True:
            try:
                data = os.read(parent, 65536)
            except OSError:
                return
            if not data:
                return
            caught.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *argv],
        stdin=subprocess.PIPE, stdout=child, stderr=child, env=kafka.environment(),
    )  # fmt: skip
    os.close(child)
    process.communicate(stdin.encode(), timeout=300)
    reader.join()
    os.close(parent)
    return b"".join(caught).decode()


@pytest.mark.parametrize("format", ["table", "json", "csv", "yaml"])
def test_a_terminal_gets_characters_only(hostile: Sandbox, tmp_path: Path, format: str) -> None:
    kafka = Program(tmp_path, hostile.bootstrap)
    told = _on_a_terminal(kafka, "--output", format, "--keep-going", stdin=_script())
    assert "Traceback" not in told
    assert "internal error in kafka.sh" not in told, told[-3000:]
    plain = SGR.sub("", told)
    left = {char for char in plain if not char.isprintable()} - {"\r", "\n", "\t"}
    assert not left, [line for line in plain.split("\n") if set(line) & left][:5]
    assert "\r" not in plain.replace("\r\n", "")
    lines = plain.replace("\r\n", "\n").split("\n")
    assert not [line for line in lines if re.match(r"(error: forged|hint: run .curl|!touch)", line)]
    if format == "table":
        assert r"\x1b[2J" in told, "the names are there, spelled out"


@pytest.mark.parametrize("format", ["json", "yaml", "csv"])
def test_in_a_file_every_name_is_itself(hostile: Sandbox, tmp_path: Path, format: str) -> None:
    kafka = Program(tmp_path, hostile.bootstrap)
    out = kafka.ok("list-groups", "--long", "--output", format).stdout
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(out, newline="")))
        names = {row["name"] for row in rows}
    else:
        rows = json.loads(out) if format == "json" else yaml.safe_load(out)
        names = {row["name"] for row in rows}
        assert {char for char in out if not char.isprintable()} == {"\n"}
    assert names >= set(NAMES)


def test_a_spreadsheet_gets_no_formula(hostile: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, hostile.bootstrap)
    out = kafka.ok("list-groups", "--long", "--output", "csv", "--safe-csv").stdout
    cells = [cell for row in csv.reader(io.StringIO(out, newline="")) for cell in row]
    assert "'=HYPERLINK(1)" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
