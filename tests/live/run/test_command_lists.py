"""`;`, `&&` and `||` between commands, as in a shell; nothing runs before the line is parsed."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pytest

from kafka_shell.commands.program import run as program
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.script import run_script
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell
from tests.support.program import Program


@pytest.fixture
def name() -> str:
    return f"list.{uuid.uuid4().hex[:8]}"


def test_a_later_mistake_stops_the_first(shell: Shell, name: str) -> None:
    line = f"create-topic {name} && alter-configs {name} --nosuch; list-topics"
    run = shell(line)
    assert run.status == 2
    assert "--nosuch" in run.err
    carets = next(row for row in run.err.splitlines() if "^" in row)
    shown = run.err.splitlines()[run.err.splitlines().index(carets) - 1]
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "--nosuch"
    assert shell(f"describe-topic {name}").status == 1, "the first part ran"


@pytest.mark.parametrize(
    ("line", "said", "status"),
    [
        ("topic nosuch; topic {t}", True, 0),
        ("topic nosuch && topic {t}", False, 1),
        ("topic nosuch || topic {t}", True, 0),
        ("topic {t} || topic nosuch", True, 0),
        ("topic nosuch && topic nosuch || topic {t}", True, 0),
        ("topic nosuch || topic nosuch && topic {t}", False, 1),
        ("topic {t} && topic {t} ; topic nosuch", True, 1),
        ("topics | grep -q nosuch && topic {t}", False, 1),
        ("topic {t} | cat; # the end", True, 0),
    ],
)
def test_what_runs(shell: Shell, name: str, line: str, said: bool, status: int) -> None:
    shell.ok(f"create-topic {name}")
    run = shell(line.format(t=name))
    assert run.status == status, str(run)
    assert (name in run.out) is said, str(run)


def test_operators_are_no_arguments(shell: Shell, name: str) -> None:
    shell.ok(f"create-topic {name}.a && create-topic {name}.b")
    assert shell(f"topics {name}*").out.split() == [f"{name}.a", f"{name}.b"]
    run = shell(f"delete-topic {name}.a --yes && topics {name}*")
    assert run.out.split("\n")[1:-1] == [f"{name}.b"]
    run = shell(f"delete-topic nosuch --yes & topics {name}*")
    assert (run.status, shell(f"topics {name}*").out.split()) == (2, [f"{name}.b"])


def test_a_shell_command_takes_the_rest(shell: Shell, name: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    shell.ok(f"create-topic {name} && !echo one > {target}; echo two && echo three >> {target}")
    assert target.read_text() == "one\nthree\n"


def test_a_program_is_hinted(shell: Shell) -> None:
    run = shell("list-topics && echo yes")
    assert run.status == 2
    assert "&& !echo yes" in run.err


def test_files_of_each_part(shell: Shell, name: str, tmp_path: Path) -> None:
    shell.ok(f"create-topic {name}")
    one, two = tmp_path / "1", tmp_path / "2"
    shell.ok(f"topics {name} > {one} ; topics {name} --long > '{two}' # done; really")
    assert one.read_text() == f"{name}\n"
    assert name in two.read_text()


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_semicolon_in_a_script_is_a_line_break(
    shell: Shell, name: str, keep_going: bool, sandbox: Sandbox
) -> None:
    from kafka_shell import settings

    out, err = io.StringIO(), io.StringIO()
    paths = Paths.of({"KAFKA_SH_HOME": str(shell.home)})
    found = settings.load({"broker": sandbox.bootstrap}, {}, paths.config_file)
    context = Context(ClusterSession(found), paths, out, err, environ={})
    script = f"topic nosuch ; create-topic {name}\n"
    status = run_script(io.BytesIO(script.encode()), context, name="x", keep_going=keep_going)
    context.close()
    assert status == 1
    assert "x:1" in err.getvalue()
    assert (f"created topic {name}" in out.getvalue()) is keep_going


def test_nothing_runs_after_exit(shell: Shell, name: str) -> None:
    assert name not in shell(f"exit; create-topic {name}").out
    assert shell(f"topic {name}").status == 1


def test_words_of_argv_are_no_operators(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    kafka = Program(tmp_path)
    run = kafka("--broker", sandbox.bootstrap, "describe-topic", name, "&&", "topics")
    assert run.status == 1
    assert "&&" in run.stderr


def test_one_invalid_name_stops_a_plan_that_destroys(shell: Shell, name: str) -> None:
    shell.ok(f"create-topic {name}.a {name}.b")
    for line in (f"delete-topic {name}.a,{name}.nosuch,{name}.b --yes",
                 f"delete-topic {name}.* {name}.nosuch --yes"):  # fmt: skip
        run = shell(line)
        assert run.status == 1, str(run)
        assert f"{name}.nosuch" in run.err
        assert "nothing was changed: " in run.err
        assert "deleted" not in run.out
    assert shell(f"topics {name}.*").out.split() == [f"{name}.a", f"{name}.b"]
    run = shell(f"delete-topic {name}.a,{name}.nosuch --dry-run")
    assert "cannot be applied while some items are invalid" in run.err
    run = shell(f"delete-topic {name}.a {name}.nosuch", answer="y")
    assert (run.status, "nothing was changed: " in run.err) == (1, True)
    shell.ok(f"delete-topic {name}.a,{name}.nosuch,{name}.b --if-exists --yes")


def test_the_same_of_groups_and_records(shell: Shell, name: str) -> None:
    shell.ok(f"create-topic {name} --partitions 1")
    shell.ok(f"reset-offsets {name}.g --topic {name} --to earliest --yes")
    run = shell(f"delete-group {name}.g {name}.nosuch --yes")
    assert (run.status, "nothing was changed: " in run.err) == (1, True), str(run)
    assert name in shell("list-groups").out
    run = shell(f"delete-records {name}:0 {name}:7 --to latest --yes")
    assert run.status == 1, str(run)
    assert "deleted" not in run.out


@pytest.mark.parametrize("word", ["--yes=no", "--yes=false", "--yes=", "--yes=yes"])
def test_a_word_is_no_consent(shell: Shell, name: str, word: str) -> None:
    shell.ok(f"create-topic {name}")
    for line in (f"delete-topic {name} {word}", f"alter-configs {name} retention.ms=8d {word}"):
        run = shell(line, answer="y")
        assert run.status == 1, str(run)
        assert "nothing was changed" in run.err
    assert shell(f"describe-configs {name}").out.count("8d") == 0
    shell.ok(f"delete-topic {name} --yes={shell.bootstrap}")


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("word", ["--yes=no", "--yes="])
def test_a_word_is_no_consent_of_the_program(
    sandbox: Sandbox, tmp_path: Path, shell: Shell, name: str, word: str, place: str
) -> None:
    shell.ok(f"create-topic {name}")
    kafka = Program(tmp_path)
    delete = ["delete-topic", name]
    line = [word, *delete] if place == "before" else [*delete, word]
    run = kafka("--broker", sandbox.bootstrap, *line)
    assert (run.status, "nothing was changed" in run.stderr) == (1, True), str(run)
    run = kafka("--broker", sandbox.bootstrap, word, stdin=f"delete-topic {name}\n")
    assert (run.status, "nothing was changed" in run.stderr) == (1, True), str(run)
    kafka.ok("--broker", sandbox.bootstrap, *delete, "--force")


def _watching(shell: Shell, line: str, rounds: int) -> str:
    """What `watch` writes in so many rounds, as one whose Ctrl-C comes then."""
    from unittest.mock import patch

    from kafka_shell import settings
    from kafka_shell.run import watch
    from kafka_shell.run.dispatch import run_text

    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == rounds:
            raise KeyboardInterrupt

    paths = Paths.of({"KAFKA_SH_HOME": str(shell.home)})
    found = settings.load({"broker": shell.bootstrap}, {}, paths.config_file)
    out = io.StringIO()
    context = Context(
        ClusterSession(found),
        paths,
        out,
        io.StringIO(),
        environ={},
        run_line=lambda text, context: int(run_text(text, context)),
    )
    run = watch.watch

    def patched(context: Context, seconds: float, line: str) -> int:
        return run(context, seconds, line, sleep=sleep)

    with patch.object(program, "run", patched), pytest.raises(KeyboardInterrupt):
        run_text(line, context)
    context.close()
    return out.getvalue()


def test_watch_writes_all_answers_into_its_file(shell: Shell, name: str, tmp_path: Path) -> None:
    shell.ok(f"create-topic {name}")
    file = tmp_path / "x.txt"
    assert _watching(shell, f"watch 2 topics {name} > {file}", 3) == ""
    assert file.read_text().count(f"\n{name}\n") == 3


@pytest.mark.parametrize("line", ["topics {}* | wc -l", "'topics {}* | wc -l'"])
def test_a_pipe_is_run_with_each_answer(shell: Shell, name: str, line: str) -> None:
    shell.ok(f"create-topic {name}.a {name}.b")
    said = _watching(shell, f"watch 2 {line.format(name)}", 2)
    counts = [row.strip() for row in said.splitlines() if row.strip().isdigit()]
    assert counts == ["2", "2"]


def test_help_goes_into_the_pipe(shell: Shell) -> None:
    assert shell("list-topics --help | grep -c usage").out == "1\n"


def test_a_script_that_keeps_going_counts_what_failed(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path)
    script = "# three\ntopic nosuch\n\nlist-topics\nnonsense\n"
    run = kafka("--broker", sandbox.bootstrap, "--keep-going", stdin=script)
    assert run.status == 2
    assert run.stderr.endswith("2 of 3 lines of stdin failed\n")
    run = kafka("--broker", sandbox.bootstrap, "--shell", stdin="connect\n")
    assert run.status == 0
    assert "kafka>" not in run.stdout + run.stderr and "\x1b" not in run.stdout
