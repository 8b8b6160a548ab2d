"""Configs that the cluster refuses are reported at once, for new topics and existing ones."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.support.program import Program


def test_all_invalid_configs_are_reported(kafka: Program, tmp_path: Path) -> None:
    old, new = (f"{what}-{secrets.token_hex(4)}" for what in ("old", "new"))
    kafka.ok("create-topic", old)
    file = tmp_path / "state.yaml"
    file.write_text(
        "version: 1\ntopics:\n"
        f"  {old}: {{configs: {{retention.mss: 1, cleanup.policy: shred}}}}\n"
        f"  {new}: {{configs: {{segment.bite: 1}}}}\n"
    )
    run = kafka("apply", str(file))
    assert run.status == 1 and "3 mistakes:" in run.stderr, str(run)
    for place, key in ((3, "retention.mss"), (3, "cleanup.policy"), (4, "segment.bite")):
        assert any(
            f"state.yaml:{place}:" in line and key in line for line in run.stderr.splitlines()
        )
