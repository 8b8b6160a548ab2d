"""State files with replicas, applied to three brokers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.fixture
def state(tmp_path: Path) -> Callable[[str], str]:
    """A state file with this text."""

    def write(text: str) -> str:
        path = tmp_path / "state.yaml"
        path.write_text(f"version: 1\n{text}")
        return str(path)

    return write


def test_replicas_follow_the_file(
    kafka_on_three: Program, state: Callable[[str], str], name: str
) -> None:
    three = kafka_on_three
    three.ok("create-topic", name, "--replica-assignment", "1,2")
    try:
        file = state(f"topics: {{{name}: {{partitions: 2, replication_factor: 3}}}}\n")
        three.ok("apply", file, "--throttle", "50MB/s", "--wait")
        assert three("diff", file).status == 0
        assert three.ok("verify-reassign-partitions").status == 0
        file = state(f"topics: {{{name}: {{replica_assignment: '3:1,1:2'}}}}\n")
        refused = three("apply", file)
        assert refused.status == 1 and "Add --reassign to move them" in refused.stderr
        three.ok("apply", file, "--reassign", "--wait")
        exported = three.ok("export", name, "--with-assignments").stdout
        assert "replica_assignment: 3:1,1:2" in exported
        assert three.ok("apply", file).stderr == "nothing to change\n"
    finally:
        three.ok("delete-topic", name, "--yes")


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("1,2", "{partitions: 5, replication_factor: 3}"),
        ("1:2,2:3", "{partitions: 4, replication_factor: 1}"),
        ("1,2", "{replica_assignment: '3:1,1:2,2:3'}"),
        ("1:2:3,2:1:3", "{replica_assignment: '3,1,2,3'}"),
        ("1,2", "{replica_assignment: '1,2,3:1'}"),
    ],
)
def test_topics_grow_and_move_in_one_apply(
    kafka_on_three: Program,
    state: Callable[[str], str],
    name: str,
    before: str,
    wanted: str,
) -> None:
    three = kafka_on_three
    three.ok("create-topic", name, "--replica-assignment", before)
    try:
        file = state(f"topics: {{{name}: {wanted}}}\n")
        if "assignment" in wanted:
            refused = three("apply", file)
            assert refused.status == 1 and "Add --reassign to move them" in refused.stderr
        three.ok("apply", file, "--reassign", "--throttle", "50MB/s", "--wait")
        assert three("diff", file).status == 0
        assert three.ok("verify-reassign-partitions").status == 0
        assert three.ok("apply", file, "--reassign").stderr == "nothing to change\n"
    finally:
        three.ok("delete-topic", name, "--yes")


def test_the_end_of_a_reassignment_is_no_change_to_undo(kafka_on_three: Program, name: str) -> None:
    three = kafka_on_three
    three.ok("create-topic", name, "--replica-assignment", "1,2")
    try:
        move = ("reassign-partitions", "--topics", name, "--broker-list", "3")
        three.ok(*move, "--throttle", "1MB/s")
        moved = three.ok("journal", "--last", "1", "--output", "json").json[0]["id"]
        wait_for("it is moved", lambda: three("verify-reassign-partitions").stdout.find("3") > 0)
        three.ok("verify-reassign-partitions", "--finish")
        run = three("undo")
        assert run.status == 1 and "there is nothing to undo" in run.stderr
        assert f"run undo {moved}" in run.stderr
        finished = three.ok("journal", "--last", "1", "--output", "json").json[0]["id"]
        assert "a throttle is removed when" in three.ok("journal", finished).stdout
        three.ok("undo", moved)
        three.ok("verify-reassign-partitions", "--finish")
    finally:
        three.ok("delete-topic", name, "--yes")
