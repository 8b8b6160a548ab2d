"""Progress of reads that arrive in parts."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import read as configs
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell


@pytest.mark.parametrize("line", ["describe-topic", "describe-configs --all --output csv"])
def test_reading_the_configs_of_many_topics_reports_progress(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap)
    stem = f"progress-{uuid4().hex[:8]}"
    shell.ok(f"create-topic {stem}-1 {stem}-2 {stem}-3 --partitions 1")
    monkeypatch.setattr(configs, "_AT_ONCE", 1)
    reports: list[tuple[str, int, int | None]] = []
    shell.report = lambda *report: reports.append(report)
    shell.ok(f"{line} {stem}-*")
    read = [(done, total) for task, done, total in reports if task == "reading configs"]
    assert read == [(0, 3), (1, 3), (2, 3), (2, 3), (3, 3)]
