"""Work in threads ends with the first exception, whatever it is."""

from __future__ import annotations

import _thread
import threading
from queue import Empty

import pytest

from kafka_shell.base.threads import in_threads


def test_results_are_in_the_order_of_the_items() -> None:
    assert in_threads(str, range(100), 7) == [str(number) for number in range(100)]


def test_any_exception_of_the_work_is_raised() -> None:
    def fail(item: int) -> None:
        raise Empty

    with pytest.raises(Empty):
        in_threads(fail, [1, 2], 1)


def test_nothing_begins_after_ctrl_c() -> None:
    begun, over, before = [], threading.Event(), threading.enumerate()

    def work(item: int) -> None:
        begun.append(item)
        _thread.interrupt_main()
        over.wait(60)

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(5), 2)
    over.set()
    for thread in threading.enumerate():
        if thread not in before:
            thread.join()
    assert len(begun) <= 2
