"""What becomes of a call that no answer came to: it is sent again, or fails."""

from __future__ import annotations

import time

from kafka_shell.errors import ShellError

from .endpoint import ConnectionConfig
from .exchanges import Exchange
from .failures import COORDINATOR_LOAD_IN_PROGRESS, NoBrokerError
from .jobs import Job, outcome_unknown
from .pool import Pool
from .requests import AnyBroker, Controller, Coordinator, Node
from .transport import Link

# A controller or coordinator whose broker just died is still named by the others for a while.
_MOVE_GRACE = 15.0
_LOSSES = 5  # connections that may end with one request in flight before it is given up
_MAY_PASS = frozenset(
    {"refused", "connect-timeout", "connection-lost", "closed-early", "no-answer", "no-broker"}
)
_DROPPED = frozenset({"connection-lost", "closed-early"})
_SILENT = frozenset({"no-answer", "connect-timeout"})


class Retries:
    """Decides for each job whether its failure may pass."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool

    def not_reached(self, job: Job, error: ShellError) -> None:
        """No link came about: fail at once, unless the broker was there a moment ago.

        Where there is no broker at all, that is raised: every call has met the same.
        """
        if error.code in _SILENT and job.link is not None:
            self._pool.silent[job.link.address] = time.monotonic()
        if self._worth_waiting(job, error):
            self.forget_route(job, 0)
            self.again(job, error.message)
            return
        if isinstance(error, NoBrokerError):
            raise error
        if not isinstance(job.call.to, AnyBroker):
            self._pool.forget_brokers()
        job.fail(error)

    def lost(self, job: Job, exchange: Exchange) -> None:
        """The connection ended with the request in flight."""
        assert exchange.error is not None and job.link is not None
        error = self._first_request_refused(job.link) or exchange.error
        if error.code == "no-answer":
            self._pool.silent[job.link.address] = time.monotonic()
        if error.code == "sasl-needed" or error.code.startswith("tls-"):
            job.fail(error)
        elif exchange.left and job.call.changes(job.request):
            job.fail(outcome_unknown(job, error))
        else:
            job.met = True
            job.losses += 1
            hangs = error.code == "no-answer" and isinstance(job.call.to, Node)
            most = 1 if error.code == "token-expired" else _LOSSES
            if hangs or job.losses > most:
                job.fail(error)  # a broker that hangs up on this request will do so again
            else:
                self.again(job, error.message)

    def again(self, job: Job, why: str) -> None:
        """Have it sent again after a pause, to whoever is the right one then."""
        job.link = None
        job.asked.clear()
        job.last = why
        pause = min(self._config.backoff * 2**job.tries, self._config.backoff_max)
        job.tries += 1
        job.retry_at = time.monotonic() + pause

    def forget_route(self, job: Job, code: int) -> None:
        """Have the coordinator or the controller looked up anew."""
        to = job.call.to
        if isinstance(to, Coordinator) and code != COORDINATOR_LOAD_IN_PROGRESS:
            self._pool.coordinators.pop(to, None)
        if isinstance(to, Controller):
            self._pool.forget_brokers()

    def _worth_waiting(self, job: Job, error: ShellError) -> bool:
        """Whether the failure may pass: a broker restarts, or the others elect another."""
        if error.code not in _MAY_PASS or time.monotonic() >= job.until:
            return False
        moves = isinstance(job.call.to, Controller | Coordinator)
        moves = moves and not isinstance(error, NoBrokerError)
        grace = moves and time.monotonic() - job.started < _MOVE_GRACE
        dropped = error.code in _DROPPED and self._pool.entered
        return job.met or grace or dropped

    def _first_request_refused(self, link: Link) -> ShellError | None:
        if link.answers or self._config.uses_sasl or link.error is None:
            return None
        if link.error.code == "connection-lost" and not link.looked:
            from .diagnosis import wants_login

            link.looked = True
            link.error = wants_login(self._config, link.address, self._pool.patience) or link.error
        return link.error
