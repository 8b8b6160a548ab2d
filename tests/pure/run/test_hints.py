"""What to do instead of a wrong line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.commands.rehearse.run import lines_of
from tests.support.in_process_shell import Shell


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("describe orders.placed", "hint: Run: describe-topic orders.placed"),
        ("topics --yes", "hint: --yes is an option of commands that change something."),
        ("topics --dry-run", "hint: --dry-run is an option of commands that change something."),
        ("delete-group g --force", "hint: Use --yes to skip the confirmation."),
        ("delete-topic t --force=no", "error: --force does not take a value"),
        ("list-tpics", "hint: Did you mean list-topics?"),
    ],
)
def test_hints(tmp_path: Path, line: str, hint: str) -> None:
    run = Shell(tmp_path, "127.0.0.1:1")(line)
    assert run.status == 2 and hint in run.err, str(run)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("lst-topics", "Did you mean list-topics?"), ("no/such/file", "Use rehearse FILE")],
)
def test_rehearse_corrects_a_command(text: str, hint: str) -> None:
    context: Any = None
    with pytest.raises(UsageError) as caught:
        lines_of(text, context)
    assert caught.value.hint.startswith(hint)
