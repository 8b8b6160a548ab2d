"""One function starts Python modules, isolated from the current directory."""

from __future__ import annotations

import ast
import os
import sys

import pytest

from kafka_shell.base.processes import _command
from tests.support.places import PACKAGE, ROOT


def _strings(name: str) -> set[str]:
    return {
        each.value
        for each in ast.walk(ast.parse((PACKAGE / name).read_text()))
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def test_only_one_place_starts_modules() -> None:
    files = (path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    assert [name for name in files if "-m" in _strings(name)] == ["base/processes.py"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["", "/lib", str(ROOT), "/other/copy"], ["/lib", str(ROOT), "/other/copy"]),
        (["/lib", ""], ["/lib", str(ROOT)]),  # an editable package that an import hook finds
    ],
)
def test_child_imports_from_where_this_program_does(
    path: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", path)
    monkeypatch.setenv("PYTHONPATH", "/unused")
    started = _command("a.module", ("word", 1))
    assert started["args"] == [sys.executable, "-P", "-m", "a.module", "word", "1"]
    assert started["env"]["PYTHONPATH"].split(os.pathsep) == expected
