"""Work in threads that never keep the program from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def in_threads(work: Callable[[A], B], items: Sequence[A], at_once: int) -> list[B]:
    """Return the results of `work` for all items, in their order. An exception, also of
    Ctrl-C, ends it at once: the threads begin nothing else.

    Unlike those of a ThreadPoolExecutor, the threads are not awaited when the program ends, which
    Ctrl-C may do while they wait for a broker or for Spark.
    """
    left, lock = iter(enumerate(items)), threading.Lock()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    results: list[B | None] = [None] * len(items)

    def take() -> tuple[int, A] | None:
        with lock:
            return next(left, None)

    def run() -> None:
        try:
            while (taken := take()) is not None:
                number, item = taken
                results[number] = work(item)
                ended.put(None)
        except BaseException as error:
            ended.put(error)

    try:
        for _ in range(min(at_once, len(items))):
            threading.Thread(target=run, daemon=True).start()
        for _ in items:
            error = ended.get()
            if error is not None:
                raise error
    finally:
        while take() is not None:
            pass
    return results  # type: ignore[return-value]
