"""Messages of the serializers of Apicurio Registry and AWS Glue, which write them in a JVM."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from kafka_shell.admin.records.formats import Decoded, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Header, Record
from kafka_shell.admin.schemas.avro_writer import avro_writer
from kafka_shell.admin.schemas.files import file_schema
from kafka_shell.base.java import find_java
from kafka_shell.sandbox.jars import class_path, fetch, locked_jars, read_lock
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.jvm_tools import JVM
from tests.support.places import ROOT
from tests.support.program import Program
from tests.support.read_records import read_all
from tests.support.schema_registry import Registry, connected

ORDER = {
    "type": "record", "name": "Order", "namespace": "shop",
    "fields": [{"name": "id", "type": "string"}, {"name": "pieces", "type": "long"}],
}  # fmt: skip
DECODED = {"id": "a", "pieces": 5}
A_UUID = UUID("de056dbd-d84d-49ba-93e0-c0748dc1de62")
LOCK = ROOT / "tests" / "locks" / "serializers.lock"


def record(raw: bytes, *headers: Header) -> Record:
    return Record("orders", 0, 0, 0, CREATE_TIME, raw, raw, headers)


@pytest.fixture(scope="module")
def gateway() -> Iterator[JavaGateway]:
    clients = [jar for jar in locked_jars("4.3.1") if jar.artifact == "kafka-clients"]
    jars = fetch([*read_lock(LOCK.read_text()), *clients], report=lambda *_: None)
    port = launch_gateway(
        classpath=class_path(jars), javaopts=[*JVM], java_path=str(find_java()), die_on_exit=True
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    yield gateway
    gateway.shutdown()


def java_map(gateway: JavaGateway, values: dict[str, Any]) -> Any:
    found = gateway.jvm.java.util.HashMap()
    for name, value in values.items():
        found.put(name, value)
    return found


def of_apicurio(gateway: JavaGateway, registry: Registry, key: bool, **configs: Any) -> Record:
    """An order as its Avro serializer writes it."""
    java = gateway.jvm
    serializer = java.io.apicurio.registry.serde.avro.AvroKafkaSerializer()
    settings = {
        "apicurio.registry.url": f"{registry.url.partition('/apis/')[0]}/apis/registry/v2",
        "apicurio.registry.auto-register": True,
        "apicurio.registry.headers.enabled": configs["headers"],
        "apicurio.registry.use-id": configs["use_id"],
    }
    serializer.configure(java_map(gateway, settings), key)
    parse = partial(java.org.apache.avro.Schema.Parser().parse, json.dumps(ORDER))
    builder = java.org.apache.avro.generic.GenericRecordBuilder(
        parse(gateway.new_array(java.java.lang.String, 0))
    )
    order = builder.set("id", "a").set("pieces", 5).build()
    headers = java.org.apache.kafka.common.header.internals.RecordHeaders()
    topic = f"orders-{uuid4().hex[:8]}"  # so that the global ID is not that of the content
    raw = bytes(serializer.serialize(topic, headers, order))
    return record(raw, *((each.key(), bytes(each.value())) for each in headers.toArray()))


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize(
    ("headers", "use_id"), [(False, "globalId"), (True, "globalId"), (True, "contentId")]
)
def test_apicurio(
    gateway: JavaGateway, registry: Registry, part: str, headers: bool, use_id: str
) -> None:
    written = of_apicurio(gateway, registry, part == "key", headers=headers, use_id=use_id)
    assert bool(written.headers) == headers
    found = getattr(Formats(registry=connected(registry.url)), part)(written)
    assert (found.data, found.kind, found.problem) == (DECODED, "avro", "")


def test_apicurio_reads_what_write_record_writes(
    gateway: JavaGateway, registry: Registry, kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster, f"orders-{uuid4().hex[:8]}")
    registry.register(f"{topic}-value", ORDER)
    file = tmp_path / "client.properties"
    file.write_text(f"schema.registry.url={registry.url}\n")
    words = "--command-config", str(file), "write-record", topic, json.dumps(DECODED)
    assert kafka(*words, "--value-format", "avro").status == 0
    deserializer = gateway.jvm.io.apicurio.registry.serde.avro.AvroKafkaDeserializer()
    settings = {
        "apicurio.registry.url": f"{registry.url.partition('/apis/')[0]}/apis/registry/v2",
        "apicurio.registry.as-confluent": True,
        "apicurio.registry.use-id": "contentId",
    }
    deserializer.configure(java_map(gateway, settings), False)
    order = deserializer.deserialize(topic, read_all(cluster, topic)[-1].value)
    assert json.loads(order.toString()) == DECODED


def test_an_unknown_id_of_apicurio_is_told_once(registry: Registry) -> None:
    formats = Formats(registry=connected(registry.url))
    for _ in range(2):
        found = formats.value(record(b"\0" + (2**30).to_bytes(8, "big") + b"\2a\12"))
        assert found.schema == f"global ID {2**30}"
    assert list(formats.problems) == [f"schema global ID {2**30} is not in the registry"]


@pytest.fixture
def avsc(tmp_path: Path) -> Path:
    path = tmp_path / "order.avsc"
    path.write_text(json.dumps(ORDER))
    return path


def of_glue(gateway: JavaGateway, content: bytes, compression: str) -> tuple[bytes, UUID]:
    """A message as its serializer frames it, once the service has returned the schema version."""
    glue = gateway.jvm.com.amazonaws.services.schemaregistry
    settings = java_map(gateway, {"region": "eu-central-1", "compression": compression})
    configs = glue.common.configs.GlueSchemaRegistryConfiguration(settings)
    version = gateway.jvm.java.util.UUID.randomUUID()
    raw = glue.serializers.SerializationDataEncoder(configs).write(content, version)
    return bytes(raw), UUID(version.toString())


@pytest.mark.parametrize("compression", ["NONE", "ZLIB"])
def test_glue(gateway: JavaGateway, avsc: Path, compression: str) -> None:
    content = avro_writer(json.dumps(ORDER), [])(json.dumps(DECODED).encode())
    raw, version = of_glue(gateway, content, compression)
    found = Formats(schema=file_schema(str(avsc))).value(record(raw))
    assert found == Decoded(DECODED, "avro", "", f"version {version}")
    plain = Formats().value(record(raw))
    assert plain.data == raw and f"{version} of AWS Glue requires a schema file" in plain.problem


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The schema versions of a server that speaks Glue's documented protocol, as AWS cannot be
    reached from tests."""
    versions: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.headers["X-Amz-Target"] == "AWSGlue.GetSchemaVersion"
            found = versions.get(sent["SchemaVersionId"])
            missing = {"__type": "EntityNotFoundException", "Message": "no such version"}
            body = json.dumps(found or missing).encode()
            self.send_response(200 if found else 400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_GLUE", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    yield versions
    server.shutdown()
    server.server_close()


def test_the_schemas_of_the_service_of_glue(gateway: JavaGateway, service: dict[str, Any]) -> None:
    formats = Formats(registry=connected("glue:eu-central-1"))
    content = avro_writer(json.dumps(ORDER), [])(json.dumps(DECODED).encode())
    raw, version = of_glue(gateway, content, "ZLIB")
    service[str(version)] = {"SchemaDefinition": json.dumps(ORDER), "DataFormat": "AVRO"}
    assert formats.value(record(raw)) == Decoded(DECODED, "avro", "", f"version {version}")
    raw, version = of_glue(gateway, b'{"a": 1}', "NONE")
    service[str(version)] = {"SchemaDefinition": "{}", "DataFormat": "JSON"}
    assert formats.value(record(raw)).data == {"a": 1}
    raw, version = of_glue(gateway, content, "NONE")
    service[str(version)] = {"SchemaDefinition": "", "DataFormat": "PROTOBUF"}
    assert "requires a schema file" in formats.value(record(raw)).problem
    raw, version = of_glue(gateway, content, "NONE")
    for _ in range(2):
        assert formats.value(record(raw)).data == raw
    assert f"schema version {version} is not in AWS Glue" in formats.problems


PROTO = """
syntax = "proto3";
message First { int32 x = 1; }
message Order { string id = 1; }
"""
AN_ORDER = b"\x0a\x01a"


def test_protobuf_of_other_registries(registry: Registry, tmp_path: Path) -> None:
    """By the documented framing: Glue writes the number of the message, Apicurio its name."""
    (tmp_path / "order.proto").write_text(PROTO)
    formats = Formats(schema=file_schema(str(tmp_path), "Order"))
    raw = b"\3\0" + uuid4().bytes + b"\1" + AN_ORDER
    assert formats.value(record(raw)).data == {"id": "a"}
    number = registry.register(f"p-{uuid4().hex[:8]}", PROTO, "PROTOBUF")
    content = b"\7\x0a\5Order" + AN_ORDER
    raw = b"\0" + number.to_bytes(4, "big") + content
    assert Formats(registry=connected(registry.url)).value(record(raw)).data == {"id": "a"}


@pytest.mark.parametrize("raw", [b"\3\5" + bytes(16), b"\3\1" + A_UUID.bytes, b"\3\0short"])
def test_what_only_looks_like_glue_is_bytes(raw: bytes, avsc: Path) -> None:
    assert Formats().value(record(raw)).problem == ""
    assert Formats(schema=file_schema(str(avsc))).value(record(raw)).data == raw


def test_broken_zlib_of_glue_is_a_problem_of_the_record(avsc: Path) -> None:
    raw = b"\3\5" + uuid4().bytes + b"\x78\x9c\xff"
    found = Formats(schema=file_schema(str(avsc))).value(record(raw))
    assert found.data == raw and "not a message of" in found.problem
