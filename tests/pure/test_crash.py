"""The report of internal errors."""

from __future__ import annotations

import io
import stat
from pathlib import Path

from kafka_shell.base.errors import Status
from kafka_shell.context import Paths
from kafka_shell.crash import report_crash


def test_no_value_lands_in_the_crash_log(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    err = io.StringIO()
    password = "hush" + "-hush"
    try:
        try:
            int(password)
        except ValueError as cause:
            cause.add_note(f"note {password}")
            raise KeyError(password) from cause
    except KeyError as error:
        assert report_crash(error, paths, err) == Status.FAILED
    log = paths.state / "crash.log"
    written = log.read_text()
    assert "hush-hush" not in written + err.getvalue()
    assert "error: KeyError" in written and "caused by: ValueError" in written
    assert f"{__file__}:" in written and "int(password)" in written
    assert str(log) in err.getvalue()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_errors_that_cause_one_another_end(tmp_path: Path) -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first
    report_crash(first, Paths(tmp_path, tmp_path, tmp_path), io.StringIO())
    assert (tmp_path / "crash.log").read_text().count("ValueError") == 2
