"""Looks up the coordinators of groups and transactions (FindCoordinator, API key 10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from kafka_shell.errors import ShellError

from . import versions
from .failures import MOVED, as_error, error_name, failure
from .jobs import Job
from .pool import Pool
from .requests import ANY, Call, Coordinator
from .retries import Retries

_FIND_COORDINATOR = 10
_FIND_COORDINATOR_VERSIONS = (0, 6)
_LOWEST_VERSION = (0, 1)  # of FindCoordinator for each CoordinatorKind


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
        from .codec import find_coordinators, read_coordinators

        jobs = [job for each in waiting.values() for job in each]
        last = max(jobs, key=lambda job: job.deadline)
        until, extensible = last.deadline, last.extensible
        try:
            link = self._pool.any_link(until, extensible)
            ours = (_LOWEST_VERSION[kind], _FIND_COORDINATOR_VERSIONS[1])
            who = self._pool.describe(link.address)
            version = versions.choose(_FIND_COORDINATOR, ours, link.versions, who)
        except ShellError as error:
            for job in jobs:
                self._retries.on_unreachable(job, error)
            return
        requests = find_coordinators(kind, list(waiting), version)
        finders = [
            Job(Call(request, ANY, check=False), request, until, extensible) for request in requests
        ]
        self._drive(finders)
        for finder, name in zip(finders, waiting, strict=False):
            if finder.error is not None:
                keys = waiting if version >= 4 else {name: waiting[name]}
                for job in (job for key in keys for job in waiting[key]):
                    job.fail(finder.error)
                continue
            for key, node, code, message in read_coordinators(finder.result, name):
                self._found(kind, key, node, code, message, waiting.get(key, []))

    def _found(
        self, kind: int, key: str, node: int, code: int, message: str | None, jobs: list[Job]
    ) -> None:
        for job in jobs:
            to = job.call.to
            assert isinstance(to, Coordinator)
            if not code:
                self._pool.coordinators[to] = node
            elif code in MOVED:
                self._retries.retry(job, error_name(code))
            else:
                job.fail(as_error(failure(code, message, about=str(to).partition(" of ")[2])))
