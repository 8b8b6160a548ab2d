"""Completion of audits: queries, tables and controls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pure.shell.test_completer import VIEW, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, VIEW)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("spark sql sel", '"select'),
        ('spark sql "sel', "select"),
        ('spark sql "select * from top', "topics"),
        ('spark sql "select * from topics t join topic_c', "topic_configs"),
        ('spark sql "select * from topics where min_f', "min_factor"),
        ('spark sql "select * from topics t where t.min_f', "min_factor"),
        ('spark sql "select min_f', "min_factor"),
        ('spark sql "select topic from topics ord', "order by"),
        ("spark tables topics,topic_c", "topic_configs"),
        ("spark audit --controls T01,sec", "security"),
        ("spark audit --controls S0", "S01"),
    ],
)
def test_tables_and_columns_are_offered_first(bench: Bench, text: str, offered: str) -> None:
    begun = text[: len(text) - len(text.split(" ")[-1].split(",")[-1].split(".")[-1].lstrip('"'))]
    assert offered in [line[len(begun) :] for line in bench.lines(text)][:8], bench.lines(text)


def test_a_table_named_before_narrows_the_columns(bench: Bench) -> None:
    """`level` is a column of features, of no other table named here."""
    assert "level" in bench.menu('spark sql "select * from features where leve')
    assert "level" not in bench.menu('spark sql "select * from topics where leve')


def test_a_column_says_its_type_and_what_it_is(bench: Bench) -> None:
    menu = bench.menu('spark sql "select * from topics where min_fa')
    assert menu["min_factor"].startswith("int  topics: ")
