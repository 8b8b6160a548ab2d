"""Values of Spark as they are printed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from kafka_shell.audit.query import _plain


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (Decimal("0E-18"), "0.000000000000000000"),
        (Decimal("1E+3"), "1000"),
        ([Decimal("1.50")], ["1.50"]),
        (date(2026, 1, 31), "2026-01-31"),
    ],
)
def test_value_is_printed_plainly(value: object, printed: object) -> None:
    assert _plain(value) == printed
