"""A new password keeps the iterations of the credential."""

from __future__ import annotations

import secrets

import pytest

from tests.support.program import Program


@pytest.mark.parametrize(
    ("line", "iterations"),
    [
        ("scram-credentials --add SCRAM-SHA-512 --username {user} --generate", 8192),
        ("scram-credentials --add SCRAM-SHA-512=[password=x] --username {user}", 8192),
        ("config-command --user {user} --alter --add-config SCRAM-SHA-512=[password=x]", 8192),
        ("scram-credentials --add SCRAM-SHA-256 --username {user} --generate", 4096),
        ("config-command --user {user} --alter"
         " --add-config SCRAM-SHA-512=[iterations=-1,password=x]", 4096),
    ],
)  # fmt: skip
def test_iterations_are_kept(kafka: Program, line: str, iterations: int) -> None:
    user = f"kept-{secrets.token_hex(4)}"
    kafka.ok("scram-credentials", "--add", "SCRAM-SHA-512=[iterations=8192,password=a]",
             "--username", user)  # fmt: skip
    words = line.format(user=user).split()
    kafka.ok(*words, "--yes")
    rows = kafka.ok("scram-credentials", "--describe", "--username", user, "--output", "json").json
    found = {row["mechanism"]: row["iterations"] for row in rows}
    assert found["SCRAM-SHA-256" if "SCRAM-SHA-256" in words else "SCRAM-SHA-512"] == iterations
