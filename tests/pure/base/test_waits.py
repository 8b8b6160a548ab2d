from __future__ import annotations

from kafka_shell.base.waits import until


def test_a_condition_is_checked_until_it_is_true() -> None:
    answers = iter([False, False, True])
    assert until(lambda: next(answers), 60, 0.001)
    assert next(answers, None) is None


def test_a_condition_that_stays_false_is_checked_once_more_than_there_is_time() -> None:
    checked: list[int] = []
    assert not until(lambda: bool(checked.append(1)), 0, 0.001)
    assert checked == [1]
