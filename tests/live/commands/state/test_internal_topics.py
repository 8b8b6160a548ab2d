"""--exclude-internal leaves out the same topics everywhere; --prune marks those of others."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.support.program import Program


@pytest.mark.parametrize("line", ["export", "list-topics", "list-offsets"])
def test_our_topics_are_internal(kafka: Program, line: str) -> None:
    kafka.ok("alter-client-configs", "--user", "internal", "linger.ms=1", "--yes")
    assert "__client_configs" in kafka.ok(line).stdout
    assert "__client_configs" not in kafka.ok(line, "--exclude-internal").stdout


def test_pruned_topics_of_other_systems_are_marked(kafka: Program, tmp_path: Path) -> None:
    stem = f"prune-{secrets.token_hex(4)}"
    kafka.ok("create-topic", f"{stem}-connect-offsets", stem)
    file = tmp_path / "state.yaml"
    file.write_text(f"version: 1\nscope: {{topics: ['{stem}*']}}\ntopics: {{}}\n")
    run = kafka.ok("apply", str(file), "--prune", "--dry-run")
    said = f"deletes {stem}-connect-offsets, which looks like a topic of Kafka Streams, Connect"
    assert said in run.stdout, str(run)
