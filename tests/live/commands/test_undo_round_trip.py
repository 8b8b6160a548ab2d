"""Generated undo scripts contain only plain commands, and can be run."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program, Run


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)


@pytest.fixture
def topic(kafka: Program) -> Iterator[str]:
    name = f"undo.{uuid.uuid4().hex[:8]}"
    kafka.ok("create-topic", name)
    yield name
    kafka("delete-topic", name, "--yes", "--if-exists")


def fails(run: Run, *words: str, status: int = 1) -> Run:
    assert run.status == status, str(run)
    for word in words:
        assert word in run.stderr, str(run)
    return run


def retention(kafka: Program, topic: str) -> str:
    run = kafka.ok("describe-configs", topic, "retention.ms", "--output", "json")
    return str(run.json[0]["value"])


def entries(kafka: Program) -> list[dict[str, object]]:
    found: list[dict[str, object]] = kafka.ok("journal", "--output", "json").json
    return found


# -- plain commands --------------------------------------------------------------------------------

ESCAPES = (
    "! touch PWNED",
    "list-topics | touch PWNED",
    "list-topics > PWNED",
    "source other.kafka",
)


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "other.kafka").write_text("!touch PWNED\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("line", ESCAPES)
def test_what_was_generated_runs_nothing_but_commands(
    kafka: Program, beside: Path, line: str
) -> None:
    (beside / "plain.kafka").write_text(f"{line}\n")
    fails(kafka(stdin="source plain.kafka --generated\n"), "not allowed in a generated", status=2)
    (beside / "watched.kafka").write_text(f"watch 1 '{line}'\n")
    watched = kafka(stdin="source watched.kafka --generated\n")
    fails(watched, "not allowed in a generated script", status=2)
    assert not (beside / "PWNED").exists()
    kafka.ok(stdin="source plain.kafka\nlist-topics\n")  # it is the mark that forbids
    assert (beside / "PWNED").exists()


@pytest.mark.parametrize("line", ESCAPES)
def test_a_dry_run_of_a_script_runs_no_other_program(
    kafka: Program, beside: Path, line: str
) -> None:
    fails(kafka("--dry-run", stdin=f"{line}\n"), "not allowed under --dry-run", status=2)
    assert not (beside / "PWNED").exists()


@pytest.mark.parametrize(
    "line",
    [
        "sandbox wipe --yes",
        "export --directory beside",
        "spark snapshot beside",
        "spark audit --report beside",
        "spark audit --findings beside",
    ],
)
def test_a_dry_run_of_a_script_writes_no_files(kafka: Program, beside: Path, line: str) -> None:
    fails(kafka("--dry-run", stdin=f"{line}\n"), "not allowed under --dry-run", status=2)
    assert not (beside / "beside").exists()


def test_lines_after_a_generated_file_are_not_restricted(
    kafka: Program, topic: str, beside: Path
) -> None:
    kafka.ok("alter-configs", topic, "retention.ms=8d")
    id = str(entries(kafka)[-1]["id"])
    (beside / "back.kafka").write_text(kafka.ok("journal", id, "--undo").stdout)
    kafka.ok("--yes", stdin="source back.kafka --generated\n!touch after\n")
    assert (beside / "after").exists()
    assert retention(kafka, topic) == str(7 * 86_400_000)


def test_a_value_with_a_line_of_its_own_stays_a_value(kafka: Program, beside: Path) -> None:
    """A subscription's metrics may be any text, and the undo would hold it."""
    name = f"undo-{uuid.uuid4().hex[:8]}"
    hostile = "org.apache.kafka.\n!touch PWNED\n x"
    kafka.ok("alter-configs", "--client-metrics", name, f"metrics={hostile}")
    try:
        changed = kafka.ok("alter-configs", "--client-metrics", name, "metrics=x")
        assert "undo: not shown" in changed.stderr
        assert "!touch" not in changed.stderr.replace("\\n!touch", "")
        entry = kafka.ok("journal", "--last", "1", "--output", "json").json[0]
        run = fails(kafka("journal", entry["id"], "--undo"), "contains control characters")
        assert run.stdout == ""
        assert entry["undo"] == ["# not shown: contains control characters"]
        (file,) = (kafka.home / "state" / "journal").glob(f"*/*-{entry['id']}.json")
        (undo,) = json.loads(file.read_text())["undo"]
        kafka.ok(stdin=undo + "\n")  # as one line of three rows it reads back all the same
        kafka.ok("undo", "--despite-changes", "--yes")  # it is as it was: nothing is sent
        kafka.ok("alter-configs", "--client-metrics", name, "metrics=x")
        kafka.ok("undo", "--yes")
        read = kafka.ok("describe-configs", "--client-metrics", name, "--output", "json").json
        assert [row["value"] for row in read if row["name"] == "metrics"] == [hostile]
        assert not (beside / "PWNED").exists()
    finally:
        kafka.ok("alter-configs", "--client-metrics", name, "--delete-config", "metrics")


# -- what is told ----------------------------------------------------------------------------------


def test_many_topics_are_a_summary(kafka: Program) -> None:
    mark = uuid.uuid4().hex[:8]
    names = ",".join(f"many.{mark}.{number:02}" for number in range(30))
    try:
        made = kafka.ok("create-topic", names)
        assert made.lines == ["created 30 topics"]
        assert made.stderr.startswith("undo: undo ") and made.stderr.count("\n") == 1, str(made)
        again = fails(
            kafka("create-topic", names), "TOPIC_ALREADY_EXISTS", "the same for 29 more topics"
        )
        assert len(again.stderr.splitlines()) < 30
    finally:
        kafka.ok("delete-topic", f"many.{mark}.*", "--yes")


def test_each_of_several_missing_topics_is_named(kafka: Program) -> None:
    run = fails(kafka("delete-topic", "such,see", "--yes"))
    assert run.stderr.count("topic such does not exist") == 1
    assert run.stderr.count("topic see does not exist") == 1


def test_an_incomplete_create_says_how_to_check(kafka: Program, sandbox: Sandbox) -> None:
    name = f"late.{uuid.uuid4().hex[:8]}"
    run = kafka("create-topic", name, "--partitions", "300", "--timeout", "1")
    try:
        if run.status:  # a millisecond may be enough on a quick machine
            if "nothing was sent" in run.stderr or "not validated" in run.stderr:
                assert name in run.stderr, str(run)
            else:
                assert f"outcome unknown: topic {name}: " in run.stderr, str(run)
                assert f"see: describe-topic {name}\n" in run.stderr, str(run)
                assert f"delete-topic {name} --if-exists  # outcome unknown" in run.stderr
            assert "may still appear" not in run.stderr
    finally:
        kafka("delete-topic", name, "--yes", "--if-exists")
