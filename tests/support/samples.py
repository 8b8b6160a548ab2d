"""Models to render, and writers that record their output."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.base.outcome import ChangeResult, Outcome
from kafka_shell.base.plans import Advice, Change, Effect, Following, Plan, Resource, Step
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import fields
from kafka_shell.base.units import ConfigType
from kafka_shell.commands import render_module
from kafka_shell.output.tables import Renderers
from kafka_shell.output.text import Text
from kafka_shell.output.writer import Writer
from kafka_shell.wire.model import Partition, Topic, TopicSummary

ORDERS = ConfigResource(ResourceType.TOPIC, "orders")
BROKER = ConfigResource(ResourceType.BROKER, "1")
TOPIC = Topic(
    "orders",
    "VtX0mX9HSZ2p1J8mG7qk3A",
    False,
    (
        Partition("orders", 0, 1, 5, (1, 2, 3), (1, 2, 3)),
        Partition("orders", 1, 3, 5, (2, 3, 1), (3, 1)),
        Partition("orders", 2, None, 6, (3, 1, 2), (), (3, 1, 2)),
    ),
)
SUMMARIES = (
    TopicSummary("orders", "VtX0mX9HSZ2p1J8mG7qk3A", False, 6, 3, 1, max_replication_factor=3),
    TopicSummary(
        "__consumer_offsets", "BtX0mX9HSZ2p1J8mG7qk3A", True, 50, 3, max_replication_factor=3
    ),
)
GONE = Failure("UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic-partition.", 3)


def entry(
    name: str,
    value: str | None,
    source: ConfigSource = ConfigSource.DEFAULT,
    resource: ConfigResource = ORDERS,
    **more: Any,
) -> ConfigEntry:
    return ConfigEntry(resource, name, value, source, **more)


ENTRIES = (
    entry("cleanup.policy", "compact", ConfigSource.DYNAMIC_TOPIC, type=ConfigType.LIST),
    entry("retention.ms", "604800000", type=ConfigType.LONG),
    entry("segment.bytes", "1073741824", ConfigSource.STATIC_BROKER, type=ConfigType.INT),
)


@dataclass(frozen=True)
class FakeStep:
    """A step that only says what it would change."""

    changes: tuple[Change, ...]
    validates: bool = False

    def resolved(self, cluster: Any) -> FakeStep:
        return self

    def reread(self, cluster: Any) -> FakeStep:
        return self

    def shown(self, cluster: Any) -> set[Change]:
        return set()

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        return Results({change: change for change in self.changes})


def plan_of(effect: Effect, steps: Sequence[Step], **values: Any) -> Plan:
    """A plan with these values of its fields, or of the fields of its parts."""
    parts: dict[str, Any] = {
        name: part(**{field: values.pop(field) for field in fields(part) if field in values})
        for name, part in (("following", Following), ("advice", Advice))
    }
    return Plan(effect, tuple(steps), **parts, **values)


def plan(*changes: Change, **more: Any) -> Plan:
    return plan_of(Effect.CHANGE, (FakeStep(changes),) if changes else (), **more)


def validated(*changes: Change, **more: Any) -> Plan:
    return plan_of(Effect.CHANGE, (FakeStep(changes, validates=True),), **more)


def outcome(made: Plan, *statuses: str, **more: Any) -> Outcome:
    failure = Failure("POLICY_VIOLATION", "No.", 44)
    done = [
        ChangeResult(change, status, failure if status == "failed" else None)
        for change, status in zip(made.changes, statuses, strict=True)
    ]
    return Outcome(made, tuple(done), **more)


def topic(name: str) -> Resource:
    return Resource("topic", name)


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


RENDERERS = Renderers(render_module)


def writer(format: str = "table", *, tty: bool = False, **more: Any) -> Writer:
    out = Tty() if tty else io.StringIO()
    return Writer(out, io.StringIO(), format, renderers=RENDERERS, **more)


def drawn(value: object, format: str = "table", **more: Any) -> str:
    """What a value looks like on standard output."""
    made = writer(format, **more)
    made.write(value)
    return out_of(made)


def out_of(made: Writer) -> str:
    assert isinstance(made.out.stream, io.StringIO)
    return made.out.stream.getvalue()


def err_of(made: Writer) -> str:
    assert isinstance(made.err.stream, io.StringIO)
    return made.err.stream.getvalue()


def plain(lines: Any) -> str:
    """Lines of Text as characters."""
    return "\n".join(line.plain.rstrip() if isinstance(line, Text) else line for line in lines)
