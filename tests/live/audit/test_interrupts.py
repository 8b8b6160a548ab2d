"""Ctrl-C and --deadline stop the evaluation of controls at once."""

from __future__ import annotations

import _thread
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit.control import Control, Level
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import evaluate
from kafka_shell.base.errors import ShellError
from tests.support.waiting import wait_for

ENDLESS = """\
SELECT 'c' AS cluster, 'r' AS resource, 'ok' AS status, CAST(sum(a.id * b.id) AS STRING) AS reason,
  NULL AS remedy, NULL AS undo FROM range(10000000) a CROSS JOIN range(10000000) b"""


def endless(engine: Engine) -> Any:
    """An evaluation of ten controls of which none ends."""
    session = engine.session  # another one would not be interrupted
    controls = [
        Control(f"U{number:02}", "", Level.LOW, "", "", ENDLESS, Path("none"))
        for number in range(10)
    ]
    return engine.run(
        "evaluating",
        lambda: evaluate(session, controls, {}, {}, stopped=engine.stopped),
        lambda: (0, 10),
    )


def stages(engine: Engine) -> list[int]:
    return list(engine.session.sparkContext.statusTracker().getActiveStageIds())


def await_stages(engine: Engine, *, some: bool) -> None:
    what = "a job runs" if some else "all jobs have ended"
    wait_for(what, lambda: bool(stages(engine)) is some, 60)


def test_ctrl_c_ends_an_evaluation_that_would_never_end(engine: Engine) -> None:
    def press() -> None:
        await_stages(engine, some=True)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        endless(engine)
    await_stages(engine, some=False)
    counted = engine.run("counting", lambda: engine.session.range(3).count())
    assert counted == 3, "the session stays, and the next command is not cancelled"


def test_a_deadline_ends_an_evaluation(engine: Engine) -> None:
    def pass_soon() -> None:
        await_stages(engine, some=True)
        engine.deadline = time.monotonic() + 0.5

    threading.Thread(target=pass_soon, daemon=True).start()
    try:
        with pytest.raises(ShellError, match="evaluating: deadline exceeded"):
            endless(engine)
    finally:
        engine.deadline = None
    await_stages(engine, some=False)


def test_ctrl_c_while_cancelled_work_ends_does_not_cancel_what_is_run_next(engine: Engine) -> None:
    engine.deadline = time.monotonic() + 2
    try:
        with pytest.raises(ShellError, match="deadline exceeded"):
            endless(engine)
    finally:
        engine.deadline = None
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        engine.run("counting", lambda: engine.session.range(3).count())
    assert engine.run("counting", lambda: engine.session.range(3).count()) == 3
    cancelling = [each for each in threading.enumerate() if each.name == "spark-cancel"]
    wait_for("no job is being cancelled", lambda: not any(each.is_alive() for each in cancelling))
