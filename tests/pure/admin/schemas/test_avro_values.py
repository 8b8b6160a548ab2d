"""Values of Avro messages that not every reader can represent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_shell.admin.schemas.avro import compile_avro


def long(number: int) -> bytes:
    """An int or long as Avro encodes it."""
    number = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def data(number: int) -> bytes:
    """The unscaled number of a decimal as bytes."""
    raw = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    return long(len(raw)) + raw


def decimal(**options: object) -> dict[str, object]:
    return {"type": "bytes", "logicalType": "decimal", **options}


FIXED = {"type": "fixed", "name": "F", "size": 9, "logicalType": "decimal", "scale": 1}


@pytest.mark.parametrize(
    ("kind", "content", "shown"),
    [
        (decimal(precision=4, scale=2), data(123456789), "1234567.89"),
        (decimal(precision=4, scale=2), data(-1), "-0.01"),
        (decimal(precision=4), data(10**40 + 1), str(10**40 + 1)),
        (decimal(scale=2), data(12345), "123.45"),
        (decimal(precision=2, scale=3), data(7), "0.007"),
        (decimal(scale=-1), data(7), "Bw=="),
        (decimal(scale="2"), data(7), "Bw=="),
        (decimal(scale=2_000_000_000), data(7), "Bw=="),
        (FIXED | {"precision": 2}, (10**20 + 1).to_bytes(9, "big"), "10000000000000000000.1"),
        ({"type": "int", "logicalType": "date"}, long(-719_162), "0001-01-01"),
        ({"type": "int", "logicalType": "date"}, long(-719_163), -719_163),
        ({"type": "int", "logicalType": "date"}, long(2**31 - 1), 2**31 - 1),
        ({"type": "long", "logicalType": "timestamp-millis"}, long(2**63 - 1), 2**63 - 1),
        ({"type": "long", "logicalType": "timestamp-micros"}, long(-(2**62)), -(2**62)),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, long(10**15), 10**15),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, long(0),
         "1970-01-01T00:00:00.000"),
        ({"type": "int", "logicalType": "time-millis"}, long(86_399_999), "23:59:59.999000"),
        ({"type": "int", "logicalType": "time-millis"}, long(86_400_000), 86_400_000),
        ({"type": "int", "logicalType": "time-millis"}, long(-1), -1),
        ({"type": "long", "logicalType": "time-micros"}, long(10**15), 10**15),
        ({"type": "string", "logicalType": "uuid"}, b"\x02x", "x"),
        ({"type": "string", "logicalType": ["odd"]}, b"\x02x", "x"),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_is_exact_and_spares_the_other_fields(
    kind: Any, content: bytes, shown: object
) -> None:
    fields = [{"name": "f", "type": ["null", kind]}, {"name": "id", "type": "string"}]
    read = compile_avro(json.dumps({"type": "record", "name": "R", "fields": fields}), [])
    assert read(long(1) + content + b"\x04ab") == {"f": shown, "id": "ab"}
