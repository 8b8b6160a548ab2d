"""When a broker process counts as ended, and its ports as free."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import psutil

from kafka_shell.sandbox.config import becomes_free, free_ports, is_free
from kafka_shell.sandbox.process import detach, is_running
from tests.support.waiting import wait_for

_MAIN_THREAD_ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_runs_until_its_last_thread_has_ended(tmp_path: Path) -> None:
    arguments = tmp_path / "java.arguments"
    arguments.touch()
    pid = detach([sys.executable, "-c", _MAIN_THREAD_ENDS, f"@{arguments}"], tmp_path / "log")
    process = psutil.Process(pid)
    wait_for("the main thread has ended", lambda: process.status() == psutil.STATUS_ZOMBIE)
    try:
        assert is_running(pid, arguments), "its main thread has ended, but not the other"
        os.utime(arguments, (0, 0))
        assert not is_running(pid, arguments), "it has the PID of one that was started long ago"
        os.utime(arguments)
    finally:
        os.kill(pid, signal.SIGKILL)
    wait_for("the process has ended", lambda: not is_running(pid, arguments))


def test_the_port_of_a_broker_that_has_just_ended_is_free() -> None:
    (port,) = free_ports(1)
    listening = socket.create_server(("127.0.0.1", port))
    assert not is_free(port)
    closing = threading.Timer(0.2, listening.close)
    closing.start()
    assert becomes_free(port)
    closing.join()


def test_a_port_that_is_in_use_does_not_become_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert not becomes_free(listening.getsockname()[1])
