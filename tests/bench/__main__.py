"""Measures this program and comparable ones on real brokers of several sizes.

    python -m tests.bench [--sizes 100,1000,10000,100000] [--rounds 5]
    python -m tests.bench --records 1000000

Prints one table: measure, topics, ours, peer, ratio, goal, and whether it is met. Both are measured
alternately in the same run. Peers are kafka-python, Kafka's own tools, and kcat if installed.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import kafka_shell
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.stand_ins import topic_names
from tests.bench import prompt, records
from tests.bench.processes import Failed, contest, median, timed
from tests.bench.table import HEADINGS, MIB, RATE, Measure, line, show
from tests.support.jvm_tools import CONFIGS, tool_command

SIZES = (100, 1_000, 10_000, 100_000)
SCRIPT = 1_000  # commands
JVM, PYTHON, KCAT = "Kafka's tool", "kafka-python", "kcat"
TOPIC_TOOL = "org.apache.kafka.tools.TopicCommand"
# Every topic's configs by kafka-python, whose command line has no way to say "all".
THEIR_CONFIGS = """
import sys
from kafka.admin import KafkaAdminClient, ConfigResource
client = KafkaAdminClient(bootstrap_servers=sys.argv[1], request_timeout_ms=600000)
print(client.describe_configs([ConfigResource("TOPIC", name) for name in client.list_topics()]))
"""

# What export and diff read, and nothing else.
READING = """
import sys
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.section import StateRequest
with Cluster(ConnectionConfig(parse_addresses(sys.argv[1]))) as cluster:
    read_state(cluster, StateRequest(("topics", "acls")))
"""


def main() -> int:
    """Print the table; the exit status is 0 however fast anything was."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # its brokers must not outlive it
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="topics, by commas")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds of each contest")
    parser.add_argument("--records", type=int, help="read so many records instead")
    asked = parser.parse_args()
    sizes = [] if asked.records else [int(size) for size in asked.sizes.split(",")]
    compileall.compile_dir(Path(kafka_shell.__file__).parent, quiet=2)  # as the peers' are
    sys.stdout.write(f"{platform.platform()}, {os.cpu_count()} cores, Python"
                     f" {platform.python_version()}\n\n{line(HEADINGS)}\n")  # fmt: skip
    found = chain.from_iterable(_of_size(size, asked.rounds) for size in sizes)
    if asked.records:
        found = chain(found, records.measures(asked.records, asked.rounds))
    missed = [each for each in found if each.met is False]
    sys.stdout.write(f"\n{len(missed)} not met\n")
    return 0


def _of_size(size: int, rounds: int) -> Iterator[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        options = options_from(Path(folder) / "sandbox", port=0, topics=size)
        sandbox = start_with_data(options, lambda task, done, total: None, empty=True)
        try:
            bench = Bench(sandbox.bootstrap, Path(folder) / "home", size, rounds)
            for measures in (bench.starting, bench.listing, bench.describing, bench.configs,
                             bench.view, bench.prompt, bench.script, bench.state,
                             bench.changes):  # fmt: skip
                yield from map(show, measures())
        finally:
            wipe(sandbox.folder)


class Bench:
    """All measures on one broker."""

    def __init__(self, broker: str, home: Path, size: int, rounds: int) -> None:
        self.broker, self.home, self.size, self.rounds = broker, home, size, rounds
        self.topic = next(topic_names(1))
        self.large = size >= 10_000
        self.kcat_seconds: float | None = None  # once `listing` has run, where there is a kcat

    def ours(self, *words: str) -> list[str]:
        """A one-shot of ours."""
        return [sys.executable, "-m", "kafka_shell", "--broker", self.broker, *words]

    def theirs(self, *words: str) -> list[str]:
        """kafka-python's command line."""
        return [sys.executable, "-m", "kafka.admin", "-b", self.broker, *words]

    def jvm(self, tool: str, *words: str) -> list[str]:
        """One of Kafka's own tools."""
        return tool_command(tool, "--bootstrap-server", self.broker, *words)

    def kcat(self) -> list[list[str]]:
        """kcat's listing, where it is installed."""
        found = shutil.which("kcat") or shutil.which("kafkacat")
        return [[found, "-L", "-m", "60", "-b", self.broker]] if found else []

    def measure(self, name: str, ours: float, **more: object) -> Measure:
        """A row of this size."""
        return Measure(name, self.size, ours, **more)  # type: ignore[arg-type]

    def starting(self) -> Iterator[Measure]:
        """What needs no cluster, beside Python itself; a list on a small cluster."""
        if self.large:
            return
        line = f"kafka.sh --broker {self.broker} describe-topic {self.topic[:-2]}"
        tab = ["env", f"KAFKA_SH_HOME={self.home}", "KAFKA_SH_COMPLETE=bash", f"COMP_LINE={line}",
               f"COMP_POINT={len(line)}", sys.executable, "-m", "kafka_shell"]  # fmt: skip
        program = [sys.executable, "-m", "kafka_shell"]
        python, version, script, completed, topics = contest(
            max(self.rounds, 20), [sys.executable, "-c", "pass"], [*program, "--version"],
            [*program, "--completion", "bash"], tab, self.ours("topics"),
        )  # fmt: skip
        yield self.measure("python -c pass", python.seconds)
        yield self.measure("--version", version.seconds, goal=0.030)
        yield self.measure("--completion", script.seconds, goal=0.030)
        yield self.measure("Tab in bash", completed.seconds, goal=0.060)
        yield self.measure("topics", topics.seconds, goal=0.060)

    def listing(self) -> Iterator[Measure]:
        """`--list-topics` as a one-shot, beside everybody's."""
        ours, python, jvm, *kcat = contest(
            self.rounds, self.ours("--list-topics"), self.theirs("topics", "list"),
            self.jvm(TOPIC_TOOL, "--list"), *self.kcat(),
        )  # fmt: skip
        goal = 0.25 if self.large else 0.45
        yield self.measure("list-topics", ours.seconds, peer=python.seconds, peer_name=PYTHON,
                           goal=goal)  # fmt: skip
        yield self.measure("list-topics", ours.seconds, peer=jvm.seconds, peer_name=JVM,
                           goal=0.5 if self.size <= 10_000 else None)  # fmt: skip
        for each in kcat:
            self.kcat_seconds = each.seconds
            yield self.measure("list-topics", ours.seconds, peer=each.seconds, peer_name=KCAT,
                               goal=1.2 if self.size >= 100_000 else None)  # fmt: skip
        yield self.measure("list-topics, memory", ours.peak, unit=MIB, peer=python.peak,
                           peer_name=PYTHON)  # fmt: skip

    def describing(self) -> Iterator[Measure]:
        """One topic by name, and a filter over all."""
        ours, python, jvm = contest(
            self.rounds, self.ours("describe-topic", self.topic),
            self.theirs("topics", "describe", "-t", self.topic),
            self.jvm(TOPIC_TOOL, "--describe", "--topic", self.topic),
        )  # fmt: skip
        yield self.measure("describe-topic", ours.seconds, peer=python.seconds, peer_name=PYTHON,
                           goal=0.7)  # fmt: skip
        yield self.measure("describe-topic", ours.seconds, peer=jvm.seconds, peer_name=JVM)
        which = "--under-replicated-partitions"
        ours, jvm = contest(
            min(self.rounds, 3), self.ours("describe-topic", which),
            self.jvm(TOPIC_TOOL, "--describe", which),
        )  # fmt: skip
        yield self.measure("under-replicated partitions", ours.seconds, peer=jvm.seconds,
                           peer_name=JVM)  # fmt: skip

    def configs(self) -> Iterator[Measure]:
        """All configs of all topics."""
        ours = timed(self.ours("describe-configs", "*", "--all"))
        words = ("--describe", "--entity-type", "topics", "--all")
        peers = {
            PYTHON: [sys.executable, "-c", THEIR_CONFIGS, self.broker],
            JVM: self.jvm(CONFIGS, *words),
        }
        rate = self.size / ours.seconds
        for name, command in peers.items():
            try:
                peer = timed(command)
            except Failed:
                told = f"all configs a second ({name} fails)"
                yield self.measure(told, rate, unit=RATE)
                continue
            yield self.measure("all configs, topics a second", rate, unit=RATE,
                               peer=self.size / peer.seconds, peer_name=name)  # fmt: skip
            yield self.measure("all configs, memory", ours.peak, unit=MIB, peer=peer.peak,
                               peer_name=name)  # fmt: skip

    def view(self) -> Iterator[Measure]:
        """From bytes to a view, what it holds, completion, and what a refresh costs the prompt."""
        command = [sys.executable, "-m", "tests.bench.view", self.broker, str(self.home),
                   self.topic]  # fmt: skip
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        if self.kcat_seconds is not None:
            yield self.measure("reading the cluster to a view", found["view"],
                               peer=self.kcat_seconds, peer_name=KCAT, goal=1.5)  # fmt: skip
        yield self.measure("scan, a partition", found["scan"] / max(1, found["partitions"]),
                           unit="µs", goal=1e-6)  # fmt: skip
        yield self.measure("memory of the view", found["view_bytes"], unit=MIB,
                           peer=found["response"], peer_name="the response", goal=3.0)  # fmt: skip
        yield self.measure("completion, 99th percentile", found["completion_p99"], goal=0.010)
        yield self.measure("longest wait in a refresh", found["longest_wait"], goal=0.020)
        yield self.measure("longest wait at rest", found["longest_wait_at_rest"])

    def prompt(self) -> Iterator[Measure]:
        """The prompt in a terminal, on a disk cache that knows the names."""
        bare = median(self.rounds, lambda: timed([sys.executable, "-c",
                                                  "import prompt_toolkit"]).seconds)  # fmt: skip
        shown = median(self.rounds, lambda: prompt.seconds_to_prompt(self.broker, self.home))
        yield self.measure("start to prompt", shown, goal=0.150)
        yield self.measure("start to prompt", shown, peer=bare, peer_name="import prompt_toolkit")
        prompt.warm(self.broker, self.home, self.topic)
        names = median(
            self.rounds, lambda: prompt.seconds_to_names(self.broker, self.home, self.topic)
        )
        yield self.measure("first keys at the prompt", names, goal=0.3)
        held = prompt.idle_bytes(self.broker, self.home)
        yield self.measure("idle shell, memory", held, unit=MIB)

    def script(self) -> Iterator[Measure]:
        """A thousand commands on standard input, beside as many runs of a tool."""
        lines = "".join(f"describe-topic {self.topic}\n" for _ in range(SCRIPT)).encode()
        ours = timed(self.ours(), stdin=lines)
        (jvm,) = contest(10, self.jvm(TOPIC_TOOL, "--describe", "--topic", self.topic))
        (once,) = contest(10, self.ours("describe-topic", self.topic))
        rate = SCRIPT / ours.seconds
        yield self.measure("script, commands a second", rate, unit=RATE, peer=1 / jvm.seconds,
                           peer_name=JVM)  # fmt: skip
        yield self.measure("script, commands a second", rate, unit=RATE, peer=1 / once.seconds,
                           peer_name="our one-shots")  # fmt: skip

    def state(self) -> Iterator[Measure]:
        """export, and a diff without differences, with two ACLs a topic, beside reading alone."""
        if self.size > 10_000:
            return
        file = self.home / "state.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        only = ("--only", "topics,acls")  # the brokers of many topics are stand-ins
        rules = "[allow User:reader Read, allow User:writer Write]"
        acls = "".join(f"  topic {name}: {rules}\n" for name in topic_names(self.size))
        file.write_text(f"version: 1\nacls:\n{acls}")
        subprocess.run(self.ours("apply", str(file)), check=True, capture_output=True)
        file.write_bytes(
            subprocess.run(self.ours("export", *only), check=True, capture_output=True).stdout
        )
        reading, export, diff = contest(
            self.rounds, [sys.executable, "-c", READING, self.broker],
            self.ours("export", *only), self.ours("diff", str(file), *only),
        )  # fmt: skip
        for name, ours in (("export", export), ("diff", diff)):
            yield self.measure(name, ours.seconds, peer=reading.seconds,
                               peer_name="reading alone", goal=2.0)  # fmt: skip

    def changes(self) -> Iterator[Measure]:
        """As many topics again, created from a file, altered and deleted by a pattern."""
        if self.size != 10_000:
            return
        file = self.home / "topics.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        names = [f"bench.{number:05}" for number in range(self.size)]
        rows = "".join(f"{name},1001:1002:1003\n" for name in names)
        file.write_text(f"name,replica_assignment\n{rows}")
        yield self._changed("create", "create-topic", "--from-file", str(file))
        yield self._changed("alter", "alter-configs", "bench.*", "retention.ms=30d")
        yield self._changed("delete", "delete-topic", "bench.*")

    def _changed(self, verb: str, *words: str) -> Measure:
        taken = timed(self.ours(*words, "--yes"))
        return self.measure(f"{verb}, topics a second", self.size / taken.seconds, unit=RATE)


if __name__ == "__main__":
    sys.exit(main())
