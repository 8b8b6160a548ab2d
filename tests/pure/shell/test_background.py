"""Tasks in the background of the prompt: what is shown while they run, and how they end."""

from __future__ import annotations

from queue import Queue
from threading import Event

from kafka_shell.base.plans import Report
from kafka_shell.shell.session import Background


def test_background_tasks_are_shown_and_reported_once() -> None:
    heard: Queue[str] = Queue()
    shown: Queue[str] = Queue()
    go_on = Event()
    background = Background(lambda: shown.put(background.shown("here")), heard.put)

    def work(report: Report) -> str:
        report("Moving 1 partition", 1, 4)
        assert go_on.wait(60)
        report("Moving 1 partition", 1, 1)
        return "done: it"

    background.start(work, "look", "here")
    assert shown.get(timeout=60) == "Moving 1 partition 25%"
    assert background.shown("elsewhere") == "here: Moving 1 partition 25%"
    assert background.unfinished == ("look",)
    go_on.set()
    assert shown.get(timeout=60) == "", "the end is shown as a success before it is known"
    assert heard.get(timeout=60) == "done: it"
    assert (background.shown("here"), background.unfinished) == ("", ())
