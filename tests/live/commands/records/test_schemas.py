"""`read-records` and `copy-records` with a schema registry in the client properties."""

from __future__ import annotations

import io
import json
from pathlib import Path
from uuid import uuid4

import fastavro
import pytest

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.delete import plan_delete
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.write import Writer
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.program import Program
from tests.support.read_records import read_all
from tests.support.schema_registry import Registry, message

ORDER = {
    "type": "record",
    "name": "shop.Parcel",
    "fields": [{"name": "id", "type": "string"}, {"name": "weight", "type": "double"}],
}
MISSING = 987_654


def avro(value: dict[str, object]) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(ORDER), value)
    return stream.getvalue()


@pytest.fixture
def parcels(cluster: Cluster, registry: Registry, name: str) -> str:
    """Two messages of a schema, and one whose schema does not exist."""
    topic = make_topic(cluster, name)
    number = registry.register(f"{topic}-value", ORDER)
    values = [message(number, avro({"id": f"p-{n}", "weight": n / 2})) for n in (1, 5)]
    values.append(message(MISSING, b"\xff"))
    written = Writer(cluster, topic).write({0: [NewRecord(None, value) for value in values]})
    assert all(each.failure is None for each in written)
    return topic


@pytest.fixture
def name() -> str:
    return f"parcels-{uuid4().hex[:8]}"


@pytest.fixture
def options(registry: Registry, tmp_path: Path) -> tuple[str, str]:
    file = tmp_path / "client.properties"
    file.write_text(f"schema.registry.url={registry.url}\n")
    return "--command-config", str(file)


def test_messages_are_decoded_and_a_missing_schema_is_named(
    kafka: Program, options: tuple[str, str], parcels: str
) -> None:
    run = kafka.ok(*options, "read-records", parcels, "--output", "json")
    first, second, third = map(json.loads, run.stdout.splitlines())
    assert (first["value"], second["value"]) == (
        {"id": "p-1", "weight": 0.5}, {"id": "p-5", "weight": 2.5},
    )  # fmt: skip
    assert "value_base64" in third
    assert f"schema {MISSING} is not in the registry" in run.stderr
    assert '"weight":2.5' in kafka.ok(*options, "peek", parcels).stdout


def test_conditions_see_the_fields_of_messages(
    kafka: Program, options: tuple[str, str], parcels: str
) -> None:
    heavy = ("--where", "value.weight>2")
    assert kafka.ok(*options, "read-records", parcels, *heavy, "--count").stdout == "1\n"
    kafka.ok("create-topic", f"{parcels}.heavy")
    kafka.ok(*options, "copy-records", parcels, "--to-topic", f"{parcels}.heavy", *heavy)
    assert kafka.ok("read-records", f"{parcels}.heavy", "--count").stdout == "1\n"


def test_conditions_that_cannot_be_evaluated_are_failures(
    kafka: Program, cluster: Cluster, tmp_path: Path, name: str
) -> None:
    """Without the registry it is not known which messages match."""
    make_topic(cluster, name, 2)
    make_topic(cluster, f"{name}.to", 2)
    text = [NewRecord(None, b'{"weight":%d}' % n) for n in range(3)]
    Writer(cluster, name).write({0: text, 1: [NewRecord(None, message(17, b"\x06abc"))]})
    file = tmp_path / "client.properties"
    file.write_text("schema.registry.url=http://127.0.0.1:9\n")
    for operator, count in ((">1", 1), ("!=1", 2)):
        options = ("--command-config", str(file), "--where", f"value.weight{operator}")
        for words in (("read-records", name, "--count"), ("copy-records", name, "--to-topic",
                                                          f"{name}.to")):  # fmt: skip
            run = kafka(*words, *options)
            assert run.status == 1, str(run)
            said = f"partition {name}:1: the condition on the value at offset 0 cannot be evaluated"
            assert said in run.stderr and "schema 17 cannot be read" in run.stderr, str(run)
        copied = read_all(cluster, f"{name}.to", 2)
        assert len(copied) == count and {each.partition for each in copied} == {0}
        done(plan_delete(cluster, {TopicPartition(f"{name}.to", 0): LATEST}), cluster)


def test_without_a_registry_a_format_with_schemas_is_refused(kafka: Program) -> None:
    run = kafka("read-records", "orders", "--value-format", "avro")
    assert run.status == 2, str(run)
    assert "requires a schema registry" in run.stderr
