"""Shells on real terminals, and a small cluster of this folder's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_shell.admin import topics
from kafka_shell.admin.connection import Cluster, ConnectionConfig, parse_addresses
from kafka_shell.carry_out import apply
from kafka_shell.nouns import NewTopic
from kafka_shell.sandbox import Sandbox

from .terminal import Terminal

Open = Callable[..., Terminal]


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    """Opens shells; each is closed at the end."""
    opened: list[Terminal] = []

    def open_(*arguments: str, **how: object) -> Terminal:
        terminal = Terminal(tmp_path, *arguments, **how)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield open_
    for terminal in opened:
        terminal.close()


@pytest.fixture(scope="session")
def bootstrap(sandbox: Sandbox) -> str:
    """The shared broker, with a few topics that only this folder's tests use."""
    where = f"localhost:{sandbox.brokers[0].ports['PLAINTEXT']}"
    with Cluster(ConnectionConfig(bootstrap=parse_addresses(where))) as cluster:
        there = topics.scan(cluster).names
        wanted = ("shell.orders", "shell.payments", "shell.clicks.raw")
        new = [NewTopic(name, 2, 1) for name in wanted if name not in there]
        assert apply(topics.plan_create(new), cluster).ok
    return where


@pytest.fixture
def shell(open_terminal: Open, bootstrap: str) -> Terminal:
    """A prompt on the shared broker, its view read."""
    terminal = open_terminal("--broker", bootstrap)
    terminal.sees("1 broker", "as of")
    return terminal
