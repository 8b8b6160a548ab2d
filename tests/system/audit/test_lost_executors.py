"""Executors that are killed: what was read once is judged, or the audit says that it is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pyspark
import pytest

from kafka_shell.audit import collection, jvm, snapshot
from kafka_shell.audit.collection import STATUS, Collection
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.jvm import SparkTarget
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, make_topic
from tests.support.waiting import wait_for

EXECUTORS = "local-cluster[1,1,1024]"  # a process of its own
CLUSTERS = ("a", "b")  # the same broker twice


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A session with an executor, and a folder of checkpoints that the next one has, too."""
    monkeypatch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setattr(snapshot, "LOCAL_BYTES", 0)  # as if there were much
    conf = {
        "spark.driver.extraJavaOptions": jvm.SHORT,
        "spark.executor.extraJavaOptions": jvm.SHORT,
        "spark.sql.shuffle.partitions": "2",
        snapshot.CHECKPOINTS: (tmp_path / "checkpoints").as_uri(),
    }
    target = SparkTarget(EXECUTORS, conf=tuple(conf.items()))
    started = Engine(tmp_path / "spark", lambda task, done, total: None, spark_target=target)
    yield started
    started.stop()


def executors() -> list[psutil.Process]:
    """The process that reads Kafka."""
    found = []
    for each in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            if "CoarseGrainedExecutorBackend" in " ".join(each.cmdline()):
                found.append(each)
    return found


def kill_executor() -> None:
    """End it as a machine that fails does, and wait until Spark has another."""
    (ended,) = executors()
    ended.kill()
    psutil.wait_procs([ended])
    wait_for("a new executor", lambda: {e.pid for e in executors()} - {ended.pid}, 120)


def collected(engine: Engine, sandbox: Sandbox) -> Collection:
    """The topics of each cluster."""
    targets = [Target(name, "", sandbox.bootstrap, "/no/config.toml") for name in CLUSTERS]
    return collection.collect(engine, targets, TABLES, {"topics", "clusters", STATUS})


def counts(engine: Engine, found: Collection) -> dict[str, int]:
    """The number of topics of each cluster."""
    rows = engine.run(
        "counting", lambda: found.frames["topics"].groupBy("cluster").count().collect()
    )
    return {row["cluster"]: row["count"] for row in rows}


def test_what_was_read_is_not_read_again(
    engine: Engine, own_broker: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It outlives the executors in a folder that all share. Otherwise it is lost with them, and the
    audit says so: tables of another time would not agree with the others."""
    with connect(own_broker) as cluster:
        make_topic(cluster, "first")
    shared = collected(engine, own_broker)
    monkeypatch.setattr(snapshot, "CHECKPOINTS", "spark.none")
    kept_by_executors = collected(engine, own_broker)
    with connect(own_broker) as cluster:
        make_topic(cluster, "later")
    kill_executor()
    assert counts(engine, shared) == dict.fromkeys(CLUSTERS, 1)
    with pytest.raises(ShellError, match="an executor was lost") as error:
        counts(engine, kept_by_executors)
    assert "spark.checkpoint.dir" in error.value.hint
