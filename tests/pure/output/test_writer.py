from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from kafka_shell.admin.topics.model import TopicDescription
from kafka_shell.base.command_results import LazyRows, Listing
from kafka_shell.base.plans import Secret
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.output import writer as writer_module
from kafka_shell.output.theme import load
from kafka_shell.output.writer import Writer
from kafka_shell.wire.model import Partition, TopicSummary
from tests.support.samples import (
    ENTRIES,
    GONE,
    ORDERS,
    RENDERERS,
    SUMMARIES,
    TOPIC,
    Tty,
    drawn,
    entry,
    err_of,
    out_of,
    writer,
)

LONG = """\
NAME                PARTITIONS  REPLICAS  UNDER-REPLICATED  INTERNAL  ID
orders                       6         3                 1  -         VtX0mX9HSZ2p1J8mG7qk3A
__consumer_offsets          50         3                 -  yes       BtX0mX9HSZ2p1J8mG7qk3A
"""


def test_text_is_text_in_every_format() -> None:
    for format in ("table", "json", "yaml", "csv"):
        assert drawn("a\x1b[1mb", format) == "a\x1b[1mb\n"
        assert drawn("a\n", format) == "a\n"
        assert drawn(None, format) == ""


def test_a_listing_is_bare_names_or_long() -> None:
    assert drawn(Listing(SUMMARIES)) == "orders\n__consumer_offsets\n"
    assert drawn(Listing(SUMMARIES, long=True)) == LONG
    assert drawn(Listing(())) == ""


def test_a_bare_list_renders_no_rows_and_a_long_one_all() -> None:
    by_name = {each.name: each for each in SUMMARIES}
    made: list[str] = []

    def make(name: str) -> TopicSummary:
        made.append(name)
        return by_name[name]

    rows = LazyRows(list(by_name), make)
    assert drawn(Listing(rows)) == drawn(Listing(SUMMARIES))
    assert made == []
    assert drawn(Listing(rows, long=True)) == LONG
    assert drawn(Listing(rows), "json") == drawn(Listing(SUMMARIES), "json")
    assert list(rows[1:]) == list(SUMMARIES[1:])


def test_a_name_that_a_terminal_may_not_see_is_spelled_out_among_many() -> None:
    rows = LazyRows(["a", "b\x1b[31m", "c d "], lambda name: name)
    assert drawn(Listing(rows)) == "a\nb\\x1b[31m\nc d \n"


def test_an_id_is_whole_or_not_there() -> None:
    for width, last in ((200, "ID"), (92, "ID"), (86, "ID"), (85, "INTERNAL"), (50, "UNDER-")):
        heading, *rows = drawn(Listing(SUMMARIES, long=True), width=width).splitlines()
        assert heading.split()[-1] == last, width
        assert not any("…" in row for row in rows)


def test_results_draw_values_and_name_each_failure_on_err() -> None:
    made = writer()
    made.write(Results({"orders": TopicDescription(TOPIC)}, {"gone": GONE}))
    assert out_of(made).startswith("topic orders   3 partitions")
    assert err_of(made) == f"error: gone: {GONE}\n"


def test_results_of_sequences_are_opened() -> None:
    made = writer()
    made.write(Results({ORDERS: ENTRIES}))
    assert out_of(made) == drawn(ENTRIES)


def test_failures_are_rows_in_json_and_lines_on_err() -> None:
    made = writer("json")
    made.write(Results({"orders": SUMMARIES[0]}, {"gone": GONE}))
    rows = json.loads(out_of(made))
    assert rows[0]["name"] == "orders"
    assert rows[1] == {"resource": "gone", "error": GONE.name, "message": GONE.message}
    assert err_of(made) == f"error: gone: {GONE}\n"


def test_kinds_of_nouns_have_tables_of_their_own() -> None:
    mixed = [SUMMARIES[0], TOPIC.partitions[0]]
    assert [line.split()[0] for line in drawn(mixed).splitlines() if line] == [
        "NAME",
        "orders",
        "TOPIC",
        "orders",
    ]


def test_values_of_a_query_differ_from_null_and_are_not_in_the_words_of_python() -> None:
    row = {
        "yes": True, "no": False, "null": None, "list": ["a", 1, False], "empty": [],
        "gaps": [1, None, True], "of": {"a": None, "b": [True]}, "deep": [{"a": "ö"}],
    }  # fmt: skip
    heading, cells = drawn([row]).splitlines()
    assert dict(zip(heading.split(), re.split(r" {2,}", cells), strict=True)) == {
        "YES": "true", "NO": "false", "NULL": "-", "LIST": "a,1,false", "EMPTY": "-",
        "GAPS": "[1, null, true]", "OF": '{"a": null, "b": [true]}', "DEEP": '[{"a": "ö"}]',
    }  # fmt: skip


def test_an_undeclared_model_has_one_column_per_field() -> None:
    class Thing(Struct, frozen=True):
        name: str
        byte_rate: int
        tags: tuple[str, ...]
        ready: bool = False

    assert drawn([Thing("a", 5, ("x", "y")), Thing("b", 10, ())]) == (
        "NAME  BYTE-RATE  TAGS\na             5  x,y\nb            10  -\n"
    )


@pytest.mark.parametrize("format", ["table", "json", "yaml", "csv"])
def test_a_secret_is_never_written(format: str) -> None:
    class Token(Struct, frozen=True):
        hmac: Secret

    for value in (Token(Secret("x")), [Token(Secret("x"))], {"a": Secret("x")}):
        with pytest.raises(TypeError, match="Secret"):
            drawn(value, format)


def slow(out: io.StringIO, rows: list[Any], seen: list[int]) -> Iterator[Any]:
    """Rows of which each notes how many lines were drawn when it was asked for."""
    for row in rows:
        seen.append(out.getvalue().count("\n"))
        yield row


def test_rows_appear_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "PATIENCE", -1.0)
    for format in ("table", "json", "yaml", "csv"):
        made, seen = writer(format), list[int]()
        rows = [replace(SUMMARIES[0], name=f"t{n}") for n in range(5)]
        assert isinstance(made.out.stream, io.StringIO)
        made.write(slow(made.out.stream, rows, seen))
        assert sorted(set(seen)) == seen, format
        assert "t4" in out_of(made)


def test_a_streamed_table_keeps_columns_a_later_row_may_need() -> None:
    rows = [replace(SUMMARIES[1], name=f"t{n}", under_replicated=n // 60) for n in range(100)]
    lines = drawn(iter(rows)).splitlines()
    assert lines[0].split()[:5] == [
        "NAME",
        "PARTITIONS",
        "REPLICAS",
        "UNDER-REPLICATED",
        "OFFLINE",
    ]
    assert lines[-1].split()[3] == "1"
    assert len(lines) == 101


def test_a_short_stream_looks_like_a_sequence() -> None:
    assert drawn(iter(SUMMARIES)) == LONG
    assert drawn(iter(())) == ""
    assert drawn(iter(["a", "b"])) == "a\nb\n"


def test_streamed_configs_come_by_resource() -> None:
    lines = drawn(iter(ENTRIES)).splitlines()
    assert lines[:2] == ["topic orders", "KEY             VALUE    SOURCE"]


def test_streamed_pages_are_parted() -> None:
    pages = [TopicDescription(TOPIC), TopicDescription(TOPIC)]
    assert drawn(iter(pages)) == drawn(pages)


def test_streamed_results_keep_their_failures() -> None:
    for format in ("table", "json", "csv"):
        made = writer(format)
        made.write(iter([Results({"a": SUMMARIES[0]}), Results({}, {"gone": GONE})]))
        assert GONE.name in out_of(made) + err_of(made)


def test_no_color_means_no_escape_sequences_whatever_the_names() -> None:
    nasty = [replace(SUMMARIES[0], name="a\x1b[31m\x07"), SUMMARIES[1]]
    for value in (nasty, Listing(tuple(nasty), long=True), [entry("k\x1b", "v\x9b")], iter(nasty)):
        assert "\x1b" not in drawn(value, theme=load("midnight"), color=False)
        assert "\x9b" not in drawn(value)


def test_err_may_be_colored_while_out_is_a_pipe() -> None:
    made = Writer(
        io.StringIO(),
        Tty(),
        theme=load("midnight"),
        color=False,
        color_err=True,
        depth=256,
        renderers=RENDERERS,
    )
    made.write(Results({"a": SUMMARIES[0]}, {"gone": GONE}))
    assert "\x1b" not in out_of(made)
    assert "\x1b[1;38;5;209merror: \x1b[0m" in err_of(made)


def test_out_of_sync_replicas_are_colored_and_keep_their_order() -> None:
    row = Partition("orders", 0, 3, 1, (2, 3, 1), (3, 1))
    made = writer(theme=load("midnight"), color=True, depth=256)
    made.write([row])
    assert "m2\x1b[0m,3,1" in out_of(made)


def test_a_long_listing_is_fast() -> None:
    from time import process_time

    rows = tuple(TopicSummary(f"topic-{n}", "x" * 22, False, 3, 3) for n in range(25_000))
    start = process_time()
    drawn(Listing(rows))
    assert process_time() - start < 1.0
