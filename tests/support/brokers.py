"""Sandboxes for tests."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions


def running(options: SandboxOptions) -> Iterator[Sandbox]:
    """Yield a new sandbox, and delete it."""
    try:
        yield start(options)
    finally:
        wipe(options.folder)
