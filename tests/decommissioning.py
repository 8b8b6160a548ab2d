"""`decommission` in a process of its own, to be watched and interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shell.admin.cluster.read import registered
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from tests.admin.helpers import wait_for
from tests.program import Program

STOP_IT = "has no replicas left. Stop it now"


class Running:
    """A run, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self._folder = folder

    @property
    def out(self) -> str:
        return (self._folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self._folder / "err").read_text()

    def said(self, words: str, seconds: float = 60) -> None:
        """Wait until it has printed this on standard error."""

        def has() -> bool:
            assert words in self.err or self.process.poll() is None, self
            return words in self.err

        wait_for(f"it says {words!r}:\n{self}", has, seconds)

    def ended(self, seconds: float = 60) -> int:
        """Wait for the end, and return the status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"after {seconds:.0f} s it has not ended:\n{self}") from None

    def interrupt(self) -> int:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def __repr__(self) -> str:
        return f"{self.process.args!r}\nstdout:\n{self.out}\nstderr:\n{self.err}"


@contextmanager
def decommission(kafka: Program, line: str) -> Iterator[Running]:
    """A run of `decommission LINE --yes`, which is killed if it has not ended by itself."""
    folder = kafka.home / f"run-{len(list(kafka.home.glob('run-*')))}"
    folder.mkdir(parents=True)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, "decommission",
             *line.split(), "--yes"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=kafka.environment(),
        )  # fmt: skip
    try:
        yield Running(process, folder)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def held(cluster: Cluster, broker: int) -> list[str]:
    """The partitions with a replica on the broker."""
    found = scan(cluster)
    return [
        f"{name}:{each.partition}"
        for name in found.names
        for each in found.topic(name).partitions
        if broker in each.replicas
    ]


def is_cordoned(cluster: Cluster, broker: int) -> bool:
    return broker in log_dirs.cordoned(log_dirs.describe(cluster, [broker]))


def is_registered(cluster: Cluster, broker: int) -> bool:
    return broker in (registered(cluster) or ())


def dynamic_configs(cluster: Cluster, broker: int) -> dict[str, str | None]:
    """The dynamic configs of a running broker."""
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    found = configs.describe(cluster, [resource])
    assert found.ok, found.failures
    return {entry.name: entry.value for entry in found[resource] if entry.overridden}
