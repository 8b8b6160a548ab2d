from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.plans import Secret
from kafka_shell.output.tables import Column, draw_table, lay_out
from kafka_shell.output.text import width
from tests.support.samples import plain

NAME = Column("NAME", lambda row: row[0])
COUNT = Column("COUNT", lambda row: row[1], "right")
NOTE = Column("NOTE", lambda row: row[2])
COLUMNS = (NAME, COUNT, NOTE)

cells = st.text(st.characters(codec="utf-8"), max_size=30)
rows = st.lists(st.tuples(cells, st.none() | st.integers(), st.none() | cells), min_size=1)


def test_columns_are_aligned_and_nothing_is_a_dash() -> None:
    table = plain(draw_table(COLUMNS, [("orders", 6, None), ("訂單", 12, "big"), ("", None, "x")]))
    assert table == (
        "NAME    COUNT  NOTE\n"
        "orders      6  -\n"
        "訂單       12  big\n"
        "-           -  x"
    )  # fmt: skip


def test_columns_that_are_empty_in_every_row_are_left_out() -> None:
    assert plain(draw_table(COLUMNS, [("a", None, None), ("b", None, "")])) == "NAME\na\nb"


def test_no_rows_are_no_table() -> None:
    assert plain(draw_table(COLUMNS, [])) == ""


def test_names_cannot_draw_on_the_terminal() -> None:
    assert plain(draw_table([NAME], [("a\x1b[2Jb\nc",)])) == "NAME\n" + r"a\x1b[2Jb\nc"


def test_a_narrow_terminal_cuts_the_last_text_column() -> None:
    table = plain(draw_table(COLUMNS, [("orders", 6, "a note that is long")], width=26))
    assert table == "NAME    COUNT  NOTE\norders      6  a note tha…"


def test_a_pipe_is_never_cut() -> None:
    assert "z" * 500 in plain(draw_table(COLUMNS, [("orders", 6, "z" * 500)], width=None))


def test_a_column_may_wrap_instead() -> None:
    wrapping = Column("VALUE", lambda row: row[1], overflow="wrap")
    last = Column("SOURCE", lambda row: row[2])
    table = plain(draw_table((NAME, wrapping, last), [("k", "aaa,bbb,ccc,ddd", "here")], width=20))
    assert table == "NAME  VALUE     SOURCE\nk     aaa,bbb,  here\n      ccc,ddd"


def test_headings_are_broken_if_the_table_is_too_wide() -> None:
    columns = (
        Column("TOPIC", lambda row: row[0]),
        Column("CURRENT-OFFSET", lambda row: row[1], "right"),
        Column("LOG-END-OFFSET", lambda row: row[2], "right"),
    )
    rows = [("orders.placed", 1_000, 1_234_567_890)]
    assert plain(draw_table(columns, rows)).startswith("TOPIC          CURRENT-OFFSET  LOG-END-")
    assert plain(draw_table(columns, rows, width=36)) == (
        "TOPIC          CURRENT-    LOG-END-\n"
        "                 OFFSET      OFFSET\n"
        "orders.placed      1000  1234567890"
    )


def test_headings_are_broken_before_names_are_wrapped() -> None:
    columns = (
        Column("TOPIC", lambda row: row[0], role="name"),
        Column("CURRENT-OFFSET", lambda row: row[1], "right"),
        Column("LOG-END-OFFSET", lambda row: row[2], "right"),
    )
    rows = [("web.clickstream-of-visitors", 7, 71), ("web.searches", 34, 58)]
    assert plain(draw_table(columns, rows, width=48)) == (
        "TOPIC                        CURRENT-    LOG-\n"
        "                               OFFSET    END-\n"
        "                                       OFFSET\n"
        "web.clickstream-of-visitors         7      71\n"
        "web.searches                       34      58"
    )
    assert plain(draw_table(columns, rows, width=38)) == (
        "TOPIC                 CURRENT-    LOG-\n"
        "                        OFFSET    END-\n"
        "                                OFFSET\n"
        "web.clickstream-of-v         7      71\n"
        "isitors\n"
        "web.searches                34      58"
    )


def test_one_long_name_takes_two_lines_and_the_others_one() -> None:
    name = Column("NAME", lambda row: row[0], role="name")
    table = plain(draw_table((name, COUNT), [("n" * 30, 1), ("short", 2)], width=27))
    assert table == (
        "NAME                  COUNT\n"
        "nnnnnnnnnnnnnnnnnnnn      1\n"
        "nnnnnnnnnn\n"
        "short                     2"
    )


def test_columns_that_are_left_out_are_named_below_the_table() -> None:
    columns = (
        NAME,
        Column("LEADER-EPOCH", lambda row: row[1], "right", overflow="drop"),
        Column("NOTE", lambda row: row[2], overflow="drop"),
    )
    rows = [("orders", 6, "a note that is long")]
    assert plain(draw_table(columns, rows, width=20)) == (
        "NAME    LEADER-EPOCH\norders             6\nhidden (narrow\n  terminal): NOTE"
    )
    assert "hidden" not in plain(draw_table(columns, rows, width=None))
    assert "hidden (narrow terminal): LEADER-EPOCH, NOTE" in plain(
        draw_table((NAME, *columns[1:], COUNT), [("o" * 60, 6, "a note")], width=67)
    )


def test_paths_keep_their_end() -> None:
    path = Column("DIR", lambda row: row[0], overflow="cut-start")
    rows = [("/var/lib/kafka/data-a", 1), ("/var/lib/kafka/data-b", 2)]
    table = plain(draw_table((path, COUNT), rows, width=17))
    assert table == "DIR         COUNT\n…ka/data-a      1\n…ka/data-b      2"


def test_a_secret_is_not_drawn() -> None:
    with pytest.raises(TypeError, match="Secret"):
        list(draw_table([NAME], [(Secret("hunter2"),)]))


@given(rows)
def test_every_row_has_its_columns_in_the_same_places(values: list[Any]) -> None:
    layout = lay_out(COLUMNS, values)
    lines = [*layout.heading(), *(line for row in values for line in layout.row(row))]
    assert len(lines) == len(values) + 1
    assert {line.width for line in lines} == {layout.width}
    edge = 0
    for cells_wide in layout.widths[:-1]:
        edge += cells_wide
        assert all(_gap_at(line.plain, edge) for line in lines)
        edge += 2


@given(rows, st.integers(60, 100))
def test_a_table_that_can_give_way_fits(values: list[Any], room: int) -> None:
    short = [(name[:4], (count or 0) % 1000, note) for name, count, note in values]
    assert all(line.width <= room for line in draw_table(COLUMNS, short, width=room))


def _gap_at(line: str, cell: int) -> bool:
    """Whether the two cells there are spaces."""
    used = 0
    for index, char in enumerate(line):
        if used == cell and width(char):  # a mark that takes no cell belongs before it
            return line[index : index + 2] == "  "
        used += width(char)
    return False
