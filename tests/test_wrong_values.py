"""Status 2: what is wrong whatever the cluster holds, a file or a value out of range."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.sandbox import Sandbox

from .in_process import Shell

pytestmark = pytest.mark.quick


@pytest.fixture
def shell(sandbox: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path, sandbox.bootstrap)


@pytest.mark.parametrize(
    "line",
    [
        "create-topic wrong.a --partitions 0",
        "create-topic wrong.a --partitions -1",
        "create-topic wrong.a --partitions 99999999999",
        "create-topic wrong.a --replication-factor 0",
        "create-topic wrong.a --replication-factor -1",
        "create-topic wrong.a --replication-factor 40000",
        "alter-topic '*' --partitions 0",
        "alter-topic '*' --partitions -3",
        "alter-topic '*' --replication-factor 0",
        "alter-topic '*' --replication-factor -1",
        "list-topics --deadline -1",
        "list-topics --deadline 0",
        "journal --last -1",
        "history --last -1",
        "reassign-partitions --topics '*' --throttle -1 --dry-run",
        "reassign-partitions --topics '*' --throttle 0 --dry-run",
        "alter-quotas --user u consumer_byte_rate=-1",
        "list-transactions --producer-id -1",
        "alter-quotas --user u request_percentage=-1",
        "delete-records wrong:0 --to -5",
        "list-offsets --time -99",
        "read-records wrong --max -1",
        "sandbox start --brokers 0",
        "sandbox start --brokers -2",
        "sandbox start --port 70000",
    ],
)
def test_values_out_of_range(shell: Shell, line: str) -> None:
    run = shell(line)
    assert run.status == 2, str(run)
    assert "error: " in run.err


FILES = {
    "reassign-partitions --reassignment-json-file {}": "{broken",
    "verify-reassign-partitions --reassignment-json-file {}": "{broken",
    "reassign-partitions --cancel --reassignment-json-file {}": "[]",
    "reassign-partitions --topics-to-move-json-file {} --dry-run": "{}",
    "elect-leaders --path-to-json-file {} --election-type preferred": "nonsense",
    "preferred-replica-leader-election --path-to-json-file {}": "nonsense",
    "delete-records --offset-json-file {} --yes": "nonsense",
    "reset-offsets g --to file:{} --yes": "a,b\n",
    "config-command --entity-type topics --entity-name t --alter --add-config-file {}": None,
    "scram-credentials --username u --add SCRAM-SHA-256 --password-file {}": None,
    "source {}": None,
    "create-topic --from-file {}": "nonsense,,,",
    "list-topics --command-config {}": "security.protocol=NONSENSE\n",
}


@pytest.mark.parametrize("line", FILES)
@pytest.mark.parametrize("state", ["missing", "folder", "malformed", "binary"])
def test_files(shell: Shell, tmp_path: Path, line: str, state: str) -> None:
    file = tmp_path / "file"
    if state == "folder":
        file.mkdir()
    elif state == "malformed":
        if FILES[line] is None:
            pytest.skip("nothing is malformed there")
        file.write_text(FILES[line] or "")
    elif state == "binary":
        file.write_bytes(b"\xff\xfe\x00\x9f")
    run = shell(line.format(file))
    assert run.status == 2, str(run)
    assert "error: " in run.err
