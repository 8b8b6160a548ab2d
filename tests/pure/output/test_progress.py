from __future__ import annotations

import io
import itertools
import sys

import pytest

from kafka_shell import start
from kafka_shell.base.units import Bytes
from kafka_shell.output import progress as progress_module
from kafka_shell.output.progress import Progress
from kafka_shell.output.terminal import standard
from tests.support.samples import Tty
from tests.support.waiting import wait_for

ERASED = "\r\x1b[K"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "DELAY", 0)


def test_a_bar_is_drawn_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Tty()
    seconds = iter((0.0, 0.15))
    monkeypatch.setattr(progress_module, "monotonic", lambda: next(seconds))
    with Progress(err) as report:
        report("reading topics", 0, 4)
        report("reading topics", 1, 4)
        assert "reading topics:  25%" in err.getvalue()
    assert err.getvalue().endswith(ERASED)
    assert "\n" not in err.getvalue()


def test_a_dumb_terminal_gets_no_control_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Tty()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "dumb")
    report = start._reporter()
    report("a", 1, 4)
    assert err.getvalue() == ""
    monkeypatch.setenv("TERM", "xterm")
    start._reporter()("a", 1, 4)
    assert "a:  25%" in err.getvalue()


def test_bytes_have_the_units_of_sizes_and_throttles(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Tty()
    seconds = iter((0.0, 2.0))
    monkeypatch.setattr(progress_module, "monotonic", lambda: next(seconds))
    report = Progress(err)
    report("a", Bytes(0), Bytes(60_600_000))
    report("a", Bytes(2_800_000), Bytes(60_600_000))
    assert "| 2.7 MiB/57.8 MiB [00:02<00:41, 1.4MB/s]" in err.getvalue()


def test_a_task_ends_when_it_is_done() -> None:
    err = Tty()
    report = Progress(err)
    report("a", 1, 2)
    report("a", 2, 2)
    length = len(err.getvalue())
    report.clear()
    report.close()
    assert len(err.getvalue()) == length


def test_clear_hides_a_bar() -> None:
    err = Tty()
    report = Progress(err)
    report("a", 1, None)
    report.clear()
    assert err.getvalue().endswith(ERASED)
    report.close()


def test_a_file_gets_nothing_from_quick_work() -> None:
    err = io.StringIO()
    with Progress(err) as report:
        for done in range(5):
            report("a", done, 4)
    assert err.getvalue() == ""


def test_a_file_gets_a_line_now_and_then_from_slow_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "LOG_EVERY", 0.0)
    err = io.StringIO()
    with Progress(err) as report:
        report("a\x1b", 1, 4)
        report("b", 2, None)
    assert err.getvalue() == "a\\x1b: 1 of 4\nb: 2\n"


@pytest.mark.parametrize(
    ("done", "seconds", "rate"),
    [(30, 3.0, "10/s"), (29, 3.0, ""), (4_000_000, 12.0, "333k/s"), (40_000_000, 10.0, "4M/s")],
)
def test_the_rate_of_fast_work(
    done: int, seconds: float, rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "LOG_EVERY", 0.0)
    clock = iter([0.0, seconds] * 2)
    monkeypatch.setattr(progress_module, "monotonic", lambda: next(clock))
    tty, file = Tty(), io.StringIO()
    for err in (tty, file):
        report = Progress(err)
        report("a", 0, 80_000_000)
        report("a", done, 80_000_000)
    assert (f", {rate}]" in tty.getvalue()) is bool(rate)
    assert (f"0M, {rate}," in file.getvalue()) is bool(rate)


def test_the_awaited_broker_is_shown_on_a_terminal_and_erased() -> None:
    err = Tty()
    report = Progress(standard(err))
    report.waiting("broker 3 (host:9092)")
    report.waiting("broker 3 (host:9092)")
    assert err.getvalue() == "waiting for broker 3 (host:9092) ..."
    report.clear()
    assert err.getvalue().endswith("\r\x1b[K")
    report.waiting("")
    report.close()
    assert err.getvalue().count("\x1b[K") == 1


def test_a_task_that_counts_nothing_shows_no_figure() -> None:
    err = Tty()
    with Progress(err) as report:
        report("waiting for broker 3", 0, None)
        report("waiting for broker 3", 0, None)
        assert "waiting for broker 3 [" in err.getvalue()
        done = itertools.count(2)

        def counted() -> bool:
            report("waiting for broker 3", next(done), None)
            return "waiting for broker 3: " in err.getvalue()

        wait_for("a figure is shown", counted)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, which a test may set."""
    time = [100.0]
    monkeypatch.setattr(progress_module, "monotonic", lambda: time[0])
    return time


def test_a_file_gets_a_line_after_two_seconds_then_every_ten(now: list[float]) -> None:
    err = io.StringIO()
    report = Progress(err)
    for _ in range(31):
        report.waiting("broker 3 (host:9092)")
        now[0] += 1
    assert err.getvalue() == "waiting for broker 3 (host:9092)\n" * 3
    report.waiting("")
    now[0] += 4
    for _ in range(2):
        report.waiting("broker 3 (host:9092)")
        now[0] += 1
    assert err.getvalue().count("\n") == 3, "short waits are not told"


def test_a_bar_shows_progress_and_remaining_time(now: list[float]) -> None:
    err = Tty()
    report = Progress(err)
    report("a", 0, 4)
    now[0] += 75.0
    report("a", 1, 4)
    report("a", 2, 4)  # too soon to be drawn
    drawn = err.getvalue().split(ERASED)
    assert drawn[0] == f"a:   0%|{' ' * 30}| 0/4 [00:00<?]"
    assert drawn[1] in [f"a:  25%|{(mark * 7).ljust(30)}| 1/4 [01:15<03:45]" for mark in "█#"]
    report("b", 12_000_000, 48_000_000)
    assert "| 12.0M/48.0M [00:00<00:00]" in err.getvalue().split(ERASED)[2]


def test_the_part_that_is_worked_on_does_not_begin_another_task(now: list[float]) -> None:
    err = Tty()
    report = Progress(err)
    report("evaluating (T01)", 0, 4)
    now[0] += 10.0
    report("evaluating (B07)", 1, 4)
    last = err.getvalue().split(ERASED)[-1]
    assert last.startswith("evaluating (B07):  25%|") and last.endswith("[00:10<00:30]")
    report("evaluating", 1, 1)
    assert err.getvalue().endswith(ERASED)
