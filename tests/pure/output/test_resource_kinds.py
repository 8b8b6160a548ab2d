"""Which command shows the result of a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafka_shell.base.plans import Change, Resource
from kafka_shell.output.humanize import count_kinds
from kafka_shell.output.resource_kinds import KINDS, command_after, command_for, title_of
from kafka_shell.view import parts
from kafka_shell.view.view import PARTS


@pytest.mark.parametrize(
    ("resource", "field", "command"),
    [
        (Resource("topic", "orders"), "", "describe-topic orders"),
        (Resource("topic", "orders"), "partitions", "describe-topic orders"),
        (Resource("topic", "orders"), "retention.ms", "describe-configs orders"),
        (Resource("partition", "orders:0"), "", "describe-topic orders"),
        (Resource("partition", "orders:0"), "leader", "describe-topic orders"),
        (Resource("replica", "orders:0 on broker 1"), "log directory", "describe-log-dirs"),
        (Resource("broker-default"), "log.retention.ms", "describe-configs --broker-default"),
        (Resource("group", "g"), "", "list-groups"),
        (Resource("group", "g"), "consumer.session.timeout.ms", "describe-configs --group g"),
        (Resource("group-offsets", "g"), "orders:0", "describe-group g --offsets"),
        (Resource("user", "alice"), "producer_byte_rate", "describe-quotas"),
        (Resource("user", "alice"), "SCRAM-SHA-256", "describe-user alice"),
        (Resource("acl", "allow User:bob Read on topic orders"), "", "list-acls"),
    ],
)
def test_the_command_that_shows_how_a_change_ended(
    resource: Resource, field: str, command: str
) -> None:
    assert command_after([Change(resource, "alter", field, "1", "2")]) == command


def test_the_offsets_show_whether_records_were_written() -> None:
    for resource in (Resource("topic", "orders"), Resource("partition", "orders:3")):
        assert command_after([Change(resource, "write", "line 1")]) == "list-offsets orders"


def test_resources_are_counted_in_words() -> None:
    for kind in KINDS:
        counted = count_kinds([Resource(kind, "1"), Resource(kind, "2")])
        assert "-" not in counted.replace("cluster-wide", ""), counted
    pairs = {"logger": "brokers", "log-dirs": "brokers", "partition-offsets": "partitions",
             "group-members": "groups", "effective-quota": "effective quotas"}  # fmt: skip
    for kind, counted in pairs.items():
        assert count_kinds([Resource(kind, "1"), Resource(kind, "2")]) == f"2 {counted}"


def test_a_group_that_looks_like_a_pattern_is_named_by_its_option() -> None:
    assert command_for(Resource("group", "a.b*")) == "describe-group --group 'a.b*'"
    assert command_for(Resource("group", "a b")) == "describe-group 'a b'"
    assert title_of(Resource("group-offsets", "")) == "offsets of group ''"


def test_many_topics_are_listed() -> None:
    topics = [Change(Resource("topic", f"t{number}"), "create") for number in range(11)]
    assert command_after(topics[:2]) == "describe-topic t0,t1"
    assert command_after(topics) == "list-topics --long"
    assert command_after([]) == ""


def _readers(sources: Sequence[Any]) -> set[Any]:
    """What a part is read with: a reader, or pairs of a reader and what makes names of it."""
    return {source[0] if isinstance(source, tuple) else source for source in sources}


SOURCES = {part: _readers(sources) for part, sources in parts._SOURCES.items()}
SINGLE = {part: next(iter(each)) for part, each in SOURCES.items() if len(each) == 1}


def test_a_change_reloads_every_part_of_the_view_that_is_read_from_the_same() -> None:
    parts = {"topics", "brokers", *PARTS}
    for kind in KINDS.values():
        touched = set(kind.touches.split())
        assert touched <= parts, f"{kind.name} touches what the view does not have"
        for part in touched & {*SINGLE}:
            also = {name for name, readers in SOURCES.items() if SINGLE[part] in readers}
            assert also <= touched, f"{kind.name} touches {part}"
    assert set(KINDS["acl"].touches.split()) == {"principals", "users"}
