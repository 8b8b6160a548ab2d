"""The loop of the prompt: typed keys in, lines run."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.settings import Settings
from kafka_shell.shell import session
from kafka_shell.shell.paging import PROMPT_ROWS
from kafka_shell.view.cache import Cache
from kafka_shell.wire.endpoint import Address, ConnectionConfig

LIST = "kafka-topics.sh --bootstrap-server b1:9092 --list"


class Prompt:
    """A session that reads keys from a pipe. `ran` are the lines it ran, and whether each was to
    ask before a change."""

    def __init__(self, keys: PipeInput, folder: Path) -> None:
        self.keys = keys
        self.out = io.StringIO()
        self.ran: list[tuple[str, bool]] = []
        settings = Settings(ConnectionConfig((Address("b1", 9092),)))
        self.session = session.Session(
            Context(
                ClusterSession(settings), Paths(folder, folder, folder), self.out, self.out,
                environ={}, run_line=lambda text, context: 0,
            )
        )  # fmt: skip

    def types(self, *texts: str) -> str:
        """Run the session: each text is typed when a prompt waits for it. Return the output."""
        left = iter(texts)
        suggest = self.session._suggest

        def waiting() -> None:
            suggest()
            self.keys.send_text(next(left, "\x04"))

        self.session._suggest = waiting  # type: ignore[method-assign]
        self.session.run()
        return self.out.getvalue()


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prompt]:
    def run(text: str, context: Context) -> Status:
        prompt.ran.append((text, context.script.asks))
        return run_text(text, context) if text.startswith(("kafka-", "set")) else Status.OK

    def unreachable(connection: ConnectionConfig) -> Any:
        raise ShellError("no broker here")

    monkeypatch.setattr(session, "run_text", run)
    monkeypatch.setattr(
        session, "Cache", lambda *found, **named: Cache(*found, open_cluster=unreachable, **named)
    )
    with create_pipe_input() as keys, create_app_session(keys, DummyOutput()):
        prompt = Prompt(keys, tmp_path)
        yield prompt


def test_enter_runs_the_equivalent_of_a_pasted_line(prompt: Prompt) -> None:
    out = prompt.types(f"{LIST}\r", "\r", "\r")
    assert "Equivalent: list-topics" in out and "Enter runs it" in out
    assert prompt.ran == [(LIST, False), ("list-topics", True)]
    history = prompt.session.prompt.history.get_strings()
    assert history == [LIST, "list-topics"]


def test_right_takes_the_equivalent_to_be_edited(prompt: Prompt) -> None:
    prompt.types(f"{LIST}\r", "\x1b[C --long\r")
    assert prompt.ran[1:] == [("list-topics --long", False)]


@pytest.mark.parametrize("typed", ["\x03", "health\r"], ids=["Ctrl-C", "another line"])
def test_an_equivalent_is_offered_once(prompt: Prompt, typed: str) -> None:
    prompt.types(f"{LIST}\r", typed, "\r")
    assert "list-topics" not in [line for line, _ in prompt.ran]


def test_enter_typed_before_the_equivalent_was_shown_does_not_run_it(prompt: Prompt) -> None:
    out = prompt.types(f"{LIST}\r\r", "\r")
    assert "Equivalent: list-topics" in out and "Enter runs it" not in out
    assert prompt.ran == [(LIST, False)]


def test_an_idle_prompt_reads_the_cluster_only_if_refresh_is_set(prompt: Prompt) -> None:
    assert prompt.session._refresh_s() == 0
    prompt.types("set refresh 2s\r", "set refresh 1\r", "set refresh often\r")
    assert prompt.session._refresh_s() == 2
    assert prompt.session.prompt.app.refresh_interval == 1
    assert "refresh must be at least 1s, got '1'" in prompt.out.getvalue()
    assert "refresh must be a duration such as 30s or 7d, got 'often'" in prompt.out.getvalue()


@pytest.mark.parametrize(
    ("line", "rows"),
    [("set pager 1", 24), ("set pager", 48), ("set pager off", sys.maxsize + PROMPT_ROWS)],
)
def test_a_pager_starts_above_two_screens_unless_set(prompt: Prompt, line: str, rows: int) -> None:
    out = prompt.types(f"{line}\r", "set pager 0\r", "set pager on\r")
    assert prompt.session._rows_on_screen() == rows - PROMPT_ROWS
    assert "pager must be a positive integer, got '0'" in out
    assert "hint: For example: off, 1, 2." in out
