"""The space of brokers that a planner may use."""

from __future__ import annotations

from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.partitions.sizes import Disks, Sizes


def test_copies_in_progress_need_space_too() -> None:
    """Before: a broker was given as much as fits now, in addition to what is on its way."""
    half, whole = TopicPartition("a", 0), TopicPartition("a", 1)
    sizes = Sizes({half: {1: 800, 3: 300}, whole: {1: 200}}, frozenset((1, 2, 3)))
    moving = {
        half: Reassignment("a", 0, (3, 1), (3,), (1,)),
        whole: Reassignment("a", 1, (3, 2, 1), (3, 2), (1,)),
    }
    disks = Disks(sizes, {1: 1_000, 2: 150, 3: 1_000})
    assert disks.room_beside(moving, {half: 800, whole: 200}) == {1: 1_000, 2: 0, 3: 300}
