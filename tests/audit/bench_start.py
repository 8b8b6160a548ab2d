"""Times audits of the demo beside an empty PySpark session with one query, in turns.

    python -m tests.audit.bench_start [--runs 3]

Each run is a process of its own, in seconds from start to exit; of the second audit in a session,
the seconds of that audit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kafka_shell.audit import collection, run, server
from kafka_shell.audit.control import controls_of
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.work import Target
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.session import start_with_data

EMPTY = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
session.range(1000).selectExpr("sum(id)").collect()
session.stop()
"""
_FIRST_S = 60.0  # after its end, the JVM of the first run writes the archive of classes


def main() -> int:
    """Print a line for each kind of run, with its ratio to the empty session."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=3, help="of each kind")
    parser.add_argument("--second", nargs=2, metavar=("BOOTSTRAP", "FOLDER"), help="used by itself")
    given = parser.parse_args()
    if given.second:
        second(*given.second)
        return 0
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
    again = ("-m", "tests.audit.bench_start", "--second", bootstrap, str(folder / "again"))
    say("first audit of all", [timed(folder, *audit)], None)
    time.sleep(_FIRST_S)
    empty, cold, twice = [], [], []
    for _ in range(runs):
        empty.append(timed(folder, "-c", EMPTY))
        cold.append(timed(folder, *audit))
        twice.append(_second(folder, again))
    yardstick = statistics.median(empty)
    say("an empty session with one query", empty, None)
    say("a cold audit (goal: 2)", cold, yardstick)
    say("a second audit in a session (goal: 0.5)", twice, yardstick)
    timed(folder, "-m", "kafka_shell", "spark", "start")
    try:
        for _ in range(runs):
            timed(folder, *audit)
        served = [timed(folder, *audit) for _ in range(runs)]
    finally:
        server.stop(folder / "home" / "state" / "spark-server")
    say("an audit with spark start (goal: 0.5)", served, yardstick)


def say(what: str, seconds: list[float], yardstick: float | None) -> None:
    """A line, seen at once."""
    found = statistics.median(seconds)
    ratio = f", ratio {found / yardstick:.2f}" if yardstick else ""
    sys.stdout.write(f"{what}: {found:.1f} s{ratio}\n")
    sys.stdout.flush()


def timed(folder: Path, *words: str) -> float:
    """Seconds that a Python program takes."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *words], env=_environment(folder), check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode in (0, 1), words
    return time.perf_counter() - began


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "KAFKA_SH_HOME": str(folder / "home")}


def _second(folder: Path, words: tuple[str, ...]) -> float:
    done = subprocess.run([sys.executable, *words], env=_environment(folder), check=True,
                          capture_output=True, text=True)  # fmt: skip
    return float(done.stdout)


def second(bootstrap: str, folder: str) -> None:
    """Audit twice in one session; print what the second took."""
    engine = Engine(Path(folder), lambda task, done, total: None)
    controls = tuple(controls_of(Path(folder, "none")).values())
    names = run.tables_for(controls, {}, TABLES)
    target = Target("demo", bootstrap=bootstrap, config_file=f"{folder}/none.toml")
    for _ in range(2):
        began = time.perf_counter()
        found = collection.collect(engine, [target], TABLES, names)
        run.audit(engine, found, controls, Policy())
    sys.stdout.write(f"{time.perf_counter() - began}\n")
    engine.stop()


if __name__ == "__main__":
    sys.exit(main())
