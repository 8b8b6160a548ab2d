"""Terminals in which the program runs."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.faults import Terminal, create, delete
from tests.support.program import Program


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic to look at."""
    name = f"fault.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic that may be lost."""
    name = f"fault.victim.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def terminal(kafka: Program) -> Iterator[Terminal]:
    """Runs the program in a pseudo-terminal."""
    children: list[pexpect.spawn[str]] = []

    def run(*argv: str, rows: int = 40, columns: int = 120, **environ: str) -> pexpect.spawn[str]:
        child = pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", "--broker", kafka.broker, *argv],
            env={**kafka.environment(), "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1", **environ},
            encoding="utf-8", timeout=20, dimensions=(rows, columns),
        )  # fmt: skip
        children.append(child)
        return child

    yield run
    for child in children:
        child.close(force=True)


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)
