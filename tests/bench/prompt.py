"""The prompt: how soon it can be typed at, and how soon a completion is there."""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

import pexpect
import pyte
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from kafka_shell.admin.connection import ConnectionConfig, parse_addresses
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Context, Paths
from kafka_shell.metadata.cache import Cache
from kafka_shell.settings import Settings
from kafka_shell.shell.completer import ShellCompleter

_PATIENCE_S = 20.0


def seconds_to_prompt(broker: str, home: Path) -> float:
    """From the start of the process until `kafka>` stands on the screen of a real terminal."""
    screen = pyte.Screen(120, 30)
    stream = pyte.ByteStream(screen)
    environ = {**os.environ, "KAFKA_SH_HOME": str(home), "TERM": "xterm-256color"}
    began = time.perf_counter()
    child = pexpect.spawn(
        sys.executable, ["-m", "kafka_shell", "--broker", broker], env=environ,
        dimensions=(30, 120), timeout=_PATIENCE_S,
    )  # fmt: skip
    screen.write_process_input = child.send  # type: ignore[method-assign]
    try:
        while not any(line.startswith("kafka") and ">" in line for line in screen.display):
            stream.feed(child.read_nonblocking(4096, timeout=_PATIENCE_S))
        return time.perf_counter() - began
    finally:
        child.sendcontrol("d")
        child.close(force=True)


def seconds_to_complete(broker: str, home: Path, topic: str, rounds: int) -> float:
    """The median time from `alter-configs TOPIC ret` to the candidates of the current view."""
    connection = ConnectionConfig(parse_addresses(broker))
    paths = Paths.of({"KAFKA_SH_HOME": str(home)})
    cache = Cache(connection, paths)
    completer = ShellCompleter(lambda: cache, REGISTRY, Context(Settings(connection), paths))
    document = Document(f"alter-configs {topic} ret")
    asked = CompleteEvent(completion_requested=True)
    try:
        until = time.monotonic() + _PATIENCE_S
        cache.refresh()
        while not list(completer.get_completions(document, asked)):
            if time.monotonic() > until:
                raise TimeoutError("the view never came")
            time.sleep(0.01)
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            offered = list(completer.get_completions(document, asked))
            times.append(time.perf_counter() - began)
            assert any("retention.ms" in each.text for each in offered)
        return statistics.median(times)
    finally:
        cache.close()
