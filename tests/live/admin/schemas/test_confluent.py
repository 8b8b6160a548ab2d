"""Messages of Confluent's serializers."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.support.schema_registry import Registry, connected, decoded

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "lines", "type": {"type": "array", "items": ["null", "long"]}},
    ],
}
JSON_SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "string"}},
}
PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message First { int32 x = 1; }
message Order {
  message Line { string article = 1; int64 pieces = 2; }
  string id = 1;
  repeated Line lines = 2;
  google.protobuf.Timestamp at = 3;
}
"""


@pytest.fixture(scope="module")
def client(registry: Registry) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry.url, "timeout": 10})


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The Python classes of the Protobuf schema."""
    folder = tmp_path_factory.mktemp("proto")
    (folder / "shop.proto").write_text(PROTO)
    words = [f"-I{folder}", f"--python_out={folder}", "shop.proto"]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *words], check=True)
    return _imported(folder / "shop_pb2.py")


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_avro(registry: Registry, client: SchemaRegistryClient) -> None:
    order = {"id": "o-1", "lines": [1, None, 2**40]}
    raw = AvroSerializer(client, json.dumps(ORDER))(order, context("avro"))
    found = decoded(connected(registry.url), raw)
    assert (found.kind, found.data, found.problem) == ("avro", order, "")


def test_json_schema(registry: Registry, client: SchemaRegistryClient) -> None:
    raw = JSONSerializer(json.dumps(JSON_SCHEMA), client)({"id": "ö"}, context("json"))
    found = decoded(connected(registry.url), raw)
    assert (found.kind, found.data, found.problem) == ("json-schema", {"id": "ö"}, "")


@pytest.mark.parametrize("skip_known", [True, False])
def test_protobuf(
    registry: Registry, client: SchemaRegistryClient, shop: Any, skip_known: bool
) -> None:
    settings = {"use.deprecated.format": False, "skip.known.types": skip_known}
    line = shop.Order.Line(article="a", pieces=5)
    messages = {
        "first": (shop.First(x=7), {"x": 7}),
        "line": (line, {"article": "a", "pieces": "5"}),
        "order": (
            shop.Order(id="o-1", lines=[line]),
            {"id": "o-1", "lines": [{"article": "a", "pieces": "5"}]},
        ),
    }
    for name, (message, data) in messages.items():
        serialize = ProtobufSerializer(type(message), client, settings)
        raw = serialize(message, context(f"protobuf-{name}-{skip_known}"))
        found = decoded(connected(registry.url), raw)
        assert (found.kind, found.data, found.problem) == ("protobuf", data, ""), name
