"""The Spark of the user: its defaults, an existing session, and errors of executors."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.audit.engine import Engine, as_shell_error
from kafka_shell.audit.jvm import SparkTarget
from kafka_shell.audit.session import open_session
from tests.support.in_process_shell import Shell


def test_spark_defaults_come_before_ours_and_after_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert SparkTarget().runs_locally() and SparkTarget().user_configs() == {}
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.master   spark://host:7077\nspark.executor.memory=4g\n\n"
    )
    assert not SparkTarget().runs_locally()
    given = SparkTarget("local[2]", conf=(("spark.executor.memory", "1g"),)).user_configs()
    assert given == {"spark.master": "local[2]", "spark.executor.memory": "1g"}
    assert (
        SparkTarget("local[2]").runs_locally()
        and not SparkTarget("local-cluster[2,1,1024]").runs_locally()
    )


def test_the_configs_of_an_existing_session_are_kept(engine: Engine, tmp_path: Path) -> None:
    theirs = engine.session
    key, zone = "spark.sql.shuffle.partitions", "spark.sql.session.timeZone"
    before = theirs.conf.get(key), theirs.conf.get(zone)
    theirs.conf.set(key, "77")
    theirs.conf.set(zone, "Asia/Tokyo")
    try:
        found = open_session(tmp_path, SparkTarget())
        assert not found.ends_with_program and found.local
        assert found.session is not theirs
        assert found.session.conf.get(key) == "77"
        assert found.session.conf.get(zone) == "Asia/Tokyo"
        assert found.session.sparkContext is theirs.sparkContext
    finally:
        theirs.conf.set(key, before[0])
        theirs.conf.set(zone, before[1])


def test_a_config_without_a_value_is_refused(shell: Shell) -> None:
    run = shell("spark sql 'select 1' --conf executor.memory=4g")
    assert run.status == 2 and "--conf must be spark.KEY=VALUE" in run.err


def test_packages_that_are_not_of_maven_are_refused(shell: Shell) -> None:
    run = shell("spark sql 'select 1' --packages org.example:a:1,delta")
    assert run.status == 2 and "got 'delta'" in run.err


def test_an_executor_without_its_python_is_a_plain_error(engine: Engine, tmp_path: Path) -> None:
    context = engine.session.sparkContext
    before = context.pythonExec
    context.pythonExec = "/no/such/python"
    try:
        with pytest.raises(Exception) as raised:
            context.parallelize([1], 1).map(lambda number: number).collect()
    finally:
        context.pythonExec = before
    error = as_shell_error(raised.value, tmp_path / "spark.log")
    assert str(error) == "Spark executors cannot run /no/such/python"
    assert "PYSPARK_PYTHON" in error.hint  # type: ignore[attr-defined]


def test_an_executor_without_a_package_is_a_plain_error(engine: Engine, tmp_path: Path) -> None:
    def needs(number: int) -> int:
        import pyarrow_of_another_machine  # type: ignore[import-not-found]  # noqa: F401

        return number

    with pytest.raises(Exception) as raised:
        engine.session.sparkContext.parallelize([1], 1).map(needs).collect()
    error = as_shell_error(raised.value, tmp_path / "spark.log")
    assert str(error).startswith("pyarrow_of_another_machine is not installed for the Python of")
    assert "pip install pyarrow_of_another_machine" in error.hint  # type: ignore[attr-defined]
