"""Time and memory of the reassignment planner on a large simulated cluster.

    python -m tests.bench.planner

The cluster has 100 brokers, 20,000 topics and 60,000 partitions with three replicas. Cases: random
placement, with and without racks; 20 new brokers; one drained broker. In another cluster, with 30
brokers and 16,000 partitions, a broker with 1,600 partitions is drained.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner.placement import Problem
from kafka_shell.admin.partitions.planner.plan import drain, rebalance
from kafka_shell.base.structs import replace
from tests.bench.table import HEADINGS, MIB, Measure, line, show

BROKERS, TOPICS, PARTITIONS, FACTOR = 100, 20_000, 3, 3
CASES = ("random", "racks", "new brokers", "drain", "drain 1,600")
SMALL = "drain 1,600"  # partitions
GOAL_S, SMALL_GOAL_S, GOAL_BYTES = 10.0, 1.0, 500 * 2**20


def main() -> None:
    """One row per case, each measured in a process of its own."""
    sys.stdout.write(f"{line(HEADINGS)}\n")
    for case in CASES:
        for measure in _measured(case):
            show(measure)


def _measured(case: str) -> Iterator[Measure]:
    command = [sys.executable, "-m", "tests.bench.planner", case]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    goal, topics = SMALL_GOAL_S if case == SMALL else GOAL_S, int(found["topics"])
    yield Measure(f"plan: {case}", topics, found["seconds"], goal=goal)
    yield Measure(f"plan: {case}, memory", topics, found["bytes"], unit=MIB, goal=GOAL_BYTES)


def plan(case: str) -> dict[str, float]:
    """Plan one case; the memory is that of the whole process."""
    problem = _cluster(racks=3 if case == "racks" else 0, used=80 if case == "new brokers" else 100)
    if case == SMALL:
        problem = _cluster(topics=5_333, brokers=30, used=30)
    if "drain" in case:
        gone = frozenset((7,))
        problem = replace(problem, targets=problem.targets - gone, leaving=gone)
    began = time.process_time()
    proposal = drain(problem) if "drain" in case else rebalance(problem)
    seconds = time.process_time() - began  # nothing is waited for: other work does not count
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    topics = len({each.topic for each in problem.assignment})
    changes = len(proposal.changes)
    return {"seconds": seconds, "bytes": peak, "changes": changes, "topics": topics}


def _cluster(
    racks: int = 0, used: int = BROKERS, topics: int = TOPICS, brokers: int = BROKERS
) -> Problem:
    generator = random.Random(1)
    layout: dict[TopicPartition, tuple[int, ...]] = {}
    sizes: dict[TopicPartition, int] = {}
    for number in range(topics):
        typical = int(generator.lognormvariate(18, 2))
        for partition in range(PARTITIONS):
            each = TopicPartition(f"topic-{number:05}", partition)
            layout[each] = tuple(generator.sample(range(used), FACTOR))
            sizes[each] = typical + generator.randrange(typical)
    placed = {broker: f"rack-{broker % racks}" if racks else None for broker in range(brokers)}
    return Problem(layout, placed, frozenset(placed), sizes=sizes)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(plan(sys.argv[1])))
    else:
        main()
