"""Quota limits as text: exact in both directions, or an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS
from kafka_shell.base.errors import ShellError
from kafka_shell.base.units import format_number, format_quota, parse_quota

KEYS = st.sampled_from((*CLIENT_QUOTAS, *IP_QUOTAS))
LIMITS = st.one_of(
    st.integers(1, 1 << 62).map(float), st.floats(min_value=5e-324, allow_infinity=False)
)


@given(KEYS, LIMITS)
def test_formatted_limits_parse_to_the_same_limit(key: str, value: float) -> None:
    assert parse_quota(key, format_quota(key, value)) == value
    assert parse_quota(key, format_number(value)) == value


def test_byte_rates_have_the_unit_of_bytes() -> None:
    assert [format_quota("producer_byte_rate", value) for value in (1.0, 1.5)] == ["1B/s", "1.5B/s"]
    assert format_quota("controller_mutation_rate", 1.5) == "1.5/s"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("producer_byte_rate", "10MB/s", 1e7),
        ("producer_byte_rate", "1.5MiB", 1572864.0),
        ("consumer_byte_rate", "1024", 1024.0),
        ("producer_byte_rate", "1.5B/s", 1.5),
        ("producer_byte_rate", "1.5 B", 1.5),
        ("request_percentage", "0.1%", 0.1),
        ("request_percentage", " 200 ", 200.0),
        ("controller_mutation_rate", "2.5/s", 2.5),
        ("connection_creation_rate", "1e3", 1000.0),
    ],
)
def test_parse_quota(key: str, text: str, value: float) -> None:
    assert parse_quota(key, text) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("producer_byte_rate", "10Mb/s"), ("producer_byte_rate", "1.0001kB"),
        ("producer_byte_rate", ""), ("producer_byte_rate", "nan"), ("producer_byte_rate", "50%"),
        ("request_percentage", "inf"), ("request_percentage", "1e999"),
        ("request_percentage", "10/s"), ("request_percentage", "5B"), ("producer_byte_rate", "B"),
        ("controller_mutation_rate", "5MB/s"),
        ("producer_byte_rate", str((1 << 53) + 1)),
    ],
)  # fmt: skip
def test_invalid_or_inexact_limits(key: str, text: str) -> None:
    with pytest.raises(ShellError) as caught:
        parse_quota(key, text)
    assert key in caught.value.message or text in caught.value.message
