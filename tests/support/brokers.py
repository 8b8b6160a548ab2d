"""Sandboxes for tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions


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

    def running(self, folder: Path, brokers: int) -> Iterator[Sandbox]:
        """Yield a sandbox of so many brokers in the folder, and delete it."""
        template = self._folder / str(brokers)
        if not template.exists():
            start(SandboxOptions(template, brokers=brokers, port=0))
            stop(template)
        shutil.copytree(template, folder, dirs_exist_ok=True)
        yield from running(SandboxOptions(folder, brokers=brokers, port=0))
