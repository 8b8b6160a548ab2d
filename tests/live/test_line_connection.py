"""Connection options on a line are merged with those of the session, for the same cluster."""

from __future__ import annotations

import io
from pathlib import Path

from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.run.watch import watch
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.settings import load
from tests.support.in_process_shell import Shell
from tests.support.program import Program


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_lines_with_a_cluster_of_their_own_leave_nothing_open(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap)
    port = sandbox.bootstrap.rpartition(":")[2]
    named = f"list-topics --broker localhost:{port}"
    shell.ok(named)
    before = descriptors()
    for _ in range(20):
        shell.ok(named)
        shell("describe-topic nosuch --broker localhost:1")
    assert descriptors() <= before + 1


def test_watch_leaves_nothing_open(sandbox: Sandbox, tmp_path: Path) -> None:
    port = sandbox.bootstrap.rpartition(":")[2]
    counts: list[int] = []

    def pause(seconds: float) -> None:
        counts.append(descriptors())
        if len(counts) == 20:
            raise KeyboardInterrupt

    paths = Paths.of({"KAFKA_SH_HOME": str(tmp_path)})
    found = load({"broker": sandbox.bootstrap}, {}, paths.config_file)
    context = Context(
        ClusterSession(found),
        paths,
        io.StringIO(),
        io.StringIO(),
        environ={},
        run_line=lambda text, context: int(run_text(text, context)),
    )
    watch(context, 1, f"list-topics --broker localhost:{port}", sleep=pause)
    context.close()
    assert len(counts) == 20
    assert max(counts) <= counts[0] + 1


def test_a_script_at_a_low_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    import subprocess
    import sys

    port = sandbox.bootstrap.rpartition(":")[2]
    program = Program(tmp_path)
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n 64; exec {sys.executable} -m kafka_shell"
         f" --broker {sandbox.bootstrap}"],
        input=f"list-topics --broker localhost:{port}\n" * 100,
        env=program.environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
