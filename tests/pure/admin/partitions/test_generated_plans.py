"""The saved output of kafka-reassign-partitions --generate."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.partitions.partition_files import read_moves
from kafka_shell.base.errors import ShellError

ROWS = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}'


def test_two_plans_are_named(tmp_path: Path) -> None:
    file = tmp_path / "generated.json"
    file.write_text(
        f"Current partition replica assignment\n{ROWS}\n\n"
        f"Proposed partition reassignment configuration\n{ROWS}\n"
    )
    with pytest.raises(ShellError, match="contains two plans") as caught:
        read_moves(str(file))
    assert str(caught.value.message).startswith(f"{file}:5: ")
    assert caught.value.hint == "Save the proposed plan in a file of its own."
