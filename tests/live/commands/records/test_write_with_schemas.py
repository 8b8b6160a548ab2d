"""`write-record` with schemas of a registry: Confluent's deserializers read what was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
import requests
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from kafka_shell.admin.records.model import Record
from kafka_shell.admin.schemas.protobuf import _compiled
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.program import Program, Run
from tests.support.read_records import read_all
from tests.support.schema_registry import Registry

ORDER = {
    "type": "record", "name": "shop.Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "weight", "type": ["null", "double"]}],
}  # fmt: skip
JSON_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "type": "object",
    "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False,
}  # fmt: skip
PROTO = """
syntax = "proto3";
package shop;
message First { int32 x = 1; }
message Order {
  message Line { string article = 1; int64 pieces = 2; }
  map<string, int32> counts = 2;
  repeated Line lines = 3;
}
"""
Write = Callable[..., Run]


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return make_topic(cluster, f"orders-{uuid4().hex[:8]}")


@pytest.fixture
def write(kafka: Program, registry: Registry, tmp_path: Path, topic: str) -> Write:
    file = tmp_path / "client.properties"
    file.write_text(f"schema.registry.url={registry.url}\n")

    def run(*words: str, stdin: str = "") -> Run:
        return kafka("--command-config", str(file), "write-record", topic, *words, stdin=stdin)

    return run


@pytest.fixture
def client(registry: Registry) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry.url, "timeout": 10})


def last(cluster: Cluster, topic: str) -> Record:
    return read_all(cluster, topic)[-1]


def context(topic: str, part: str = MessageField.VALUE) -> SerializationContext:
    return SerializationContext(topic, part)


def versions(registry: Registry, subject: str) -> list[int]:
    response = requests.get(f"{registry.url}/subjects/{subject}/versions", timeout=10)
    found: list[int] = response.json() if response.ok else []
    return found


def test_avro_of_the_default_subject(
    write: Write, cluster: Cluster, registry: Registry, client: SchemaRegistryClient, topic: str
) -> None:
    number = registry.register(f"{topic}-value", ORDER)
    order = {"id": "o-1", "weight": 1.5}
    key = registry.register(f"{topic}-key", '"string"')
    run = write(json.dumps(order), "--value-format", "avro", "--key", '"k"', "--key-format", "avro")
    assert run.status == 0, str(run)
    record = last(cluster, topic)
    assert record.value is not None and record.key is not None
    assert record.value[:5] == b"\0" + number.to_bytes(4, "big")
    assert record.key == b"\0" + key.to_bytes(4, "big") + b"\x02k"
    assert AvroDeserializer(client)(record.value, context(topic)) == order
    assert AvroDeserializer(client)(record.key, context(topic, MessageField.KEY)) == "k"


def test_json_schema_of_an_id(
    write: Write, cluster: Cluster, registry: Registry, client: SchemaRegistryClient, topic: str
) -> None:
    number = registry.register(f"{topic}-other", JSON_SCHEMA, "JSON")
    run = write('{"id": "ö"}', "--value-format", "json-schema", "--schema", str(number))
    assert run.status == 0, str(run)
    read = JSONDeserializer(json.dumps(JSON_SCHEMA), schema_registry_client=client)
    assert read(last(cluster, topic).value, context(topic)) == {"id": "ö"}
    run = write('{"id": 5}', "--value-format", "json-schema", "--schema", str(number))
    assert run.status == 1
    assert "the value does not match its schema: id does not match 'type'" in run.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("First", {"x": 7}),
        ("shop.Order", {"counts": {"a": 1}, "lines": [{"article": "b", "pieces": "2"}]}),
        ("Order.Line", {"article": "b", "pieces": "2"}),
    ],
)
def test_protobuf_message(
    write: Write, cluster: Cluster, tmp_path: Path, topic: str, name: str, value: object
) -> None:
    file = tmp_path / "order.proto"
    file.write_text(PROTO)
    options = ("--value-format", "protobuf", "--schema", str(file), "--message-type", name)
    run = write(json.dumps(value), *options, "--yes")
    assert run.status == 0, str(run)
    pool = descriptor_pool.DescriptorPool()
    for each in descriptor_pb2.FileDescriptorSet.FromString(_compiled(PROTO, [])).file:
        pool.Add(each)
    kind = pool.FindMessageTypeByName(f"shop.{name.removeprefix('shop.')}")
    message = message_factory.GetMessageClass(kind)
    read = ProtobufDeserializer(message, {"use.deprecated.format": False})
    found = read(last(cluster, topic).value, context(topic))
    from google.protobuf import json_format

    assert json_format.MessageToDict(found) == value


def test_schema_of_a_file_is_registered_once(
    write: Write, cluster: Cluster, registry: Registry, client: SchemaRegistryClient,
    tmp_path: Path, topic: str,
) -> None:  # fmt: skip
    subject = f"{topic}-value"
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(ORDER))
    words = ('{"id": "a", "weight": null}', "--value-format", "avro", "--schema", str(file))
    run = write(*words)
    assert run.status == 2, str(run)
    assert "--yes" in run.stderr
    assert versions(registry, subject) == []
    dry = write(*words, "--dry-run")
    assert dry.status == 0, str(dry)
    assert f"+ subject {subject}\n" in dry.stdout and "version 1: AVRO" in dry.stdout
    assert versions(registry, subject) == []
    assert write(*words, "--yes").status == 0
    assert write(*words).status == 0, "no version is registered any more"
    assert versions(registry, subject) == [1]
    records = read_all(cluster, topic)
    assert len(records) == 2
    assert AvroDeserializer(client)(records[0].value, context(topic)) == {"id": "a", "weight": None}

    wider = ORDER | {"fields": [*ORDER["fields"], {"name": "n", "type": "int", "default": 0}]}
    file.write_text(json.dumps(wider))
    rows = tmp_path / "rows.json"
    rows.write_text(
        '{"value":{"id":"b","weight":2,"n":1}}\n{"value":{"id":"c","weight":3,"n":2}}\n'
    )
    options = ("--from-file", str(rows), "--value-format", "avro", "--schema", str(file))
    dry = write(*options, "--dry-run")
    assert f"subject {subject}" in dry.stdout
    assert "version 2: AVRO (irreversible)" in dry.stdout
    assert write(*options, "--yes").status == 0
    assert versions(registry, subject) == [1, 2]
    assert [
        AvroDeserializer(client)(each.value, context(topic))["id"]
        for each in read_all(cluster, topic)
    ] == ["a", "a", "b", "c"]


def test_incompatible_schema_is_not_registered(
    write: Write, cluster: Cluster, registry: Registry, tmp_path: Path, topic: str
) -> None:
    subject = f"{topic}-value"
    registry.register(subject, ORDER)
    requests.put(
        f"{registry.url}/config/{subject}", json={"compatibility": "BACKWARD"}, timeout=10
    ).raise_for_status()
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(ORDER | {"fields": [{"name": "must", "type": "long"}]}))
    run = write('{"must": 1}', "--value-format", "avro", "--schema", str(file), "--yes")
    assert run.status == 1, str(run)
    assert f"is not compatible with version 1 of {subject}" in run.stderr
    assert versions(registry, subject) == [1]
    assert not read_all(cluster, topic)


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        ("{}", ("--value-format", "avro"), "-value is not in the registry"),
        ("{}", ("--value-format", "avro", "--schema", "987654"), "987654 is not in the registry"),
        ("{}", ("--value-format", "avro", "--schema", "none.avsc"), "No such file"),
        ("{}", ("--schema", "x"), "--value-format"),
    ],
)
def test_schema_that_cannot_be_used(
    write: Write, value: str, options: tuple[str, ...], said: str
) -> None:
    run = write(value, *options)
    assert run.status
    assert said in run.stderr, run.stderr


def test_invalid_line_of_a_file(
    write: Write, cluster: Cluster, registry: Registry, tmp_path: Path, topic: str
) -> None:
    registry.register(f"{topic}-value", ORDER)
    lines = tmp_path / "values"
    lines.write_text('{"id":"a","weight":1}\n{"id":"s3cret"}\n')
    run = write("--from-file", str(lines), "--lines", "--value-format", "avro")
    assert run.status == 2, str(run)
    assert "values:2: the value does not match its schema: weight is missing" in run.stderr
    assert "s3cret" not in run.stderr
    assert not read_all(cluster, topic)


def test_what_was_read_is_written_again(
    write: Write, kafka: Program, cluster: Cluster, registry: Registry, tmp_path: Path, topic: str
) -> None:
    registry.register(f"{topic}-value", ORDER)
    assert write('{"id":"a","weight":1}', "--value-format", "avro").status == 0
    config = ("--command-config", str(tmp_path / "client.properties"))
    rows = kafka.ok(*config, "read-records", topic, "--output", "json").stdout
    file = tmp_path / "rows.json"
    file.write_text(rows.replace('"id":"a"', '"id":"edited"'))
    run = write("--from-file", str(file), "--value-format", "avro")
    assert run.status == 0, str(run)
    assert '"id":"edited"' in kafka.ok(*config, "peek", topic).stdout
    del cluster
