"""Macros in the SQL of controls: units."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.audit.control import expand, parse, render
from kafka_shell.audit.engine import Engine
from kafka_shell.base.errors import ShellError
from tests.pure.audit.test_control_files import GOOD


def test_values_are_shown_in_the_units_of_the_shell(engine: Engine) -> None:
    sql = expand("""SELECT concat('a ', {duration v}, ' b ', {bytes v}, ' c ', {age v}, ' d ',
      {size v},      ' e ', {number v}, ' f ', {config concat('retention.ms=', v)}, ' g ',
      {quota concat('producer_byte_rate=', v)}) AS r FROM VALUES (604800000L), (-1L) AS t(v)""")
    shown = [render(row["r"]) for row in engine.session.sql(sql).collect()]
    assert shown[0] == "a 7d b 590625KiB c 7d d 577 MiB e 604,800,000 f 7d g 590625KiB/s"
    assert shown[1].startswith("a -1 b -1 c <1s d -1 B e -1 f -1")


def test_an_unknown_unit_is_rejected_with_its_line() -> None:
    with pytest.raises(ShellError, match=r"U01.sql:10: unknown unit \{minutes"):
        parse(GOOD.replace("'{most}'", "{minutes 5}"), Path("U01.sql"))


def test_marks_in_names_are_harmless() -> None:
    assert render("\x02duration x\x03 \x02nope 5\x03") == "x \x02nope 5\x03"
