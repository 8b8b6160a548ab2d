"""Each connection failure has its own error, without a delay and without secrets."""

from __future__ import annotations

import pytest

from tests.support.faults import PASSWORD, hinted, refused
from tests.support.program import Program


@pytest.mark.parametrize("broker", ["host:bar", "host:99999", "host:0", ":9092", "[::1"])
def test_no_address(nowhere: Program, broker: str) -> None:
    run = refused(nowhere("--broker", broker, "list-topics"), 2, "--broker", "host:port")
    hinted(run)


def test_a_mistyped_option_beside_a_password(nowhere: Program) -> None:
    login = f'x.PlainLoginModule required username="alice" password="{PASSWORD}";'
    run = nowhere("list-topics", "--adminclient-property", f"sasl.jaas.config={login}", "--nope")
    assert run.status == 2
    assert PASSWORD not in run.stderr, "the line is shown, its secret is not"
