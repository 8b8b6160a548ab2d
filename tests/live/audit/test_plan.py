"""`spark audit --plan`: what a script or state file would cause, before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.in_process_shell import Shell

CONTROLS = "T13,T31,S05,Q07,B26,S10,T25"
SCRIPT = """\
# what a pull request wants
describe-topic orders.placed
alter-configs --topic orders.placed retention.ms=60000
create-topic planned.orders --partitions 2 --replication-factor 1 --config retention.ms=1000
delete-topic payments.refunds
alter-acls --add 'allow User:* Write on topic planned.orders'
alter-quotas --user planned request_percentage=0.1; alter-configs --broker-default max.connections=5
scram-credentials --username planned --add SCRAM-SHA-256 --iterations 4096
delete-group no-such-group
alter-configs --topic no-such-topic retention.ms=1
"""


def judged(shell: Shell, file: Path, controls: str = CONTROLS) -> tuple[int, Any]:
    run = shell(f"spark audit --plan {file} --controls {controls} --output json")
    return run.status, run.json


def found(report: Any) -> set[tuple[str, str, str]]:
    return {(f["control"], f["status"], f["resource"]) for f in report["findings"]}


def test_a_script_is_judged_by_the_state_after_it(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "change.kafka"
    file.write_text(SCRIPT)
    before = shell.ok("list-topics").out
    status, report = judged(shell, file)
    assert found(report) == {
        ("T13", "alarm", "orders.placed"),
        ("T13", "alarm", "planned.orders"),
        ("S05", "alarm", "allow User:* Write on topic planned.orders"),
        ("Q07", "alarm", "user planned request_percentage"),
        ("B26", "alarm", "broker 1 max.connections"),
        ("S10", "alarm", "user planned SCRAM-SHA-256"),
        ("X04", "skip", "delete-group no-such-group"),
        ("X04", "skip", "topic no-such-topic"),
    }, "faults that exist already are not of the script"
    assert status == 1 and shell.ok("list-topics").out == before


def test_a_state_file_is_judged(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "state.yaml"
    shell.ok(f"export --topic orders.placed > {file}")
    assert judged(shell, file)[1]["findings"] == []
    lines = file.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip() == "configs:")
    indent = " " * (len(lines[at + 1]) - len(lines[at + 1].lstrip()))
    lines = [line for line in lines if "retention.ms" not in line]
    lines.insert(at + 1, f"{indent}retention.ms: 1m")
    file.write_text("\n".join(lines) + "\n")
    assert found(judged(shell, file)[1]) == {("T13", "alarm", "orders.placed")}


@pytest.mark.parametrize("options", ["--fix", "--snapshot DIR", "--clusters a,b"])
def test_a_plan_is_of_the_current_cluster(shell: Shell, tmp_path: Path, options: str) -> None:
    file = tmp_path / "change.kafka"
    file.write_text("delete-topic orders.placed\n")
    assert shell(f"spark audit --plan {file} {options}").status == 2
    file.write_text("!ls\n")
    assert shell(f"spark audit --plan {file}").status == 2
    for line in ("connect localhost:1", "delete-topic orders.placed --profile other"):
        file.write_text(f"{line}\n")
        wrong = shell(f"spark audit --plan {file}")
        assert wrong.status == 2 and "a plan is of the current cluster" in wrong.err
    file.write_text("delete-topics orders.placed\n")
    wrong = shell(f"spark audit --plan {file}")
    assert wrong.status == 2 and str(file) in wrong.err
