"""read-records from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.admin.records.model import NewRecord
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_records
from tests.support.changes import KEPT, make_topic
from tests.support.in_process_shell import Shell
from tests.support.program import Program
from tests.support.waiting import wait_for

_T0 = 1_700_000_000_000


@pytest.fixture
def name() -> str:
    """A topic's name that nobody has used."""
    return f"t-{os.urandom(5).hex()}"


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """An empty topic of one partition."""
    return make_topic(cluster, name, configs=KEPT)


@pytest.fixture
def filled(sandbox: Sandbox, cluster: Cluster) -> str:
    """40 records in two partitions, by turns."""
    name = f"t-{os.urandom(5).hex()}"
    make_topic(cluster, name, 2, configs=KEPT)
    records = [
        NewRecord(b"k%d" % n, b'{"n":%d,"kind":"%s"}' % (n, b"odd" if n % 2 else b"even"),
                  (("reason", b"50%d" % (n % 4)),), n % 2, _T0 + n * 1000)
        for n in range(40)
    ]  # fmt: skip
    java_records.write(sandbox.bootstrap, name, records)
    return name


def _numbers(text: str) -> list[int]:
    return [json.loads(line)["value"]["n"] for line in text.splitlines()]


def test_what_is_read(shell: Shell, filled: str) -> None:
    for options, numbers in (
        ("", range(30, 40)),
        ("--last 3", range(37, 40)),
        ("--to 5", range(10)),
        ("--last 4 --to 5", range(6, 10)),
        ("--from earliest", range(40)),
        ("--from 18", range(36, 40)),
        ("--from latest", ()),
        ("--limit 4", range(36, 40)),
        ("--from earliest --limit 4", range(4)),
        ("--from 2023-11-14T22:13:30Z --to 2023-11-14T22:13:35Z", range(10, 15)),
        ("--where key=k7", [7]),
        ("--where 'value.n>=38'", [38, 39]),
        ("--where value.kind=odd --where header.reason=~'50[13]' --limit 3", [1, 3, 5]),
        ("--where value.kind=odd --last 2", [37, 39]),
        ("--grep 'k1[0-2]'", [10, 11, 12]),
    ):
        run = shell.ok(f"read-records {filled} --output json {options}")
        assert _numbers(run.out) == list(numbers), run
        assert run.err == ("" if numbers else "note: no records in this range\n"), run
    assert _numbers(shell.ok(f"peek {filled}:1 --last 2 --output json").out) == [37, 39]


def test_a_table_pages_keys_and_counts(shell: Shell, filled: str) -> None:
    table = shell.ok(f"peek {filled} --last 2").out.splitlines()
    assert table[0].split() == ["PARTITION", "OFFSET", "TIME", "KEY", "VALUE"]
    assert table[1].split()[:2] == ["0", "19"]
    assert "k38" in table[1]
    assert f"{filled}:0 offset 19" in shell.ok(f"peek {filled} --last 2 --full").out
    assert shell.ok(f"peek {filled} --last 2 --keys-only").out == "k38\nk39\n"
    for format in ("csv", "yaml"):
        rows = shell.ok(f"peek {filled} --last 2 --keys-only --output {format}").out
        assert "k38" in rows and "value" not in rows and "odd" not in rows, rows
    row = shell.ok(f"peek {filled}:0 --last 1 --keys-only --output json").json
    assert row == {"topic": filled, "partition": 0, "offset": 19, "key": "k38"}
    assert shell.ok(f"read-records {filled} --count").out == "40\n"
    assert shell.ok(f"read-records {filled} --count --where 'value.n<7'").out == "7\n"
    assert shell.ok(f"read-records {filled} --count --from 15 --to 17").out == "4\n"
    csv = shell.ok(f"peek {filled} --last 2 --output csv").out.splitlines()
    assert csv[0].startswith("topic,partition,offset,timestamp,key,value")
    assert len(csv) == 3
    assert shell.ok(f"peek {filled} --last 2 --output yaml").out.count("topic:") == 2


def test_several_topics(shell: Shell, filled: str, cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=KEPT)
    run = shell.ok(f"peek {filled} {name} --last 1")
    assert run.out.split()[:2] == ["TOPIC", "PARTITION"]
    run = shell(f"peek {filled}:0,7 nosuch-{name} --last 1 --output json")
    assert run.status == 1
    assert _numbers(run.out) == [38]
    assert f"partition {filled}:7" in run.err
    assert f"topic nosuch-{name}" in run.err


def test_raw_bytes_are_unchanged(
    kafka: Program, sandbox: Sandbox, cluster: Cluster, topic: str, tmp_path: Path
) -> None:
    values = [b"\xff\x00\x1b[31m", b"", None, b"plain", "\u202e".encode()]
    java_records.write(sandbox.bootstrap, topic, [NewRecord(b"\xfe", each) for each in values])
    wanted = b"".join((each or b"") + b"\n" for each in values)
    file = tmp_path / "raw"
    for options in ("--from earliest", "--last 9", "--limit 5", "--where key!=x"):
        kafka.ok(stdin=f"read-records {topic} --raw {options} > {file}")
        assert file.read_bytes() == wanted, options
        file.unlink()
    kafka.ok(stdin=f"read-records {topic} --raw --keys-only --limit 2 > {file}")
    assert file.read_bytes() == b"\xfe\n\xfe\n"


def test_control_characters_do_not_reach_a_table(
    shell: Shell, sandbox: Sandbox, topic: str
) -> None:
    hostile = b"\x1b]0;owned\x07\xc2\x9b31m\r\n"
    java_records.write(
        sandbox.bootstrap, topic, [NewRecord(hostile, hostile, (("h\x1b", hostile),))]
    )
    for options in ("", "--full", "--keys-only"):
        out = shell.ok(f"peek {topic} {options}").out
        assert not {"\x1b", "\x07", "\x9b", "\r"} & set(out), options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--from tomorrow", "--from must be an offset, a time"),
        ("--where total", "invalid condition 'total'"),
        ("--grep (?=a)", "invalid regular expression"),
        ("--count --follow", "--follow cannot be used with --count"),
        ("--last 0", "--last"),
    ],
)
def test_a_wrong_line_is_status_2(shell: Shell, topic: str, options: str, message: str) -> None:
    run = shell(f"peek {topic} " + " ".join(f"'{word}'" for word in options.split()))
    assert run.status == 2, run
    assert message in run.err


def test_that_nothing_is_found_is_said_beside_the_output(
    shell: Shell, filled: str, topic: str
) -> None:
    for line, note in (
        (f"{filled} --where key=nosuch", "no record matches"),
        (f"{filled} --grep nosuch --output json", "no record matches"),
        (f"{filled} --where key=nosuch --last 5", "no record matches"),
        (f"{filled}:0 --from 5 --to 5", "no records in this range"),
        (f"{filled}:0 --from 5 --to 5 --raw", "no records in this range"),
        (f"{filled} --to 2001-01-01", "no records in this range"),
        (topic, "no records"),
        (f"{topic} --raw --from earliest", "no records in this range"),
    ):
        run = shell.ok(f"read-records {line}")
        assert (run.out, run.err) == ("", f"note: {note}\n"), line
    assert shell.ok(f"read-records {filled} --where key=nosuch --count").out == "0\n"
    assert "no record" not in shell.ok(f"read-records {filled} --where key=k1").err


def test_a_start_in_the_future_is_a_warning(shell: Shell, filled: str) -> None:
    run = shell.ok(f"read-records {filled} --from 2990-01-01T00:00Z --output json")
    warning, note = run.err.splitlines()
    assert run.out == "" and note == "note: no records in this range"
    assert "is in the future: only records with this timestamp or a later one are read" in warning


@pytest.mark.parametrize(
    ("range_", "message"),
    [
        ("--from now --to -1h", "--to -1h is before --from now"),
        ("--from 2026-02-01 --to 2026-01-01", "--to 2026-01-01 is before --from 2026-02-01"),
        ("--from 7 --to 5", "--to 5 is before --from 7"),
    ],
)
def test_a_reversed_range_is_status_2(shell: Shell, topic: str, range_: str, message: str) -> None:
    run = shell(f"read-records {topic} {range_}")
    assert (run.status, run.out) == (2, "")
    assert f"error: {message}\n" in run.err
    copied = shell(f"copy-records {topic} --to-topic {topic}-2 {range_}")
    assert copied.status == 2 and message in copied.err


def test_an_offset_before_the_log_start_is_a_warning(shell: Shell, filled: str) -> None:
    shell.ok(f"delete-records {filled}:0 --to 5 --yes")
    run = shell.ok(f"read-records {filled}:0 --from 2 --limit 1 --output json")
    assert _numbers(run.out) == [10]
    assert f"warning: partition {filled}:0 starts at offset 5, not 2" in run.err


def test_a_closed_pipe_ends_it_quietly(kafka: Program, filled: str) -> None:
    run = kafka.ok(
        stdin=f"read-records {filled} --from earliest --follow --output json | head -n 2"
    )
    assert len(run.lines) == 2
    assert not run.stderr


def test_follow_prints_the_last_records_then_new_ones_until_it_is_interrupted(
    kafka: Program, sandbox: Sandbox, filled: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap,
             "read-records", filled, "--follow", "--last", "2", "--output", "json"],
            stdout=file, stderr=subprocess.PIPE, env=kafka.environment(),
        )  # fmt: skip
        try:
            wait_for("the last records are printed", lambda: out.read_bytes().count(b"\n") == 2)
            for number in (90, 91):
                java_records.write(
                    sandbox.bootstrap, filled, [NewRecord(None, b'{"n":%d}' % number)]
                )
                wait_for(
                    f"record {number} is printed",
                    lambda number=number: b'"n":%d' % number in out.read_bytes(),
                )
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        finally:
            process.kill()
    assert _numbers(out.read_text()) == [38, 39, 90, 91]
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
