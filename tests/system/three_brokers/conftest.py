"""Three brokers for all modules of this folder, which no test harms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.support.brokers import running


@pytest.fixture(scope="package")
def three_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Three brokers in three racks."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("three"), brokers=3, port=0))
