"""Run time and peak memory of whole processes."""

from __future__ import annotations

import re
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.002


@dataclass(frozen=True, slots=True)
class Taken:
    """What one run took: seconds from its start to its end, and bytes of memory at its peak."""

    seconds: float
    peak: int


class Failed(Exception):
    """A command that did not end well."""


def timed(command: Sequence[str], stdin: bytes = b"") -> Taken:
    """Run a command, which must end well; its output goes nowhere."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(stdin)
    process.stdin.close()
    peak = 0
    while process.poll() is None:
        # Not getrusage: a child begins with the peak of the process that it was forked from.
        peak = max(peak, _peak(process.pid))
        time.sleep(_LOOK_S)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise Failed(f"{' '.join(command)[:200]} ended with {process.returncode}")
    return Taken(seconds, peak)


def _peak(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def contest(rounds: int, *commands: Sequence[str]) -> list[Taken]:
    """The median of each command. They take turns, so that ratios hold when a machine's speed
    drifts, each round in another order: what one asks of a broker is felt by the next. The first
    round warms caches and does not count."""
    runs: list[list[Taken]] = [[] for _ in commands]
    turns = list(zip(commands, runs, strict=True))
    for counted in range(rounds + 1):
        for command, taken in turns:
            run = timed(command)
            if counted:
                taken.append(run)
        turns = turns[1:] + turns[:1]
    return [
        Taken(statistics.median(each.seconds for each in taken), max(each.peak for each in taken))
        for taken in runs
    ]


def median(rounds: int, measure: Callable[[], float]) -> float:
    """The median of so many measurements, after one that is not counted."""
    measure()
    return statistics.median(measure() for _ in range(rounds))
