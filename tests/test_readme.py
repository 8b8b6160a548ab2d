"""README tells the truth: its table is the registry's, its code runs, its commands are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.sandbox.state import Sandbox
from tests import readme
from tests.admin.helpers import connect, done, make_topic

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", readme.DERIVED)
def test_the_tables_are_derived_from_the_registry(name: str) -> None:
    derived = readme.DERIVED[name](REGISTRY)
    assert readme.part(name).strip() == derived, "run python -m tests.readme"


def test_the_library_example_runs(sandbox: Sandbox) -> None:
    code = re.sub(r"```(python)?\n?", "", readme.part("library"))
    exec(compile(code, "README.md", "exec"), {"BROKER": sandbox.bootstrap})


def test_the_dynamic_clients_example_runs(sandbox: Sandbox) -> None:
    code = re.sub(r"```(python)?\n?", "", readme.part("dynamic"))
    with connect(sandbox) as cluster:
        make_topic(cluster, "payments")
        try:
            exec(compile(code, "README.md", "exec"), {"BROKER": sandbox.bootstrap})
        finally:
            done(topic_changes.plan_delete(cluster, ["payments"]), cluster)


def lines_of_the_shell() -> list[str]:
    """The indented lines of README that are typed at the prompt."""
    words = {command.name.split()[0] for command in REGISTRY}
    words |= {short.word for command in REGISTRY for short in command.shorts}
    found = re.findall(r"^    (?:kafka> )?(\S.*)$", readme.README.read_text(), re.MULTILINE)
    typed = [line for line in found if line.split()[0] in words]
    assert len(typed) > 20, typed
    return typed


@pytest.mark.parametrize("line", lines_of_the_shell())
def test_what_it_tells_to_type_can_be_typed(line: str) -> None:
    parse(tokenize(line), REGISTRY)


def test_the_test_command_is_what_ci_runs() -> None:
    assert "scripts/check.sh" in readme.README.read_text()
    assert "scripts/check.sh" in (ROOT / ".ci" / "run").read_text()


def test_pictures_are_there() -> None:
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme.README.read_text()):
        assert (ROOT / picture).stat().st_size > 5_000, picture
