"""Sandboxes for tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.state import Sandbox

Start = Callable[[SandboxOptions, Callable[[str, int, int | None], None]], Sandbox]


def running(options: SandboxOptions) -> Iterator[Sandbox]:
    """Yield a new sandbox, and delete it."""
    try:
        yield start(options)
    finally:
        wipe(options.folder)


class Templates:
    """Sandboxes that were started once and stopped, and are copied for modules of tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def running(self, folder: Path, brokers: int, first: Start = start) -> Iterator[Sandbox]:
        """Yield a sandbox of so many brokers in the folder, and delete it. `first` starts the one
        that is copied."""
        template = self._folder / f"{first.__name__}-{brokers}"
        if not template.exists():
            first(SandboxOptions(template, brokers=brokers, port=0), no_report)
            stop(template)
        shutil.copytree(template, folder, dirs_exist_ok=True)
        yield from running(SandboxOptions(folder, brokers=brokers, port=0))
