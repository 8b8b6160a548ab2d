"""Messages with schemas of a real schema registry."""

from __future__ import annotations

import io
import json
import socket
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID, uuid4

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import Decoded, Formats
from kafka_shell.admin.records.model import CREATE_TIME, NewRecord, Record
from kafka_shell.admin.schemas import registry as registry_module
from kafka_shell.admin.schemas.client import Imported, SchemaError
from kafka_shell.admin.schemas.protobuf import compile_protobuf
from kafka_shell.commands.records.row import json_line, parse_row
from tests.support.schema_registry import (
    PASSWORD,
    USER,
    LoginProxy,
    Registry,
    connected,
    decoded,
    message,
)

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "amount", "type": "double"}],
}


@pytest.fixture
def proxy(registry: Registry) -> Iterator[LoginProxy]:
    proxy = LoginProxy(registry)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def order_id(registry: Registry) -> int:
    return registry.register("order", ORDER)


def encoded(schema: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def an_order(schema: int) -> bytes:
    return message(schema, encoded(ORDER, {"id": "o-1", "amount": 1.5}))


def subject() -> str:
    return f"s-{uuid4().hex[:8]}"


@pytest.mark.parametrize("name", ["auto", "avro"])
def test_avro_is_decoded(registry: Registry, order_id: int, name: str) -> None:
    found = decoded(connected(registry.url), an_order(order_id), name)
    assert found == Decoded({"id": "o-1", "amount": 1.5}, "avro", "", order_id)


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
VALUES = [
    ("null", None, None),
    ("string", "ü", "ü"),
    ("bytes", b"\0\xff", "AP8="),
    (["null", "long"], None, None),
    (["null", "long"], 2**63 - 1, 2**63 - 1),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", "B"),
    ({"type": "fixed", "name": "F", "size": 2}, b"ab", "YWI="),
    ({"type": "map", "values": "int"}, {"a": 1}, {"a": 1}),
    (DECIMAL, Decimal("-12.50"), "-12.50"),
    ({"type": "int", "logicalType": "date"}, date(2026, 1, 31), "2026-01-31"),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        datetime(2026, 1, 31, 10, tzinfo=UTC),
        "2026-01-31T10:00:00.000Z",
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        datetime(2026, 1, 31, 10, 0, 0, 1, tzinfo=UTC),
        "2026-01-31T10:00:00.000001Z",
    ),
    (
        {"type": "string", "logicalType": "uuid"},
        UUID("12345678-1234-5678-1234-567812345678"),
        "12345678-1234-5678-1234-567812345678",
    ),
    ("double", float("nan"), "NaN"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "shown"), VALUES, ids=lambda each: str(each)[:20])
def test_avro_types_are_plain_json(registry: Registry, kind: Any, value: Any, shown: Any) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "f", "type": kind}]}
    number = registry.register(subject(), schema)
    found = decoded(connected(registry.url), message(number, encoded(schema, {"f": value})))
    assert found == Decoded({"f": shown}, "avro", "", number)
    assert json.dumps(found.data, allow_nan=False)


def test_avro_of_a_primitive_schema(registry: Registry) -> None:
    client = connected(registry.url)
    text = registry.register(subject(), '"string"')
    raw = registry.register(subject(), '"bytes"')
    assert decoded(client, message(text, encoded("string", "abc"))).data == "abc"
    assert decoded(client, message(raw, b"\xff\0")).data == b64encode(b"\xff\0").decode()


def test_avro_references_are_read(registry: Registry, proxy: LoginProxy) -> None:
    customer, order = subject(), subject()
    of = {"type": "record", "name": "shop.Customer", "fields": [{"name": "n", "type": "string"}]}
    registry.register(customer, of)
    schema = {
        "type": "record",
        "name": "shop.Sale",
        "fields": [{"name": "by", "type": "shop.Customer"}],
    }
    number = registry.register(order, schema, references=(("shop.Customer", customer),))
    client = connected(f"http://alice:wonder%3Aland@{proxy.address}")
    assert decoded(client, message(number, b"\x06Zoe")).data == {"by": {"n": "Zoe"}}
    # Apicurio has no deleted versions. Confluent's registry returns them on request only.
    assert proxy.requests[-1] == f"/subjects/{customer}/versions/1?deleted=true"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "it ends too early"), (b"\x02a" + b"\0" * 8 + b"!", "1 byte too long")],
)
def test_bytes_that_are_no_message(
    registry: Registry, order_id: int, content: bytes, problem: str
) -> None:
    raw = message(order_id, content)
    found = decoded(connected(registry.url), raw)
    assert found.data == raw
    assert found.problem == f"not a message of schema {order_id}: {problem}"


MONEY = 'syntax = "proto3"; package shop; message Money { string currency = 1; int64 units = 2; }'
PAYMENT = """
syntax = "proto3";
package shop;
import "common/money.proto";
import "google/protobuf/timestamp.proto";
message Other { int32 x = 1; message Inner { string y = 1; } }
message Payment { string id = 1; Money amount = 2; google.protobuf.Timestamp at = 3; bool ok = 4; }
"""


@pytest.fixture(scope="module")
def payment_id(registry: Registry) -> int:
    registry.register("money", MONEY, "PROTOBUF")
    return registry.register("payment", PAYMENT, "PROTOBUF", (("common/money.proto", "money"),))


@pytest.mark.parametrize(
    ("content", "data"),
    [
        (b"\x00\x08\x05", {"x": 5}),
        (b"\x02\x00\x08\x05", {"x": 5}),
        (b"\x04\x00\x00\x0a\x01y", {"y": "y"}),
        (
            b"\x02\x02\n\x03p-1\x12\x07\n\x03EUR\x10\x05\x1a\x06\x08\x80\xba\xab\xd5\x06",
            {
                "id": "p-1",
                "amount": {"currency": "EUR", "units": "5"},
                "at": "2026-09-16T18:16:32Z",
                "ok": False,
            },
        ),
    ],
)
def test_protobuf_is_decoded(
    registry: Registry, payment_id: int, content: bytes, data: object
) -> None:
    found = decoded(connected(registry.url), message(payment_id, content))
    assert found == Decoded(data, "protobuf", "", payment_id)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x02\x40", "it has a type that the schema does not have"),
        (b"", "its message indexes are malformed"),
        (b"\x80\x80\x80\x80\x80\x80", "its message indexes are malformed"),
        (b"\x02\x02\xff", "it is malformed"),
    ],
)
def test_bytes_that_are_no_protobuf(
    registry: Registry, payment_id: int, content: bytes, problem: str
) -> None:
    found = decoded(connected(registry.url), message(payment_id, content), "protobuf")
    assert found.data == message(payment_id, content)
    assert f"not a message of schema {payment_id}: {problem}" in found.problem


def test_json_with_a_schema_is_decoded(registry: Registry) -> None:
    number = registry.register(
        subject(), {"type": "object", "properties": {"a": {"type": "integer"}}}, "JSON"
    )
    client = connected(registry.url)
    assert decoded(client, message(number, b'{"a": 1}')) == Decoded(
        {"a": 1}, "json-schema", "", number
    )
    problem = decoded(client, message(number, b"{")).problem
    assert problem == f"not a message of schema {number}: it is not valid JSON"


def test_a_missing_schema_is_named_and_the_bytes_are_shown(registry: Registry) -> None:
    raw = message(987654, b"abc")
    client = connected(registry.url)
    found = decoded(client, raw)
    assert found == Decoded(raw, "bytes", "schema 987654 is not in the registry", 987654)


def test_a_schema_of_another_type_is_a_problem(registry: Registry, order_id: int) -> None:
    found = decoded(connected(registry.url), an_order(order_id), "protobuf")
    assert found.problem == f"schema {order_id} is avro, not protobuf"


def test_text_and_numbers_are_recognized_beside_messages(registry: Registry, order_id: int) -> None:
    formats = Formats(registry=connected(registry.url))
    number = order_id << 24  # as a message: of the schema of orders
    key = number.to_bytes(8, "big")
    record = Record("orders", 0, 0, 0, CREATE_TIME, key, b'{"a":1}')
    assert formats.key(record) == Decoded(number, "int64")
    assert formats.value(record) == Decoded({"a": 1}, "json")
    assert decoded(connected(registry.url), (4711).to_bytes(8, "big")).data == 4711
    assert decoded(connected(registry.url), (987654 << 24).to_bytes(8, "big")).problem


def test_a_row_has_the_bytes_of_a_message(registry: Registry, order_id: int) -> None:
    raw = an_order(order_id)
    formats = Formats(registry=connected(registry.url))
    line = json_line(Record("orders", 0, 7, 0, CREATE_TIME, None, raw), formats)
    assert json.loads(line)["value"] == {"id": "o-1", "amount": 1.5}
    assert parse_row(line) == NewRecord(None, raw, (), 0, 0)


@pytest.mark.parametrize(("module", "reader"), [("fastavro", "avro"), ("grpc_tools", "protobuf")])
def test_a_package_that_is_not_installed_is_named(
    registry: Registry,
    order_id: int,
    payment_id: int,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    reader: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"kafka_shell.admin.schemas.{reader}", raising=False)
    number = order_id if reader == "avro" else payment_id
    found = decoded(connected(registry.url), message(number, b"\0"))
    assert found.problem == f"schema {number}: {reader} requires pip install 'kafka-sh[schemas]'"


@pytest.mark.parametrize(
    ("url", "properties"),
    [
        (
            "http://{}",
            {
                "basic_auth_credentials_source": "USER_INFO",
                "basic_auth_user_info": f"{USER}:{PASSWORD}",
            },
        ),
        ("http://alice:wonder%3Aland@{}", {}),
        (
            "http://{}",
            {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "t0ken"},
        ),
        (
            "http://{}",
            {
                "basic_auth_credentials_source": "SASL_INHERIT",
                "sasl_jaas_config": "org.PlainLoginModule required"
                f' username="{USER}" password="{PASSWORD}";',
            },
        ),
    ],
)  # fmt: skip
def test_logins(proxy: LoginProxy, order_id: int, url: str, properties: dict[str, str]) -> None:
    client = connected(url.format(proxy.address), **properties)
    assert decoded(client, an_order(order_id)).kind == "avro"


def test_a_wrong_password_is_reported_without_it(proxy: LoginProxy, order_id: int) -> None:
    found = decoded(connected(f"http://alice:s3cret@{proxy.address}"), an_order(order_id))
    assert found.problem == (
        f"schema {order_id} cannot be read: http://{proxy.address} does not accept the credentials"
        " (HTTP 401)"
    )


def test_schemas_and_missing_schemas_are_requested_once(proxy: LoginProxy, order_id: int) -> None:
    client = connected(f"http://alice:wonder%3Aland@{proxy.address}")
    for _ in range(5):
        assert decoded(client, an_order(order_id)).kind == "avro"
        assert decoded(client, message(987654, b"")).problem
    assert proxy.requests == [f"/schemas/ids/{order_id}", "/schemas/ids/987654"]


def test_bytes_that_look_like_messages_do_not_flood_the_registry(proxy: LoginProxy) -> None:
    client = connected(f"http://alice:wonder%3Aland@{proxy.address}")
    for number in range(900_000, 900_150):
        found = decoded(client, message(number, b"abc"))
    assert len(proxy.requests) == 100
    assert found.problem == ("schema 900149 was not requested: 100 other schema IDs were not found")


def test_a_schema_that_is_missing_for_long_is_one_missing_schema(
    registry: Registry, order_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is requested again from time to time, in a command that follows a topic."""
    monkeypatch.setattr(registry_module, "_RETRY_S", 0.0)
    client = connected(registry.url)
    for _ in range(120):
        found = decoded(client, message(987654, b"abc"))
    assert found.problem == "schema 987654 is not in the registry"
    assert decoded(client, an_order(order_id)).kind == "avro"


def test_tls(registry: Registry, order_id: int) -> None:
    trusted = connected(
        registry.https_url,
        schema_registry_ssl_truststore_type="PEM",
        schema_registry_ssl_truststore_location=registry.ca_file,
    )
    assert decoded(trusted, an_order(order_id)).kind == "avro"
    problem = decoded(connected(registry.https_url), an_order(order_id)).problem
    assert problem.startswith(f"schema {order_id} cannot be read: {registry.https_url}: ")
    assert "CERTIFICATE_VERIFY_FAILED" in problem


def test_the_second_url_is_used_if_the_first_is_dead(registry: Registry, order_id: int) -> None:
    client = connected(f"http://127.0.0.1:9,{registry.url}")
    assert decoded(client, an_order(order_id)).kind == "avro"


@pytest.mark.parametrize(("status", "requests"), [(403, 3), (429, 3), (500, 1), (503, 1), (401, 1)])
def test_a_refused_schema_is_not_an_outage(status: int, requests: int) -> None:
    """Other schemas are still requested."""
    requested = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = connected(f"http://127.0.0.1:{server.server_address[1]}")
        found = [decoded(client, message(number, b"")) for number in (1, 2, 3)]
        server.shutdown()
    assert len(requested) == requests
    assert all(each.unknown and f"HTTP {status}" in each.problem for each in found)


def test_a_frozen_registry_does_not_stop_reading() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # accepts, but never responds
        address = f"127.0.0.1:{server.getsockname()[1]}"
        client = connected(f"http://{address}")
        problems = [decoded(client, message(number, b"")).problem for number in range(1, 1000)]
    assert problems[0] == f"schema 1 cannot be read: http://{address}: no response within 3.0 s"
    assert problems[-1].startswith("schema 999 cannot be read: ")


@pytest.mark.parametrize(
    ("schema", "imports", "problem"),
    [
        ("message {", (), "it cannot be compiled: schema.proto:1:"),
        ('syntax = "proto3"; import "gone.proto";', (), "gone.proto: File not found"),
        ("", (Imported("../x.proto", MONEY),), "'../x.proto', which is not a valid name of a file"),
        ("", (Imported("/x.proto", MONEY),), "'/x.proto', which is not a valid name of a file"),
        ("", (Imported("a\0b", MONEY),), "it cannot be compiled: embedded null byte"),
        ("", (Imported("x" * 300, MONEY),), "it cannot be compiled: [Errno 36] File name too long"),
        ("", (Imported("a", MONEY), Imported("a/b", MONEY)), "it cannot be compiled: [Errno 17]"),
    ],
)
def test_a_protobuf_schema_that_cannot_be_compiled(
    schema: str, imports: tuple[Imported, ...], problem: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_protobuf(schema, list(imports))
    assert problem in str(caught.value)


def test_protobuf_message_indexes_do_not_count_maps() -> None:
    schema = """
    syntax = "proto3";
    message Outer { map<string, string> labels = 1; message Inner { string y = 1; } }
    """
    read = compile_protobuf(schema, [])
    assert read(b"\x04\0\0\x0a\x01y") == {"y": "y"}
    with pytest.raises(SchemaError, match="a type that the schema does not have"):
        read(b"\x04\0\x02")


def test_a_dead_registry_does_not_stop_reading() -> None:
    client = connected("http://127.0.0.1:9")
    raw = message(17, b"abc")
    found = decoded(client, raw)
    assert found.data == raw
    assert found.problem.startswith("schema 17 cannot be read: http://127.0.0.1:9: ")


def test_any_content_is_a_message_or_bytes(registry: Registry, order_id: int) -> None:
    client = connected(registry.url)

    @given(st.binary(max_size=30))
    def check(content: bytes) -> None:
        raw = message(order_id, content)
        found = decoded(client, raw)
        assert found.kind == "avro" if not found.problem else found.data == raw

    check()
