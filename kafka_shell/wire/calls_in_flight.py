"""Calls to several brokers, with the next call of each sent while the last response is used."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import as_failure
from kafka_shell.wire.failures import NoBrokerError
from kafka_shell.wire.requests import Call
from kafka_shell.wire.runner import Job

if TYPE_CHECKING:
    from kafka_shell.wire.runner import Runner


class CallsInFlight:
    """Calls in flight by key. Made by `Cluster.calls_in_flight`, and used only within it.

    A call whose connection is lost fails at once, as its caller may know a better broker by then.
    """

    def __init__(self, runner: Runner, deadline: float | None) -> None:
        self._runner = runner
        self._deadline = deadline
        self._jobs: dict[Hashable, Job] = {}
        self._responded = False

    def __contains__(self, key: Hashable) -> bool:
        """Whether the call of this key is in flight."""
        return key in self._jobs

    def __bool__(self) -> bool:
        """Whether any call is in flight."""
        return bool(self._jobs)

    def send(self, key: Hashable, call: Call) -> None:
        """Send a call now, or as soon as its broker is connected."""
        self._jobs[key] = job = self._runner.job(call, self._deadline)
        try:
            self._runner.advance(job)
        except NoBrokerError as error:
            if not self._responded:
                raise
            job.fail(error)

    def take(self) -> tuple[Any, Any]:
        """Wait for any response. Returns its key, and the response or a Failure.

        Raises ShellError if no broker can be reached and none has responded.
        """
        while True:
            for key, job in self._jobs.items():
                if job.last_failure and not job.done:
                    job.fail(ShellError(job.last_failure, code="connection-lost"))
                if job.done:
                    del self._jobs[key]
                    self._responded = self._responded or job.error is None
                    return key, job.result if job.error is None else as_failure(job.error)
            self._runner.round(self._jobs.values(), self._responded)
