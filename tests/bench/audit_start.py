"""Measures audits of the demo data alternately with an empty PySpark session that runs one query.

    python -m tests.bench.audit_start [--runs 3]

Each run is a separate process. Measured are the seconds from start to exit, and the CPU seconds of
all processes that it started (Linux only); for the second audit in a session, those of that audit.
On a machine that is busy with other work, only the ratios of CPU seconds are useful.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from kafka_shell.audit import collection, run, server
from kafka_shell.audit.control import controls_of
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import Target
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.state import SandboxOptions

EMPTY = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
session.range(1000).selectExpr("sum(id)").collect()
session.stop()
"""
_PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    """What a run took."""

    seconds: float
    cpu: float


def main() -> int:
    """Print a line for each kind of run, with its ratio to the empty session."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=3, help="of each kind")
    parser.add_argument("--second", nargs=2, metavar=("BOOTSTRAP", "FOLDER"), help="used by itself")
    given = parser.parse_args()
    if given.second:
        second(*given.second)
        return 0
    # Spark's JVM outlives the program that starts it: this process inherits and awaits it.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        options = SandboxOptions(Path(folder, "sandbox"), port=0)
        sandbox = start_with_data(options, lambda task, done, total: None)
        try:
            compare(sandbox.bootstrap, Path(folder), given.runs)
        finally:
            wipe(sandbox.folder)
    return 0


def compare(bootstrap: str, folder: Path, runs: int) -> None:
    """Print the medians, in the order of a user's day."""
    audit = ("-m", "kafka_shell", "--broker", bootstrap, "spark", "audit")
    again = ("-m", "tests.bench.audit_start", "--second", bootstrap, str(folder / "again"))
    say("first audit of all", [timed(folder, *audit)], None)
    empty, cold, twice = [], [], []
    for _ in range(runs):
        empty.append(timed(folder, "-c", EMPTY))
        cold.append(timed(folder, *audit))
        twice.append(_second(folder, again))
    yardstick = median(empty)
    say("an empty session with one query", empty, None)
    say("a cold audit (goal: 2)", cold, yardstick)
    say("a second audit in a session (goal: 0.5)", twice, yardstick)
    timed(folder, "-m", "kafka_shell", "spark", "start")
    try:
        for _ in range(runs):
            timed(folder, *audit)
        served = [_served(folder, *audit) for _ in range(runs)]
    finally:
        server.stop(folder / "home" / "state" / "spark-server")
    say("an audit with spark start (goal: 0.5)", served, yardstick)


def median(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def say(what: str, costs: list[Cost], yardstick: Cost | None) -> None:
    """A line, seen at once."""
    found = median(costs)
    pairs = zip(("s", "s of CPU"), found, yardstick or (0.0, 0.0), strict=True)
    texts = (f"{value:.1f} {unit}" + (f" (ratio {value / of:.2f})" if of else "")
             for unit, value, of in pairs)  # fmt: skip
    sys.stdout.write(f"{what}: {', '.join(texts)}\n")
    sys.stdout.flush()


def timed(folder: Path, *words: str) -> Cost:
    """What a Python program takes, with all that it starts (but a Spark server)."""
    began, before = time.perf_counter(), _children()
    done = subprocess.run([sys.executable, *words], env=_environment(folder), check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode in (0, 1), words
    seconds = time.perf_counter() - began
    if words[-1] != "start":
        _await_orphans(folder)
    return Cost(seconds, _children() - before)


def _await_orphans(folder: Path) -> None:
    """Wait for the programs that outlive the ones that started them: all but the broker."""
    if server.running(folder / "home" / "state" / "spark-server") is None:
        while left := [each for each in psutil.Process().children() if not _is_broker(each)]:
            for each in left:
                os.waitpid(each.pid, 0)


def _is_broker(process: psutil.Process) -> bool:
    try:
        return any("node-1" in word for word in process.cmdline())
    except psutil.ZombieProcess:  # it has ended, but was not awaited
        return False


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _served(folder: Path, *words: str) -> Cost:
    """The same for a client of the server of `spark start`, with the CPU of the server."""
    found = server.running(folder / "home" / "state" / "spark-server")
    assert found is not None
    before = _below(found.pid)
    cost = timed(folder, *words)
    return Cost(cost.seconds, cost.cpu + _below(found.pid) - before)


def _below(pid: int) -> float:
    """The seconds of CPU of the processes that this one started and that run."""
    total = 0.0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "KAFKA_SH_HOME": str(folder / "home")}


def _second(folder: Path, words: tuple[str, ...]) -> Cost:
    done = subprocess.run([sys.executable, *words], env=_environment(folder), check=True,
                          capture_output=True, text=True)  # fmt: skip
    _await_orphans(folder)
    return Cost(*json.loads(done.stdout))


def second(bootstrap: str, folder: str) -> None:
    """Audit twice in one session; print what the second took."""
    engine = Engine(Path(folder), lambda task, done, total: None)
    controls = tuple(controls_of(Path(folder, "none")).values())
    names = run.tables_for(controls, {}, TABLES)
    target = Target("demo", bootstrap=bootstrap, config_file=f"{folder}/none.toml")
    for _ in range(2):
        began, cpu = time.perf_counter(), time.process_time() + _below(os.getpid())
        found = collection.collect(engine, [target], TABLES, names)
        run.audit(engine, found, controls, Policy())
    cpu = time.process_time() + _below(os.getpid()) - cpu
    sys.stdout.write(json.dumps([time.perf_counter() - began, cpu]))
    engine.stop()


if __name__ == "__main__":
    sys.exit(main())
