"""Real Kafka clusters, each started when first used and shared by all test modules."""

from __future__ import annotations

import ast
import gc
import os
import signal
from collections.abc import Generator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from kafka.cluster import ClusterMetadata

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox import ports
from kafka_shell.sandbox.cluster import leave, start, stop, wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.sharing import attach, exclusive_lock
from kafka_shell.sandbox.state import Sandbox
from tests.support import shared_cluster
from tests.support.changes import connect
from tests.support.in_process_shell import Shell
from tests.support.program import Program

if TYPE_CHECKING:
    from tests.support.reassigned_topics import Filled
    from tests.support.schema_registry import Registry

# A slow machine is no failure; what is generated differs from run to run.
settings.register_profile(
    "tests", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")
# With the default, 700, garbage collections take a third of the time of loading the tests, and a
# sixth of running most of them.
gc.set_threshold(100_000, 20, 100)
# Clients of kafka-python do not pass theirs on: a topic that a test deletes would be created again
# by the next metadata request of a client that used it.
ClusterMetadata.DEFAULT_CONFIG["allow_auto_create_topics"] = False


def pytest_configure() -> None:
    """End the session properly when it is terminated, so that its brokers are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated"))
    # A shell ignores SIGINT for what it starts in the background, and programs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:  # what is down for a moment must not lose its port to another worker's broker
        first = ports.CANDIDATES.start + 2000 * int(worker.removeprefix("gw"))
        ports.CANDIDATES = range(first, first + 2000)


def pytest_collection_finish() -> None:
    """Exclude the tests themselves from garbage collections."""
    gc.collect()
    gc.freeze()


# Clusters that are dear to start, the dearest first.
_DEAR = ("five_brokers", "three_brokers", "secure_sandbox", "demo_sandbox")
# Tests of audits in processes of their own; the others share a Spark session.
_OWN_SPARK = tuple(
    f"tests/audit/test_{name}.py" for name in ("distributed", "fleet", "server", "submit")
)
# What takes longest is begun first, so that the workers end at about the same time.
_LONGEST = (
    "five_brokers", "tests/audit", "three_brokers", "demo_sandbox", "tests/clients",
    "secure_sandbox", "tests/audit/test_server.py", "tests/audit/test_fleet.py",
    "tests/faults/test_scale.py", "tests/shell/test_terminal.py", "tests/faults/test_streams.py",
    "tests/sandbox/test_lifecycle.py", "tests/sandbox/test_command.py",
    "tests/sandbox/test_demo.py",
    "tests/commands/program/test_undo.py", "tests/commands/state/test_state.py",
)  # fmt: skip


@cache
def _mentions(file: str) -> dict[str, set[str]]:
    """What each function of a file names: the fixtures that it uses are among that."""
    text = (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
    functions = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    automatic = {
        each.name
        for each in functions
        if any("autouse=True" in ast.unparse(decorator) for decorator in each.decorator_list)
    }
    return {
        function.name: automatic
        | {
            str(getattr(node, "id", None) or getattr(node, "arg", None) or node.value)
            for node in ast.walk(function)
            if isinstance(node, ast.Name | ast.arg | ast.Constant)
        }
        for function in functions
    }


def _together(nodeid: str) -> str:
    """Which tests one worker runs, so that what is dear is started once: those that use the same
    cluster, all that share a Spark session, all of a folder with a cluster of its own, or what else
    is in this file."""
    file, _, test = nodeid.partition("::")
    folder = file.rpartition("/")[0]
    found = set[str]()
    look = {test.partition("[")[0]}
    while look:
        found |= look
        look = {each for name in look for each in _mentions(file).get(name, ())} - found
    if folder == "tests/audit" and file not in _OWN_SPARK:
        return folder
    if found & {"three", "kafka_on_three", "filled"}:
        return "three_brokers"
    if found & {"five", "kafka_on_five"}:
        return "five_brokers"
    own = folder if folder == "tests/clients" else file
    return next((cluster for cluster in _DEAR if cluster in found), own)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Stop the three or five brokers of a worker after the last test that uses them: idle, they
    use a twentieth of two cores. Clusters of one broker are used by tests of several groups."""
    yield  # after the last test of all, fixtures have removed them
    group = _together(item.nodeid)
    if group in ("five_brokers", "three_brokers") and os.environ.get("PYTEST_XDIST_WORKER"):
        sandbox = getattr(item, "funcargs", {}).get(group)
        if sandbox and nextitem and _together(nextitem.nodeid) != group:
            stop(sandbox.folder)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file, and files that share a cluster, are run by one worker."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            waiting = [scope for scope in reversed(_LONGEST) if scope in self.workqueue]
            for scope in waiting:
                self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

    return Together(config, log)


def _running(
    folder: Path, *, version: str = "4.3", brokers: int = 1, secure: bool = False
) -> Iterator[Sandbox]:
    try:
        yield start(SandboxOptions(folder, version, brokers, port=0, secure=secure))
    finally:
        wipe(folder)


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 4.3, no login."""
    yield from _running(tmp_path_factory.mktemp("sandbox"))


@pytest.fixture(scope="session")
def demo_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 4.3 with the demo company on it, for all workers. Tests only look at
    it."""
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


@pytest.fixture(scope="module")
def own_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A demo company of the module's own, which its tests may change."""
    folder = tmp_path_factory.mktemp("own-demo")
    try:
        yield start_with_data(SandboxOptions(folder, port=0), no_report)
    finally:
        wipe(folder)


@pytest.fixture(scope="session")
def secure_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 4.3 that clients must log in to."""
    yield from _running(tmp_path_factory.mktemp("secure"), secure=True)


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Apicurio Registry, empty at first. Tests register schemas of their own subjects."""
    from tests.support.schema_registry import running_registry

    with running_registry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry


@pytest.fixture(scope="session")
def three_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Three brokers of Kafka 4.3 in three racks. A test that stops one brings it back."""
    yield from _running(tmp_path_factory.mktemp("three"), brokers=3)


@pytest.fixture(scope="session")
def five_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Five brokers of Kafka 4.3, of which brokers 1 to 3 vote, in three racks."""
    yield from _running(tmp_path_factory.mktemp("five"), brokers=5)


@pytest.fixture
def five(five_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to the five brokers. Those that a test removes are back after it."""
    with connect(five_brokers) as cluster:
        before = shared_cluster.state(cluster)
        yield cluster
        shared_cluster.start_all(five_brokers)
        shared_cluster.uncordon(cluster)  # a cordoned broker is never well again
        shared_cluster.restore(five_brokers, before)


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        sandbox = getattr(item, "funcargs", {}).get("three_brokers")
        if sandbox is not None:
            report.sections.append(
                ("the last of each broker's log", shared_cluster.last_logged(sandbox))
            )
    return report


@pytest.fixture(scope="session")
def state_of_three(three_brokers: Sandbox) -> Mapping[str, str]:
    """The state that every test of the three brokers begins and ends with."""
    with connect(three_brokers) as cluster:
        return shared_cluster.state(cluster)


@pytest.fixture(autouse=True)
def three_are_left_well(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test did to the three brokers is over when the next one starts, or it is this test
    that has an error."""
    if "three_brokers" not in request.fixturenames:
        yield
        return
    sandbox = request.getfixturevalue("three_brokers")
    before = request.getfixturevalue("state_of_three")
    yield
    left = shared_cluster.restore(sandbox, before)
    if left and not request.node.stash.get(_FAILED, False):
        pytest.fail("this test left behind, for others to fall over:\n  " + "\n  ".join(left))


@pytest.fixture(scope="session")
def old_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 3.9, no login."""
    yield from _running(tmp_path_factory.mktemp("old"), version="3.9")


# -- a client of each, unless a module has its own -------------------------------------------------


@pytest.fixture(scope="session")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    """A connection to the shared broker of Kafka 4.3."""
    with connect(sandbox) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def three(three_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to the three brokers."""
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    """The program, with the shared broker as its --broker."""
    return Program(tmp_path, sandbox.bootstrap)


@pytest.fixture
def kafka_on_three(three_brokers: Sandbox, three: Cluster, tmp_path: Path) -> Iterator[Program]:
    """The program, with the three brokers as its --broker. What it moves does not stay."""
    from tests.support import reassigned_topics

    yield Program(tmp_path / "home", three_brokers.bootstrap)
    reassigned_topics.restore(three)


@pytest.fixture
def kafka_on_five(five_brokers: Sandbox, tmp_path: Path) -> Program:
    """The program, with the five brokers as its --broker."""
    return Program(tmp_path / "home", five_brokers.bootstrap)


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, three: Cluster) -> Filled:
    """Topics on brokers 1 and 2 of three, with so much in them that a slow move is held."""
    from tests.support.reassigned_topics import Filled

    return Filled(three_brokers, three)


@pytest.fixture
def shell(sandbox: Sandbox, tmp_path: Path) -> Shell:
    """Lines on the shared broker, in this process."""
    return Shell(tmp_path, sandbox.bootstrap)
