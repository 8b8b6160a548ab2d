"""What all tests share: a fixed order, fixed examples, and clean ends.

The folder of a test is its tier: `pure` needs no broker, `live` uses one that no test harms, and
`system` is everything else: a module has its own cluster or borrows one.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from kafka.cluster import ClusterMetadata

from kafka_shell.sandbox import config as ports
from kafka_shell.sandbox.cluster import attach, exclusive_lock, leave, wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.in_process_shell import Shell
from tests.support.program import Program

# The same examples in every run; `scripts/check.sh --explore` draws new ones.
_EXAMPLES: dict[str, Any] = {
    "max_examples": 60, "deadline": None, "suppress_health_check": [HealthCheck.too_slow],
}  # fmt: skip
settings.register_profile("explore", **_EXAMPLES)
settings.register_profile("fixed", **_EXAMPLES, derandomize=True, database=None)
settings.load_profile("fixed")
_SHARING = (
    "live/audit", "system/clients", "system/outages/cluster", "system/outages/five",
    "system/outages/partitions", "system/outages/records", "system/outages/wire", "system/shell",
    "system/three_brokers",
)  # fmt: skip
# With the default, 700, garbage collections take a third of the time of loading the tests, and a
# sixth of running most of them.
gc.set_threshold(100_000, 20, 100)
# Clients of kafka-python do not pass theirs on: a topic that a test deletes would be created again
# by the next metadata request of a client that used it.
ClusterMetadata.DEFAULT_CONFIG["allow_auto_create_topics"] = False


def pytest_configure() -> None:
    """End the session properly when it is terminated, so that its brokers are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated"))
    # A shell ignores SIGINT for what it starts in the background, and nohup SIGHUP; programs would
    # inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:  # what is down for a moment must not lose its port to another worker's broker
        first = ports.CANDIDATES.start + 2000 * int(worker.removeprefix("gw"))
        ports.CANDIDATES = range(first, first + 2000)


def pytest_collection_finish() -> None:
    """Exclude the tests themselves from garbage collections."""
    gc.collect()
    gc.freeze()


def _shared_folder(nodeid: str) -> str:
    """The folder of a test whose files share what takes long to start, or nothing."""
    return next((folder for folder in _SHARING if nodeid.startswith(f"tests/{folder}/")), "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes one worker longest, so that no worker ends long after the others."""
    items.sort(key=lambda item: not _shared_folder(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole files, or the whole folder if its files share what takes long to
    start: a session of Spark, several brokers."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _shared_folder(nodeid) or str(super()._split_scope(nodeid))

    return Files(config, log)


# -- fixtures of several tiers, on the tier's own brokers ------------------------------------------


@pytest.fixture(scope="session")
def demo_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker with the demo company on it, for all workers. Tests only look at it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "demo"
    starting = folder.with_name("demo-starting")  # its lock is held until the data is complete
    with exclusive_lock(starting):
        attachment = attach(folder)
        sandbox = start_with_data(SandboxOptions(folder, port=0), no_report)
    yield sandbox
    with exclusive_lock(starting):
        if leave(attachment):
            wipe(folder)


@pytest.fixture
def name() -> str:
    """A name that nobody has used."""
    return f"t-{uuid4().hex[:10]}"


@pytest.fixture
def chance(pytestconfig: pytest.Config) -> Random:
    """Random numbers: the same in every run, and others with `scripts/check.sh --explore`."""
    return Random(pytestconfig.getoption("hypothesis_seed") or 7)


@pytest.fixture
def nowhere(tmp_path: Path) -> Program:
    """The program with no broker named."""
    return Program(tmp_path / "home")


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """A topic of one partition."""
    return make_topic(cluster, name)


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    """The program, with the broker as its --broker."""
    return Program(tmp_path, sandbox.bootstrap)


@pytest.fixture
def shell(sandbox: Sandbox, tmp_path: Path) -> Shell:
    """Lines on the broker, in this process."""
    return Shell(tmp_path, sandbox.bootstrap)
