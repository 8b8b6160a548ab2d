"""The built package contains the whole program."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.places import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(folder), str(ROOT)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("kafka_sh-*.whl")
    return zipfile.ZipFile(built)


@pytest.mark.parametrize("folder", ["themes", "history"])
def test_the_wheel_holds_what_the_checkout_holds(wheel: zipfile.ZipFile, folder: str) -> None:
    shipped = {Path(name).name for name in wheel.namelist() if f"/data/{folder}/" in name}
    assert shipped == {path.name for path in (ROOT / folder).iterdir()}


def test_the_wheel_holds_the_locks_of_kafka(wheel: zipfile.ZipFile) -> None:
    locks = [name for name in wheel.namelist() if "sandbox/locks/" in name]
    assert any("4.3" in name for name in locks)
    assert any("3.9" in name for name in locks)


def test_both_commands_are_installed(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    text = wheel.read(entry_points).decode()
    assert "kafka.sh = kafka_shell.app:main" in text
    assert "kafka-sh = kafka_shell.app:main" in text


def test_no_test_or_tool_is_installed(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    shared = [name for name in wheel.namelist() if ".data/" in name]
    assert [name.partition(".data/")[2] for name in shared] == ["data/share/man/man1/kafka.sh.1"]
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"kafka_shell"}
