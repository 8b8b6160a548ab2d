"""The local Spark server is started, used by another process, and ends when idle."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from kafka_shell.audit import server
from kafka_shell.sandbox.state import Sandbox
from tests.support.scripts import documents
from tests.support.waiting import wait_for

QUICK = "-XX:TieredStopAtLevel=1"  # what is compiled well, a server of a minute never runs


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kafka_shell", *words, "--output", "json"],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "KAFKA_SH_HOME": str(home), "JDK_JAVA_OPTIONS": QUICK},
    )  # fmt: skip


def state(home: Path, action: str, *words: str) -> Any:
    done = run(home, "spark", action, *words)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def test_an_audit_uses_the_server_that_ends_when_idle(
    demo_sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = tmp_path / "state" / "spark-server"
    assert state(tmp_path, "status")["state"] == "stopped"
    assert state(tmp_path, "start", "--idle", "5m")["state"] == "running"
    try:
        found = server.running(folder)
        assert found is not None
        _end_the_preparation(found.pid)
        shown = state(tmp_path, "start")
        assert shown["pid"] == found.pid, "it runs already"
        assert found.token not in str(shown)
        assert stat.S_IMODE((folder / "server.json").stat().st_mode) == 0o600
        commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        assert found.token not in commands
        _is_private(psutil.Process(found.pid))
        assert _configs_that_are_set(found, tmp_path) == [], "audits of few rows are not tuned"
        kept_folder = tmp_path / "kept"
        done = _script(
            demo_sandbox.bootstrap, tmp_path,
            f"spark snapshot {kept_folder} --no-findings",
            "spark audit --controls T16,Q02,S05 --fail-on any",
            "spark sql \"values (identifier('ref' || 'lect')('java.lang.System', 'exit', 1))\"",
            "spark sql \"select transform(1) using 'id' as (a)\"",
        )  # fmt: skip
        written, audited = documents(done.stdout)
        assert written["folder"] == str(kept_folder), done
        open_to_all = [each for each in kept_folder.rglob("*") if each.stat().st_mode & 0o077]
        assert not open_to_all, "others may read what is in a snapshot"
        assert {"T16", "Q02"} <= {each["control"] for each in audited["findings"]}
        assert not (tmp_path / "state" / "spark" / "spark.log").exists(), "Spark was started"
        assert "functions that can run code" in done.stderr
        assert "cannot run a program" in done.stderr and done.returncode == 1
        _ends_when_idle(demo_sandbox.bootstrap, tmp_path, folder)
        assert state(tmp_path, "status")["state"] == "stopped"
    finally:
        server.stop(folder)
    assert not server.stop(folder)


def test_ctrl_c_while_it_starts_leaves_no_process(tmp_path: Path) -> None:
    starting = server.start(tmp_path / "server")
    before = set(psutil.Process().children())
    next(starting)
    (group,) = set(psutil.Process().children()) - before
    wait_for("the JVM starts", lambda: next(starting, None) is None and group.children())
    processes = [group, *group.children(recursive=True)]
    with pytest.raises(KeyboardInterrupt):
        starting.throw(KeyboardInterrupt)
    _, left = psutil.wait_procs(processes, timeout=30)
    assert not left


def _is_private(server_process: psutil.Process) -> None:
    """Only this machine can connect to its processes, and only this user read their files."""
    (spark,) = (each for each in server_process.children() if each.name() == "java")
    for process in (server_process, spark):
        listening = [each for each in process.net_connections() if each.status == "LISTEN"]
        assert {each.laddr.ip.removeprefix("::ffff:") for each in listening} <= {"127.0.0.1"}
    assert "Umask:\t0077" in Path(f"/proc/{spark.pid}/status").read_text()
    assert "spark.authenticate=true" in spark.cmdline(), "anybody could send it objects"


def _end_the_preparation(server_pid: int) -> None:
    """The queries that prepare the JVM would go on for a minute; audits do not depend on them."""
    for child in psutil.Process(server_pid).children():
        if "kafka_shell.audit.server_process" in child.cmdline():
            child.terminate()


def _script(bootstrap: str, home: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Lines in one process, which goes on after a line that fails."""
    return subprocess.run(
        [sys.executable, "-m", "kafka_shell", "--broker", bootstrap, "--output", "json",
         "--keep-going"],
        input="\n".join(lines), capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "KAFKA_SH_HOME": str(home), "JDK_JAVA_OPTIONS": QUICK},
    )  # fmt: skip


def _ends_when_idle(bootstrap: str, home: Path, folder: Path) -> None:
    """In the middle of a script that uses it, which goes on with a Spark of its own."""
    done = _script(
        bootstrap, home,
        "spark sql 'select 1 as n'",
        f"!touch -d '2 hours ago' {folder}/server.used;"
        f" while [ -e {folder}/server.json ]; do sleep 0.1; done",
        "spark sql 'select 2 as n'",
    )  # fmt: skip
    assert (done.returncode, [*documents(done.stdout)]) == (0, [[{"n": 1}], [{"n": 2}]]), done


def _configs_that_are_set(found: server.Server, folder: Path) -> list[str]:
    """The configs of small data that a session on the server has, as if the user had set them: they
    are not changed. Another token than that of the server is rejected."""
    program = (
        "from pathlib import Path\n"
        "from kafka_shell.audit.engine import SMALL_DATA_CONFIGS\n"
        "from kafka_shell.audit.session import open_session\n"
        "from kafka_shell.audit.jvm import SparkTarget\n"
        f"target = SparkTarget(remote={found.remote!r}, server_folder='yes')\n"
        f"conf = open_session(Path({str(folder)!r}), target).session.conf\n"
        "print('opened', *(key for key in SMALL_DATA_CONFIGS if conf.get(key, None) is not None))\n"
        "from pyspark.sql import SparkSession\n"
        f"SparkSession.builder.remote('sc://localhost:{found.port}/;token=other').create()"
        ".range(1).collect()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert done.returncode != 0 and "UNAUTHENTICATED" in done.stderr, done.stderr[-2000:]
    opened, *found_keys = done.stdout.split()
    assert opened == "opened", done
    return found_keys
