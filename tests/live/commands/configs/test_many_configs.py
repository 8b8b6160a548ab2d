"""Configs of many topics are printed while they are read, with the same output."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import read as configs
from kafka_shell.commands.configs import run
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Answer, Shell

TOPICS = 7


@pytest.mark.parametrize(
    "options",
    [
        "--all",
        "--all --output json",
        "--all --output csv",
        "retention.ms",
        "flush.mss",
        "flush.mss --all",
    ],
)
def test_in_parts_or_at_once_is_the_same(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap)
    stem = f"many-{uuid4().hex[:8]}"
    names = [f"{stem}-{number}" for number in range(TOPICS)]
    shell.ok(f"create-topic {' '.join(names)} --partitions 1")
    shell.ok(f"alter-configs {names[3]} retention.ms=1h flush.ms=7 --yes")
    line = f"describe-configs {','.join(names)},{stem}-gone {options}"
    whole = shell(line)
    monkeypatch.setattr(configs, "_AT_ONCE", 2)
    monkeypatch.setattr(run, "_STREAM_ABOVE", 2)
    parts = shell(line)
    assert whole.status == 1, str(whole)
    assert parts.status == whole.status
    assert parts.out == whole.out
    assert sorted(_lines(parts)) == sorted(_lines(whole))


def _lines(answer: Answer) -> list[str]:
    return answer.err.splitlines()
