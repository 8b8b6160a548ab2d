"""Operations that run in parallel, each with its own thread and its own Cluster.

A broker that does not respond delays only the operation that waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.errors import ShellError

K = TypeVar("K")
T = TypeVar("T")

_WAITING_INTERVAL_S = 0.25  # between two calls of `waiting`
GRACE_S = 0.25  # for an operation to end by itself after its deadline


def run_within(
    config: ConnectionConfig,
    operations: Mapping[K, Callable[[Cluster], T]],
    seconds: float,
    waiting: Callable[[list[K]], None] = lambda running: None,
) -> dict[K, T | ShellError]:
    """The result of each operation, or its ShellError (code `deadline` after these seconds).

    `waiting` is called repeatedly with the operations that are still running. Other exceptions are
    raised.
    """
    ended = threading.Condition()
    outcomes: dict[K, T | BaseException] = {}

    def run(key: K, operation: Callable[[Cluster], T]) -> None:
        outcome: T | BaseException
        try:
            with Cluster(config) as cluster, cluster.within(seconds):
                outcome = operation(cluster)
        except BaseException as error:  # raised on the calling thread
            outcome = error
        with ended:
            outcomes[key] = outcome
            ended.notify_all()

    until = time.monotonic() + seconds + GRACE_S
    for key, operation in operations.items():
        threading.Thread(target=run, args=(key, operation), daemon=True).start()
    with ended:
        while running := [key for key in operations if key not in outcomes]:
            left = until - time.monotonic()
            if left <= 0:
                break
            waiting(running)
            ended.wait(min(left, _WAITING_INTERVAL_S))
    late = ShellError(f"no response within {seconds:.0f} s", code="deadline")
    results: dict[K, T | ShellError] = {}
    for key in operations:
        outcome = outcomes.get(key, late)
        if isinstance(outcome, BaseException) and not isinstance(outcome, ShellError):
            raise outcome
        results[key] = outcome
    return results
