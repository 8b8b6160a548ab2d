"""The journal: written before and after, private, turned over, and readable when damaged."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell import journal
from kafka_shell.admin.configs import HIDDEN
from kafka_shell.context import Context, Paths
from kafka_shell.errors import ShellError
from kafka_shell.nouns import Change, Done, Failure, JournalEntry, Resource, Secret
from kafka_shell.settings import Settings

pytestmark = pytest.mark.quick

CHANGE = Change(Resource("topic", "orders"), "alter", "retention.ms", None, "1")
OTHER = Change(Resource("topic", "orders"), "alter", "segment.ms", "2", None)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "cache", tmp_path / "state")


@pytest.fixture
def context(paths: Paths) -> Context:
    return make_context(paths)


def make_context(paths: Paths) -> Context:
    ticks = iter(range(1_000_000))
    context = Context(Settings(), paths, clock=lambda: float(next(ticks)))
    context._cluster = cast(Any, SimpleNamespace(cluster_id="cluster-1", close=lambda: None))
    return context


def entries(context: Context) -> list[JournalEntry]:
    found, broken = journal.read(context.paths.journal)
    assert broken == 0
    return found


def test_the_intent_is_there_before_the_outcome(context: Context) -> None:
    intent = journal.record_intent(context, "alter-topic orders", [CHANGE], ["undo it"])
    assert entries(context) == [intent]
    assert (intent.status, intent.cluster, intent.command, intent.undo) == (
        "intent", "cluster-1", "alter-topic orders", ("undo it",),
    )  # fmt: skip
    journal.record_outcome(context, intent, [Done(CHANGE, "done")], ["undo it, really"])
    (entry,) = entries(context)
    assert (entry.id, entry.status, entry.undo) == (intent.id, "done", ("undo it, really",))
    assert entry.changes == (
        {
            "resource": "topic orders", "verb": "alter", "field": "retention.ms",
            "before": None, "after": "1", "status": "done", "error": None,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("done", "done"), "done"),
        (("done", "failed"), "failed"),
        (("done", "unknown"), "unknown"),
        (("unknown", "skipped"), "unknown"),
        (("failed", "skipped"), "failed"),
        ((), "failed"),
    ],
)
def test_the_whole_is_as_good_as_its_worst(
    context: Context, statuses: tuple[str, ...], whole: str
) -> None:
    intent = journal.record_intent(context, "x", [CHANGE, OTHER], [])
    why = Failure("POLICY_VIOLATION", "no")
    done = [
        Done(change, status, why if status == "failed" else None)
        for change, status in zip((CHANGE, OTHER), statuses, strict=False)
    ]
    journal.record_outcome(context, intent, done, [])
    (entry,) = entries(context)
    assert entry.status == whole
    errors = [row["error"] for row in entry.changes]
    assert errors == ["POLICY_VIOLATION: no" if status == "failed" else None for status in statuses]


def test_commands_are_listed_in_the_order_they_began(context: Context) -> None:
    first = journal.record_intent(context, "first", [CHANGE], [])
    second = journal.record_intent(context, "second", [CHANGE], [])
    journal.record_outcome(context, second, [Done(CHANGE, "done")], [])
    journal.record_outcome(context, first, [Done(CHANGE, "done")], [])
    assert [entry.command for entry in entries(context)] == ["first", "second"]


def test_the_file_and_its_folder_are_private(context: Context) -> None:
    journal.record_intent(context, "x", [CHANGE], [])
    path = context.paths.journal
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_changed_yet_is_an_empty_journal(paths: Paths) -> None:
    assert journal.read(paths.journal) == ([], 0)


BROKEN: list[Callable[[str], str]] = [
    lambda line: line[: len(line) // 2],
    lambda line: "",
    lambda line: "5",
    lambda line: "null",
    lambda line: "[]",
    lambda line: '"words"',
    lambda line: "\x00\xff",
    lambda line: json.dumps(json.loads(line) | {"unheard-of": 1}),
    lambda line: json.dumps(json.loads(line) | {"id": []}),
    lambda line: json.dumps({k: v for k, v in json.loads(line).items() if k != "undo"}),
]


@pytest.mark.parametrize("damage", BROKEN)
def test_a_broken_line_is_counted_and_the_rest_is_read(
    context: Context, damage: Callable[[str], str]
) -> None:
    for command in ("first", "second", "third"):
        journal.record_intent(context, command, [CHANGE], [])
    path = context.paths.journal
    lines = path.read_text().splitlines()
    lines[1] = damage(lines[1])
    path.write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
    found, broken = journal.read(path)
    assert [entry.command for entry in found] == ["first", "third"]
    assert broken == (1 if lines[1] else 0)
    journal.record_intent(context, "fourth", [CHANGE], [])
    assert [entry.command for entry in journal.read(path)[0]] == ["first", "third", "fourth"]


def test_a_line_cut_short_does_not_take_the_next_one_with_it(context: Context) -> None:
    """The machine went down in the middle of a write."""
    journal.record_intent(context, "first", [CHANGE], [])
    with context.paths.journal.open("a") as file:
        file.write('{"id": "cut sh')
    journal.record_intent(context, "next", [CHANGE], [])
    found, broken = journal.read(context.paths.journal)
    assert [entry.command for entry in found] == ["first", "next"]
    assert broken == 1


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=20))
def test_every_text_reads_back(
    tmp_path_factory: pytest.TempPathFactory, command: str, value: str
) -> None:
    """Line separators, other alphabets, and bytes of no alphabet (surrogates) too."""
    root = tmp_path_factory.mktemp("journal")
    context = make_context(Paths(root, root, root / "state"))
    change = Change(Resource("group", value), "alter", "key", value, None)
    intent = journal.record_intent(context, command, [change], [value])
    assert entries(context) == [intent]


def test_it_is_turned_over_when_it_grows(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_KEPT_BYTES", 2000)
    path = context.paths.journal
    for number in range(30):
        intent = journal.record_intent(context, f"command {number}", [CHANGE], [])
        journal.record_outcome(context, intent, [Done(CHANGE, "done")], [])
        assert path.stat().st_size < 3000
    old = path.with_name("journal.jsonl.old")
    assert old.stat().st_size >= 2000
    assert stat.S_IMODE(old.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600
    assert entries(context)[-1].command == "command 29"
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name, old.name]


def test_a_secret_is_never_written(context: Context) -> None:
    leak = Change(Resource("user", "alice"), "alter", "password", None, cast(Any, Secret("hush")))
    with pytest.raises(TypeError):
        journal.record_intent(context, "x", [leak], [])
    path = context.paths.journal
    assert not path.exists() or "hush" not in path.read_text()


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("alter-configs --broker-id 1 a.password=hush",
         "alter-configs --broker-id 1 'a.password=[hidden]'"),
        ("alter-configs --broker-id 1 'a.password=hu sh' b=1 # why",
         "alter-configs --broker-id 1 'a.password=[hidden]' b=1 # why"),
        ("config-command --broker 1 --alter --add-config=b=1,a.password=hush,c=[d,e]",
         "config-command --broker 1 --alter '--add-config=b=1,a.password=[hidden]'"),
        ("alter-configs --broker-id 1 b=1", "alter-configs --broker-id 1 b=1"),
    ],
)  # fmt: skip
def test_the_command_is_kept_without_its_secrets(context: Context, command: str, kept: str) -> None:
    changes = [
        Change(Resource("broker", "1"), "alter", "b", None, "1"),
        Change(Resource("broker", "1"), "alter", "a.password", None, HIDDEN),
    ]
    journal.record_intent(context, command, changes, [])
    assert entries(context)[0].command == kept
    assert "hush" not in context.paths.journal.read_text()


def test_a_journal_that_cannot_be_written_stops_the_command(context: Context) -> None:
    context.paths.state.write_text("a file where the folder should be")
    with pytest.raises(ShellError, match="cannot be written") as refused:
        journal.record_intent(context, "x", [CHANGE], [])
    assert refused.value.hint == "Nothing was sent."


def test_what_was_sent_is_reported_even_if_the_disk_is_full(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = journal.record_intent(context, "x", [CHANGE], [])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "open_private", full)
    journal.record_outcome(context, intent, [Done(CHANGE, "done")], [])
    assert entries(context)[0].status == "intent", "it says that nobody knows"
