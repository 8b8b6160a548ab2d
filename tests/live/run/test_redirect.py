"""`> file`: a failed command does not overwrite it, and an existing file is confirmed."""

from __future__ import annotations

from pathlib import Path

from tests.support.program import Program


def test_what_could_not_be_read_makes_output_incomplete(kafka: Program, tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("before\n")
    run = kafka(stdin=f"describe-topic nosuch > {file}\n")
    assert run.status == 1 and "was not replaced" in run.stderr, str(run)
    assert file.read_text() == "before\n"
