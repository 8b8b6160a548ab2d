"""list-acls, alter-acls and check-acl from the command line."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def test_an_older_kafka_does_the_same(old_sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, old_sandbox.bootstrap)
    rule = "allow User:old Read,Write from 10.0.0.1 on prefixed topic orders."
    kafka.ok("alter-acls", "--add", rule)
    told = kafka.ok("list-acls", "--topic", "orders.x", "--principal", "User:old")
    assert [line.split()[-1] for line in told.lines[1:]] == ["10.0.0.1", "10.0.0.1"]
    words = ("check-acl", "--principal", "User:old", "--operation", "Write", "--topic", "orders.x")
    assert kafka.ok(*words, "--host", "10.0.0.1").lines[0].startswith("allowed")
    assert kafka(*words).status == 1
    kafka.ok("alter-acls", "--remove", "any User:old Any on any resource", "--yes")
    tokens = kafka("describe-tokens")
    assert (tokens.status, "SASL or TLS listener" in tokens.stderr) == (1, True)
