"""Records the session of README at the prompt of a sandbox, as an SVG that plays.

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
from itertools import accumulate, groupby
from pathlib import Path

import pexpect
import pyte

COLUMNS, ROWS = 80, 24
CELL_W, CELL_H, MARGIN = 8.4, 18.0, 14.0
PAPER, INK, FRAME = "#11151c", "#d5dae3", "#3a4350"
# The 16 colors by the names of pyte; those of the theme are hexadecimal.
NAMED = {
    "black": "#11151c", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d5dae3",
}  # fmt: skip
PATIENCE_S, QUIET_S = 60.0, 0.3
KEY_S, LOOK_S, END_S = 0.09, 2.5, 6.0  # how long a frame is shown

Run = tuple[str, str, str, bool, bool, int]  # text, ink, paper, bold, underlined, column
Row = tuple[Run, ...]
Frame = tuple[tuple[Row, ...], tuple[int, int] | None]  # the rows, and where the cursor is


class Recorder:
    """A terminal in which a program runs, and the frames of what it showed."""

    def __init__(self, home: str) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        environ = {"KAFKA_SH_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", "--sandbox", "--port", "0"],
            env=os.environ | environ, dimensions=(ROWS, COLUMNS), timeout=PATIENCE_S,
        )  # fmt: skip
        # A terminal says where its cursor is when it is asked; the prompt asks.
        self.screen.write_process_input = self.child.send  # type: ignore[method-assign]
        self.frames: list[tuple[Frame, float]] = []

    def until(self, seen: Callable[[str], bool]) -> None:
        """Read until the screen shows this, and then until nothing more comes."""
        began, quiet = time.monotonic(), False
        while not (quiet and seen("\n".join(self.screen.display))):
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError("\n".join(self.screen.display))
            try:
                self._stream.feed(self.child.read_nonblocking(65536, timeout=QUIET_S))
                quiet = False
            except pexpect.TIMEOUT:
                quiet = True

    def shoot(self, seconds: float) -> None:
        """Add what the screen shows as a frame."""
        cursor = self.screen.cursor
        at = None if cursor.hidden else (cursor.x, cursor.y)
        frame = tuple(tuple(_runs(self.screen, row)) for row in range(ROWS)), at
        if self.frames and self.frames[-1][0] == frame:
            seconds += self.frames.pop()[1]
        self.frames.append((frame, seconds))

    def press(self, keys: str, seconds: float, seen: str = "", times: int = 1) -> None:
        """Press keys, and add a frame when the screen shows `seen` this often."""
        self.child.send(keys)
        self.until(lambda text: text.count(seen) >= times)
        self.shoot(seconds)

    def type(self, line: str) -> None:
        """Press one key after the other."""
        for key in line:
            self.press(key, KEY_S)


def main() -> int:
    """Run the session and write the picture."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/prompt.svg")
    with tempfile.TemporaryDirectory() as home:
        frames = _session(home)
    target.write_text(svg(frames), encoding="utf-8")
    return 0


def _session(home: str) -> list[tuple[Frame, float]]:
    recorder = Recorder(home)
    try:
        recorder.until(lambda text: "as of" in text and "kafka>" in text)
        recorder.shoot(1)
        recorder.type("alter-configs payments.refunds ret")
        while "refunds retention.ms=" not in "\n".join(recorder.screen.display):
            recorder.press("\t", LOOK_S, "maximum time we will retain")
        recorder.shoot(LOOK_S)
        recorder.type("730d --dry-run")
        recorder.press("\r", 2 * LOOK_S, "dry run:")
        recorder.press("\x1b[A", LOOK_S / 2)
        for _ in "--dry-run":
            recorder.press("\x7f", KEY_S)
        recorder.press("\r", LOOK_S, "altered topic")
        recorder.type("undo")
        recorder.press("\r", LOOK_S, "[y/N]")
        recorder.type("y")
        recorder.press("\r", END_S, "altered topic", times=2)
        return recorder.frames
    finally:
        recorder.child.sendcontrol("c")
        recorder.child.sendcontrol("d")
        recorder.child.expect(pexpect.EOF)


def _runs(screen: pyte.Screen, row: int) -> Iterator[Run]:
    cells = [(column, screen.buffer[row][column]) for column in range(COLUMNS)]
    for look, run in groupby(cells, key=lambda cell: _look(cell[1])):
        members = list(run)
        text = "".join(cell.data for _, cell in members)
        if look[1] or text.strip():
            yield text, *look, members[0][0]


def _look(cell: pyte.screens.Char) -> tuple[str, str, bool, bool]:
    """(ink, paper or empty, bold, underlined)."""
    ink, paper = _color(cell.fg, INK), _color(cell.bg, "")
    if cell.reverse:
        ink, paper = paper or PAPER, ink
    return ink, paper, cell.bold, cell.underscore


def _color(name: str, default: str) -> str:
    if name == "default":
        return default
    return NAMED.get(name) or NAMED.get(name.removeprefix("bright"), f"#{name}")


# -- drawing ---------------------------------------------------------------------------------------


def svg(frames: list[tuple[Frame, float]]) -> str:
    """A strip of frames that is moved by CSS. Where nothing moves, the last one is shown."""
    width, height = COLUMNS * CELL_W + 2 * MARGIN, ROWS * CELL_H + 2 * MARGIN
    total = sum(seconds for _, seconds in frames)
    starts = accumulate((seconds for _, seconds in frames[:-1]), initial=0.0)
    names: dict[Row, str] = {}
    looks: dict[str, str] = {}
    strip = [_frame(frame, number * width, names) for number, (frame, _) in enumerate(frames)]
    rows = [_row(row, name, looks) for row, name in names.items()]
    steps = "".join(
        f"{100 * start / total:.3f}%{{transform:translateX({-number * width:.0f}px)}}"
        for number, start in enumerate(starts)
    )
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">',
        "<style>",
        "text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
        *(f".{name}{{{look}}}" for look, name in looks.items()),
        f"#s{{transform:translateX({-(len(frames) - 1) * width:.0f}px);"
        f"animation:s {total:.1f}s step-end infinite}}",
        f"@keyframes s{{{steps}}}",
        "@media(prefers-reduced-motion:reduce){#s{animation:none}}",
        "</style>",
        "<defs>", *rows, "</defs>",
        f'<rect x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8" '
        f'fill="{PAPER}" stroke="{FRAME}"/>',
        '<g id="s">', *strip, "</g>", "</svg>\n",
    ])  # fmt: skip


def _frame(frame: Frame, left: float, names: dict[Row, str]) -> str:
    rows, cursor = frame
    parts = [
        f'<use href="#{names.setdefault(row, f"r{len(names)}")}" y="{number * CELL_H:.0f}"/>'
        for number, row in enumerate(rows)
        if row
    ]
    if cursor:
        x, y = (place * cell for place, cell in zip(cursor, (CELL_W, CELL_H), strict=True))
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.0f}" width="{CELL_W}" height="{CELL_H:.0f}" '
            f'fill="{INK}" fill-opacity=".6"/>'
        )
    return f'<g transform="translate({left + MARGIN:.1f} {MARGIN:.0f})">{"".join(parts)}</g>'


def _row(row: Row, name: str, looks: dict[str, str]) -> str:
    parts = []
    for text, ink, paper, bold, underlined, column in row:
        x, wide = column * CELL_W, len(text) * CELL_W
        if paper:
            parts.append(
                f'<rect x="{x:.1f}" width="{wide + 0.3:.1f}" height="{CELL_H + 0.3}" '
                f'fill="{paper}"/>'
            )
        if shown := text.rstrip():
            skipped = len(shown) - len(shown.lstrip())
            look = f"fill:{ink}" + ";font-weight:bold" * bold
            look += ";text-decoration:underline" * underlined
            style = looks.setdefault(look, f"c{len(looks)}")
            parts.append(
                f'<text x="{x + skipped * CELL_W:.1f}" y="13.5" class="{style}" '
                f'textLength="{(len(shown) - skipped) * CELL_W:.1f}">{escape(shown.strip())}</text>'
            )
    return f'<g id="{name}">{"".join(parts)}</g>'


if __name__ == "__main__":
    sys.exit(main())
