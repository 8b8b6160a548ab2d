"""Start, stop, crash, restart and wipe a sandbox, and refused starts."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from kafka.admin import NewTopic

from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox import session
from kafka_shell.sandbox.cluster import (
    attach,
    exclusive_lock,
    in_use_by_others,
    leave,
    start,
    status,
    stop,
    wipe,
)
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.session import open_sandbox, start_with_data
from kafka_shell.sandbox.state import Sandbox, SandboxOptions, state_file
from tests.support.places import ROOT
from tests.support.sandbox_clients import admin
from tests.support.waiting import wait_for

START = """
import sys
from pathlib import Path
from kafka_shell.sandbox.cluster import start
from kafka_shell.sandbox.state import SandboxOptions
print(start(SandboxOptions(Path(sys.argv[1]), port=0)).brokers[0].pid)
"""

USE = """
import sys
from pathlib import Path
from kafka_shell.sandbox.cluster import leave
from kafka_shell.sandbox.cluster import attach
attachment = attach(Path(sys.argv[1]))
print("attached", flush=True)
sys.stdin.readline()
print(leave(attachment))
"""


def python(program: str, folder: Path) -> subprocess.Popen[str]:
    """Another process that uses the sandbox."""
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("josé 😀")  # Java reads properties as ISO-8859-1
    yield folder
    wipe(folder)


@pytest.fixture
def mine(folder: Path) -> Sandbox:
    """A sandbox that tests of this module may harm; it is up."""
    return start(SandboxOptions(folder, port=0))


def exists(pid: int) -> bool:
    """Whether the process lives; one that only waits for its parent to notice does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(sandbox: Sandbox) -> None:
    process = psutil.Process(sandbox.brokers[0].pid)
    process.kill()
    process.wait(60)


def test_data_survive_a_stop_and_a_log_that_is_about_to_be_rolled(mine: Sandbox) -> None:
    with admin(mine) as client:
        client.create_topics([NewTopic("kept", 1, 1)])
    stopped = stop(mine.folder)
    assert not stopped.running
    assert status(mine.folder) == stopped
    log = mine.brokers[0].log
    assert "shut down completely" in log.read_text()
    # Kafka rolls it at 10 MB, in the middle of what tells that the broker has started.
    with log.open("a") as file:
        file.write("[2026-01-01 00:00:00,000] INFO filler\n" * 270_000)
    assert log.stat().st_size > 9_900_000
    with admin(start(mine.options)) as client:
        assert "kept" in client.list_topics()
    assert log.with_name("server.log.previous").stat().st_size > 9_900_000


def test_a_killed_broker_is_noticed_and_started_again(mine: Sandbox) -> None:
    kill(mine)
    found = status(mine.folder)
    assert found is not None
    assert not found.running
    assert start(mine.options).running


def test_a_pid_that_another_process_took_is_stale(mine: Sandbox) -> None:
    stop(mine.folder)
    state = json.loads(state_file(mine.folder).read_text())
    state["brokers"][0]["pid"] = os.getpid()
    state_file(mine.folder).write_text(json.dumps(state))
    found = status(mine.folder)
    assert found is not None
    assert not found.running
    assert not stop(mine.folder).running


def test_it_outlives_the_process_that_started_it(mine: Sandbox) -> None:
    stop(mine.folder)
    starters = [python(START, mine.folder) for _ in range(2)]
    pids = {int(starter.communicate(timeout=60)[0]) for starter in starters}
    found = status(mine.folder)
    assert found is not None
    assert pids == {found.brokers[0].pid}
    stop(mine.folder)
    assert not exists(pids.pop())


def test_the_last_to_leave_stops_it(mine: Sandbox) -> None:
    other = python(USE, mine.folder)
    assert other.stdout is not None
    assert other.stdout.readline() == "attached\n"
    assert in_use_by_others(mine.folder)
    with attach(mine.folder) as attachment:
        assert in_use_by_others(mine.folder, attachment)
        assert not leave(attachment)
        assert start(mine.options) == mine
    assert other.communicate("\n", timeout=60)[0] == "True\n"
    assert not in_use_by_others(mine.folder)
    found = status(mine.folder)
    assert found is not None
    assert not found.running


def test_a_shell_that_dies_uses_nothing(mine: Sandbox) -> None:
    other = python(USE, mine.folder)
    assert other.stdout is not None
    assert other.stdout.readline() == "attached\n"
    other.send_signal(signal.SIGKILL)
    other.communicate()
    with attach(mine.folder) as attachment:
        assert not in_use_by_others(mine.folder, attachment)


def test_a_broker_that_cannot_start_says_why(mine: Sandbox) -> None:
    stop(mine.folder)
    identity = mine.brokers[0].folder / "data-b" / "meta.properties"
    text = identity.read_text()
    identity.write_text(text.replace(mine.cluster_id, "another-cluster"))
    try:
        with pytest.raises(ShellError, match="another-cluster") as refused:
            start(mine.options)
    finally:
        identity.write_text(text)
    assert str(mine.brokers[0].log) in refused.value.hint
    found = status(mine.folder)
    assert found is not None
    assert not found.running


def test_a_port_in_use_is_named_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ShellError, match=f"port {port} ") as refused:
            start(SandboxOptions(tmp_path, port=port))
    assert "--port" in refused.value.hint
    assert status(tmp_path) is None


def test_wipe_deletes_the_sandbox_and_nothing_else(mine: Sandbox) -> None:
    pid = mine.brokers[0].pid
    assert pid is not None
    notes = mine.folder / "node-notes"
    notes.touch()
    try:
        wipe(mine.folder)
        assert not exists(pid)
        assert status(mine.folder) is None
        assert {path.name for path in mine.folder.iterdir()} <= {"lock", "users", "node-notes"}
    finally:
        notes.unlink()


def test_wipe_needs_no_readable_state(mine: Sandbox) -> None:
    pid = mine.brokers[0].pid
    assert pid is not None
    state_file(mine.folder).write_text("{")
    with pytest.raises(ShellError, match="is not JSON") as refused:
        status(mine.folder)
    assert "wipe" in refused.value.hint
    wipe(mine.folder)
    assert not exists(pid)


FILL = """
import sys
from pathlib import Path
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.state import SandboxOptions
from kafka_shell.sandbox.session import start_with_data
def report(task, done, total):
    if task == "Creating demo data" and done == 5:
        print("without records", flush=True)
        sys.stdin.readline()
start_with_data(SandboxOptions(Path(sys.argv[1]), port=0), report)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_interrupted_is_not_left_for_use(
    folder: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    wipe(folder)
    starter = python(FILL, folder)
    assert starter.stdout is not None
    assert starter.stdout.readline() == "without records\n"
    starter.send_signal(number)
    starter.communicate()
    found = status(folder)
    assert found is not None and (found.filled, found.running) == (False, number == signal.SIGTERM)
    monkeypatch.setattr(session, "folder_of", lambda environ: folder)
    with pytest.raises(ShellError, match="not running"):
        session.reach({})


def test_an_interrupted_start_with_demo_data_is_repeated(folder: Path) -> None:
    wipe(folder)
    starter = python(FILL, folder)
    assert starter.stdout is not None
    assert starter.stdout.readline() == "without records\n"
    waiting: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(
            start_with_data,
            SandboxOptions(folder, port=0),
            lambda task, done, total: waiting.append(task),
        )
        wait_for("the other waits", lambda: waiting == ["Waiting for another shell"])
        starter.send_signal(signal.SIGKILL)
        starter.communicate()
        found = other.result(60)
    logs = found.brokers[0].folder.glob("data-?/orders.placed-*/*.log")
    assert any(log.stat().st_size for log in logs)
    made = found.brokers[0].folder.stat().st_mtime_ns
    assert start_with_data(found.options, no_report) == found
    assert found.brokers[0].folder.stat().st_mtime_ns == made


def test_one_that_another_shell_stops_meanwhile_is_stopped_in_the_end(mine: Sandbox) -> None:
    waiting: list[str] = []

    def use() -> None:
        with open_sandbox(
            mine.options, keep=False, report=lambda task, done, total: waiting.append(task)
        ) as (found, _):
            assert found.running

    with ThreadPoolExecutor(1) as pool:
        with exclusive_lock(mine.folder):
            using = pool.submit(use)
            wait_for("it waits", lambda: waiting == ["Waiting for another shell"])
            kill(mine)
        using.result(60)
    found = status(mine.folder)
    assert found is not None
    assert not found.running


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    with pytest.raises(ShellError, match="is not empty and not a sandbox: it contains clients"):
        start(SandboxOptions(tmp_path, port=0))
    wipe(tmp_path)
    assert (tmp_path / "clients").is_dir()


def test_wipe_removes_links_but_not_their_targets(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "sandbox", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    state_file(folder).write_text("{}")
    (folder / "clients").symlink_to(elsewhere)
    (folder / "node-1").mkdir()
    (folder / "node-1" / "data").symlink_to(elsewhere)
    (folder / "tls").symlink_to(tmp_path / "gone")
    wipe(folder)
    assert {path.name for path in folder.iterdir()} <= {"lock", "users"}
    assert (elsewhere / "kept").exists()


def test_an_interrupted_start_is_repeated(folder: Path) -> None:
    wipe(folder)
    starter = python(START, folder)
    formatting = folder / "node-1" / "format.args"
    wait_for("it is formatted", formatting.exists)
    starter.send_signal(signal.SIGKILL)
    starter.communicate()
    assert status(folder) is None
    assert start(SandboxOptions(folder, port=0)).running


def test_a_folder_has_many_names(mine: Sandbox, tmp_path: Path) -> None:
    other_name = tmp_path / "link"
    other_name.symlink_to(mine.folder)
    assert start(SandboxOptions(other_name, port=0)) == mine
    assert status(other_name) == mine


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"brokers": 0}, "at least 1"),
        ({"kafka_version": "2.8"}, r"Kafka 2\.8"),
        ({"port": 70000}, "70000"),
        ({"port": 65535, "secure": True}, "65535"),
    ],
)
def test_invalid_options_are_rejected(
    tmp_path: Path, options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ShellError, match=complaint):
        start(SandboxOptions(tmp_path / "new", **{"port": 0} | options))
