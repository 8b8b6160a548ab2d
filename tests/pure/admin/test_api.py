"""`kafka_shell.admin` as used by Python programs: the example of every family, threads, errors."""

from __future__ import annotations

import textwrap

import pytest

import kafka_shell.admin
from kafka_shell import Admin
from kafka_shell.admin import ShellError
from tests.api_reference import example_of, families


def test_every_public_name_can_be_imported() -> None:
    for name in kafka_shell.admin.__all__:
        assert getattr(kafka_shell.admin, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = kafka_shell.admin.Nothing


def test_examples_are_short_enough_to_read() -> None:
    lines = {family.__name__: len(textwrap.dedent(example_of(family)).splitlines())
             for family in families()}  # fmt: skip
    assert max(lines.values()) <= 25, lines


@pytest.mark.parametrize("properties", ["", "  ", {}, {"bootstrap.server": "127.0.0.1:1"}])
def test_without_bootstrap_servers_nothing_is_connected(properties: str | dict[str, str]) -> None:
    """Before: whatever ran at localhost:9092 was used."""
    with pytest.raises(ShellError, match=r"bootstrap\.servers is not set"):
        Admin(properties)
