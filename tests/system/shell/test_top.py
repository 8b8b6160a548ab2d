"""`top` on real terminals of any width: keys, filter, Enter, pause and quit."""

from __future__ import annotations

import signal
from threading import Event

import pytest

from kafka_shell.commands.activity.run import Measurement
from kafka_shell.shell.top.session import Sampler
from tests.support.produced_records import fill
from tests.support.terminal import Open, top
from tests.support.waiting import wait_for

NARROW, WIDE = {"rows": 15, "columns": 60}, {"rows": 50, "columns": 200}


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_topics_are_shown_with_their_rates(
    open_terminal: Open, bootstrap: str, size: dict[str, int]
) -> None:
    terminal = top(open_terminal, bootstrap, **size)
    terminal.sees("shell.orders", "RECORDS/S▼", "BYTES/S", "▁")
    assert len(terminal.rows) <= size["rows"]
    assert all(len(row) <= size["columns"] for row in terminal.rows)
    assert terminal.rows[size["rows"] - 1].startswith("q quit")
    fill(bootstrap, "shell.orders", 200)
    terminal.until(lambda: "█" in terminal.text, "a sparkline of what was written")
    terminal.type("q")
    assert terminal.ends() == 0


def test_views_sorting_filter_and_help(open_terminal: Open, bootstrap: str) -> None:
    terminal = top(open_terminal, bootstrap, **NARROW)
    terminal.sees("shell.orders", "shell.payments")
    terminal.press("down")
    terminal.type("s")
    terminal.sees("BYTES/S▼")
    terminal.type("S")
    terminal.type("S")
    terminal.sees("TOPIC▲")
    terminal.type("r")
    terminal.sees("TOPIC▼")
    terminal.type("/")
    terminal.type("PAY sq")  # all letters are part of the filter now, also those of keys
    terminal.sees("/PAY sq█", "no topics match the filter")
    terminal.press("c-u")
    terminal.type("payme")
    terminal.press("enter")
    terminal.sees("/payme  Esc remove filter", "shell.payments")
    terminal.misses("shell.orders")
    terminal.press("escape")
    terminal.sees("shell.orders")
    terminal.press("tab")
    terminal.sees("top groups")
    terminal.press("tab")
    terminal.sees("top brokers", "LEADERS", "IN-SYNC", "up")
    terminal.type("?")
    terminal.sees("keys of top", "sort by the next column")
    terminal.type("q")
    terminal.misses("keys of top")
    terminal.resize(30, 120)
    terminal.until(lambda: terminal.rows[-1].startswith("q quit"), "redrawn")
    terminal.press("c-c")
    assert terminal.ends() == 130


def test_enter_describes_the_selected_row(open_terminal: Open, bootstrap: str) -> None:
    terminal = top(open_terminal, bootstrap)
    terminal.sees("shell.payments")
    terminal.type("/payments")
    terminal.press("enter", "enter")
    terminal.sees("describe-topic shell.payments", "2 partitions", "LEADER", "Esc back")
    terminal.press("escape")
    terminal.sees("RECORDS/S")
    terminal.misses("LEADER")
    terminal.press("tab", "tab")
    terminal.sees("top brokers", "up")
    terminal.press("enter")
    terminal.sees("describe-broker 1", "controller")
    terminal.type("q")
    terminal.sees("top brokers")


def test_the_terminal_is_as_it_was(open_terminal: Open, bootstrap: str) -> None:
    terminal = open_terminal("--broker", bootstrap)
    terminal.at_prompt()
    terminal.run("top --interval 300ms")
    terminal.sees("quit", "shell.orders")
    assert terminal.screen.cursor.hidden
    terminal.type("q")
    terminal.at_prompt()
    assert not terminal.screen.cursor.hidden
    terminal.run("top groups --interval 300ms")
    terminal.sees("top groups  localhost")
    terminal.press("c-c")
    terminal.at_prompt()
    terminal.run("topics shell.*")
    terminal.sees("shell.clicks.raw")
    terminal.at_prompt()
    terminal.press("c-d")
    assert terminal.ends() == 0


def test_a_signal_restores_the_terminal(open_terminal: Open, bootstrap: str) -> None:
    terminal = top(open_terminal, bootstrap)
    terminal.child.kill(signal.SIGTERM)
    assert terminal.ends() == 128 + signal.SIGTERM
    assert not terminal.screen.cursor.hidden


def test_an_interrupt_ends_it_like_the_key(open_terminal: Open, bootstrap: str) -> None:
    """Ctrl-C is one until the terminal gives the keys to the screen."""
    terminal = top(open_terminal, bootstrap)
    terminal.child.kill(signal.SIGINT)
    assert terminal.ends() == 128 + signal.SIGINT
    assert not terminal.screen.cursor.hidden


def test_without_color_the_selected_row_is_reversed(open_terminal: Open, bootstrap: str) -> None:
    terminal = top(open_terminal, bootstrap, "--no-color")
    terminal.sees("shell.orders")
    fill(bootstrap, "shell.orders", 50)
    terminal.press("down")
    cells = [char for row in terminal.screen.buffer.values() for char in row.values()]
    assert {char.fg for char in cells} == {"default"}
    assert any(char.reverse for char in cells)


def test_nothing_is_asked_while_nobody_looks(open_terminal: Open, bootstrap: str) -> None:
    terminal = top(open_terminal, bootstrap, "--idle", "2s")
    terminal.sees("shell.orders")
    terminal.sees("paused: no key pressed for 2s")
    terminal.press("down")
    terminal.misses("paused")
    terminal.type(" ")
    terminal.sees("paused")


def test_the_sampler_rests_while_paused_and_follows_the_view() -> None:
    asked: list[str] = []

    def measure(view: str) -> Measurement:
        asked.append(view)
        return Measurement(view, 1.0, ())

    delivered: list[tuple[str, object]] = []
    sampler = Sampler(measure, 0.01, "topics", lambda view, found: delivered.append((view, found)))
    sampler.start()
    wait_for("it measures again and again", lambda: len(asked) > 3)
    sampler.follow("topics", paused=True)
    wait_for("what is in progress is delivered", lambda: len(delivered) == len(asked))
    resting = Event()
    before = len(asked)
    resting.wait(0.2)
    assert len(asked) <= before + 1, "one may have begun before the pause"
    sampler.follow("groups", paused=False)
    wait_for("it measures the other view", lambda: asked[-1] == "groups")
    assert delivered[0] == ("topics", Measurement("topics", 1.0, ()))
    sampler.stop()


def test_a_cluster_that_is_gone_is_said_and_comes_back(open_terminal: Open, bootstrap: str) -> None:
    terminal = open_terminal("--broker", "localhost:1", "top")
    terminal.sees("error:")
    assert terminal.ends() == 3
