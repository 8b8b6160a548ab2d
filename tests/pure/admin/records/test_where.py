"""Conditions on records."""

from __future__ import annotations

import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.where import RecordFilter
from kafka_shell.base.errors import UsageError

_ORDER = b'{"id": 4711, "total": 12.5, "user": {"name": "Zo\\u00eb"}, "items": [{"sku": "a"}]}'


def _record(
    value: bytes | None = _ORDER,
    key: bytes | None = b"o-1",
    headers: tuple[tuple[str, bytes | None], ...] = (("reason", b"503"), ("reason", b"x")),
) -> Record:
    return Record("t", 0, 0, 0, "CreateTime", key, value, headers)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("key=o-1", True),
        ("key=o-2", False),
        ("key!=o-2", True),
        ("key = o-1", True),
        ("key=~^o-", True),
        ("key!~^o-", False),
        ("value.id=4711", True),
        ("value.id=4711.0", True),
        ("value.id>4711", False),
        ("value.id>=4711", True),
        ("value.id<5000", True),
        ("value.total=12.50", True),
        ("value.total>9", True),  # as numbers: 12.5 is greater than 9
        ("value.user.name=Zo\u00eb", True),
        ("value.user.name=~^Zo", True),
        ("value.items.0.sku=a", True),
        ("value.items.1.sku=a", False),
        ("value.items.1.sku!=a", True),
        ("value.missing<1", False),
        ("value.missing!~a", True),
        ('value.user={"name":"Zo\u00eb"}', True),
        ("value=~4711", True),
        ("value=null", False),
        ("value!=null", True),
        ("header.reason=~5..", True),
        ("header.reason=x", True),
        ("header.reason>500", True),
        ("header.none=x", False),
        ("header.none!=x", True),
    ],
)
def test_a_condition(condition: str, kept: bool) -> None:
    assert RecordFilter([condition], []).keeps(_record()) is kept


def test_null_and_tombstones() -> None:
    gone = _record(value=None, key=None)
    for condition in ("value=null", "key=null", "value.id!=1"):
        assert RecordFilter([condition], []).keeps(gone), condition
    for condition in ("value=~null", "value.id=null", "key!=null", "value>1", "key=~."):
        assert not RecordFilter([condition], []).keeps(gone), condition


def test_regular_expressions_search_keys_values_and_headers() -> None:
    record = _record(value=b"\xff timeout \xff", headers=(("h", b"caf\xc3\xa9"),))
    for pattern in ("timeout", "time.?out", "^o-1$", "(?i)TIMEOUT", "caf\u00e9$"):
        assert RecordFilter([], [pattern]).keeps(record), pattern
    assert not RecordFilter([], ["timeout", "other"]).keeps(record), "all of them must match"


@pytest.mark.parametrize("condition", ["", "x", "key", "offset=3", "header=3", "key~a", "value."])
def test_an_invalid_condition_is_named(condition: str) -> None:
    with pytest.raises(UsageError, match="invalid condition"):
        RecordFilter([condition], [])


def test_an_invalid_regular_expression_is_named() -> None:
    for where, grep in (["key=~("], []), ([], ["("]), ([], ["(?=a)"]), ([], [""]):
        with pytest.raises(UsageError, match="regular expression"):
            RecordFilter(where, grep)


# -- whole batches ---------------------------------------------------------------------------------

_TEXTS = st.text(max_size=6) | st.sampled_from(["true", "null", "1", "4711", "1e3", 'a"b', "a/b"])
_NUMBERS = st.integers(-(2**33), 2**33) | st.floats(allow_nan=False, allow_infinity=False)
_DATA = _TEXTS | _NUMBERS | st.booleans() | st.none()


def _escaped(text: str) -> bytes:
    """JSON with everything escaped that can be."""
    return b'"' + b"".join(b"\\u%04x" % unit for (unit,) in struct.iter_unpack(
        ">H", text.encode("utf-16-be"))) + b'"'  # fmt: skip


@given(_DATA, _DATA, st.booleans())
def test_a_batch_with_a_record_to_keep_is_never_skipped(
    found: object, wanted: object, escape: bool
) -> None:
    """Whatever the spelling of texts and numbers in JSON, keys and headers."""
    text = wanted if isinstance(wanted, str) else msgspec.json.encode(wanted).decode()
    for data in (found, wanted):
        raw = msgspec.json.encode(data)
        if escape and isinstance(data, str):
            raw = _escaped(data)
        elif escape and type(data) is int:
            raw = b"%de0" % data
        keys = [raw, data.encode() if isinstance(data, str) else raw]
        if type(data) is int:
            keys += [struct.pack(">q", data)]
            keys += [struct.pack(">i", data)] if -(2**31) <= data < 2**31 else []
        for key in keys:
            record = _record(b'{"a":' + raw + b"}", key, (("h", key),))
            bytes_of_batch = b"\0".join([record.value or b"", key, b"h", key])
            for field in ("value.a", "key", "value", "header.h"):
                only = RecordFilter([f"{field}={text}"], [], Formats())
                whole = RecordFilter([f"{field}={text}"], [], Formats(), schemas=True)
                assert only.keeps(record) == whole.keeps(record)
                assert only.may_keep(bytes_of_batch) or not only.keeps(record)


def test_a_batch_without_the_value_is_skipped() -> None:
    for condition in ("key=o-77", "value.id=77", "value.user.name=Bob", "header.reason=77"):
        assert not RecordFilter([condition], []).may_keep(b'o-1{"id":4711}503')
    assert not RecordFilter([], ["timeout"]).may_keep(b"other")
    for condition in ("value.id>77", "value.id!=77", "value.id=7.5"):
        assert RecordFilter([condition], []).may_keep(b"other")
