"""Lines typed at the prompt, as prompt_toolkit's FileHistory keeps them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from kafka_shell.plan.outcome import HistoryLine


def read(path: Path) -> list[HistoryLine]:
    """The lines of a history file, the newest last; none where there is no file.

    An entry is a `# time` line and one `+`-line for each line of its text.
    """
    try:
        rows = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return []
    lines: list[HistoryLine] = []
    text: list[str] = []
    when: float | None = None
    for row in [*rows, ""]:
        if row.startswith("+"):
            text.append(row[1:])
            continue
        if text:
            lines.append(HistoryLine("\n".join(text), when))
            text, when = [], None
        if row.startswith("# "):
            when = _time(row[2:])
    return lines


def _time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
