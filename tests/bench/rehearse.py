"""Time and memory of a rehearsal on a large cluster.

    python -m tests.bench.rehearse [TOPICS [BROKERS]]

10,000 topics with 30,000 partitions on 100 brokers, unless said otherwise. The original is a
sandbox with stand-in brokers on the same machine; its own CPU and memory do not count. Seconds of
CPU are the same on a machine that is busy with other work.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from kafka_shell.commands.rehearse.twins import read_original, running_twin
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.twin import build as spare
from kafka_shell.sandbox.twin.build import Original, connect
from tests.bench.table import HEADINGS, MIB, Measure, line, show

TOPICS, BROKERS = 10_000, 100
GOAL_S, GOAL_BYTES = 15.0, 1 << 30


def main() -> None:
    """One row per measure: each part in this process, and a whole rehearsal in another."""
    topics, brokers = [*map(int, sys.argv[1:]), *(TOPICS, BROKERS)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "original"
        options = options_from(folder, port=0, topics=topics, stand_in_brokers=brokers)
        try:
            original = start_with_data(options, no_report, empty=True)
            sys.stdout.write(f"{line(HEADINGS)}\n")
            with connect(original) as cluster:
                began, used = time.perf_counter(), time.process_time()
                reading = read_original(cluster, (), no_report)
                read, read_cpu = time.perf_counter() - began, time.process_time() - used
            began, used = time.perf_counter(), time.process_time()
            with running_twin(Path(temporary) / "twins", reading.original, no_report) as twin:
                built = time.perf_counter() - began
                node = psutil.Process(twin.brokers[0].pid).cpu_times()
                built_cpu = time.process_time() - used + node.user + node.system
            taken = _spare(Path(temporary) / "twins", reading.original)
            show(Measure("rehearse: read the cluster", topics, read))
            show(Measure("rehearse: read the cluster, CPU", topics, read_cpu))
            show(Measure("rehearse: start the twin", topics, built))
            show(Measure("rehearse: start the twin, CPU of both processes", topics, built_cpu))
            show(Measure("rehearse: take a twin that is ready", topics, taken))
            show(Measure("rehearse: both", topics, read + built, goal=GOAL_S))
            show(Measure("rehearse: both, CPU", topics, read_cpu + built_cpu, goal=GOAL_S))
            seconds, peak = _whole(original.bootstrap, Path(temporary))
            show(Measure("rehearse create-topic, whole", topics, seconds))
            show(Measure("rehearse create-topic, memory", topics, peak, unit=MIB, goal=GOAL_BYTES))
        finally:
            wipe(folder)


def _spare(root: Path, original: Original) -> float:
    """The seconds until a twin is there that was kept ready."""
    spare.prepare(root, original)
    while not list(root.glob("*/spare-ready")):
        time.sleep(0.1)
    began = time.perf_counter()
    with running_twin(root, original, no_report):
        return time.perf_counter() - began


def _whole(bootstrap: str, home: Path) -> tuple[float, int]:
    """The seconds of a rehearsal, and the peak memory of its processes together."""
    words = [sys.executable, "-m", "kafka_shell", "--broker", bootstrap, "rehearse",
             "create-topic rehearsed"]  # fmt: skip
    began = time.perf_counter()
    process = psutil.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**psutil.Process().environ(), "KAFKA_SH_HOME": str(home / "home")},
    )  # fmt: skip
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    status = process.wait()
    seconds = time.perf_counter() - began
    watcher.join()
    if status:
        raise SystemExit(f"the rehearsal ended with status {status}")
    return seconds, peak[0]


def _watch(process: psutil.Popen, peak: list[int]) -> None:
    """The largest sum of resident memory: the twin is a child of the rehearsal."""
    while process.poll() is None:
        try:
            family = [process, *process.children(recursive=True)]
            peak[0] = max(peak[0], sum(_resident(each.pid) for each in family))
        except psutil.Error:
            pass
        time.sleep(0.05)


def _resident(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    main()
