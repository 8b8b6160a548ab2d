"""Scripts from standard input and files run in order until a line fails."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.run.dispatch import _with_defaults
from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Process, Program, Run
from tests.support.scripts import Script


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)


@pytest.fixture(params=["stdin", "file"])
def script(request: pytest.FixtureRequest, kafka: Program, tmp_path: Path) -> Script:
    """Runs a script one way or the other; `run.name` is what its errors call it."""
    path = tmp_path / "script.kafka"

    def run(text: str | bytes, *options: str) -> Run:
        raw = text.encode() if isinstance(text, str) else text
        if request.param == "stdin":
            return kafka(*options, stdin=raw)
        path.write_bytes(raw)
        keep = [option for option in options if option in ("--keep-going", "--check")]
        rest = [option for option in options if option not in keep]
        return kafka(*rest, "source", str(path), *keep)

    run.place = "stdin" if request.param == "stdin" else str(path)  # type: ignore[attr-defined]
    return run


def place(script: Script) -> str:
    """What errors call the script."""
    return str(script.place)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def topic(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A topic to look at."""
    kafka = Program(tmp_path_factory.mktemp("home"), sandbox.bootstrap)
    name = f"script.{uuid.uuid4().hex[:8]}"
    kafka.ok("create-topic", name, "--partitions", "2")
    yield name
    kafka("delete-topic", name, "--yes", "--if-exists")


def test_lines_comments_blanks_and_a_last_line_without_its_end(script: Script, topic: str) -> None:
    run = script(f"# nightly\n\n   \nlist-topics {topic}   # this one\n\n\tlist-topics {topic}")
    assert run.status == 0, str(run)
    assert run.lines == [topic, topic]
    assert run.stderr == ""


@pytest.mark.parametrize("text", ["", "\n\n", "# only words\n", "\ufeff", "\ufeff# words\r\n"])
def test_a_script_of_nothing_is_done(script: Script, text: str) -> None:
    run = script(text)
    assert (run.status, run.stdout, run.stderr) == (0, "", ""), str(run)


def test_the_lines_after_connect_are_for_that_cluster(
    demo_sandbox: Sandbox, kafka: Program, topic: str, tmp_path: Path
) -> None:
    """Before: the cluster stayed the same, and they changed it."""
    demo, file = Program(tmp_path / "demo", demo_sandbox.bootstrap), tmp_path / "script.kafka"
    text = f"connect {kafka.broker}\nlist-topics {topic}\n"
    file.write_text(text)
    for run in (demo(stdin=text), demo("source", str(file))):
        assert run.status == 0 and run.lines[-1] == topic, str(run)


def test_files_with_crlf_and_bom_are_read(script: Script, topic: str) -> None:
    run = script(f"\ufefflist-topics {topic}\r\n# words\r\n\r\nlist-topics '{topic}'\r\n")
    assert run.status == 0, str(run)
    assert run.lines == [topic, topic]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_line_continues_after_a_backslash(script: Script, topic: str, end: str) -> None:
    run = script(f"list-topics \\{end}    {topic} \\{end}  --long{end}list-topics {topic}{end}")
    assert run.status == 0, str(run)
    assert run.lines[0].split()[0] == "NAME"
    assert run.lines[-1] == topic


def test_a_quote_continues_over_lines(script: Script, topic: str) -> None:
    run = script(f"!printf '%s' 'one\ntwo\n'\nlist-topics {topic}\n")
    assert run.status == 0, str(run)
    assert run.lines == ["one", "two", topic]


def test_pipes_and_escapes(script: Script, topic: str) -> None:
    run = script(f"list-topics {topic} --long | grep -c '^{topic}'\n!echo said 'to the' shell\n")
    assert run.status == 0, str(run)
    assert run.lines == ["1", "said to the shell"]


def test_answers_go_to_files(script: Script, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "a file.txt"
    run = script(
        f"list-topics {topic} > '{file}'\nlist-topics {topic} >> '{file}'\n"
        f"list-topics {topic} --output json > {tmp_path}/rows.json\n"
    )
    assert run.status == 0, str(run)
    assert run.stdout == ""
    assert file.read_text().splitlines() == [topic, topic]
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert row["name"] == topic


def test_a_file_in_the_home_folder(script: Script, topic: str, kafka: Program) -> None:
    kafka.home.mkdir(exist_ok=True)
    assert script(f"list-topics {topic} > ~/names\n").status == 0
    assert (kafka.home / "names").read_text() == f"{topic}\n"


def test_options_before_the_script_hold_for_its_lines(kafka: Program, topic: str) -> None:
    text = f"list-topics {topic}\nlist-topics {topic} --output csv\n"
    run = kafka.ok("--output", "json", stdin=text)
    rows, end = json.JSONDecoder().raw_decode(run.stdout)
    assert [row["name"] for row in rows] == [topic]
    assert run.stdout[end:].split()[0].startswith("name,"), "the second line has its own"
    (row,) = kafka.ok("--output=json", "--no-color", stdin=f"list-topics {topic}\n").json
    assert row["name"] == topic


def test_a_dry_run_of_a_whole_script(kafka: Program, topic: str) -> None:
    run = kafka.ok("--dry-run", stdin=f"delete-topic {topic}\nlist-topics {topic}\n")
    assert f"- topic {topic}" in run.stdout
    assert run.lines[-1] == topic


def test_yes_to_a_whole_script(kafka: Program) -> None:
    name = f"script.yes.{uuid.uuid4().hex[:8]}"
    text = f"create-topic {name}\ndelete-topic {name}\nlist-topics {name}\n"
    run = kafka.ok("--yes", stdin=text)
    assert run.lines[0].startswith(f"created topic {name}: ")
    assert run.lines[-1] == f"deleted topic {name}"


def test_a_deadline_for_every_line(kafka: Program, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        run = Program(tmp_path, address)("--deadline", "100", stdin="list-topics\n")
    assert run.status in (1, 3), str(run)
    assert run.stderr.startswith("stdin:1: error: deadline exceeded"), str(run)
    wrong = kafka("--deadline", "soon", stdin="list-topics\n")
    assert wrong.status == 2
    assert "--deadline must be a duration" in wrong.stderr


def test_a_setting_holds_until_the_end(script: Script, topic: str) -> None:
    run = script(f"set output json\nlist-topics {topic}\n")
    assert run.status == 0, str(run)
    assert f'"name": "{topic}"' in run.stdout


def test_a_line_may_go_to_another_cluster(script: Script, topic: str) -> None:
    run = script(f"list-topics --broker localhost:1\nlist-topics {topic}\n", "--keep-going")
    assert run.status == 3, str(run)
    assert run.lines == [topic], "the next line is at home again"


def test_all_lines_are_checked_before_the_first_one_runs(script: Script, topic: str) -> None:
    run = script(f"list-topics {topic}\n\n# here\nlist-topicz\nlist-topics && lag --nope\n")
    assert (run.status, run.stdout) == (2, ""), str(run)
    assert run.stderr.startswith(f"{place(script)}:4: error: unknown command")
    assert "list-topics" in run.stderr, "the near miss"
    assert f"{place(script)}:5: error: unknown option '--nope'" in run.stderr
    assert run.stderr.splitlines()[-1] == f"no line of {place(script)} was run"


def test_lines_of_a_pipe_run_as_they_come(kafka: Program, topic: str) -> None:
    text = f"list-topics {topic}\nlist-topicz\n"
    run = Process(kafka.home, kafka.broker)(stdin=text)
    assert (run.status, run.lines) == (2, [topic]), str(run)


def test_the_check_of_a_file_keeps_the_notes_of_its_line(kafka: Program, tmp_path: Path) -> None:
    file = tmp_path / "e.kafka"
    file.write_text("# nothing\n")
    run = kafka("--keep-going", stdin=f"source {file}; topics list\n")
    assert "'list' was read as a name" in run.stderr, str(run)


def test_check_runs_nothing(script: Script, topic: str) -> None:
    assert script(f"!echo no\nlist-topics {topic}\n", "--check").stdout == ""
    run = script("list-topics\nlist-topics --nope\n", "--check")
    assert (run.status, run.stdout) == (2, ""), str(run)
    assert run.stderr.startswith(f"{place(script)}:2: error: unknown option '--nope'")
    left = script("health | cat >/dev/null || exit\nexit\nlist-topics --nope\n", "--check")
    assert (left.status, left.stderr) == (0, ""), str(left)


def test_the_first_failure_stops_it(script: Script, topic: str) -> None:
    run = script(f"list-topics {topic}\n\n# here\ndescribe-topic no-such\nlist-topics {topic}\n")
    assert run.status == 1, str(run)
    assert run.lines == [topic]
    assert run.stderr.startswith(f"{place(script)}:4: error: topic no-such does not ")
    assert "exited with status" not in run.stderr, "told twice"


def test_partial_failures_are_reported_with_their_location(script: Script, topic: str) -> None:
    run = script(f"describe-topic {topic} no-such\nlist-topics {topic}\n")
    assert run.status == 1, str(run)
    assert f"{place(script)}:1: error: topic no-such does not exist" in run.stderr
    assert run.lines[-1] != topic


@pytest.mark.parametrize("line", ["!exit 3", "list-topics | false", "!no-such-program"])
def test_a_failing_program_stops_it(script: Script, topic: str, line: str) -> None:
    run = script(f"{line}\nlist-topics {topic}\n")
    assert run.status == 1, str(run)
    assert run.stdout == ""
    assert f"{place(script)}:1: error: command exited with status 1: {line}" in run.stderr


def test_keep_going_and_the_highest_status_wins(script: Script, topic: str) -> None:
    run = script(
        f"describe-topic no-such\nlist-topics --nope\nlist-topics {topic}\n!false\n"
        f"list-topics {topic}\n",
        "--keep-going",
    )
    assert run.status == 2, str(run)
    assert run.lines == [topic, topic]
    errors = [line for line in run.stderr.splitlines() if line.startswith(place(script))]
    assert [line.removeprefix(f"{place(script)}:").partition(":")[0] for line in errors] == [
        "1", "2", "4",
    ]  # fmt: skip


def test_the_statuses(script: Script) -> None:
    assert script("list-topics\n").status == 0
    assert script("describe-topic no-such\n").status == 1
    assert script("describe-topic --no-such\n").status == 2
    assert script("list-topics --broker localhost:1\n").status == 3


def test_an_error_names_the_first_line_of_a_long_one(script: Script) -> None:
    run = script("# one\nlist-topics \\\n  --long \\\n  --no-such\n")
    assert run.status == 2, str(run)
    first, shown, carets, *_ = run.stderr.splitlines()
    assert first.startswith(f"{place(script)}:2: error: unknown option ")
    assert shown.strip() == "--no-such", "the line of the word itself is shown"
    assert carets.strip() == "^" * len("--no-such")


def test_a_quote_that_is_never_closed(script: Script, topic: str) -> None:
    run = script(f"list-topics {topic}\ndescribe-topic 'abc\nlist-topics {topic}\n")
    assert run.status == 2, str(run)
    assert run.stdout == ""
    assert run.stderr.startswith(f"{place(script)}:2: error: unclosed quote")


def test_a_backslash_at_the_very_end(script: Script) -> None:
    run = script("list-topics \\")
    assert run.status == 2, str(run)
    assert f"{place(script)}:1: error: trailing backslash" in run.stderr


@pytest.mark.parametrize("line", ["| wc", "> {0}/x", "list-topics |", "list-topics >"])
def test_half_a_line_is_an_error(script: Script, tmp_path: Path, line: str) -> None:
    run = script(line.format(tmp_path) + "\n")
    assert run.status == 2, str(run)
    assert run.stderr.startswith(f"{place(script)}:1: error: ")
    assert not (tmp_path / "x").exists()


def test_a_file_that_cannot_be_written(script: Script, topic: str, tmp_path: Path) -> None:
    run = script(f"delete-topic {topic} --yes > {tmp_path}/no/such/folder\nlist-topics {topic}\n",
                 "--keep-going")  # fmt: skip
    assert run.status == 1, str(run)
    assert f"{place(script)}:1: error: cannot write to {tmp_path}/no/such/folder" in run.stderr
    assert "the command was not run" in run.stderr
    assert run.lines == [topic], "nothing was deleted"


def test_a_note_is_printed_for_each_line_that_it_is_about(script: Script) -> None:
    """Before: once per run."""
    run = script("list-topics nosuch\nlist-topics nosuch\n")
    assert run.stderr.count("no topic matches 'nosuch'") == 2, str(run)


@pytest.mark.parametrize("line", ["verify-reassign-partitions --finish", "create-topic x"])
def test_a_dry_run_of_the_program_is_one_for_every_command(line: str) -> None:
    """Before: not of verify-reassign-partitions, which declares the option by itself."""
    context: Any = SimpleNamespace(defaults={"dry-run": True, "yes": True})
    found = _with_defaults(parse(tokenize(line), REGISTRY), context)
    assert (found["dry-run"], found["yes"]) == (True, True)


def test_exit_ends_it(script: Script, topic: str, tmp_path: Path) -> None:
    run = script(f"list-topics {topic}\nexit\nlist-topics {topic}\n")
    assert (run.status, run.lines) == (0, [topic]), str(run)
    run = script(f"!false\nexit\nlist-topics {topic}\n", "--keep-going")
    assert (run.status, run.lines) == (1, []), "what failed before is not forgotten"
    (tmp_path / "inner").write_text("exit\n")
    run = script(f"source {tmp_path}/inner\nlist-topics {topic}\n")
    assert (run.status, run.lines) == (0, []), "from a file inside it too"


def test_nothing_is_asked(script: Script, topic: str) -> None:
    run = script(f"delete-topic {topic}\nlist-topics {topic}\n")
    assert run.status == 2, str(run)
    assert "--yes" in run.stderr
    assert "nothing was changed" in run.stderr
    assert script(f"list-topics {topic}\n").lines == [topic]


def test_the_script_is_no_answer_to_a_program_it_runs(kafka: Program, topic: str) -> None:
    """`!cat` would eat the rest of standard input, beyond what has been read ahead."""
    words = "# words\n" * 20_000
    run = kafka(stdin=f"!cat\nlist-topics {topic} | (cat; cat)\n{words}list-topics {topic}\n")
    assert run.lines == [topic, topic], str(run)[:1000]


def test_a_file_runs_another(script: Script, topic: str, tmp_path: Path) -> None:
    (tmp_path / "inner").write_text(f"list-topics {topic}\ndescribe-topic no-such\n")
    run = script(f"# one\nsource {tmp_path}/inner\nlist-topics {topic}\n")
    assert run.status == 1, str(run)
    assert run.lines == [topic]
    assert run.stderr.startswith(f"{tmp_path}/inner:2: error: topic no-such does ")
    _, left = run.stderr.splitlines()  # the error is told once
    assert left.endswith(": 0 of 2 lines run; line 2 failed; line 3 not run")


def test_a_file_that_runs_itself(kafka: Program, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"source {tmp_path}/b\n")
    (tmp_path / "b").write_text(f"!echo once\nsource {tmp_path}/../{tmp_path.name}/a\n")
    run = kafka("source", str(tmp_path / "a"))
    assert run.status == 1, str(run)
    assert run.lines == ["once"]
    assert "is already running: a -> b -> a" in run.stderr


def test_files_too_deep(kafka: Program, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number}").write_text(f"source {tmp_path}/f{number + 1}\n")
    run = kafka("source", str(tmp_path / "f0"))
    assert run.status == 1, str(run)
    assert "exceeds 20 nested scripts: f0 -> f1" in run.stderr


def test_the_same_file_twice_in_a_row_is_no_circle(kafka: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("!echo hello\n")
    run = kafka.ok(stdin=f"source {tmp_path}/f\nsource {tmp_path}/f\n")
    assert run.lines == ["hello", "hello"]


def test_no_such_file(kafka: Program, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, why in (("no-such", "No such file"), (".", "Is a directory"), ("loop", "ymlink")):
        run = kafka("source", str(tmp_path / name))
        assert run.status == 2, str(run)
        assert run.stderr.startswith(f"error: {(tmp_path / name)} cannot be read: "), str(run)
        assert why in run.stderr


def test_no_text(script: Script, topic: str) -> None:
    raw = f"list-topics {topic}\n".encode()
    run = script(raw + b"list-topics a\xff\n" + raw, "--keep-going")
    assert run.status == 2, str(run)
    assert run.lines == [topic]
    assert run.stderr.startswith(f"{place(script)}:2: error: line is not UTF-8: invalid byte 14")
    assert "this line and the following ones were not run" in run.stderr


def test_utf_16_is_not_taken_for_a_script(script: Script) -> None:
    run = script("list-topics\n".encode("utf-16"))
    assert run.status == 2, str(run)
    assert f"{place(script)}:1: error: line is not UTF-8: invalid byte 1" in run.stderr


def test_null_bytes_are_words_like_others(script: Script) -> None:
    run = script("describe-topic a\0b\nlist-topics\0\n", "--keep-going")
    assert run.status == 2, str(run)
    assert "\0" not in run.stderr, "they are shown escaped"


class Running:
    """The program while it runs, fed a script."""

    def __init__(self, kafka: Program, *argv: str, stdin: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *argv],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=kafka.environment(), text=True, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        self.process.stdin.write(stdin)
        self.process.stdin.flush()

    def line(self) -> str:
        """The next line of its answer."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """A signal as a terminal sends it, to all of the group: status, and the rest of it."""
        os.killpg(self.process.pid, number)
        out, err = self.process.communicate(timeout=20)
        assert "Traceback" not in err, err
        return self.process.returncode, out, err


def test_ctrl_c_ends_a_watch_and_the_script(kafka: Program, topic: str) -> None:
    running = Running(kafka, stdin=f"watch 0.1 list-topics {topic}\n!echo never\n")
    first = running.line()
    assert first.startswith("# "), first
    assert running.line() == f"{topic}\n"
    assert running.line() == "\n"
    assert running.line().startswith("# "), "again and again"
    status, out, err = running.end()
    assert status == 130
    assert "interrupted" in err
    assert "never" not in out


def test_ctrl_c_ends_a_one_shot_watch(kafka: Program, topic: str) -> None:
    running = Running(kafka, "watch", "0.1", "list-topics", topic)
    while running.line() != f"{topic}\n":
        pass
    status, _, err = running.end()
    assert status == 130
    assert err.strip() == "interrupted"


def test_ctrl_c_ends_a_script_that_keeps_going(kafka: Program) -> None:
    running = Running(kafka, "--keep-going", stdin="!echo started; exec sleep 60\n!echo never\n")
    assert running.line() == "started\n"
    status, out, err = running.end()
    assert (status, out) == (130, "")
    assert "interrupted" in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_as_they_end_others(kafka: Program, number: int) -> None:
    running = Running(kafka, stdin="!echo started; exec sleep 60\n!echo never\n")
    assert running.line() == "started\n"
    assert running.end(number) == (-number, "", "")


def test_a_closed_terminal_does_not_end_a_program_with_nohup(kafka: Program) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it inherits this
    try:
        running = Running(kafka, stdin="!echo started; sleep 1\n!echo done\n")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert running.line() == "started\n"
    assert running.end(signal.SIGHUP) == (0, "done\n", "")


def test_an_unhealthy_answer_does_not_end_a_watch(kafka: Program) -> None:
    running = Running(kafka, "watch", "0.1", "describe-topic", "no-such")
    seen = [running.line() for _ in range(6)]
    status, _, _ = running.end()
    assert status == 130
    assert sum("UNKNOWN_TOPIC_OR_PARTITION" in line for line in seen) >= 2
