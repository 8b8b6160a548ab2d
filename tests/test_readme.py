"""README tells the truth: its table is the registry's, its code runs, its commands are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.commands.help import reference
from kafka_shell.sandbox import Sandbox

from . import readme

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parent.parent


def test_the_reference_table_is_derived_from_the_registry() -> None:
    assert readme.part("reference").strip() == reference(REGISTRY), "run python -m tests.readme"


def test_the_library_example_runs(sandbox: Sandbox) -> None:
    code = re.sub(r"```(python)?\n?", "", readme.part("library"))
    exec(compile(code, "README.md", "exec"), {"BROKER": sandbox.bootstrap})


def test_the_test_command_is_what_ci_runs() -> None:
    assert "scripts/check.sh" in readme.README.read_text()
    assert "scripts/check.sh" in (ROOT / ".ci" / "run").read_text()


def test_pictures_are_there() -> None:
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme.README.read_text()):
        assert (ROOT / picture).stat().st_size > 5_000, picture
