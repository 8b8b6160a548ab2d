"""The plan of a copy shows the first keys, without what is masked."""

from __future__ import annotations

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.copy import CopyRequest, Progress, _about, _count, _Survey
from kafka_shell.admin.records.mask import Mask
from kafka_shell.admin.records.model import CREATE_TIME, Record


def test_only_the_keys_that_are_shown_are_masked() -> None:
    asked: list[str] = []
    mask = Mask(lambda topic: asked.append(topic) or ["key"])  # type: ignore[func-returns-value]
    survey, last = _Survey({}), dict[TopicPartition, int]()
    for first in range(0, 100, 10):
        keys = [b"%d" % (number // 2) for number in range(first, first + 10)]
        _count([Record("a", 0, 0, 0, CREATE_TIME, key, b"v", ()) for key in keys], survey, last)
    assert not asked, "counting masks nothing"
    assert [*survey.first] == [b"0", b"1", b"2", b"3", b"4"]
    progress = Progress({0: (0, 100)}, ("i", "j"), 1, True)
    *_, keys_line = _about(CopyRequest("a", "b", mask=mask), progress, {0: 100}, survey)
    assert keys_line == "first keys: ***"
    *_, keys_line = _about(CopyRequest("a", "b"), progress, {0: 100}, survey)
    assert keys_line == "first keys: 0, 1, 2, 3, 4"
