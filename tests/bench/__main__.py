"""Times this program against kafka-python's and Kafka's own tools on one real broker.

    python -m tests.bench [--rounds N]

The contestants take turns, so that the ratios hold when the machine's speed drifts; the medians
are whole processes, from the start to the exit.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_shell.sandbox import SandboxOptions, start, wipe
from tests.jvm_tools import tool_command

from . import prompt

TOPIC = "orders.placed"
TOPICS = [f"{domain}.{number}" for domain in ("orders", "payments", "web") for number in range(13)]


def main() -> int:
    """Print the table; the exit status is 0 however fast anything was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9, help="counted rounds of each contest")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        sandbox = start(SandboxOptions(Path(folder) / "sandbox", port=0))
        try:
            run(sandbox.bootstrap, Path(folder) / "home", rounds)
        finally:
            wipe(sandbox.folder)
    return 0


def run(broker: str, home: Path, rounds: int) -> None:
    """All contests on one broker."""
    ours = [sys.executable, "-m", "kafka_shell", "--broker", broker]
    theirs = [sys.executable, "-m", "kafka.admin", "-b", broker, "topics"]
    jvm = tool_command("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", broker)
    subprocess.run([*ours, "create-topic", TOPIC, *TOPICS, "--partitions", "3"], check=True,
                   capture_output=True)  # fmt: skip
    sys.stdout.write(f"{'':<24}{'kafka.sh':>10}{'kafka-python':>22}{'Kafka (JVM)':>22}\n")
    contest("list-topics", rounds, [*ours, "--list-topics"], [*theirs, "list"], [*jvm, "--list"])
    contest(
        "describe-topic",
        rounds,
        [*ours, "--describe-topic", "--topic", TOPIC],
        [*theirs, "describe", "-t", TOPIC],
        [*jvm, "--describe", "--topic", TOPIC],
    )
    bare = median(rounds, lambda: timed([sys.executable, "-c", "import prompt_toolkit"]))
    shown = median(rounds, lambda: prompt.seconds_to_prompt(broker, home))
    row("start to prompt", shown)
    sys.stdout.write(f"{'':<24}(python with prompt_toolkit imported: {bare * 1000:.0f} ms)\n")
    row("complete a config key", prompt.seconds_to_complete(broker, home, TOPIC, rounds * 10))


def contest(name: str, rounds: int, *commands: Sequence[str]) -> None:
    """Run the commands in turn and print the medians, and theirs as ratios to the first."""
    times: list[list[float]] = [[] for _ in commands]
    for counted in range(rounds + 1):
        for command, taken in zip(commands, times, strict=True):
            seconds = timed(command)
            if counted:  # the first round warms caches
                taken.append(seconds)
    row(name, *(statistics.median(taken) for taken in times))


def row(name: str, first: float, *others: float) -> None:
    """One line: milliseconds, and what share of each other's time ours is."""
    cells = [f"{seconds * 1000:>8.0f} ms  ({first / seconds:.2f} of it)" for seconds in others]
    digits = 0 if first > 0.02 else 2
    sys.stdout.write(f"{name:<24}{first * 1000:>7.{digits}f} ms" + "".join(cells) + "\n")
    sys.stdout.flush()


def median(rounds: int, measure: Callable[[], float]) -> float:
    """The median of so many measurements, after one that is not counted."""
    measure()
    return statistics.median(measure() for _ in range(rounds))


def timed(command: Sequence[str]) -> float:
    """Seconds a command takes as a whole process. It must end well."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
