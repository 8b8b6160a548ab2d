"""Calls without response: they are retried or fail."""

from __future__ import annotations

import time

from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.admin.wire.error_codes import COORDINATOR_LOAD_IN_PROGRESS
from kafka_shell.admin.wire.exchanges import Exchange
from kafka_shell.admin.wire.failures import NoBrokerError
from kafka_shell.admin.wire.jobs import Job, outcome_unknown
from kafka_shell.admin.wire.link_errors import TEMPORARY
from kafka_shell.admin.wire.pool import Pool
from kafka_shell.admin.wire.requests import AnyBroker, Controller, Coordinator, Node
from kafka_shell.admin.wire.transport import Link
from kafka_shell.errors import ShellError

# Brokers still return a controller or coordinator for a while after its broker has crashed.
_MOVE_S = 15.0
_MAX_LOST = 5  # connections that may be closed with one request in flight before it fails
_DROPPED = frozenset({"connection-lost", "closed-early"})
_SILENT = frozenset({"no-answer", "connect-timeout"})


class Retries:
    """Decides for each failed job whether it is retried."""

    def __init__(self, config: ConnectionConfig, pool: Pool) -> None:
        self._config = config
        self._pool = pool

    def on_unreachable(self, job: Job, error: ShellError) -> None:
        """The connection failed: fail the job, unless the broker was reachable a moment ago.

        Raises NoBrokerError if no broker at all can be reached, because every call then fails.
        """
        if error.code in _SILENT and job.link is not None:
            self._pool.note_silence(job.link.address, job.started)
        if self._may_succeed_later(job, error):
            self.forget_route(job, 0)
            self.retry(job, error.message)
            return
        if isinstance(error, NoBrokerError):
            raise error
        if not isinstance(job.call.to, AnyBroker):
            self._pool.forget_brokers()
        job.fail(error)

    def on_lost(self, job: Job, exchange: Exchange) -> None:
        """The connection was closed while the request was in flight."""
        assert exchange.error is not None and job.link is not None
        error = self._lost_reason(job.link) or exchange.error
        if error.code == "no-answer":
            self._pool.note_silence(job.link.address, job.started)
        if error.code == "sasl-needed" or error.code.startswith("tls-"):
            job.fail(error)
        elif exchange.written and job.call.changes(job.request):
            job.fail(outcome_unknown(job, error))
        else:
            job.reached_broker = True
            job.lost_connections += 1
            hangs = error.code == "no-answer" and isinstance(job.call.to, Node)
            most = 1 if error.code == "token-expired" else _MAX_LOST
            if hangs or job.lost_connections > most:
                job.fail(error)  # the broker closes the connection because of this request
            else:
                self.retry(job, error.message)

    def retry(self, job: Job, why: str) -> None:
        """Send it again after a pause, to a broker that is chosen then."""
        job.link = None
        job.sent_to.clear()
        job.last_failure = why
        pause = min(self._config.backoff * 2**job.tries, self._config.backoff_max)
        job.tries += 1
        job.retry_at = time.monotonic() + pause

    def forget_route(self, job: Job, code: int) -> None:
        """Discard the coordinator or the controller, so that it is looked up again."""
        to = job.call.to
        if isinstance(to, Coordinator) and code != COORDINATOR_LOAD_IN_PROGRESS:
            self._pool.coordinators.pop(to, None)
        if isinstance(to, Controller):
            self._pool.forget_brokers()

    def _may_succeed_later(self, job: Job, error: ShellError) -> bool:
        """Whether a retry may succeed: a broker restarts, or another one is elected."""
        if error.code not in TEMPORARY or time.monotonic() >= job.deadline:
            return False
        moves = isinstance(job.call.to, Controller | Coordinator)
        moves = moves and not isinstance(error, NoBrokerError)
        grace = moves and time.monotonic() - job.started < _MOVE_S
        dropped = error.code in _DROPPED and self._pool.connected_before
        return job.reached_broker or grace or dropped

    def _lost_reason(self, link: Link) -> ShellError | None:
        if link.responses or self._config.uses_sasl or link.error is None:
            return None
        if link.error.code == "connection-lost" and not link.diagnosed:
            from kafka_shell.admin.wire.diagnosis import requires_login

            link.diagnosed = True
            required = requires_login(self._config, link.address, self._pool.limit_time)
            link.error = required or link.error
        return link.error
