"""Scripts from standard input and files run in order until a line fails."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program, Run
from tests.support.scripts import Script


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)


@pytest.fixture(params=["stdin", "file"])
def script(request: pytest.FixtureRequest, kafka: Program, tmp_path: Path) -> Script:
    """Runs a script one way or the other; `run.name` is what its errors call it."""
    path = tmp_path / "script.kafka"

    def run(text: str | bytes, *options: str) -> Run:
        raw = text.encode() if isinstance(text, str) else text
        if request.param == "stdin":
            return kafka(*options, stdin=raw)
        path.write_bytes(raw)
        keep = [option for option in options if option == "--keep-going"]
        rest = [option for option in options if option != "--keep-going"]
        return kafka(*rest, "source", str(path), *keep)

    run.place = "stdin" if request.param == "stdin" else str(path)  # type: ignore[attr-defined]
    return run


@pytest.fixture(scope="module")
def topic(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A topic to look at."""
    kafka = Program(tmp_path_factory.mktemp("home"), sandbox.bootstrap)
    name = f"script.{uuid.uuid4().hex[:8]}"
    kafka.ok("create-topic", name, "--partitions", "2")
    yield name
    kafka("delete-topic", name, "--yes", "--if-exists")


def test_the_lines_after_connect_are_for_that_cluster(
    script: Script, kafka: Program, old_sandbox: Sandbox, tmp_path: Path
) -> None:
    """Before: the cluster stayed the same, and they changed it."""
    name = f"script.{uuid.uuid4().hex[:8]}"
    run = script(f"connect {old_sandbox.bootstrap}\ncreate-topic {name}\n")
    assert run.status == 0, str(run)
    old = Program(tmp_path / "old", old_sandbox.bootstrap)
    old.ok("delete-topic", name, "--yes")
    assert kafka("list-topics", name).stdout == "", "it was created on the first cluster"
