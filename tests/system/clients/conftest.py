"""A cluster with the two topics, for tests that restart it and compact the topics."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.support.followed_clients import LOGGER, Store, followers, wire
from tests.support.waiting import wait_for

__all__ = ["wire"]


@pytest.fixture(scope="package")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 4.3, for clients that follow."""
    folder = tmp_path_factory.mktemp("clients")
    try:
        yield start(SandboxOptions(folder, port=0))
    finally:
        wipe(folder)


@pytest.fixture(scope="package")
def new_store(box: Sandbox) -> Iterator[Store]:
    # Soon back after the broker was.
    store = Store({"bootstrap_servers": box.bootstrap, "reconnect_backoff_max_ms": 500})
    store.make()
    yield store
    store.close()


@pytest.fixture
def old_store(old_sandbox: Sandbox) -> Iterator[Store]:
    """On the shared broker of 3.9: gone afterwards, for others test how it is made."""
    store = Store({"bootstrap_servers": old_sandbox.bootstrap})
    store.make()
    yield store
    store.delete()
    store.close()


@pytest.fixture
def store(new_store: Store) -> Iterator[Store]:
    yield new_store
    new_store.forget()


@pytest.fixture
def name() -> str:
    """A name that nobody has used: of a topic, a group, a client id."""
    return f"c-{uuid4().hex[:10]}"


@pytest.fixture
def topic(store: Store) -> str:
    return store.make_topic(f"t-{uuid4().hex[:10]}", 4)


@pytest.fixture(autouse=True)
def told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", LOGGER)


@pytest.fixture(autouse=True)
def no_follower_is_left() -> Iterator[None]:
    yield
    wait_for(f"no thread is left of {followers()}", lambda: not followers())
