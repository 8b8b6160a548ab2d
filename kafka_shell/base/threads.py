"""Work in threads that never keep the program from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def in_threads(work: Callable[[A], B], items: Sequence[A], at_once: int) -> list[B]:
    """Return the results of `work` for all items, in their order. An exception ends it at once.

    Unlike those of a ThreadPoolExecutor, the threads are not awaited when the program ends, which
    Ctrl-C may do while they wait for a broker or for Spark.
    """
    left: SimpleQueue[int] = SimpleQueue()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    results: list[B | None] = [None] * len(items)
    for number in range(len(items)):
        left.put(number)

    def take() -> None:
        try:
            while True:
                number = left.get_nowait()
                results[number] = work(items[number])
                ended.put(None)
        except Empty:
            pass
        except BaseException as error:
            ended.put(error)

    for _ in range(min(at_once, len(items))):
        threading.Thread(target=take, daemon=True).start()
    for _ in items:
        error = ended.get()
        if error is not None:
            while not left.empty():  # the other threads begin nothing else
                try:
                    left.get_nowait()
                except Empty:
                    break
            raise error
    return results  # type: ignore[return-value]
