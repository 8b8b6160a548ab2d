"""Time to read records of one partition, compared with kcat and Kafka's console consumer."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions
from tests.bench.processes import contest
from tests.bench.table import Measure, show
from tests.support.jvm_tools import tool_command

TOPIC, SMALL = "bench.records", "bench.ten"
SIZE = 100  # bytes of a value
WANTED = 10  # records that the condition finds
KCAT, JVM = "kcat", "console consumer"
_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"


def measures(count: int, rounds: int) -> Iterator[Measure]:
    """Rows as they are measured, on a broker of their own."""
    with tempfile.TemporaryDirectory() as folder:
        options = SandboxOptions(Path(folder) / "sandbox", port=0)
        sandbox = start(options)
        try:
            _fill(sandbox.bootstrap, TOPIC, count)
            _fill(sandbox.bootstrap, SMALL, 10)
            yield from map(show, _measure(sandbox.bootstrap, count, rounds))
        finally:
            wipe(sandbox.folder)


def _fill(broker: str, topic: str, count: int) -> None:
    """JSON of 100 bytes; `kind` is "rare" in 10 of the records."""
    step = max(1, count // WANTED)
    lines = bytearray()
    for number in range(count):
        kind = "rare" if number % step == step // 2 else "plain"
        head = f'{{"id":{number},"kind":"{kind}","text":"'
        lines += f'{head.ljust(SIZE - 2, "x")}"}}\n'.encode()
    create = [sys.executable, "-m", "kafka_shell", "--broker", broker, "create-topic", topic,
              "--partitions", "1"]  # fmt: skip
    subprocess.run(create, check=True, capture_output=True)
    command = tool_command(_PRODUCER, "--bootstrap-server", broker, "--topic", topic)
    subprocess.run(command, input=bytes(lines), check=True, capture_output=True)


def _measure(broker: str, count: int, rounds: int) -> Iterator[Measure]:
    def ours(*words: str) -> list[str]:
        return [sys.executable, "-m", "kafka_shell", "--broker", broker, "read-records", *words]

    def theirs(most: int) -> list[str]:
        return tool_command(
            _CONSUMER, "--bootstrap-server", broker, "--topic", TOPIC, "--from-beginning",
            "--max-messages", str(most),
        )  # fmt: skip

    def kcat(*words: str) -> list[str]:
        return [shutil.which("kcat") or "", "-b", broker, "-C", "-t", TOPIC, "-e", "-q", *words]

    def peers(name: str, command: Sequence[str], others: dict[str, list[str]],
              goals: dict[str, float]) -> Iterator[Measure]:  # fmt: skip
        found = {peer: words for peer, words in others.items() if words[0]}
        mine, *times = contest(rounds, command, *found.values())
        for peer, each in zip(found, times, strict=True):
            yield Measure(name, count, mine.seconds, peer=each.seconds, peer_name=peer,
                          goal=goals.get(peer))  # fmt: skip

    everything = (TOPIC, "--from", "earliest")
    yield from peers("raw values", ours(*everything, "--raw"),
                     {KCAT: kcat(), JVM: theirs(count)}, {KCAT: 2.0})  # fmt: skip
    yield from peers("rows of JSON", ours(*everything, "--output", "json"),
                     {KCAT: kcat("-J")}, {})  # fmt: skip
    grep = ["sh", "-c", f'{" ".join(kcat())} | grep \'"kind":"rare"\''] if kcat()[0] else [""]
    yield from peers(f"{WANTED} of them, --where", ours(TOPIC, "--where", "value.kind=rare"),
                     {f"{KCAT} | grep": grep}, {})  # fmt: skip
    yield from peers("counted", ours(TOPIC, "--count"), {KCAT: kcat()}, {})
    yield from peers("the first record", ours(*everything, "--raw", "--limit", "1"),
                     {KCAT: kcat("-c", "1"), JVM: theirs(1)}, {JVM: 0.2})  # fmt: skip
    yield from peers("peek", ours(TOPIC), {"peek of a topic with 10": ours(SMALL)},
                     {"peek of a topic with 10": 1.2})  # fmt: skip
