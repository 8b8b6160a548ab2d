"""What the banner says of a sandbox: only of one that runs at the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.sandbox import process
from kafka_shell.sandbox.state import Broker, Sandbox, about, save, state_file
from kafka_shell.wire.endpoint import parse_addresses


@pytest.mark.parametrize(
    ("address", "runs", "told"),
    [
        ("127.0.0.1:9092", True, "sandbox, Kafka 4.3.1"),
        ("localhost:9093", True, "sandbox, Kafka 4.3.1"),
        ("localhost:9092", False, ""),
        ("127.0.0.1:9094", True, ""),
        ("kafka.example:9092", True, ""),
    ],
)
def test_a_sandbox_is_named_while_it_runs(
    address: str, runs: bool, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path.resolve() / "sandbox"
    folder.mkdir()
    nodes = tuple(
        Broker(id, "rack-a", {"PLAINTEXT": 9091 + id}, None, folder / f"node-{id}", 4711)
        for id in (1, 2)
    )
    save(Sandbox(folder, "4.3.1", "id", False, (), nodes))
    monkeypatch.setattr(process, "is_running", lambda pid, arguments: runs and pid == 4711)
    environ = {"KAFKA_SH_HOME": str(tmp_path)}
    assert about(environ, parse_addresses(address)) == told
    state_file(folder).write_text("{")
    assert about(environ, parse_addresses(address)) == "", "damaged"
    assert about({"KAFKA_SH_HOME": str(folder)}, parse_addresses(address)) == "", "none"
