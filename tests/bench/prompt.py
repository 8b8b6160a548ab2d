"""The prompt in a real terminal: time until it is shown, and until the first key has an effect."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import psutil
import pyte

_PATIENCE_S = 60.0
_READ = re.compile(r" topics  as of \d")  # the toolbar, once the cluster was read


class Terminal:
    """The shell in a terminal of 120 by 30."""

    def __init__(self, broker: str, home: Path) -> None:
        self._screen = pyte.Screen(120, 30)
        self._stream = pyte.ByteStream(self._screen)
        environ = {**os.environ, "KAFKA_SH_HOME": str(home), "TERM": "xterm-256color"}
        self._child = pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", "--broker", broker], env=environ,
            dimensions=(30, 120), timeout=_PATIENCE_S,
        )  # fmt: skip
        self._child.delaybeforesend = None  # pexpect waits 50 ms before it answers
        self._screen.write_process_input = self._child.send  # type: ignore[method-assign]

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.sendcontrol("u")
        self._child.sendcontrol("d")
        self._child.close(force=True)

    @property
    def bytes(self) -> int:
        """What the process holds in memory."""
        held: int = psutil.Process(self._child.pid).memory_info().rss
        return held

    def type(self, text: str) -> None:
        """Press keys."""
        self._child.send(text)

    def until(self, holds: Callable[[list[str]], bool]) -> float:
        """Seconds until the screen shows it."""
        began = time.perf_counter()
        while not holds(self._screen.display):
            self._stream.feed(self._child.read_nonblocking(65536, timeout=_PATIENCE_S))
        return time.perf_counter() - began


def seconds_to_prompt(broker: str, home: Path) -> float:
    """From the start of the process until `kafka>` stands on the screen."""
    began = time.perf_counter()
    with Terminal(broker, home) as terminal:
        terminal.until(_prompt)
        return time.perf_counter() - began


def seconds_to_names(broker: str, home: Path, topic: str) -> float:
    """From the prompt, on a disk cache that knows the topics, until typing offers one."""
    stem = topic[:-2]
    with Terminal(broker, home) as terminal:
        terminal.until(_prompt)
        terminal.type(f"describe-topic {stem}")
        return terminal.until(lambda lines: any(topic in line for line in lines))


def idle_bytes(broker: str, home: Path) -> int:
    """The memory of a shell that has read the cluster."""
    with Terminal(broker, home) as terminal:
        terminal.until(lambda lines: any(_READ.search(line) for line in lines))
        return terminal.bytes


def warm(broker: str, home: Path, topic: str) -> None:
    """Let a session read the cluster and keep its names on disk."""
    with Terminal(broker, home) as terminal:
        terminal.until(_prompt)
        terminal.type(f"describe-topic {topic[:-2]}")
        terminal.until(lambda lines: any(topic in line for line in lines))
        time.sleep(1.0)  # the names are written after they are shown


def _prompt(lines: list[str]) -> bool:
    return any(line.startswith("kafka") and ">" in line for line in lines)
