"""No test of the live tier can harm a broker that others use."""

from __future__ import annotations

import re

from tests.support.places import ROOT

_HARMS = re.compile(
    r"from tests\.support\.(outages|frozen_process|sandbox_brokers) import|own_broker"
)


def test_a_live_test_stops_no_broker() -> None:
    files = sorted((ROOT / "tests" / "live").rglob("*.py"))
    assert [str(file) for file in files if _HARMS.search(file.read_text())] == []
