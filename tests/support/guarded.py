"""Commands about a topic of a guarded cluster, and what they must not change."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.wire.cluster import Cluster
from tests.support.program import Program

GUARDS = ("confirm", "typed", "read-only")
ALTER = ("alter-configs", "{}", "segment.ms=1h")
DELETE = ("delete-topic", "{}")
Terminal = Callable[..., "pexpect.spawn[str]"]


def guarded_topic(cluster: Cluster) -> Iterator[str]:
    name = f"guarded.{uuid.uuid4().hex[:8]}"
    assert not apply(topic_changes.plan_create([NewTopic(name)]), cluster).failures
    yield name
    apply(topic_changes.plan_delete(cluster, [name]), cluster)


def guarded_program(home: Path, bootstrap: str) -> Program:
    """The program with a profile a guard: `confirm`, `typed`, `read-only`, and `free` without."""
    config = home / "config" / "config.toml"
    config.parent.mkdir()
    guards = {guard: guard for guard in GUARDS} | {"free": "none"}
    config.write_text(
        "".join(
            f'[profiles.{name}]\nbootstrap = "{bootstrap}"\nguard = "{guard}"\n'
            for name, guard in guards.items()
        )
    )
    return Program(home)


def terminals(kafka: Program) -> Iterator[Terminal]:
    """Runs one command in a pseudo-terminal."""
    children: list[pexpect.spawn[str]] = []

    def run(*argv: str) -> pexpect.spawn[str]:
        child = pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", *argv],
            env={**kafka.environment(), "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"},
            encoding="utf-8", timeout=20, dimensions=(40, 120),
        )  # fmt: skip
        children.append(child)
        return child

    yield run
    for child in children:
        child.close(force=True)


def words(command: tuple[str, ...], topic: str) -> list[str]:
    """A command about this topic."""
    return [word.format(topic) for word in command]


class State:
    """What must not change: the topic's configs, and that it is there; and the journal."""

    def __init__(self, kafka: Program, cluster: Cluster, topic: str) -> None:
        self._cluster, self._topic = cluster, topic
        self._journal = kafka.home / "state" / "journal"
        self._before = self.now()

    def now(self) -> tuple[object, object, str]:
        """The topic, its configs, and the text of the journal."""
        resource = ConfigResource(ResourceType.TOPIC, self._topic)
        read = configs.describe(self._cluster, [resource])
        assert not read.failures
        there = topics.describe(self._cluster, [self._topic])
        journal = "".join(path.read_text() for path in sorted(self._journal.glob("*/*")))
        return there, read, journal

    @property
    def same(self) -> bool:
        """Whether nothing was changed, and no change was even meant."""
        return self.now() == self._before
