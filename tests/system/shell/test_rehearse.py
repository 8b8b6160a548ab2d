"""Rehearsals on a terminal: `--keep` opens a prompt on the twin; Ctrl-C at the prompt ends one."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.process import find_all
from tests.support.terminal import Open
from tests.support.waiting import wait_for


def twins(home: Path) -> list[Path]:
    folder = home / "cache" / "twins"
    return list(folder.iterdir()) if folder.exists() else []


def test_keep_opens_a_prompt_on_the_twin_until_it_is_left(
    open_terminal: Open, bootstrap: str, tmp_path: Path
) -> None:
    terminal = open_terminal(
        "--broker", bootstrap, "rehearse", "--keep", "create-topic rehearsed.kept"
    )
    terminal.sees("ok      1: create-topic rehearsed.kept", "kafka:rehearsal>", "(rehearsal)")
    (folder,) = twins(tmp_path)
    terminal.run("list-topics 'rehearsed*'")
    terminal.sees("rehearsed.kept")
    terminal.run("list-groups")
    terminal.sees("a twin has no groups")
    terminal.press("c-d")
    terminal.ends()
    assert not find_all(folder)
    assert twins(tmp_path) == []


def test_ctrl_c_ends_a_rehearsal_and_not_the_prompt(
    open_terminal: Open, bootstrap: str, tmp_path: Path
) -> None:
    shell = open_terminal("--broker", bootstrap)
    shell.sees("1 broker", "as of")
    shell.run("rehearse create-topic rehearsed.never")
    wait_for("the node runs", lambda: any(map(find_all, twins(tmp_path))))
    (folder,) = twins(tmp_path)
    shell.press("c-c")
    shell.sees("interrupted")
    shell.at_prompt()
    assert not find_all(folder)
    assert twins(tmp_path) == []
