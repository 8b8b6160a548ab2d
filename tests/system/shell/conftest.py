"""Shells on real terminals, and a small cluster for these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.terminal import Open, Terminal


@pytest.fixture(scope="package")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker of this folder's own: what a screen shows depends on how many topics there are."""
    folder = tmp_path_factory.mktemp("shell")
    try:
        sandbox = start(SandboxOptions(folder, port=0))
        where = f"localhost:{sandbox.brokers[0].ports['PLAINTEXT']}"
        with Cluster(ConnectionConfig(bootstrap=parse_addresses(where))) as cluster:
            new = [NewTopic(f"shell.{name}", 2, 1) for name in ("orders", "payments", "clicks.raw")]
            assert apply(topic_changes.plan_create(new), cluster).ok
        yield where
    finally:
        wipe(folder)


@pytest.fixture
def shell(open_terminal: Open, bootstrap: str) -> Terminal:
    """A prompt on the shared broker, its view read."""
    terminal = open_terminal("--broker", bootstrap)
    terminal.sees("1 broker", "as of")
    return terminal
