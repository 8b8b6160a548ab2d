"""Lazy imports of kafka-python, each tested in a new process."""

from __future__ import annotations

import subprocess
import sys

import pytest

DEFERRED = "from kafka_shell.wire.lazy_kafka import defer; defer(); import sys; "


def printed(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_messages_are_imported_without_the_clients() -> None:
    code = "import sys, kafka.protocol.admin; print('kafka.producer' in sys.modules)"
    assert printed(DEFERRED + code) == "False"
    assert printed(code) == "True", "kafka-python does it itself by now"


@pytest.mark.parametrize(
    "code",
    [
        "from kafka import KafkaProducer; print(KafkaProducer.__name__)",
        "import kafka; print(kafka.KafkaProducer.__name__)",
        "import kafka.errors; from kafka import *; print(KafkaProducer.__name__)",
        "import kafka.protocol.admin, kafka; print(kafka.producer.KafkaProducer.__name__)",
        "from kafka import errors, KafkaProducer; print(KafkaProducer.__name__)",
    ],
)
def test_the_clients_are_there_when_they_are_used(code: str) -> None:
    assert printed(DEFERRED + code) == "KafkaProducer"


def test_a_name_that_is_not_there() -> None:
    code = "import kafka\ntry: kafka.nothing\nexcept AttributeError as error: print(error)"
    assert printed(f"{DEFERRED}\n{code}") == "module 'kafka' has no attribute 'nothing'"


def test_many_threads_at_once() -> None:
    code = """
from threading import Barrier, Thread
barrier, found = Barrier(16), []
def use():
    barrier.wait()
    from kafka.protocol.admin import DeleteTopicsRequest
    from kafka import KafkaConsumer, KafkaProducer
    found.append(KafkaProducer.__name__)
threads = [Thread(target=use) for _ in range(16)]
for each in threads: each.start()
for each in threads: each.join()
print(len(found))
"""
    assert printed(DEFERRED + code) == "16"
