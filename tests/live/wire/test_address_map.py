"""Brokers whose advertised addresses cannot be reached from here."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def test_broker_is_reached_at_mapped_address(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, "broker-1.invalid:9092")
    assert kafka("list-topics").status == 3
    kafka.ok("--address-map", f"*.invalid:9092={sandbox.bootstrap}", "list-topics")


def test_map_to_fill_in_names_each_broker(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, "broker-1.invalid:9092")
    first = f"broker-1.invalid:9092={sandbox.bootstrap}"
    assert kafka.ok("--address-map", first, "connect", "--discover").lines == [
        'bootstrap = "broker-1.invalid:9092"',
        "address-map = [",
        f'  "{sandbox.bootstrap}=HOST:PORT",  # broker 1',
        "]",
    ]


def test_error_names_both_addresses(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, "broker-1.invalid:9092")
    away = f"*.invalid:9092={sandbox.bootstrap}", f"{sandbox.bootstrap}=127.0.0.1:1"
    run = kafka("--address-map", away[0], "--address-map", away[1], "describe-log-dirs")
    assert run.status == 3 or "127.0.0.1:1" in run.stderr, str(run)
    assert f"({sandbox.bootstrap}) cannot be reached" in run.stderr, str(run)


def test_tls_verifies_advertised_name(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    secure = next(b.ports["SASL_SSL"] for b in secure_sandbox.brokers)
    client = secure_sandbox.folder / "clients" / "admin-ssl.properties"
    run = Program(tmp_path, f"broker-1.invalid:{secure}")(
        "--command-config", str(client), "--address-map", "*.invalid:*=127.0.0.1:{port}", "topics"
    )
    assert run.status == 3, str(run)
    assert "certificate" in run.stderr and "broker-1.invalid" in run.stderr, str(run)
