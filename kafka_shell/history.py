"""Read the history of the prompt, in the file format of prompt_toolkit."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from kafka_shell.base.outcome import HistoryLine


def read(path: Path) -> list[HistoryLine]:
    """Return the entries of a history file, newest last.

    An entry is a `# time` line followed by its lines, each with a `+` in front.
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
