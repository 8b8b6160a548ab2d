"""The journal is written before and after a change, private, pruned, and readable if damaged."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell import journal
from kafka_shell.admin.configs.model import HIDDEN
from kafka_shell.base.errors import ShellError
from kafka_shell.base.outcome import ChangeResult, JournalEntry
from kafka_shell.base.plans import Change, Resource, Secret
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.settings import Settings
from tests.support.recorded_execution import read_journal

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
    context = Context(ClusterSession(Settings()), paths, clock=lambda: float(next(ticks)))
    context.session.cluster = cast(Any, SimpleNamespace(cluster_id="cluster-1", close=lambda: None))
    return context


def entries(context: Context) -> list[JournalEntry]:
    found, broken = read_journal(context.paths.journal)
    assert broken == []
    return found


def files(context: Context) -> list[Path]:
    """The files of the entries, the oldest first."""
    return sorted(context.paths.journal.glob("*/*.json"), key=lambda path: path.name)


def test_the_intent_is_there_before_the_outcome(context: Context) -> None:
    intent = journal.record_intent(context, "alter-topic orders", [CHANGE], ["undo it"])
    assert entries(context) == [intent]
    assert (intent.status, intent.cluster, intent.command, intent.undo) == (
        "intent", "cluster-1", "alter-topic orders", ("undo it",),
    )  # fmt: skip
    journal.record_outcome(context, intent, [ChangeResult(CHANGE, "done")], ["undo it, really"])
    (entry,) = entries(context)
    assert (entry.id, entry.status, entry.undo) == (intent.id, "done", ("undo it, really",))
    assert entry.changes == (
        {
            "resource": "topic orders", "kind": "topic", "verb": "alter", "field": "retention.ms",
            "before": None, "after": "1", "note": "", "reversible": True, "lost": "",
            "status": "done", "error": None,
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
def test_the_status_of_an_entry_is_its_worst_one(
    context: Context, statuses: tuple[str, ...], whole: str
) -> None:
    intent = journal.record_intent(context, "x", [CHANGE, OTHER], [])
    why = Failure("POLICY_VIOLATION", "no")
    done = [
        ChangeResult(change, status, why if status == "failed" else None)
        for change, status in zip((CHANGE, OTHER), statuses, strict=False)
    ]
    journal.record_outcome(context, intent, done, [])
    (entry,) = entries(context)
    assert entry.status == whole
    errors = [row["error"] for row in entry.changes]
    assert errors == [
        "no (POLICY_VIOLATION)" if status == "failed" else None for status in statuses
    ]


def test_commands_are_listed_in_the_order_they_began(context: Context) -> None:
    first = journal.record_intent(context, "first", [CHANGE], [])
    second = journal.record_intent(context, "second", [CHANGE], [])
    journal.record_outcome(context, second, [ChangeResult(CHANGE, "done")], [])
    journal.record_outcome(context, first, [ChangeResult(CHANGE, "done")], [])
    assert [entry.command for entry in entries(context)] == ["first", "second"]


def test_the_file_and_its_folder_are_private(context: Context) -> None:
    journal.record_intent(context, "x", [CHANGE], [])
    (path,) = files(context)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_changed_yet_is_an_empty_journal(paths: Paths) -> None:
    assert read_journal(paths.journal) == ([], [])


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
    lambda line: json.dumps(json.loads(line) | {"changes": [{"resource": "topic orders"}]}),
]


@pytest.mark.parametrize("damage", BROKEN)
def test_an_unreadable_entry_is_reported_and_the_rest_is_read(
    context: Context, damage: Callable[[str], str]
) -> None:
    for command in ("first", "second", "third"):
        journal.record_intent(context, command, [CHANGE], [])
    path = files(context)[1]
    path.write_bytes(damage(path.read_text()).encode("latin-1"))
    found, broken = read_journal(context.paths.journal)
    assert [entry.command for entry in found] == ["first", "third"]
    assert broken == [path]
    journal.record_intent(context, "fourth", [CHANGE], [])
    found, broken = read_journal(context.paths.journal)
    assert [entry.command for entry in found] == ["first", "third", "fourth"]


def test_an_interrupted_write_keeps_the_old_content(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = journal.record_intent(context, "x", [CHANGE], ["undo it"])

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            journal.record_outcome(context, intent, [ChangeResult(CHANGE, "done")], [])
    assert entries(context) == [intent]


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=20))
def test_any_text_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, command: str, value: str
) -> None:
    """Line separators, other alphabets, and bytes of no alphabet (surrogates) too."""
    root = tmp_path_factory.mktemp("journal")
    context = make_context(Paths(root, root, root / "state"))
    change = Change(Resource("group", value), "alter", "key", value, None)
    intent = journal.record_intent(context, command, [change], [value])
    assert entries(context) == [intent]


def test_a_large_entry_hides_no_other_and_is_not_lost(context: Context) -> None:
    """A change of 40,000 topics, and the next small ones."""
    many = [
        Change(Resource("topic", f"topic-{n:05}"), "alter", "a", "1", "2") for n in range(40_000)
    ]
    lines = [f"alter-configs {change.resource.name} a=1" for change in many]
    intent = journal.record_intent(context, "large", many, lines)
    journal.record_outcome(
        context, intent, [ChangeResult(change, "done") for change in many], lines
    )
    for number in range(20):
        journal.record_intent(context, f"small {number}", [CHANGE], ["x"])
    found = entries(context)
    assert (found[0].command, len(found[0].undo), len(found)) == ("large", 40_000, 21)


def test_the_newest_entries_are_read_without_the_others(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        journal.record_intent(context, f"command {number}", [CHANGE], [])
    read: list[object] = []
    real = json.loads
    monkeypatch.setattr(json, "loads", lambda text: read.append(text) or real(text))
    newest = [*islice(journal.newest(context.paths.journal), 2)]
    assert [cast(JournalEntry, each).command for each in newest] == ["command 49", "command 48"]
    assert len(read) == 2


def test_damaged_entries_of_other_clusters_do_not_prevent_a_continuation(context: Context) -> None:
    entry = journal.record_intent(context, "copy-records", [CHANGE], [])
    other = context.paths.journal / "cluster-2" / f"{10**16:017d}-00000000.json"
    other.parent.mkdir()
    other.write_text("{")
    journal.check_continuable(context, entry.id)
    other.rename(files(context)[0].parent / other.name)
    with pytest.raises(ShellError, match="not a valid journal entry"):
        journal.check_continuable(context, entry.id)


def test_old_entries_are_removed_by_count(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_ENTRIES", 5)
    first = journal.record_intent(context, "first", [CHANGE], [])
    journal.mark_undone(context, [first.id])
    for number in range(30):
        journal.record_intent(context, f"command {number}", [CHANGE], [])
    assert [entry.command for entry in entries(context)] == [
        f"command {number}" for number in range(25, 30)
    ]
    assert len(list(context.paths.journal.glob("*/*"))) == 5, "the mark of the first is left"


def at(context: Context, now: float) -> Context:
    """The same context at another time."""
    return replace(context, clock=lambda: now)


def test_it_is_kept_by_age(context: Context) -> None:
    day = 86_400.0
    for days in (1, journal.MAX_DAYS - 1, journal.MAX_DAYS + 2):
        journal.record_intent(at(context, days * day), f"day {days}", [CHANGE], [])
    assert [entry.command for entry in entries(context)] == [
        f"day {journal.MAX_DAYS - 1}", f"day {journal.MAX_DAYS + 2}",
    ]  # fmt: skip


def test_a_clock_that_is_set_back_does_not_change_the_order(context: Context) -> None:
    for number, now in enumerate((2000.0, 2000.0, 5.0, 1000.0)):
        journal.record_intent(at(context, now), f"command {number}", [CHANGE], [])
    assert [entry.command for entry in entries(context)] == [f"command {n}" for n in range(4)]


def test_each_cluster_id_has_its_own_entries(context: Context) -> None:
    """Also where the id is none that a folder may be called."""
    for id in ("cluster-1", "other", "../../escape", "", "a/b", "x" * 300, "\ud800"):
        context.session.cluster = cast(Any, SimpleNamespace(cluster_id=id, close=lambda: None))
        journal.record_intent(context, f"on {id}", [CHANGE], [])
        found, broken = read_journal(context.paths.journal, cluster=id)
        assert ([entry.command for entry in found], broken) == ([f"on {id}"], [])
    assert len(entries(context)) == 7
    outside = [path for path in context.paths.state.rglob("*.json") if "journal" not in str(path)]
    assert outside == []


def test_what_was_undone_is_marked_until_the_undo_is_undone(context: Context) -> None:
    first = journal.record_intent(context, "first", [CHANGE], [])
    journal.record_outcome(context, first, [ChangeResult(CHANGE, "done")], ["x"])
    back = journal.record_intent(context, "back", [CHANGE], [], [first.id])
    journal.mark_undone(context, [first.id])
    assert [(e.command, e.undone, e.undoes) for e in entries(context)] == [
        ("first", True, ()), ("back", False, (first.id,)),
    ]  # fmt: skip
    journal.mark_undone(context, [back.id])
    assert [(e.command, e.undone) for e in entries(context)] == [("first", False), ("back", True)]


def test_an_entry_is_found_by_its_id(context: Context) -> None:
    entry = journal.record_intent(context, "first", [CHANGE], [])
    journal.record_intent(context, "second", [CHANGE], [])
    assert journal.find(context.paths.journal, entry.id) == entry
    assert journal.find(context.paths.journal, "00000000") is None


def test_one_shell_undoes_at_a_time(context: Context) -> None:
    """The second one waits, and then finds that the change is undone."""
    entry = journal.record_intent(context, "first", [CHANGE], [])
    waiting = threading.Event()
    errors: list[ShellError] = []

    def second() -> None:
        waiting.set()
        try:
            with journal.undoing(context, [entry.id]):
                errors.append(ShellError("both undo the same change"))
        except ShellError as error:
            errors.append(error)

    with journal.undoing(context, [entry.id]):
        thread = threading.Thread(target=second)
        thread.start()
        waiting.wait()
        thread.join(0.1)
        assert errors == [] and thread.is_alive()
        journal.mark_undone(context, [entry.id])
    thread.join()
    assert [error.code for error in errors] == ["undone"]


def test_a_change_is_read_back_from_its_entry(context: Context) -> None:
    changes = [
        CHANGE,
        Change(Resource("broker-default"), "alter", "a", "1", None, "note", False, lost="records"),
        Change(Resource("user", "alice client-id 'an app'"), "alter", "request_percentage", 1.5),
        Change(Resource("token for", "yourself"), "create"),
    ]
    journal.record_intent(context, "x", changes, [])
    (entry,) = entries(context)
    assert [journal.change_of(row) for row in entry.changes] == changes


def test_a_secret_is_never_written(context: Context) -> None:
    leak = Change(Resource("user", "alice"), "alter", "password", None, cast(Any, Secret("hush")))
    with pytest.raises(TypeError):
        journal.record_intent(context, "x", [leak], [])
    assert all("hush" not in path.read_text() for path in context.paths.state.rglob("*.*"))


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
    assert "hush" not in files(context)[0].read_text()


def test_a_journal_that_cannot_be_written_stops_the_command(context: Context) -> None:
    context.paths.state.write_text("a file where the folder should be")
    with pytest.raises(ShellError, match="cannot write the journal") as refused:
        journal.record_intent(context, "x", [CHANGE], [])
    assert "KAFKA_SH_HOME" in refused.value.hint


def test_the_outcome_is_reported_even_if_the_disk_is_full(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = journal.record_intent(context, "x", [CHANGE], [])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "write_private", full)
    journal.record_outcome(context, intent, [ChangeResult(CHANGE, "done")], [])
    assert entries(context)[0].status == "intent", "it says that nobody knows"
