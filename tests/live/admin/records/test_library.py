"""`admin.records` as used by Python programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell import Admin
from kafka_shell.admin import CopyRequest, NewRecord, NewTopic, Position, TopicPartition
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import KEPT

SOURCE, TARGET = "library.source", "library.target"


@pytest.fixture(scope="module")
def admin(sandbox: Sandbox) -> Iterator[Admin]:
    with Admin(sandbox.bootstrap) as found:
        yield found


@pytest.fixture
def partitions(admin: Admin) -> Iterator[list[TopicPartition]]:
    """Three, with the records 0 to 29 in turns, at 1 ms to 30 ms."""
    topics = [NewTopic(name, partitions=3, configs=KEPT) for name in (SOURCE, TARGET)]
    assert admin.topics.plan_create(topics).apply().ok
    records = [
        NewRecord(b"%d" % number, b"v", partition=number % 3, timestamp=number + 1)
        for number in range(30)
    ]
    assert admin.records.plan_write(SOURCE, records, codec="lz4").apply().ok
    yield [TopicPartition(SOURCE, number) for number in range(3)]
    admin.topics.plan_delete([SOURCE, TARGET]).apply()


def test_records_are_read_in_order_while_other_calls_go_on(
    admin: Admin, partitions: list[TopicPartition]
) -> None:
    stream = admin.records.read(partitions, Position(offset=2), Position(time=25))
    keys = []
    for record in stream:
        assert admin.records.offsets([partitions[0]]).ok
        keys.append(int(record.key or b""))
    assert keys == list(range(6, 24))
    assert [int(record.key or b"") for record in stream] == keys, "it can be read again"
    assert stream.failures == {}


def test_the_last_records(admin: Admin, partitions: list[TopicPartition]) -> None:
    newest = admin.records.last(partitions, 4)
    assert [record.key for record in newest] == [b"26", b"27", b"28", b"29"]
    before = admin.records.last(partitions[:1], 1, Position(offset=3))
    assert [record.key for record in before] == [b"6"]


def test_what_cannot_be_read_is_told(admin: Admin, partitions: list[TopicPartition]) -> None:
    missing = TopicPartition("library.missing", 0)
    stream = admin.records.read([missing, partitions[0]], Position(offset=-5))
    assert len(list(stream)) == 10
    assert [(where, why.name) for where, why in stream.failures.items()] == [
        (missing, "UNKNOWN_TOPIC_OR_PARTITION")
    ]
    assert stream.warnings == [f"partition {SOURCE}:0 starts at offset 0, not -5"]


def test_a_stream_that_is_left_early_is_closed(
    admin: Admin, partitions: list[TopicPartition]
) -> None:
    records = iter(admin.records.read(partitions))
    assert next(records).key == b"0"
    records.close()  # type: ignore[attr-defined]
    assert next(records, None) is None


@pytest.mark.parametrize("from_another", [False, True], ids=["one cluster", "two clusters"])
def test_records_are_copied(
    admin: Admin,
    partitions: list[TopicPartition],
    from_another: bool,
    secure_sandbox: Sandbox,
) -> None:
    file = secure_sandbox.folder / "clients" / "admin-sasl-plaintext.properties"
    request = CopyRequest(SOURCE, TARGET, end=Position(offset=5), keep_timestamps=True)
    with Admin.from_file(file) as secure:
        target = secure if from_another else admin
        if from_another:
            assert (
                secure.topics.plan_create([NewTopic(TARGET, partitions=3, configs=KEPT)]).apply().ok
            )
        plan = target.records.plan_copy(request, source=admin if from_another else None)
        assert sum(change.records for change in plan.changes) == 15
        results = plan.apply()
        assert results.ok, results.failures
        copied = target.records.read([TopicPartition(TARGET, number) for number in range(3)])
        try:
            assert [record.key for record in copied] == [b"%d" % number for number in range(15)]
        finally:
            if from_another:
                secure.topics.plan_delete([TARGET]).apply()
