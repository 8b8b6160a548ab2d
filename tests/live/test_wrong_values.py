"""Exit status 2 for values that are invalid on any cluster: files and values out of range."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process_shell import Shell


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
        "sandbox start --brokers 1000",
        "sandbox start --topics -1",
        "sandbox start --stand-in-brokers -1",
        "sandbox start --port 70000",
        "create-topic wrong.a --timeout -2",
        "create-topic wrong.a --timeout 25d",
        "list-topics --deadline 99999999999999999d",
        "health --probe-timeout 0",
        "health --probe-timeout 99s",
        "scram-credentials --username u --add SCRAM-SHA-256 --generate --iterations 1",
        "scram-credentials --username u --add SCRAM-SHA-256 --generate --iterations 99999",
        "scram-credentials --username u --add SCRAM-SHA-256=[iterations=1,password=x]",
        "config-command --entity-type users --entity-name u --alter"
        " --add-config SCRAM-SHA-256=[iterations=1,password=x]",
        "alter-quorum --controller-id -1 --dry-run",
        "alter-quorum --controller-id 99999999999 --dry-run",
        "unregister-broker 99999999999 --dry-run",
        "list-transactions --duration-filter -5s",
        "list-transactions --duration-filter 999999999999999999d",
        "describe-producers --topic wrong --partition 99999999999",
        "find-hanging-transactions --max-transaction-timeout -5m",
        "find-hanging-transactions --max-transaction-timeout 999999999999999999999",
        "reset-offsets g --to-offset -1",
        "reset-offsets g --offset wrong:0=-5",
        "create-token --max-life-time-period -5s",
        "create-token --max-life-time-period 999999999999999999d",
        "renew-token x --renew-time-period -5s",
        "expire-token x --expiry-time-period -5s",
        "alter-quotas --user u producer_byte_rate=0",
        "alter-quotas --user u producer_byte_rate=0MB/s",
        "alter-quotas --user u producer_byte_rate=1e400",
        "alter-quotas --user u request_percentage=0%",
        "alter-quotas --ip 1.2.3.4 connection_creation_rate=0",
        "config-command --entity-type users --entity-name u --alter"
        " --add-config producer_byte_rate=0",
        "journal --last 0",
        "undo --last 0",
        "reassign-partitions --topics '*' --throttle 99999999999TB/s --dry-run",
        "update-features group.version=-1 --dry-run",
        "watch 0 topics",
        "watch 99999999999999999999d topics",
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


@pytest.mark.parametrize(
    "row",
    [
        "{partitions: 0}",
        "{partitions: 99999999999}",
        "{replication_factor: 40000}",
        "{replica_assignment: '-1'}",
        "{replica_assignment: [[99999999999]]}",
    ],
)
def test_values_out_of_range_in_a_file_of_topics(shell: Shell, tmp_path: Path, row: str) -> None:
    file = tmp_path / "topics.yaml"
    file.write_text(f"version: 1\ntopics: {{wrong.a: {row}}}\n")
    run = shell(f"create-topic --from-file {file}")
    assert run.status == 2, str(run)
    assert str(file) in run.err and "wrong.a" in run.err


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
