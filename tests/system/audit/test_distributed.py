"""The same audit with a local master, a standalone master and Spark Connect."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

from kafka_shell.common.java import find_java
from kafka_shell.sandbox.state import Sandbox
from tests.support import short_jvm
from tests.support.places import ROOT

SPARK = Path(pyspark.__file__).parent


def environment(**more: str) -> dict[str, str]:
    """Nothing of this machine's user; Python's packages come from the interpreter alone."""
    return {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(find_java().resolve().parent.parent),
        "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Each of these JVMs lives for seconds: what it compiles well, it never runs.
        "JDK_JAVA_OPTIONS": short_jvm.options(),
        **more,
    }


def audited(folder: Path, bootstrap: str, *, master: str = "", remote: str = "") -> Any:
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.support.audit_process",
            master, remote, bootstrap, str(folder),
        ],
        cwd=ROOT, env=environment(PYTHONPATH=str(ROOT)), timeout=180,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    log = folder / "spark.log"
    assert done.returncode == 0, done.stderr[-3000:] + (log.read_text() if log.exists() else "")
    return json.loads(done.stdout.splitlines()[-1])


def findings(answer: Any) -> list[tuple[str, ...]]:
    return sorted((f["control"], f["status"], f["resource"], f["reason"], f["remedy"])
                  for f in answer["findings"])  # fmt: skip


@pytest.fixture(scope="module")
def here(own_demo: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What this machine's cores find."""
    answer = audited(tmp_path_factory.mktemp("here"), own_demo.bootstrap)
    assert not answer["unread"] and len(answer["findings"]) > 40
    return answer


@contextmanager
def daemon(folder: Path, name: str, *words: str) -> Iterator[Path]:
    """A part of Spark as a process, which is ended at the end; its log."""
    log = folder / f"{name}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), *words],
            cwd=folder, env=environment(), stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield log
    finally:
        process.terminate()
        process.wait(30)


def said(log: Path, pattern: str, times: int = 1) -> str:
    """Wait until the log says it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = re.findall(pattern, log.read_text())
        if len(found) >= times:
            return str(found[0])
        time.sleep(0.1)
    raise AssertionError(f"{log.name} never said {pattern}:\n{log.read_text()[-3000:]}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def only_what_was_shipped(answer: Any) -> None:
    assert answer["origins"] and all("kafka_sh.zip" in each for each in answer["origins"]), (
        f"executors import from {answer['origins']}"
    )


def test_a_standalone_master_with_two_workers_finds_the_same(
    here: Any, own_demo: Sandbox, tmp_path: Path
) -> None:
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    package = "org.apache.spark.deploy"
    master = (f"{package}.master.Master", "--host", "127.0.0.1", "--port", str(port),
              "--webui-port", "0")  # fmt: skip

    def worker(number: int) -> tuple[str, ...]:
        return (f"{package}.worker.Worker", "--host", "127.0.0.1", "--cores", "1",
                "--memory", "1g", "--webui-port", "0",
                "--work-dir", str(tmp_path / f"work-{number}"), url)  # fmt: skip

    with daemon(tmp_path, "master", *master) as log:
        said(log, "I have been elected leader")
        with daemon(tmp_path, "one", *worker(1)), daemon(tmp_path, "two", *worker(2)):
            said(log, "Registering worker", 2)
            answer = audited(tmp_path, own_demo.bootstrap, master=url)
    assert findings(answer) == findings(here)
    only_what_was_shipped(answer)


def test_spark_connect_finds_the_same(here: Any, own_demo: Sandbox, tmp_path: Path) -> None:
    port = free_port()
    words = ("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]",
             "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
             "--conf", f"spark.connect.grpc.binding.port={port}",
             "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
             "--conf", "spark.ui.enabled=false", "--name", "connect")  # fmt: skip
    with daemon(tmp_path, "connect", *words) as log:
        said(log, "Spark Connect server started")
        answer = audited(tmp_path, own_demo.bootstrap, remote=f"sc://127.0.0.1:{port}")
    assert findings(answer) == findings(here)
    assert all("kafka_sh.zip" in each for each in answer["origins"]), answer["origins"]
