"""Measures in a thread of its own, so that a slow cluster never delays a key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from kafka_shell.commands.activity.meter import Measurement
from kafka_shell.errors import ShellError

Measure = Callable[[str], Measurement]
Deliver = Callable[[str, Measurement | ShellError | BaseException], None]

_FIRST_S = 1.0
_REST = 0.5  # of the duration of a measurement, before the next one


class Sampler:
    """Calls `measure` every `interval` seconds with the current view, and `deliver` with the view
    and the result, in its thread. Nothing is measured while it is paused."""

    def __init__(self, measure: Measure, interval: float, view: str, deliver: Deliver) -> None:
        self._measure, self._deliver = measure, deliver
        self._interval = interval
        self._view = view
        self._changed = threading.Condition()
        self._paused = self._stopped = False
        self.began = 0.0
        """When the measurement in progress began (monotonic); 0 for none."""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start measuring."""
        self._thread.start()

    def stop(self) -> None:
        """Deliver nothing more. Does not wait for the measurement in progress."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def follow(self, view: str, *, paused: bool) -> None:
        """Measure this view from now on, at once if it is another one; or pause."""
        with self._changed:
            if (view, paused) != (self._view, self._paused):
                self._view, self._paused = view, paused
                self._changed.notify_all()

    def _run(self) -> None:
        while (view := self._next()) is not None:
            began = self.began = time.monotonic()
            found: Measurement | BaseException
            try:
                found = self._measure(view)
            except BaseException as error:  # reported by the thread of the screen
                found = error
            self.began = 0.0
            if not self._stopped:
                self._deliver(view, found)
            ended = time.monotonic()
            rest = _REST * (ended - began)  # the more a measurement costs, the fewer there are
            self._rest(view, max(began + self._wait_after(found), ended + rest))

    def _wait_after(self, found: Measurement | BaseException) -> float:
        """The first measurement has no rates, so the second one follows soon."""
        first = isinstance(found, Measurement) and not found.seconds
        return min(_FIRST_S, self._interval) if first else self._interval

    def _next(self) -> str | None:
        """The view to measure, after a pause; None at the end."""
        with self._changed:
            while self._paused and not self._stopped:
                self._changed.wait()
            return None if self._stopped else self._view

    def _rest(self, view: str, until: float) -> None:
        with self._changed:
            while not self._stopped and not self._paused and self._view == view:
                left = until - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left)
