"""Changes that are undone."""

from __future__ import annotations

from typing import Any

from tests.support.in_process_shell import Shell


def entries(shell: Shell) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shell.ok("journal --output json").json
    return found


def configs(shell: Shell, subject: str) -> dict[str, str]:
    """The configs that are set on a topic itself."""
    rows = shell.ok(f"describe-configs {subject} --all --output json").json
    return {row["name"]: row["value"] for row in rows if row["source"] == "dynamic_topic"}
