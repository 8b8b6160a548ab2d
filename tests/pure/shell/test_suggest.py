"""Suggestions: the gray rest of a line."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory

from kafka_shell.base.files import shipped_folder
from kafka_shell.shell.history import Suggest, starter_lines


def suggested(suggest: Suggest, own: list[str], typed: str) -> str | None:
    buffer = Buffer(history=InMemoryHistory(own))
    list(buffer.history.load_history_strings())
    buffer.history._loaded_strings = list(reversed(own))
    found = suggest.get_suggestion(buffer, Document(typed))
    return found.text if found else None


@pytest.fixture
def suggest(tmp_path: Path) -> Suggest:
    (tmp_path / "a.kafka").write_text("# comment\n\ntopics --long\nhealth\n")
    (tmp_path / "notes.txt").write_text("topics --of-no-interest\n")
    return Suggest(tmp_path)


def test_the_newest_own_line_wins(suggest: Suggest) -> None:
    own = ["topics --internal", "topics | wc -l", "health"]
    assert suggested(suggest, own, "topics") == " | wc -l"


def test_starter_lines_are_used_without_matching_history(suggest: Suggest) -> None:
    assert suggested(suggest, [], "top") == "ics --long"
    assert suggested(suggest, ["brokers"], "hea") == "lth"


@pytest.mark.parametrize("typed", ["", "   ", "# com", "zzz", "topics\nmore"])
def test_nothing_is_suggested(suggest: Suggest, typed: str) -> None:
    assert suggested(suggest, [], typed) is None


def test_the_shipped_sessions_is_valid() -> None:
    assert len(starter_lines(shipped_folder("history"))) > 10
    assert starter_lines(Path("/nowhere")) == []


def test_invalid_lines_are_left_out(suggest: Suggest) -> None:
    suggest = Suggest(suggest._folder, lambda line: "nosuch" not in line)
    own = ["topics --internal", "topics nosuch"]
    assert suggested(suggest, own, "topics") == " --internal"
    assert suggested(suggest, ["topics nosuch"], "topics") == " --long"


def test_an_invalid_line_is_detected() -> None:
    from kafka_shell.run.dispatch import is_valid

    for line in ("topics --long | wc", "!ls", "topic a; topics && health"):
        assert is_valid(line)
    for line in ("topcis", "topics --nosuch", "topics; nosuch", "topics 'a", "topics &&"):
        assert not is_valid(line)
