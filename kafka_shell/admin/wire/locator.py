"""Looks up the coordinators of groups and transactions (FindCoordinator, API key 10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka_shell.admin.wire import versions
from kafka_shell.admin.wire.failures import MOVED, as_error, error_name, failure
from kafka_shell.admin.wire.jobs import Job
from kafka_shell.admin.wire.pool import Pool
from kafka_shell.admin.wire.requests import ANY, Call, Coordinator
from kafka_shell.admin.wire.retries import Retries
from kafka_shell.errors import ShellError

_FIND_COORDINATOR = 10
_VERSIONS = (4, 6)  # since the first one for several keys: Kafka 3.0


class Locator:
    """Finds the coordinators that the jobs of a run need. `drive` runs jobs until they are done."""

    def __init__(
        self, pool: Pool, retries: Retries, drive: Callable[[Sequence[Job]], None]
    ) -> None:
        self._pool, self._retries, self._drive = pool, retries, drive

    def locate(self, jobs: Iterable[Job]) -> None:
        """Look up unknown coordinators, all keys of a kind in one request."""
        now = time.monotonic()
        waiting: dict[Coordinator, list[Job]] = {}
        for job in jobs:
            to = job.call.to
            if not isinstance(to, Coordinator) or to in self._pool.coordinators:
                continue
            if not job.done and now >= job.retry_at:
                waiting.setdefault(to, []).append(job)
        for kind in {to.kind for to in waiting}:
            self._find(kind, {to.key: found for to, found in waiting.items() if to.kind == kind})

    def _find(self, kind: int, waiting: dict[str, list[Job]]) -> None:
        from kafka_shell.admin.wire.codec import find_coordinators

        jobs = [job for each in waiting.values() for job in each]
        last = max(jobs, key=lambda job: job.deadline)
        until, extensible = last.deadline, last.extensible
        try:
            link = self._pool.any_link(until, extensible)
            who = self._pool.describe(link.address)
            version = versions.choose(_FIND_COORDINATOR, _VERSIONS, link.versions, who)
        except ShellError as error:
            for job in jobs:
                self._retries.on_unreachable(job, error)
            return
        request = find_coordinators(kind, list(waiting), version)
        finder = Job(Call(request, ANY, check=False), request, until, extensible)
        self._drive([finder])
        if finder.error is not None:
            for job in jobs:
                job.fail(finder.error)
            return
        for row in finder.result.coordinators:
            for job in waiting.get(row.key, ()):
                self._found(row, job)

    def _found(self, row: Any, job: Job) -> None:
        to = job.call.to
        assert isinstance(to, Coordinator)
        if not row.error_code:
            self._pool.coordinators[to] = row.node_id
        elif row.error_code in MOVED:
            self._retries.retry(job, error_name(row.error_code))
        else:
            about = str(to).partition(" of ")[2]
            job.fail(as_error(failure(row.error_code, row.error_message, about=about)))
