"""A value that means the same is neither altered nor a difference."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.support.program import Program


def test_a_set_in_another_order_is_unchanged(kafka: Program, tmp_path: Path) -> None:
    topic = f"same-{secrets.token_hex(4)}"
    kafka.ok("create-topic", topic, "--config", "cleanup.policy=compact,delete")
    for value in ("compact, delete", "delete,compact"):
        run = kafka.ok("alter-configs", topic, f"cleanup.policy={value}")
        assert "no change: already set" in run.stderr and not run.stdout, str(run)
    file = tmp_path / "state.yaml"
    fields = "configs: {cleanup.policy: [delete, compact]}"
    file.write_text(f"version: 1\ntopics:\n  {topic}: {{{fields}}}\n")
    assert "no differences" in kafka.ok("diff", str(file)).stdout
