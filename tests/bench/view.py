"""The view of a cluster: time to load, memory, and time of a key press.

Runs as a separate process, so that its memory can be measured:
`python -m tests.bench.view BROKER HOME TOPIC` prints one JSON object.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from kafka_shell.commands import REGISTRY
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.settings import Settings
from kafka_shell.shell.completer import ShellCompleter
from kafka_shell.shell.keys import reduce_latency
from kafka_shell.view.cache import Cache, read_topics
from kafka_shell.view.view import ClusterView
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.metadata_scan import MetadataScan, encode_request
from kafka_shell.wire.requests import RawRequest

_PATIENCE_S = 60.0
_ROUNDS = 300


def main(broker: str, home: str, topic: str) -> None:
    """Measure everything, the cheap things first."""
    connection = ConnectionConfig(parse_addresses(broker))
    found = {**_reading(connection), **_answering(connection, Path(home), topic)}
    sys.stdout.write(json.dumps(found) + "\n")


def _reading(connection: ConnectionConfig) -> dict[str, float]:
    with Cluster(connection) as cluster:
        version = 13
        request = RawRequest(3, (version, version), lambda _: encode_request(version, None), 9)
        body = cluster.send(request)
        scans = []
        for _ in range(5):
            began = time.perf_counter()
            scanned = MetadataScan(body, version)
            scans.append(time.perf_counter() - began)
        views = []
        for _ in range(3):
            began = time.perf_counter()
            view = read_topics(cluster, ClusterView(), 0.0)
            views.append(time.perf_counter() - began)
        partitions = scanned.partitions
        del view, scanned
        gc.collect()
        tracemalloc.start()
        view = read_topics(cluster, ClusterView(), 0.0)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        names = len(view.topics.value)
    return {
        "partitions": partitions,
        "topics": names,
        "response": len(body),
        "scan": min(scans),
        "view": sorted(views)[1],
        "view_bytes": held,
    }


def _answering(connection: ConnectionConfig, home: Path, topic: str) -> dict[str, float]:
    paths = Paths.of({"KAFKA_SH_HOME": str(home)})
    cache = Cache(connection, paths.cache)
    completer = ShellCompleter(
        lambda: cache, REGISTRY, Context(ClusterSession(Settings(connection)), paths)
    )
    asked = CompleteEvent(completion_requested=True)

    def press(text: str) -> float:
        began = time.perf_counter()
        list(completer.get_completions(Document(text), asked))
        return time.perf_counter() - began

    reduce_latency()
    try:
        cache.refresh()
        _until(lambda: bool(cache.view.read_at) and not cache.state.reading)
        times = sorted(press(text) for text in _typed(topic) for _ in range(3))
        quiet = times[int(len(times) * 0.99)]
        rest = _longest_wait()
        with _refreshing(cache):
            busy = _longest_wait()
        return {
            "completion_p99": quiet,
            "longest_wait": busy,
            "longest_wait_at_rest": rest,
        }
    finally:
        cache.close()


def _typed(topic: str) -> Iterator[str]:
    """Lines as they are typed: each prefix of a name, fragments, nothing, what is not there."""
    words = topic.split(".")
    yield from ("d", f"alter-configs {topic} reten", f"alter-configs {topic} x=1 ")
    yield f"alter-configs {topic},b --append cleanup.policy=compact retention.ms=7d segm"
    for end in range(len(topic) + 1):
        yield f"describe-topic {topic[:end]}"
    generator = random.Random(1)
    for _ in range(_ROUNDS // 3):
        word, other = generator.choice(words), generator.choice(words)
        yield f"describe-topic {word[:3]}.{other[:2]}"
        yield f"alter-configs {topic} {generator.choice(('ret', 'seg', 'min', ''))}"
    yield "describe-topic zzzz"
    yield "describe-topic e"


@contextmanager
def _refreshing(cache: Cache) -> Iterator[None]:
    """The view is read again and again."""
    over = threading.Event()

    def again() -> None:
        while not over.is_set():
            before = cache.view.read_at
            cache.refresh(frozenset({"topics"}))
            _until(lambda before=before: cache.view.read_at > before or over.is_set())  # type: ignore[misc]

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _longest_wait() -> float:
    """How long a thread that only wants to wake up each millisecond was kept from it."""
    longest = 0.0
    until = time.perf_counter() + 6.0
    while time.perf_counter() < until:
        began = time.perf_counter()
        time.sleep(0.001)
        longest = max(longest, time.perf_counter() - began - 0.001)
    return longest


def _until(holds: object) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not holds():  # type: ignore[operator]
        if time.monotonic() > until:
            raise TimeoutError("the view never came")
        time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
