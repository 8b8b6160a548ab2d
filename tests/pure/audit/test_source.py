"""The data source as used by a notebook, and the tasks that Spark receives."""

from __future__ import annotations

import pickle

import pytest
from pyspark.sql.datasource import EqualTo, GreaterThan, In, StringStartsWith

from kafka_shell.audit.source import KafkaReader, KafkaSource, record_batch
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import ClusterNames, ReadTask, Target, from_json, split, to_json

TARGETS = [Target(f"cluster-{number}") for number in range(50)]
WORKS = [
    ReadTask(target, ("topics",), tuple(f"topic-{slice}-{number:04}" for number in range(1000)))
    for target in TARGETS
    for slice in range(20)
]


@pytest.fixture
def reader() -> KafkaReader:
    """Of 50 clusters with 20,000 topics each."""
    options = {"table": "topics", "tasks": to_json(WORKS), "snapshot_id": "id"}
    source = KafkaSource(options)
    reader = source.reader(None)
    assert len(pickle.dumps(source)) < 1_000
    return reader


def test_a_time_that_python_cannot_represent_becomes_the_last_one() -> None:
    """A producer may send nanoseconds as the time of a record, which is milliseconds."""
    table = TABLES["partition_offsets"]
    now = 1_700_000_000_000
    row = tuple(
        now * 1_000_000 if column.name == "newest_record" else now if column.type == "time"
        else "a" if column.type == "string" else 1
        for column in table.all_columns
    )  # fmt: skip
    (found,) = record_batch(table, [row]).to_pylist()
    assert found["newest_record"].year == 9999, found
    assert found["collected_at"].year == 2023


def test_a_task_gets_its_own_slice_only(reader: KafkaReader) -> None:
    sent = len(pickle.dumps(reader))
    sizes = [sent + len(pickle.dumps(each)) for each in reader.partitions()]
    assert len(sizes) == len(WORKS)
    assert max(sizes) < 25_000, "about a thousand names"


def test_only_the_slices_of_the_cluster_and_topic_of_a_filter_are_read(
    reader: KafkaReader,
) -> None:
    wanted = [EqualTo(("cluster",), "cluster-7"), EqualTo(("topic",), "topic-3-0042"),
              GreaterThan(("partitions",), 3)]  # fmt: skip
    assert list(reader.pushFilters(wanted)) == wanted
    (one,) = reader.partitions()
    (work,) = from_json(one.value)
    assert (work.target.name, work.names) == ("cluster-7", ("topic-3-0042",))
    none = KafkaReader("topics", WORKS, (), "id")
    list(none.pushFilters([EqualTo(("topic",), "gone")]))
    assert none.partitions() == []


def test_lists_and_prefixes_limit_what_is_read(reader: KafkaReader) -> None:
    clusters = In(("cluster",), ("cluster-7", "cluster-8"))
    list(reader.pushFilters([clusters, StringStartsWith(("topic",), "topic-3-004")]))
    works = [work for each in reader.partitions() for work in from_json(each.value)]
    names = tuple(f"topic-3-004{digit}" for digit in range(10))
    assert [(work.target.name, work.names) for work in works] == [
        ("cluster-7", names), ("cluster-8", names)
    ]  # fmt: skip


def test_slices_have_about_as_many_partitions() -> None:
    topics = {f"t{number}": 1_000 for number in range(7)} | {"large": 50_000, "z": 1}
    tasks = split(Target("c"), ClusterNames(topics), {"topics": ["topics"]})
    assert [task.names for task in tasks] == [
        ("large",), ("t0", "t1", "t2"), ("t3", "t4", "t5"), ("t6", "z")
    ]  # fmt: skip
