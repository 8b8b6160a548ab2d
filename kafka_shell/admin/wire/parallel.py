"""Verbs at once within a time: each has a thread and a Cluster of its own, so that none waits for
what another asked of a broker that does not answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from kafka_shell.errors import ShellError

from .connection import Cluster
from .endpoint import ConnectionConfig

K = TypeVar("K")
T = TypeVar("T")

_LOOK_AGAIN = 0.25  # seconds between two calls of `waiting`
GRACE_S = 0.25  # that a verb has to end by itself after its deadline


def run_within(
    config: ConnectionConfig,
    verbs: Mapping[K, Callable[[Cluster], T]],
    seconds: float,
    waiting: Callable[[list[K]], None] = lambda outstanding: None,
) -> dict[K, T | ShellError]:
    """The answer of each verb, or the error that ended it: the deadline's after these seconds.

    `waiting` is called with those outstanding. Raises what is no ShellError.
    """
    ended = threading.Condition()
    outcomes: dict[K, T | BaseException] = {}

    def run(key: K, verb: Callable[[Cluster], T]) -> None:
        outcome: T | BaseException
        try:
            with Cluster(config) as cluster, cluster.within(seconds):
                outcome = verb(cluster)
        except BaseException as error:  # told on the thread that called
            outcome = error
        with ended:
            outcomes[key] = outcome
            ended.notify_all()

    until = time.monotonic() + seconds + GRACE_S
    for key, verb in verbs.items():
        threading.Thread(target=run, args=(key, verb), daemon=True).start()
    with ended:
        while outstanding := [key for key in verbs if key not in outcomes]:
            left = until - time.monotonic()
            if left <= 0:
                break
            waiting(outstanding)
            ended.wait(min(left, _LOOK_AGAIN))
        return {key: _read(outcomes.get(key), key in outcomes, seconds) for key in verbs}


def _read(outcome: T | BaseException | None, ended: bool, seconds: float) -> T | ShellError:
    if not ended:
        return ShellError(f"no answer within {seconds:.0f} s", code="deadline")
    if isinstance(outcome, BaseException) and not isinstance(outcome, ShellError):
        raise outcome
    return outcome  # type: ignore[return-value]
