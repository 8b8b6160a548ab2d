"""Reordered words and lines of other tools are answered with a command that can be run."""

from pathlib import Path

import pytest

from kafka_shell.language.tokens import tokenize
from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def words(text: str) -> list[str]:
    return [word.text for word in tokenize(text).words]


def test_the_hint_is_a_line_that_works(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, sandbox.bootstrap)
    for typed in ("list topics", "rpk topic list", "kaf groups --brokers={}"):
        run = kafka(*words(typed.format(sandbox.bootstrap)))
        assert run.status == 2, str(run)
        (hint,) = [row for row in run.stderr.splitlines() if row.startswith("hint: ")]
        kafka.ok(*words(hint.removeprefix("hint: ").partition(": ")[2]))


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("list-users", "Run: scram-credentials --describe"),
        ("list-client-metrics", "Run: list-configs client-metrics"),
        ("remove-topic Orders", "Run: delete-topic Orders"),
        ("delete-consumer-group g", "Run: delete-group g"),
        ("create-acl", "Run: help alter-acls"),
        ("describe-topc", "Did you mean describe-topic?"),
    ],
)
def test_a_verb_and_a_noun_with_a_hyphen(kafka: Program, typed: str, hint: str) -> None:
    run = kafka(*words(typed))
    assert run.status == 2, str(run)
    assert f"unknown command '{words(typed)[0]}'" in run.stderr
    assert f"hint: {hint}\n" in run.stderr, str(run)


def test_a_short_form_and_a_verb_is_run_and_noted(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, sandbox.bootstrap)
    run = kafka("topics", "list")
    assert (run.status, run.stdout) == (0, ""), str(run)
    assert run.stderr.endswith("'list' was read as a name. To run the command: list-topics\n")
    assert "was read as a name" not in kafka.ok("topics", "listing").stderr


def test_the_rest_of_the_line_stays(sandbox: Sandbox, tmp_path: Path) -> None:
    run = Program(tmp_path, sandbox.bootstrap)(stdin="list topics | wc -l\n")
    assert "hint: Run: list-topics | wc -l\n" in run.stderr, str(run)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["spark", "audit", "--bogus"], "unknown option '--bogus' for spark audit"),
        (["spark", "sql"], "spark sql requires QUERY"),
    ],
)
def test_a_command_of_two_words_is_known(kafka: Program, line: list[str], message: str) -> None:
    """Before: unknown command 'spark audit'. Run: help spark"""
    run = kafka(*line)
    assert run.status == 2 and message in run.stderr, str(run)


def test_offsets_that_kafkas_tool_prints_are_exported(kafka: Program, tmp_path: Path) -> None:
    """Before: --export was left out, and the file got the text of the plan."""
    file = tmp_path / "off.csv"
    line = (
        "kafka-consumer-groups.sh --bootstrap-server h:9092 --group billing --topic orders"
        f" --reset-offsets --shift-by -5 --dry-run --export > {file}\n"
    )
    run = kafka(stdin=line)
    assert f"--dry-run --export {file}" in run.stderr, str(run)
