"""A malformed file changes nothing, and its error names the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.base import files
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell

TOPICS = {
    "open-quote.csv": ('name,partitions\na,1\n"b,1\nc,1\nd,1\n', 3, "quote"),
    "open-then-closed.csv": ('name,partitions\na,1\n"b,1\nc,1\nd",1\n', 3, "quote"),
    "after-a-quote.csv": ('name,partitions\n"a"b,1\n', 2, "not valid CSV"),
    "short-row.csv": ("name,partitions\na,1\nb\n", 3, "1 fields"),
    "long-row.csv": ("name,partitions\na,1,2\n", 2, "3 fields"),
    "twice.csv": ("name,name\na,b\n", 1, "twice"),
    "empty.csv": ("", None, "is empty"),
    "long-field.csv": ("name\n" + "x" * 200_000 + "\n", 2, "field larger"),
    "twice.json": ('{"version": 1, "version": 1}', 1, "set twice"),
    "cut.json": ('{"version": 1,\n', 2, "not valid JSON"),
    "deep.json": ("[" * 100_000, 1, "nested too deeply"),
    "long-number.json": (
        '{"version": 1, "topics": {"a": {"partitions": ' + "1" * 5000 + "}}}",
        1,
        "an integer from 1",
    ),
    "twice.yaml": ("version: 1\ntopics:\n  a: {}\n  a: {}\n", 4, "set twice"),
    "twice-inside.yaml": (
        "version: 1\ntopics:\n  a:\n    configs:\n      x: 1\n      x: 2\n", 6, "set twice"
    ),
    "deep.yaml": ("[" * 3_000, 1, "nested too deeply"),
    "tab.yaml": ("version: 1\ntopics:\n\ta: {}\n", 3, "not valid YAML"),
    "count.yaml": ("version: 1\ntopics: {a: {partitions: 0}}", 2, "must be an integer from 1"),
    "list.yaml": ("- name: a\n", 1, "must be a mapping"),
    "nothing.yaml": ("", None, "is empty"),
    "no-name.csv": ("name,partitions\n,1\n", 2, "no name"),
    "count.csv": ("name,partitions\na,0\n", 2, "must be an integer from 1"),
    "bytes.csv": (b"name\na\n\xff\n", 3, "UTF-8"),
}  # fmt: skip


@pytest.fixture
def shell(sandbox: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home", sandbox.bootstrap)


def _write(path: Path, held: str | bytes) -> Path:
    path.write_bytes(held.encode() if isinstance(held, str) else held)
    return path


@pytest.mark.parametrize("name", TOPICS)
def test_a_malformed_file_of_topics_creates_none(shell: Shell, tmp_path: Path, name: str) -> None:
    held, line, why = TOPICS[name]
    file = _write(tmp_path / name, held)
    before = shell.ok("list-topics").out
    run = shell(f"create-topic --from-file {file} --yes")
    assert run.status == 2, str(run)
    assert (f"{file}:{line}:" if line else f"{file}: ") in run.err, run.err
    assert why in run.err
    assert len(run.err) < 2_000
    assert shell.ok("list-topics").out == before


READERS = (
    "create-topic --from-file {}",
    "delete-records --offset-json-file {} --yes",
    "elect-leaders --path-to-json-file {}",
    "preferred-replica-leader-election --path-to-json-file {}",
    "verify-preferred-replica-leader-election --path-to-json-file {}",
    "reassign-partitions --reassignment-json-file {}",
    "reassign-partitions --topics-to-move-json-file {} --broker-list 1",
    "verify-reassign-partitions --reassignment-json-file {}",
    "reset-offsets g --from-file {} --yes",
    "config-command --topic t --alter --add-config-file {}",
    "scram-credentials --add SCRAM-SHA-256 --username u --password-file {}",
)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("file", "why"),
    [("gone", "No such file"), (".", "Is a directory"), ("/dev/zero", "is larger than")],
)
def test_every_reader_refuses_what_it_cannot_read(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, file: str, why: str
) -> None:
    monkeypatch.setattr(files, "MAX_SIZE", 1 << 22)
    path = tmp_path / f"f{'.csv' if 'topic --from' in reader else '.json'}"
    path.symlink_to(tmp_path / file)
    run = shell(reader.format(path))
    assert run.status == 2, str(run)
    assert str(path) in run.err and why in run.err, run.err


@pytest.mark.parametrize("reader", [each for each in READERS if "json-file" in each])
@pytest.mark.parametrize(
    ("held", "why"),
    [
        ('{"partitions": [], "partitions": []}', "'partitions' is set twice"),
        ('{"partitions": [\n{"topic": "a"', ":2: not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"partitions": 3, "topics": 3}', ""),
        ('{"partitions": [{"topic": ["a"], "partition": 0}], "topics": [{"topic": 3}]}', ""),
        (json.dumps({"partitions": [{"topic": "x" * 5_000_000, "partition": "y"}]}), ""),
    ],
    ids=["twice", "cut", "deep", "number", "list", "long"],
)
def test_a_malformed_json_file_is_refused_whole(
    shell: Shell, tmp_path: Path, reader: str, held: str, why: str
) -> None:
    file = _write(tmp_path / "f.json", held)
    run = shell(reader.format(file))
    assert run.status == 2, str(run)[:2_000]
    assert str(file) in run.err and why in run.err, run.err[:2_000]
    assert len(run.err) < 2_000


@pytest.mark.parametrize(
    ("held", "line"),
    [
        ("t,0,1\nt,1\n", 2),
        ('t,0,1\n"t,1,1\nt,2,1\n', 2),
        ("t,0,1\nt,0,2\n", 2),
        ("t,0,99999999999999999999\n", 1),
        ("t,99999999999,1\n", 1),
        ("other,t,x,1\n", 1),
    ],
)
def test_a_malformed_file_of_offsets_is_refused_whole(
    shell: Shell, tmp_path: Path, held: str, line: int
) -> None:
    file = _write(tmp_path / "f.csv", held)
    run = shell(f"reset-offsets g --from-file {file} --yes")
    assert run.status == 2, str(run)
    assert f"{file}:{line}: " in run.err


def test_a_key_twice_in_a_file_of_configs_is_refused(shell: Shell, tmp_path: Path) -> None:
    file = _write(tmp_path / "f.properties", "retention.ms=1\nsegment.ms=1\nretention.ms=2\n")
    run = shell(f"config-command --topic t --alter --add-config-file {file} --yes")
    assert run.status == 2, str(run)
    assert f"{file}:3: retention.ms is set twice" in run.err


def test_what_is_well_formed_is_read(tmp_path: Path) -> None:
    table = _write(tmp_path / "a.csv", '\ufeffname,configs\r\na,"k=[1,2]"\r\n\r\nb,\r\n')
    assert files.read_table(table) == [
        (2, {"name": "a", "configs": "k=[1,2]"}),
        (4, {"name": "b", "configs": ""}),
    ]
    assert files.read_json(_write(tmp_path / "a.json", '\ufeff{"a": [1]}')) == {"a": [1]}


def test_a_file_has_a_limit() -> None:
    with pytest.raises(ShellError, match="/dev/zero: is larger than 1 KiB"):
        files.read_text("/dev/zero", largest=1024)
