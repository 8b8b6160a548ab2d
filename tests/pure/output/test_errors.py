from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource
from kafka_shell.output.errors import (
    draw_error,
    draw_note,
    error_label,
    error_lines,
    failure_lines,
    grouped_failure_lines,
    pointed,
)
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.text import width
from tests.support.samples import GONE, plain

LINE = "create-topic orders --partitons 6"


def test_the_word_is_pointed_at() -> None:
    error = UsageError(
        "unknown option --partitons",
        hint="did you mean --partitions?",
        text=LINE,
        span=(20, 31),
        usage="create-topic TOPIC... [--partitions N]",
    )
    assert plain(error_lines(error)) == (
        "error: unknown option --partitons\n"
        "  create-topic orders --partitons 6\n"
        "                      ^^^^^^^^^^^\n"
        "hint: did you mean --partitions?\n"
        "usage: create-topic TOPIC... [--partitions N]"
    )


def test_a_script_is_named() -> None:
    stream = StyledStream(written := io.StringIO())
    stream.place = lambda: "nightly.kafka:12: "
    draw_error(ShellError("no topic gone", hint="list-topics"), stream)
    assert written.getvalue() == "nightly.kafka:12: error: no topic gone\nhint: list-topics\n"


def test_errors_of_a_script_are_wrapped_with_their_place() -> None:
    place = "nightly.kafka:12: "
    names = [f"a-topic-with-a-long-name-{number}" for number in range(9)]
    stream = StyledStream(written := io.StringIO(), width=50)
    stream.place = lambda: place
    draw_error(ShellError(f"no topics {' '.join(names)}"), stream)
    failures = {Resource("topic", name): Failure("TIMEOUT", "no answer") for name in names}
    stream.lines(grouped_failure_lines(failures, stream.width, place=stream.place))
    lines = written.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    assert [line.count(place) for line in lines if "error: " in line] == [1, 1, 1]
    assert sum(line.startswith(place) for line in lines) == 3


@pytest.mark.parametrize(
    ("line", "span", "drawn"),
    [
        ("topics\tx", (7, 8), "  topics x\n         ^"),
        ("topic 訂單 x", (6, 8), "  topic 訂單 x\n        ^^^^"),
        ("topic \x1bx", (6, 7), "  topic \\x1bx\n        ^^^^"),
        ("topic ", (6, 6), "  topic\n        ^"),
        ("one\ntwo x\nthree", (8, 9), "  two x\n      ^"),
        ("topic", (90, 95), "  topic\n       ^"),
    ],
)
def test_tabs_wide_and_control_characters_keep_the_caret_in_place(
    line: str, span: tuple[int, int], drawn: str
) -> None:
    assert plain(pointed(line, span)) == drawn


def test_a_ten_megabyte_line_gets_a_window() -> None:
    line = "x" * 5_000_000 + " retention.ms=7days " + "y" * 5_000_000
    source, carets = pointed(line, (5_000_014, 5_000_019), 60)
    assert source.width <= 60
    assert carets.plain.index("^") == source.plain.index("7days")
    assert "retention.ms=7days" in source.plain


@given(st.text(max_size=300), st.tuples(st.integers(0, 300), st.integers(0, 300)))
def test_pointing_never_fails_and_fits(line: str, span: tuple[int, int]) -> None:
    source, carets = pointed(line, span, 50)
    assert width(source.plain) <= 50
    assert "^" in carets.plain
    assert source.plain.isprintable()


def test_messages_cannot_draw_on_the_terminal() -> None:
    assert plain(error_lines(ShellError("a\x1b[2J\nsecond"))) == "error: a\\x1b[2J\n  second"


def test_a_failure_and_its_hint() -> None:
    stream = StyledStream(io.StringIO())
    label, timeout = error_label(str), Failure("TIMEOUT", "", hint="look: topic orders")
    stream.lines(failure_lines(label, GONE, "orders", None))
    stream.lines(failure_lines(label, timeout, "", None))
    draw_note("broker 3 is away", stream)
    assert isinstance(stream.stream, io.StringIO)
    assert stream.stream.getvalue() == (
        "error: orders: This server does not host this topic-partition."
        " (UNKNOWN_TOPIC_OR_PARTITION)\n"
        "error: TIMEOUT\n"
        "hint: look: topic orders\n"
        "warning: broker 3 is away\n"
    )


def _refused(name: str) -> Failure:
    message = f"partition {name}: not authorized for the topic"
    return Failure("TOPIC_AUTHORIZATION_FAILED", message, hint=f"Requires READ on {name[:-2]}.")


def test_many_failures_alike_are_two_lines() -> None:
    names = [f"t{number}:0" for number in range(30_000)]
    denied = {Resource("partition", name): _refused(name) for name in names}
    dead = {Resource("partition", "a:0"): Failure("no-answer", "broker 2 has not responded")}
    first, hint, rest, other = plain(
        grouped_failure_lines(denied | dead, most=20, listed="for the full list, use --output json")
    ).splitlines()
    assert first.endswith("t0:0: not authorized for the topic (TOPIC_AUTHORIZATION_FAILED)")
    assert hint == "hint: Requires READ on t0."
    assert rest.startswith("error: the same for 29,999 more partitions: t1:0, t2:0, ")
    assert rest.endswith(" t20:0 and 29,979 more (for the full list, use --output json)")
    assert other == "error: partition a:0: broker 2 has not responded"


def test_a_hint_of_several_failures_is_printed_once() -> None:
    denied = {Resource("partition", name): _refused(name) for name in ("t:0", "t:1")}
    assert plain(grouped_failure_lines(denied)).splitlines() == [
        "error: partition t:0: not authorized for the topic (TOPIC_AUTHORIZATION_FAILED)",
        "error: partition t:1: not authorized for the topic (TOPIC_AUTHORIZATION_FAILED)",
        "hint: Requires READ on t.",
    ]


def test_names_with_a_colon_are_whole() -> None:
    groups = [Resource("group", f"team: reader {number}") for number in range(5)]
    gone = {each: Failure("GROUP_ID_NOT_FOUND", f"{each} does not exist") for each in groups}
    first, rest = plain(grouped_failure_lines(gone)).splitlines()
    assert first == "error: group team: reader 0 does not exist (GROUP_ID_NOT_FOUND)"
    assert rest.startswith("error: the same for 4 more groups: team: reader 1, team: reader 2")


def test_a_line_to_be_typed_is_left_whole() -> None:
    long = "verify-reassign-partitions --finish --reassignment-json-file " + "x" * 80
    error = ShellError("interrupted", hint=f"The move goes on.\nTo continue: {long}")
    lines = plain(error_lines(error, 40)).splitlines()
    assert lines[-1] == f"To continue: {long}"
    assert lines[-2] == "hint: The move goes on."
