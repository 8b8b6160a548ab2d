"""Jars must match the lock file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.jars import Jar, fetch, locked_jars


@pytest.fixture
def small() -> Jar:
    """A jar of 4 kB."""
    return next(jar for jar in locked_jars("4.3.1") if jar.artifact == "jspecify")


def test_a_jar_is_downloaded_once(small: Jar, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int | None]] = []
    [path] = fetch([small], lambda *report: reports.append(report), tmp_path)
    assert path.stat().st_size == small.size
    assert reports[-1] == ("Downloading Kafka", small.size, small.size)
    written = path.stat().st_mtime_ns
    fetch([small], lambda *report: pytest.fail(str(report)), tmp_path)
    assert path.stat().st_mtime_ns == written
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == [path]


def test_a_wrong_download_is_rejected_and_deleted(small: Jar, tmp_path: Path) -> None:
    wrong = replace(small, sha256="0" * 64)
    with pytest.raises(ShellError) as refused:
        fetch([wrong], lambda *_: None, tmp_path)
    assert small.path.name in refused.value.message
    assert f"expected SHA-256 {'0' * 64}, got {small.sha256}" in refused.value.message
    assert not (tmp_path / small.path).exists()


def test_a_damaged_jar_in_the_cache_is_refused(small: Jar, tmp_path: Path) -> None:
    [path] = fetch([small], lambda *_: None, tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ShellError, match=f"expected SHA-256 {small.sha256}") as refused:
        fetch([small], lambda *_: None, tmp_path)
    assert str(path) in refused.value.message
    assert f"Delete {path}" in refused.value.hint


def test_without_a_network_it_says_so(
    small: Jar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(ShellError, match=r"jspecify.*Connection refused") as refused:
        fetch([small], lambda *_: None, tmp_path)
    assert "network" in refused.value.hint


def test_a_jar_that_does_not_exist(small: Jar, tmp_path: Path) -> None:
    with pytest.raises(ShellError, match="not found"):
        fetch([replace(small, version="0.0.0")], lambda *_: None, tmp_path)
