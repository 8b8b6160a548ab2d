"""Which modules are not imported at startup."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.commands import INDEX
from kafka_shell.sandbox.state import Sandbox

RUN = """
import sys
from kafka_shell.app import main
status = main(sys.argv[1:])
loaded = sorted(sys.modules)
import json
sys.stderr.write(json.dumps([status, loaded]))
"""
# Libraries, and modules of Python that cost milliseconds. (msgspec imports uuid and decimal.)
HEAVY = {
    "kafka", "prompt_toolkit", "pygments", "yaml", "pyspark", "re2", "asyncio", "argparse",
    "concurrent", "csv", "ctypes", "email", "http", "importlib.metadata", "importlib.resources",
    "logging", "random", "shutil", "ssl", "stringprep", "subprocess", "tempfile", "tomllib",
    "unicodedata", "zipfile",
}  # fmt: skip
# Folders of this program that a list does not need.
UNUSED = {"audit", "clients", "sandbox", "shell"}


def imported(home: Path, *words: str, **environ: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        env={**os.environ, "KAFKA_SH_HOME": str(home), **environ},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, loaded = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    return {*loaded, *(name.partition(".")[0] for name in loaded)}


def of_ours(loaded: set[str]) -> set[str]:
    return {name.removeprefix("kafka_shell.") for name in loaded if "kafka_shell." in name}


def declaring(ours: set[str]) -> set[str]:
    return {family for family in INDEX if f"commands.{family}.spec" in ours}


@pytest.mark.parametrize(
    "words", [("--version",), ("--completion", "bash"), ("--completion", "zsh")], ids=" ".join
)
def test_what_needs_no_command_imports_next_to_nothing(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    loaded = imported(tmp_path, *words)
    assert not loaded & (HEAVY | {"pathlib", "socket", "threading"})
    folders = {name.partition(".")[0] for name in of_ours(loaded)}
    assert folders <= {"app", "base", "output", "run"}
    assert not of_ours(loaded) & {"run.dispatch", "base.units", "output.writer"}


def test_a_list_imports_what_it_uses(sandbox: Sandbox, tmp_path: Path) -> None:
    loaded = imported(tmp_path, "--broker", sandbox.bootstrap, "--list-topics")
    assert not loaded & HEAVY
    ours = of_ours(loaded)
    assert not {name.partition(".")[0] for name in ours} & UNUSED
    assert "run.watch" not in ours
    assert declaring(ours) == {"topics", "partitions"}  # which has options of alter-topic
    assert not {name for name in ours if name.endswith(".changes")}


def test_yaml_for_a_pipe_is_not_colored(sandbox: Sandbox, tmp_path: Path) -> None:
    loaded = imported(tmp_path, "--broker", sandbox.bootstrap, "brokers", "--output", "yaml")
    assert "yaml" in loaded and "pygments" not in loaded


def test_a_tab_imports_no_library_and_one_command(tmp_path: Path) -> None:
    line = "kafka.sh describe-topic ord"
    loaded = imported(tmp_path, KAFKA_SH_COMPLETE="bash", COMP_LINE=line, COMP_POINT=str(len(line)))
    assert not loaded & HEAVY
    assert declaring(of_ours(loaded)) <= {"topics", "partitions", "program"}
    assert not {name for name in loaded if re.match(r"kafka_shell\.commands\.\w+\.run", name)}
