"""Brokers that tests stop, kill and let hang, and that are as before at the end of each module.

The modules of a folder use the same brokers one after another. A module that does not leave them
whole and unchanged comes last in its folder.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.lending import Lender


@pytest.fixture(scope="module")
def three_brokers(lender: Lender) -> Iterator[Sandbox]:
    """Three brokers in three racks."""
    yield from lender.lend()


@pytest.fixture(scope="module")
def five_brokers(lender: Lender) -> Iterator[Sandbox]:
    """Five brokers, of which brokers 1 to 3 vote, in three racks."""
    yield from lender.lend()
