"""Terminals and streams: tiny, closed, full, or of another encoding."""

from __future__ import annotations

import uuid

import pytest

from kafka_shell.wire.cluster import Cluster
from tests.support.faults import (
    ANSI,
    delete,
    exists,
    refused,
    shell,
)
from tests.support.program import Program


@pytest.mark.parametrize(
    "command",
    [
        "help",
        "describe-configs --broker-id 1 --all",
        "describe-configs --broker-id 1 --all --output json",
        "describe-configs --broker-id 1 --all --documentation --output json",
        "describe-configs --broker-id 1 --all --documentation --output csv",
        "describe-configs --broker-id 1 --all --output yaml",
        "watch 0.1 help",
    ],
)
def test_a_reader_that_has_read_enough(kafka: Program, command: str) -> None:
    run = shell(kafka, f"$K {command} | head -n 1; echo ${{PIPESTATUS[0]}} >&2")
    assert len(run.lines) == 1, str(run)
    assert run.stderr in ("0\n", "141\n"), str(run)
    run = shell(kafka, f"$K {command} | true; echo ${{PIPESTATUS[0]}} >&2")
    assert run.stderr in ("0\n", "141\n"), str(run)


def test_a_script_whose_reader_has_read_enough(kafka: Program, cluster: Cluster) -> None:
    """What the script changes is changed, whoever looks."""
    name = f"fault.head.{uuid.uuid4().hex[:8]}"
    run = shell(
        kafka, f"printf 'help\\nhelp\\ncreate-topic {name}\\n' | $K 2>/dev/null | head -n 1"
    )
    assert len(run.lines) == 1
    assert exists(cluster, name)
    delete(cluster, name)


def test_a_full_disk(kafka: Program, topic: str) -> None:
    refused(shell(kafka, f"$K list-topics {topic} > /dev/full"), 1, "No space left on device")
    refused(
        shell(kafka, f"echo 'list-topics {topic} > /dev/full' | $K"),
        1,
        "stdin:1: error: ",
        "/dev/full",
        "No space left on device",
    )
    run = shell(kafka, f"$K list-topics {topic} --output json > /dev/full")
    refused(run, 1, "standard output", "No space left on device")
    assert shell(kafka, "$K list-topicz 2> /dev/full").status == 2
    run = shell(kafka, "$K help > /dev/full")
    refused(run, 1, "No space left on device")


def test_closed_streams(kafka: Program, topic: str) -> None:
    run = shell(kafka, f"$K list-topics {topic} <&-")
    assert (run.status, run.lines, run.stderr) == (0, [topic], ""), str(run)
    assert shell(kafka, "$K <&-").status == 0, "a script of nothing"
    refused(shell(kafka, f"$K list-topics {topic} >&-"), 1, "standard output")
    assert shell(kafka, f"$K list-topics {topic} 2>&-").lines == [topic]
    assert shell(kafka, "$K list-topicz 2>&-").status == 2
    assert shell(kafka, "$K list-topicz <&- >&- 2>&-").status == 2
    run = shell(kafka, f"$K delete-topic {topic} <&- 2>&1")
    assert run.status == 2
    assert "not a terminal" in run.stdout


def test_no_colour_in_pipes(kafka: Program, topic: str) -> None:
    for argv in (("describe-topic", topic), ("help",), ("theme",), ("theme", "mono")):
        run = kafka(*argv, environ={"TERM": "xterm-256color", "COLORTERM": "truecolor"})
        assert not ANSI.search(run.stdout + run.stderr), str(run)


@pytest.mark.parametrize(
    "environ",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
def test_a_stream_that_cannot_hold_the_name(kafka: Program, environ: dict[str, str]) -> None:
    for argv in (
        ("describe-topic", "tøpic-日本"),
        ("describe-topic", "tøpic-日本", "--output", "json"),
        ("describe-topic", "tøpic-日本", "--output", "yaml"),
        ("describe-topic", "tøpic-日本", "--output", "csv"),
        ("create-topic", "tøpic-日本"),
    ):
        run = shell(kafka, '$K "$@"'.replace('"$@"', " ".join(argv)), **environ)
        assert run.status == 1, str(run)
        assert "INVALID_TOPIC" in run.stderr, str(run)
    run = shell(kafka, "$K tøpic", **environ)
    assert run.status == 2, str(run)
    run = shell(kafka, "echo 'describe-topic tøpic-日本' | $K", **environ)
    assert run.status == 1, str(run)
    assert "INVALID_TOPIC" in run.stderr, str(run)
