from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.configs.model import ConfigEntry, ConfigSource
from kafka_shell.admin.topics.model import TopicDescription
from kafka_shell.base.command_results import Listing
from kafka_shell.base.plans import Resource, Secret
from kafka_shell.base.results import Parts, Results
from kafka_shell.output.data import plain
from kafka_shell.wire.model import Topic
from tests.support.samples import BROKER, ENTRIES, GONE, ORDERS, SUMMARIES, TOPIC, drawn, entry


def test_keys_are_field_names_enums_lower_case_and_resources_strings() -> None:
    assert plain(ENTRIES[0]) == {
        "resource": "topic orders",
        "name": "cleanup.policy",
        "value": "compact",
        "source": "dynamic_topic",
        "read_only": False,
        "sensitive": False,
        "type": "list",
        "documentation": "",
        "synonyms": [],
    }


def test_scalars_and_containers() -> None:
    assert plain(
        (Path("/a"), b"\xff", {2, 1}, {Resource("user", "bob"): ConfigSource.DEFAULT})
    ) == [
        "/a",
        "\\xff",
        [1, 2],
        {"user bob": "default"},
    ]
    assert plain(datetime(2026, 1, 31, tzinfo=UTC)) == "2026-01-31T00:00:00+00:00"


@pytest.mark.parametrize("value", [Secret("x"), [Secret("x")], object(), print])
def test_values_that_cannot_be_printed(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)


@pytest.mark.parametrize(
    "value",
    [list(SUMMARIES), iter(SUMMARIES), Listing(SUMMARIES), Results(dict(enumerate(SUMMARIES)))],
)
def test_several_are_always_an_array(value: object) -> None:
    assert [row["name"] for row in json.loads(drawn(value, "json"))] == [
        "orders",
        "__consumer_offsets",
    ]


def test_one_is_an_object_and_none_an_empty_array() -> None:
    assert json.loads(drawn(SUMMARIES[0], "json"))["name"] == "orders"
    assert json.loads(drawn([SUMMARIES[0]], "json"))[0]["name"] == "orders"
    no_results: Results[str, str] = Results()
    nothing: tuple[object, ...] = ([], iter(()), Listing(()))
    for empty in (*nothing, no_results):
        assert json.loads(drawn(empty, "json")) == []


def test_json_reads_well() -> None:
    text = drawn(TopicDescription(Topic("a", "", False, TOPIC.partitions[:1])), "json")
    assert '        "replicas": [1, 2, 3],\n' in text
    assert text.endswith('  "overrides": [],\n  "shown": null\n}\n')


def test_strings_that_look_like_lists_are_unchanged_in_json() -> None:
    for value in ("a [ 1,  2 ] b", "[ 1 ]", "[\n1,\n2\n]"):
        assert json.loads(drawn({"value": value}, "json")) == {"value": value}
    assert drawn({"a": [1, -2]}, "json") == '{\n  "a": [1, -2]\n}\n'


def test_numbers_that_json_does_not_have_are_null() -> None:
    numbers = {"a": float("nan"), "b": [float("inf"), 1.5]}
    for format in ("json", "yaml"):
        assert yaml.safe_load(drawn(numbers, format)) == {"a": None, "b": [None, 1.5]}
    assert drawn(numbers, "csv") == 'a,b\n,",1.5"\n'


def test_configs_of_many_resources_are_one_flat_array() -> None:
    rows = json.loads(drawn(Results({ORDERS: ENTRIES}, {BROKER: GONE}), "json"))
    assert [row.get("name") for row in rows] == [*(e.name for e in ENTRIES), None]


def test_yaml_keeps_order_and_types() -> None:
    text = drawn([entry("retention.ms", "604800000")], "yaml")
    assert text.startswith("- resource: topic orders\n  name: retention.ms\n  value: '604800000'\n")
    assert yaml.safe_load(drawn(list(SUMMARIES), "yaml")) == plain(SUMMARIES)
    assert drawn([], "yaml") == "[]\n"
    assert drawn(7, "yaml") == "7\n"


@pytest.mark.parametrize(
    "value",
    ["1e5", "5E3", "-1.e9", ".5e1", "1_0e5", "0o17", "-0o7", "0XFF", "y", "N", "NaN", ".inf", "12"],
)
def test_yaml_quotes_strings_that_some_reader_takes_for_a_number_or_boolean(value: str) -> None:
    assert drawn({"value": value}, "yaml") == f"value: '{value}'\n"


def test_yaml_quotes_no_other_strings() -> None:
    for value in ("1e", "e5", "svc-1e5", "nay", "1.2.3", "infinite"):
        assert drawn({"value": value}, "yaml") == f"value: {value}\n"


def test_csv_has_a_row_a_noun_and_columns_for_failures() -> None:
    assert drawn(Results({"orders": SUMMARIES[0]}, {"gone": GONE}), "csv") == (
        "name,id,internal,partitions,replication_factor,under_replicated,offline,"
        "max_replication_factor,resource,error,message\n"
        "orders,VtX0mX9HSZ2p1J8mG7qk3A,false,6,3,1,0,3,,,\n"
        f",,,,,,,,gone,{GONE.name},{GONE.message}\n"
    )
    none: Results[str, str] = Results({}, {"gone": GONE})
    assert drawn(none, "csv") == (f"resource,error,message\ngone,{GONE.name},{GONE.message}\n")


def test_csv_of_a_page_is_its_rows() -> None:
    assert drawn(TopicDescription(TOPIC), "csv").splitlines()[:2] == [
        "topic,partition,leader,leader_epoch,replicas,isr,offline,adding,removing",
        'orders,0,1,5,"1,2,3","1,2,3",,,',
    ]


def test_csv_flattens_objects() -> None:
    nested = {"topic": {"name": "a", "partitions": 3}, "tags": ["x", "y"], "rest": [{"k": None}]}
    assert drawn(nested, "csv") == (
        'topic.name,topic.partitions,tags,rest\na,3,"x,y","[{""k"": null}]"\n'
    )


def test_csv_is_one_table_with_the_columns_of_all_rows() -> None:
    some = [{"a": {"x": 1}, "b": 2}, {"a": None, "b": 3, "more": 4}, {"a": {"y": 5}, "b": 6}]
    assert drawn(some, "csv") == "a,a.x,a.y,b,more\n,1,,2,\n,,,3,4\n,,5,6,\n"
    assert drawn(Results(dict(enumerate(some)), {"gone": GONE}), "csv").splitlines() == [
        "a,a.x,a.y,b,more,resource,error,message",
        ",1,,2,,,,",
        ",,,3,4,,,",
        ",,5,6,,,,",
        f",,,,,gone,{GONE.name},{GONE.message}",
    ]
    assert drawn([{"a.b": 1}, {"a": {"b": 2}}], "csv") == "a.b\n1\n2\n"


def test_csv_of_a_stream_is_one_table_with_the_columns_of_its_first_row() -> None:
    assert drawn(iter([{"a": None}, {"a": {"x": 1}}]), "csv") == 'a\n""\n"{""x"": 1}"\n'
    assert drawn(iter([{"a": {"x": 1}}, {"a": None}]), "csv") == 'a.x\n1\n""\n'
    parts = [Results({"a": SUMMARIES[0]}), Results({}, {"gone": GONE})]
    lines = drawn(iter(parts), "csv").splitlines()
    assert len(lines) == 3
    assert lines[2] == f",,,,,,,,gone,{GONE.name},{GONE.message}"


def test_csv_of_a_stream_that_begins_with_failures_is_one_table() -> None:
    parts = [Results({}, {"gone": GONE}), Results({"a": SUMMARIES[0]})]
    lines = drawn(Parts(parts), "csv").splitlines()
    assert lines[0].endswith(",max_replication_factor,resource,error,message")
    assert lines[1:] == [
        f",,,,,,,,gone,{GONE.name},{GONE.message}",
        "orders,VtX0mX9HSZ2p1J8mG7qk3A,false,6,3,1,0,3,,,",
    ]
    assert drawn(Parts(parts[:1]), "csv").splitlines() == [
        "resource,error,message",
        f"gone,{GONE.name},{GONE.message}",
    ]


@pytest.mark.parametrize(
    "cell", ["=1", "+1+1", "-1+1", "@SUM(A1)", " =1", "\n=1", "\u00a0=1", "\ufeff=1", "\ufe0f=1",
             "\uff1d1", "\ufe62\u0661", "\t1", "\r1", " \uff20a", "-\u0661"]
)  # fmt: skip
def test_safe_csv_marks_what_may_be_read_as_a_formula(cell: str) -> None:
    assert drawn({"a": cell}, "csv", safe_csv=True).removeprefix("a\n").lstrip('"')[0] == "'"


def test_safe_csv_leaves_numbers_alone() -> None:
    row = {"a": -1, "b": -2.5, "c": "-1+2", "d": "=1", "e": "-1e5", "f": "+x"}
    assert drawn(row, "csv", safe_csv=True) == "a,b,c,d,e,f\n-1,-2.5,'-1+2,'=1,-1e5,'+x\n"


def test_csv_of_no_rows_is_empty() -> None:
    for nothing in ((), Listing(()), Results(), iter(())):
        assert drawn(nothing, "csv") == ""


@given(st.lists(st.tuples(st.text(), st.none() | st.text())))
def test_any_text_survives_json_yaml_and_csv(pairs: list[tuple[str, str | None]]) -> None:
    entries = [entry(name, value) for name, value in pairs]
    wanted = [_spelled(e) for e in entries]
    for read in (json.loads(drawn(entries, "json")), yaml.safe_load(drawn(entries, "yaml"))):
        assert [(row["name"], row["value"]) for row in read] == wanted
    rows = list(csv.DictReader(io.StringIO(drawn(entries, "csv"), newline="")))
    assert [(row["name"], row["value"]) for row in rows] == [(n, v or "") for n, v in wanted]


def _spelled(made: ConfigEntry) -> tuple[str, str | None]:
    """Name and value, lone surrogates as they are spelled out."""
    name, value = (
        text.encode("utf-8", "backslashreplace").decode() if text is not None else None
        for text in (made.name, made.value)
    )
    return name or "", value
