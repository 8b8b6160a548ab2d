"""The commands on quotas: entities, values, errors, formats, and undo."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


@pytest.fixture(scope="module")
def program(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"), sandbox.bootstrap)


@pytest.fixture
def user() -> str:
    return f"q-{uuid4().hex[:8]}"


def test_an_old_broker_has_quotas_too(old_sandbox: Sandbox, tmp_path: Path, user: str) -> None:
    program = Program(tmp_path, old_sandbox.bootstrap)
    program.ok("alter-quotas", "--user", user, "--client-id-default", "producer_byte_rate=5MB/s")
    assert "5MB/s" in program.ok("describe-quotas", "--user", user).stdout
    assert "5MB/s *" in program.ok("resolve-quota", "--user", user).stdout
