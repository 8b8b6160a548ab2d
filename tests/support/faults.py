"""Helpers for tests of faults."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.program import Program, Run

ANSI = re.compile(r"\x1b[\[(\]]")


def create(cluster: Cluster, name: str) -> None:
    assert not apply(topic_changes.plan_create([NewTopic(name, 1)]), cluster).failures


def delete(cluster: Cluster, name: str) -> None:
    apply(topic_changes.plan_delete(cluster, [name]), cluster)


def exists(cluster: Cluster, name: str) -> bool:
    return name in metadata_scan.scan(cluster)


def refused(run: Run, status: int, *words: str) -> Run:
    """The run ended with this status, an error that holds the words, and a hint of what to do."""
    assert run.status == status, str(run)
    assert "error: " in run.stderr, str(run)
    for word in words:
        assert word in run.stderr, f"{word!r} is missed in\n{run}"
    assert "internal error in kafka.sh" not in run.stderr, str(run)
    return run


def hinted(run: Run) -> Run:
    """The error says what to do."""
    assert "hint: " in run.stderr, str(run)
    return run


def timed(program: Program, *argv: str) -> tuple[Run, float]:
    start = time.monotonic()
    return program(*argv), time.monotonic() - start


PASSWORD = "hunter2-is-not-it"


def no_secret_in(folder: Path, secret: str = PASSWORD) -> None:
    """No file below the folder holds it."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), f"{path} holds the password"


Terminal = Callable[..., "pexpect.spawn[str]"]


def ended(child: pexpect.spawn[str]) -> tuple[int | None, str]:
    """Wait for the end: status, and what was said since the last question."""
    child.expect(pexpect.EOF)
    text = " ".join((child.before or "").split())  # a terminal wraps
    child.close()
    assert "Traceback" not in text
    assert "internal error in kafka.sh" not in text
    return child.exitstatus, text


READS = "\x1b\\[\\?2004h"  # bracketed paste: the prompt reads from here on


def leave(child: pexpect.spawn[str]) -> str:
    """Wait for the prompt and leave by Ctrl-D; what was said until then."""
    child.expect(READS)
    before = child.before or ""
    child.sendeof()
    child.expect(pexpect.EOF)
    return before + (child.before or "")


def shell(kafka: Program, line: str, **environ: str) -> Run:
    """A line of /bin/sh in which $K is the program."""
    env = kafka.environment() | environ
    env["K"] = f"{sys.executable} -m kafka_shell --broker {kafka.broker}"
    done = subprocess.run(
        ["/bin/bash", "-c", line], env=env, capture_output=True, timeout=60, check=False
    )
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err
    return Run(("sh", line), done.returncode, out, err)
