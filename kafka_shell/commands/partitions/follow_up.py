"""The commands that continue or cancel a reassignment, or move it to other brokers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.base.text import with_option
from kafka_shell.base.units import counted
from kafka_shell.language import kinds

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.partitions.stalls import Stall

_MOST = 50  # topics in a command


def resume_line(id: str) -> str:
    """The command that continues the reassignment in batches with this ID."""
    return f"reassign-partitions --resume {id}"


def end_line(id: str) -> str:
    """The command that cancels what the reassignment in batches with this ID has started."""
    return f"reassign-partitions --cancel --resume {id}"


def cancel_line(file: Path) -> str:
    """The command that cancels what the reassignment of this file has started."""
    return f"reassign-partitions --cancel {with_option('--reassignment-json-file', str(file))}"


def stall_advice(stalls: Sequence[Stall], *, ours: bool = True) -> list[str]:
    """The commands that cancel exactly the stalled reassignments, or move them to other brokers.
    Not `ours` are reassignments that another client may have started."""
    from kafka_shell.admin.partitions.throttles import RATES

    lines = []
    for stall in stalls:
        words = list(_partitions(stall.partitions))
        if len(words) > _MOST:
            continue
        what = counted(len(stall.partitions), "partition")
        waits = "waits" if len(stall.partitions) == 1 else "wait"
        options = " ".join(with_option("--partitions", word) for word in words)
        if not stall.down:
            lines.append(
                "To see its throttle: describe-configs --broker-id"
                f" {stall.broker} {' '.join(RATES)}"
            )
        if not ours:
            continue
        lines += [
            f"To cancel the {what} that {waits} for broker {stall.broker}:"
            f" reassign-partitions --cancel {options}",
            f"To move {'it' if len(stall.partitions) == 1 else 'them'} to other brokers:"
            f" reassign-partitions --drain {stall.broker} {options} --additional",
        ]
    return lines


def _partitions(partitions: Sequence[TopicPartition]) -> Iterator[str]:
    """`orders:0,3-5` for each topic."""
    by_topic: dict[str, list[int]] = {}
    for each in sorted(partitions):
        by_topic.setdefault(each.topic, []).append(each.partition)
    for topic, numbers in by_topic.items():
        yield kinds.TOPIC_PARTITIONS.format((topic, tuple(numbers)))
