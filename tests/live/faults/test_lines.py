"""Lines that are invalid, very long, or not text."""

from __future__ import annotations

import os

import pytest

from tests.support.faults import hinted, refused, shell
from tests.support.program import Program


@pytest.mark.parametrize(
    "line",
    [
        b"a" * 10_000_000,
        b"list-topics " + b"a" * 10_000_000,
        b"list-topics " + b"a " * 5_000_000,
        b"list-topics '" + (b"a" * 99 + b"\n") * 100_000,
        b"list-topics \\\n" * 500_000,
        b"\0" * 10_000_000,
    ],
    ids=["word", "topic", "topics", "quote", "backslashes", "zeros"],
)
def test_ten_megabytes_on_standard_input(kafka: Program, line: bytes) -> None:
    run = kafka(stdin=line)
    refused(run, 2, "stdin:1: error: ")
    assert len(run.stderr) < 2_000, "it is not repeated"
    assert run.stdout == ""


def test_standard_input_without_an_end(kafka: Program) -> None:
    run = shell(kafka, "$K < /dev/zero")
    refused(run, 2, "stdin:1: error: line is longer than")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("{long}",), ("unknown command",)),
        (("describe-topic", "{long}"), ("249",)),
        (("list-topics", "--{long}"), ("unknown option",)),
        (("alter-configs", "{topic}", "retention.ms={long}"), ("retention.ms",)),
    ],
    ids=["command", "topic", "option", "value"],
)
def test_a_word_of_a_hundred_kilobytes(
    kafka: Program, topic: str, argv: tuple[str, ...], words: tuple[str, ...]
) -> None:
    long = "a" * 100_000
    run = kafka(*(word.replace("{long}", long).replace("{topic}", topic) for word in argv))
    assert run.status in (1, 2, 3), str(run)[:2000]
    refused(run, run.status, *words)
    assert len(run.stderr) < 3_000, "it is not repeated"


@pytest.mark.parametrize("argv", [(b"describe-topic", b"a\xffb"), (b"\xfe",), (b"--\xff",)])
def test_bytes_that_are_no_text(kafka: Program, argv: tuple[bytes, ...]) -> None:
    run = kafka(*map(os.fsdecode, argv))
    hinted(refused(run, 2, f"argument {len(argv) + 2} of the command line is not UTF-8"))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("list-topisc",), ("unknown command", "list-topics")),
        (("--list-topisc",), ("unknown option", "--list-topics")),
        (("describe-topic", "t", "--ouput", "json"), ("--ouput", "--output", "usage: ")),
        (("list-topics", "--output", "jsn"), ("jsn", "json, yaml, csv")),
        (("list-topics", "--deadline", "soon"), ("soon", "30s")),
        (("list-topics", "--long=yes"), ("--long",)),
        (("create-topic",), ("create-topic", "usage: ")),
        (("create-topic", "t", "--partitions", "many"), ("many", "an integer")),
        (("create-topic", "t", "--partitions", "3", "--replica-assignment", "1"),
         ("--partitions", "--replica-assignment")),
        (("create-topic", "t", "--partitions"), ("--partitions requires a value",)),
        (("alter-topic", "t"), ("usage: ",)),
        (("alter-configs", "t", "retention.ms"), ("retention.ms",)),
        (("watch", "soon", "health"), ("soon",)),
        (("watch", "0", "health"), ("number of seconds",)),
        (("help", "list-topisc"), ("list-topics",)),
        (("set", "outptu", "json"), ("output",)),
        (("--output", "jsn"), ("jsn",)),
        (("--completion", "tcsh"), ("tcsh", "bash")),
        (("--keep-goin",), ("--keep-going",)),
        (("--zookeeper", "z:2181", "list-topics"), ("--zookeeper",)),
        (("",), ()),
        (("--", "list-topicz"), ()),
        (("list-topics", "--profile"), ("--profile requires a value",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_wrong_lines(kafka: Program, argv: tuple[str, ...], words: tuple[str, ...]) -> None:
    run = refused(kafka(*argv), 2, *words)
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("argv", "word"),
    [(("--broker",), "--broker requires a value"), (("--keep-going=3",), "does not take a value"),
     (("--broker", "a:1", "--broker", "b:2", "list-topics"), "set twice")],
)  # fmt: skip
def test_wrong_options_of_the_program(nowhere: Program, argv: tuple[str, ...], word: str) -> None:
    refused(nowhere(*argv), 2, word)


def test_help_without_a_command(nowhere: Program) -> None:
    page = nowhere.ok("help").stdout
    for way in (("--help",), ("-h",)):
        assert page.strip() in nowhere.ok(*way).stdout
    assert nowhere.ok("--version").stdout.startswith("kafka.sh ")


@pytest.mark.parametrize("command", ["apply", "diff", "source", "theme"])
def test_a_file_name_that_is_too_long(kafka: Program, command: str) -> None:
    run = kafka(command, "a" * 300)
    refused(run, 2, "File name too long")
    assert len(run.stderr) < 1_000, "it is not repeated"


@pytest.mark.parametrize("command", [("list-topics",), ("journal", "--resource")])
def test_a_name_that_matches_nothing_is_not_repeated(
    kafka: Program, command: tuple[str, ...]
) -> None:
    run = kafka(*command, "a" * 100_000)
    assert "match part of a name" in run.stderr
    assert len(run.stderr) < 1_000
