"""Sandboxes for tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from kafka_shell.common.structs import replace
from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.state import Sandbox

Start = Callable[[SandboxOptions], Sandbox]


def running(options: SandboxOptions, begin: Start = start) -> Iterator[Sandbox]:
    """Yield a sandbox that runs, and delete it."""
    try:
        yield begin(options)
    finally:
        wipe(options.folder)


class Templates:
    """Sandboxes that were started once, stopped, and are copied for each module that wants one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def copy(self, options: SandboxOptions, begin: Start = start) -> Sandbox:
        """A sandbox with these options, made by copying."""
        template = self._folder / "-".join(
            (begin.__name__, options.kafka_version, str(options.brokers), str(options.secure))
        )
        if not template.exists():
            begin(replace(options, folder=template))
            stop(template)
        shutil.copytree(template, options.folder, dirs_exist_ok=True)
        return start(options)
