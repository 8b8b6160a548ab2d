"""`> file`: a failed command does not overwrite it, and an existing file is confirmed."""

from __future__ import annotations

import io
import os
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kafka_shell import settings
from kafka_shell.base.errors import ShellError
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.pipe import redirected


@dataclass
class Prompt:
    """Where a person sits who answers so."""

    folder: Path
    answer: str = "n"
    asked: list[str] = field(default_factory=list)

    def ask(self, question: str, *, secret: bool = False) -> str:
        self.asked.append(question)
        return self.answer

    def context(self, *, shell: Any = None) -> Context:
        paths = Paths.of({"KAFKA_SH_HOME": str(self.folder / "home")})
        found = settings.load({}, {}, paths.config_file)
        session = ClusterSession(found)
        return Context(session, paths, io.StringIO(), io.StringIO(), ask=self.ask, shell=shell)


@pytest.fixture
def script(tmp_path: Path) -> Context:
    return Prompt(tmp_path).context()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "out.txt"
    path.write_text("before\n")
    path.chmod(0o640)
    return path


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_a_command_that_fails_changes_no_file(
    script: Context, file: Path, append: bool, there: bool
) -> None:
    if not there:
        file.unlink()
    with pytest.raises(ShellError), redirected(file, append, script) as out:
        out.stream.write("half of it\n")
        raise ShellError("the broker went away")
    assert [each.read_text() for each in file.parent.iterdir()] == (["before\n"] if there else [])


def test_a_command_that_answers_replaces_the_file_and_keeps_its_mode(
    script: Context, file: Path
) -> None:
    link = file.with_name("link")
    link.symlink_to(file)
    with redirected(link, False, script) as out:
        out.stream.write("after\n")
        assert file.read_text() == "before\n"
    assert file.read_text() == "after\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(each.name for each in file.parent.iterdir()) == ["link", "out.txt"]


def test_what_is_appended_is_appended_at_the_end(script: Context, file: Path) -> None:
    with redirected(file, True, script) as out:
        out.stream.write("after\n")
    assert file.read_text() == "before\nafter\n"


def test_a_file_of_several_names_stays_one(script: Context, file: Path) -> None:
    other = file.with_name("other")
    os.link(file, other)
    with redirected(file, False, script) as out:
        out.stream.write("after\n")
    assert other.read_text() == "after\n"


def test_a_new_file_has_the_mode_that_the_umask_leaves(script: Context, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with redirected(tmp_path / "new", False, script) as out:
            out.stream.write("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_pipe_is_written_to_as_it_is(script: Context, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    with redirected(fifo, False, script) as out:
        out.stream.write("x")
    reader.join()
    assert read == ["x"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_output_until_ctrl_c_is_kept(script: Context, file: Path) -> None:
    with pytest.raises(KeyboardInterrupt), redirected(file, False, script) as out:
        out.stream.write("followed\n")
        raise KeyboardInterrupt
    assert file.read_text() == "followed\n"
    with pytest.raises(KeyboardInterrupt), redirected(file, False, script) as out:
        raise KeyboardInterrupt
    assert file.read_text() == "followed\n"


@pytest.mark.parametrize(("answer", "content"), [("n", "before\n"), ("", "before\n"), ("y", "x")])
def test_overwriting_is_confirmed_at_the_prompt(
    tmp_path: Path, file: Path, answer: str, content: str
) -> None:
    prompt = Prompt(tmp_path, answer)
    try:
        with redirected(file, False, prompt.context(shell=object())) as out:
            out.stream.write("x")
    except ShellError as error:
        assert "already exists" in error.message
    assert len(prompt.asked) == 1
    assert file.read_text() == content


def test_scripts_overwrite_without_a_question(tmp_path: Path, file: Path) -> None:
    prompt = Prompt(tmp_path)
    context = prompt.context(shell=object())
    context.script.files.append(tmp_path / "nightly.kafka")
    with redirected(file, False, context) as out:
        out.stream.write("x")
    assert (prompt.asked, file.read_text()) == ([], "x")


def test_an_unwritable_file_is_reported_before_the_command_runs(
    script: Context, tmp_path: Path
) -> None:
    for path in (tmp_path, tmp_path / "no" / "such"):
        with (
            pytest.raises(ShellError, match="cannot write to") as caught,
            redirected(path, False, script),
        ):
            pytest.fail("run")
        assert "(the command was not run)" in str(caught.value)


@pytest.mark.parametrize("there", [False, True])
def test_incomplete_output_replaces_nothing(script: Context, file: Path, there: bool) -> None:
    """Before: a nightly export replaced the last one by a part, as soon as a permission lacked."""
    if not there:
        file.unlink()
    with redirected(file, False, script) as out:
        out.stream.write("half of it\n")
        out.complete = False
    partial = file.with_name("out.txt.partial")
    assert file.read_text() == ("before\n" if there else "half of it\n")
    assert partial.exists() == there
    if there:
        assert partial.read_text() == "half of it\n"
        assert "was not replaced: the output is incomplete" in script.script.notes[0]
