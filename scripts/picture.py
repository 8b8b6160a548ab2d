"""Draws the picture of README: a real session at the prompt, on the sandbox, as an SVG.

    python scripts/picture.py docs/prompt.svg

It needs what the tests need (pexpect, pyte).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path

import pexpect
import pyte

COLUMNS, ROWS = 116, 34
CELL_W, CELL_H, MARGIN = 8.4, 18.0, 14.0
PAPER, INK = "#11151c", "#d5dae3"
# pyte's names of the sixteen colours; the theme's own come as hexadecimal.
NAMED = {
    "black": "#11151c", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d5dae3",
}  # fmt: skip
PATIENCE_S = 60.0


def main() -> int:
    """Run the session and write the picture."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/prompt.svg")
    with tempfile.TemporaryDirectory() as home:
        screen = _session(Path(home))
    target.write_text(_svg(screen), encoding="utf-8")
    return 0


def _session(home: Path) -> pyte.Screen:
    """What stands on the screen after the lines of the picture were typed."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    environ = os.environ | {"KAFKA_SH_HOME": str(home), "TERM": "xterm-256color",
                            "COLORTERM": "truecolor"}  # fmt: skip
    child = pexpect.spawn(
        sys.executable, ["-m", "kafka_shell", "--sandbox", "--port", "0"], env=environ,
        dimensions=(ROWS, COLUMNS), timeout=PATIENCE_S,
    )  # fmt: skip

    # A terminal says where its cursor is when it is asked; the prompt asks.
    screen.write_process_input = child.send  # type: ignore[method-assign]

    def until(seen: Callable[[str], bool]) -> None:
        began = time.monotonic()
        while not seen("\n".join(screen.display)):
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError("\n".join(screen.display))
            try:
                stream.feed(child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue

    try:
        until(lambda text: "as of" in text and "kafka" in text)
        child.send("alter-configs payments.refunds retention.ms=730d --dry-run\r")
        until(lambda text: "dry run:" in text)
        child.send("alter-configs payments.refunds retention.ms=730d\r")
        until(lambda text: "altered topic" in text)
        child.send("undo --yes\r")
        until(lambda text: text.count("altered topic") == 2)
        child.send("alter-configs payments.refunds ret\t\t")
        until(lambda text: "delete.retention.ms" in text and "discard" in text)
        return screen
    finally:
        child.sendcontrol("c")
        child.sendcontrol("d")
        child.expect(pexpect.EOF)


# -- drawing ---------------------------------------------------------------------------------------


def _svg(screen: pyte.Screen) -> str:
    width, height = COLUMNS * CELL_W + 2 * MARGIN, ROWS * CELL_H + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">',
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
    ]
    for row in range(ROWS):
        parts += _row(screen, row)
    return "\n".join([*parts, "</svg>\n"])


def _row(screen: pyte.Screen, row: int) -> Iterator[str]:
    cells = [(column, screen.buffer[row][column]) for column in range(COLUMNS)]
    for look, run in groupby(cells, key=lambda cell: _look(cell[1])):
        members = list(run)
        text = "".join(cell.data for _, cell in members)
        x, y = MARGIN + members[0][0] * CELL_W, MARGIN + row * CELL_H
        ink, paper, bold, underline = look
        if paper:
            yield (f'<rect x="{x:.1f}" y="{y:.1f}" width="{len(members) * CELL_W + 0.3:.1f}" '
                   f'height="{CELL_H + 0.3:.1f}" fill="{paper}"/>')  # fmt: skip
        if text.strip():
            style = ' font-weight="bold"' * bold + ' text-decoration="underline"' * underline
            yield (f'<text x="{x:.1f}" y="{y + 13.5:.1f}" fill="{ink}"{style} '
                   f'textLength="{len(members) * CELL_W:.1f}" xml:space="preserve">'
                   f"{escape(text)}</text>")  # fmt: skip


def _look(cell: pyte.screens.Char) -> tuple[str, str, bool, bool]:
    """(ink, paper or empty, bold, underlined)."""
    ink, paper = _colour(cell.fg, INK), _colour(cell.bg, "")
    if cell.reverse:
        ink, paper = paper or PAPER, ink
    return ink, paper, cell.bold, cell.underscore


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return NAMED.get(name) or NAMED.get(name.removeprefix("bright"), f"#{name}")


if __name__ == "__main__":
    sys.exit(main())
