"""Protobuf schemas that protoc compiles: their imports, and messages without JSON of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.client import Imported
from kafka_shell.admin.schemas.files import file_schema
from kafka_shell.admin.schemas.protobuf import compile_protobuf

FOREVER = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"  # field 1 is the largest int64


def proto(text: str) -> str:
    return f'syntax = "proto3"; {text}'


def imported(file: str, type: str) -> str:
    return proto(f'import "{file}"; message M {{ {type} x = 1; int32 y = 2; }}')


@pytest.mark.parametrize(
    ("schema", "x", "shown"),
    [
        (imported("schema.proto", "Sub"), b"\x08\x05", {"a": 5}),
        (imported("google/type/money.proto", "google.type.Money"), b"\x0a\x03EUR",
         {"currency_code": "EUR", "units": "0", "nanos": 0}),
        (imported("confluent/type/decimal.proto", "confluent.type.Decimal"), b"\x18\x02",
         {"value": "", "precision": 0, "scale": 2}),
        (imported("google/protobuf/timestamp.proto", "google.protobuf.Timestamp"), FOREVER,
         {"seconds": str(2**63 - 1), "nanos": 0}),
        (imported("google/protobuf/duration.proto", "google.protobuf.Duration"), FOREVER,
         {"seconds": str(2**63 - 1), "nanos": 0}),
        (imported("google/protobuf/any.proto", "google.protobuf.Any"), b"\x0a\x03a/b",
         {"type_url": "a/b", "value": ""}),
        (proto("package google.protobuf; message M { Any x = 1; int32 y = 2; }"
               " message Any { int32 own = 1; }"), b"\x08\x05", {"own": 5}),
        (proto('import "confluent/meta.proto"; message M {'
               ' option (confluent.message_meta).doc = "d";'
               ' Sub x = 1 [(confluent.field_meta) = {tags: "PII", params: {key: "k"}}];'
               " int32 y = 2; } message Sub { int32 a = 1; }"), b"\x08\x05", {"a": 5}),
    ],
    ids=lambda each: each[-60:] if isinstance(each, str) else "",
)  # fmt: skip
def test_a_message_is_decoded_with_its_imports(schema: str, x: bytes, shown: object) -> None:
    read = compile_protobuf(
        schema, [Imported("schema.proto", proto("message Sub { int32 a = 1; }"))]
    )
    found = read(b"\0" + b"\x0a" + bytes([len(x)]) + x + b"\x10\x07")
    assert found == {"x": shown, "y": 7}


def test_a_directory_has_the_messages_and_their_imports(tmp_path: Path) -> None:
    files = {
        "shop/first.proto": proto("package other; message Order { int32 z = 1; }"),
        "shop/order.proto": proto(
            'package shop; import "parts/line.proto"; import "confluent/meta.proto";'
            ' import "google/type/money.proto";'
            " message Order { parts.Line line = 1; google.type.Money price = 2; }"
        ),
        "parts/line.proto": proto("package parts; message Line { int32 pieces = 1; }"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = file_schema(str(tmp_path), "shop.Order")
    assert found.read(found.head + b"\x0a\x02\x08\x05") == {"line": {"pieces": 5}}
    with pytest.raises(SchemaError, match="no message shop"):
        file_schema(str(tmp_path), "shop.Orders")
