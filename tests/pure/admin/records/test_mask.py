"""Records without the fields that a profile masks."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.mask import NO_MASK, Mask, parse_path
from kafka_shell.admin.records.model import CREATE_TIME, Header, Record
from kafka_shell.admin.records.where import check_masked
from kafka_shell.admin.schemas.client import Schema
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.structs import replace
from kafka_shell.commands.records.record_table import Printer
from kafka_shell.commands.records.row import json_line, parse_row
from tests.pure.admin.schemas.stored_schemas import stored
from tests.support.recorded_execution import make_recorded_execution

ORDER = {"type": "record", "name": "O", "fields": [{"name": "id", "type": "string"}]}
REGISTRY = stored({1: Schema(json.dumps(ORDER))})
FORMATS = Formats(registry=REGISTRY)


def record(value: bytes | None, key: bytes | None = b"k", *headers: Header) -> Record:
    return Record("t", 0, 5, 0, CREATE_TIME, key, value, headers)


def masked(value: bytes | None, *paths: str, formats: Formats = FORMATS) -> bytes | None:
    (shown,) = Mask(lambda topic: paths).shown([record(value)], formats)
    return shown.value


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("value.a", {"a": 1, "b": 2}, {"a": "***", "b": 2}),
        ("value.a", {"a": {"c": 1}}, {"a": "***"}),
        ("value.a", {"a": None}, {"a": None}),
        ("value.a", {"b": "x"}, {"b": "x"}),
        ("value.a.b", {"a": "not an object"}, {"a": "***"}),
        ("value.a.b", {"a": [{"b": 1, "c": 2}, 3]}, {"a": [{"b": "***", "c": 2}, "***"]}),
        ("value.a.1", {"a": [1, {"b": 2}]}, {"a": ["***", "***"]}),
        ("value.7.b", [{"7": {"b": 1}}, {"b": 1, "c": 2}], [{"7": {"b": "***"}},
                                                            {"b": "***", "c": 2}]),
        ("value.*.b", [{"x": {"b": 1, "c": 2}}], [{"x": {"b": "***", "c": 2}}]),
        ("value.u.*.b", {"u": [{"h": {"b": 1}}, {"b": 2}]},
         {"u": [{"h": {"b": "***"}}, {"b": "***"}]}),
        ("value.b", [[{"b": 1}]], [[{"b": "***"}]]),
        ("value.*.b", {"x": {"b": 1}, "y": {"c": 1}}, {"x": {"b": "***"}, "y": {"c": 1}}),
        ("value.a", [{"a": 1}], [{"a": "***"}]),
        ("value", {"a": 1}, None),
    ],
)  # fmt: skip
def test_a_path_hides_what_it_leads_to(path: str, value: Any, expected: Any) -> None:
    found = masked(json.dumps(value).encode(), path)
    assert found == b"***" if expected is None else json.loads(found or b"") == expected


def test_what_is_not_masked_stays_as_it_is_written() -> None:
    value = b'{"a": 1, "g": 123456789.123456789123, "f": [1.10, 1e3, {"a": "\\u00e9"}]}'
    expected = b'{"a":"***","g":123456789.123456789123,"f":[1.10,1e3,{"a":"\\u00e9"}]}'
    assert masked(value, "value.a") == expected
    lists = b'[{"a": 1, "g": 1.10}]'
    assert masked(lists, "value.a", "value.0.a") == b'[{"a":"***","g":1.10}]'


@pytest.mark.parametrize("depth", [40, 499])
def test_arrays_nested_deeply_hide_what_a_path_may_mean(depth: int) -> None:
    value = b"[" * depth + b'{"x":{"b":"secret"}}' + b"]" * depth
    found = masked(value, "value.*.*.*.*.*.b") or b""
    assert b"***" in found and b"secret" not in found


@pytest.mark.parametrize(
    "value",
    [b"text", b"\xff\xfe", b'{"id": "secr', b"\0\0\0\0\1\xff", b"\0\0\0\0\7\6abc", b"", b"\0" * 8],
)
def test_what_a_path_cannot_be_followed_into_is_masked_as_a_whole(value: bytes) -> None:
    assert masked(value, "value.id") == b"***"


@pytest.mark.parametrize("format", ["string", "hex", "base64", "int32", "avro", "json"])
def test_another_format_shows_no_more(format: str) -> None:
    found = masked(b'{"id":"secret"}', "value.id", formats=Formats(value=format, registry=REGISTRY))
    assert b"secret" not in (found or b"")


def test_a_message_with_a_schema_is_masked_as_json() -> None:
    assert masked(b"\0\0\0\0\1\6abc", "value.id") == b'{"id":"***"}'
    assert masked(None, "value.id") is None


def test_keys_and_headers_are_masked() -> None:
    mask = Mask(lambda topic: ["key", "header.a.b"])
    (shown,) = mask.shown([record(b"v", b"k", ("a.b", b"x"), ("a.b", None), ("c", b"x"))], FORMATS)
    assert (shown.key, shown.value) == (b"***", b"v")
    assert shown.headers == (("a.b", b"***"), ("a.b", None), ("c", b"x"))


def test_a_masked_row_says_so_and_cannot_be_written() -> None:
    (shown,) = Mask(lambda topic: ["value.id"]).shown([record(b"\0\0\0\0\1\6abc")], FORMATS)
    line = json_line(shown, FORMATS)
    assert json.loads(line)["masked"] is True and "base64" not in line
    with pytest.raises(ShellError, match="masked"):
        parse_row(line)
    (plain,) = NO_MASK.shown([record(b"v")], FORMATS)
    assert "masked" not in json.loads(json_line(plain, FORMATS))


@pytest.mark.parametrize(
    "condition",
    ["value=1", "value=~x", "value.a=1", "value.a.b.c!=1", "value.a.0.b>1", "header.x=1",
     "value.a!~null", "value.q.z=1", "value.7.z.c=1", "value.0.q.z=1", "value.0.z.c=1",
     "value.l.5=1", "value.l.0=1", f"value{'.0' * 3000}.a.b=1"],
)  # fmt: skip
def test_a_condition_on_what_is_masked_is_refused(condition: str) -> None:
    mask = Mask(
        lambda topic: ["value.a.b", "header.*", "value.*.z", "value.l.1"] if topic == "t" else []
    )
    with pytest.raises(UsageError, match="masks fields of topic t"):
        check_masked([condition], [], mask, ["other", "t"])
    check_masked([condition], ["x"], mask, ["other"])


def test_other_conditions_are_allowed() -> None:
    mask = Mask(lambda topic: ["value.a.b"])
    check_masked(["value.c=1", "key=1", "header.x=1", "value=null", "value.a!=null"], [], mask, "t")
    with pytest.raises(UsageError, match="regular expression"):
        check_masked([], ["x"], mask, ["t"])


@pytest.mark.parametrize(
    ("there", "path", "hidden"),
    [
        ("value.email", "value.email", True),
        ("value", "value.email", True),
        ("value.*", "value.email", True),
        ("value.*.email", "value.user.email.work", True),
        ("value.email", "value.*", False),
        ("value.email.work", "value.email", False),
        ("header.*", "header.a.b", True),
        ("key", "value", False),
    ],
)
def test_a_path_is_hidden_by_one_that_leads_to_all_of_it(
    there: str, path: str, hidden: bool
) -> None:
    assert Mask(lambda topic: [there]).hides(parse_path(path), "t") is hidden


def test_the_output_says_which_topics_are_masked(tmp_path: Path) -> None:
    context = make_recorded_execution(tmp_path).context
    context = replace(context, err=io.StringIO())
    wanted: Any = {"raw": True, "full": False, "keys-only": False}
    mask = Mask(lambda topic: ["value.id"] if topic == "t" else [])
    found = [record(b'{"id":1}'), replace(record(b'{"id":1}'), topic="other")]
    pieces = Printer(wanted, context, FORMATS, mask, False).output([found, found], {}, lambda: None)
    assert b"".join(pieces) == b'{"id":"***"}\n{"id":1}\n' * 2  # type: ignore[arg-type]
    assert context.err.getvalue().count("fields of topic t are masked") == 1  # type: ignore[attr-defined]
    assert "other" not in context.err.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["", "values.a", "value.", "value..a", "header", "header."])
def test_a_path_of_nothing_is_an_error(path: str) -> None:
    with pytest.raises(UsageError, match="not a path of a record"):
        parse_path(path)
