"""The commands on SCRAM credentials, their secrets, and the page of a user."""

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
    return f"s-{uuid4().hex[:8]}"


def held(program: Program, user: str) -> dict[str, int]:
    """The user's mechanisms and iterations."""
    run = program("scram-credentials", "--describe", "--username", user, "--output", "json")
    return {row["mechanism"]: row["iterations"] for row in run.json if "mechanism" in row}


def test_an_old_broker_has_credentials_too(old_sandbox: Sandbox, tmp_path: Path, user: str) -> None:
    program = Program(tmp_path, old_sandbox.bootstrap)
    program.ok("scram-credentials", "--add", "SCRAM-SHA-256,SCRAM-SHA-512", "--generate",
               "--username", user)  # fmt: skip
    assert held(program, user) == {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 4096}
    assert "SCRAM-SHA-512" in program.ok("describe-user", user).stdout
