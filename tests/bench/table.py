"""Measurements as rows of a table: ours, a peer's, the ratio, the goal, and whether it is met."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

MS, MIB, RATE = "ms", "MiB", "/s"
_SHOWN: dict[str, Callable[[float], str]] = {
    MS: lambda value: f"{value * 1000:,.0f} ms" if value >= 0.02 else f"{value * 1000:,.2f} ms",
    "µs": lambda value: f"{value * 1e6:.2f} µs",
    MIB: lambda value: f"{value / 2**20:,.0f} MiB",
    RATE: lambda value: f"{value:,.0f}/s",
    "": lambda value: f"{value:,.2f}",
}
_WIDTHS = (34, 8, 11, 30, 8, 8)


@dataclass(frozen=True)
class Measure:
    """One row. Seconds, bytes or a rate, by `unit`.

    `goal` is the most that the ratio ours/peer may be; where there is no peer, that ours may be.
    `least` turns that round: at least. Without a goal a row only tells.
    """

    name: str
    size: int
    ours: float
    unit: str = MS
    peer: float | None = None
    peer_name: str = ""
    goal: float | None = None
    least: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours to the peer's."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        value = self.ours if self.ratio is None else self.ratio
        return value >= self.goal if self.least else value <= self.goal

    def cells(self) -> tuple[str, ...]:
        """What stands in the row."""
        show = _SHOWN[self.unit]
        peer = "" if self.peer is None else f"{show(self.peer)} {self.peer_name}"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        sign = "≥" if self.least else "≤"
        limit = self.goal if self.goal is None or self.ratio is not None else show(self.goal)
        goal = "" if limit is None else f"{sign} {limit}"
        met = {None: "", True: "met", False: "NOT met"}[self.met]
        return (self.name, f"{self.size:,}", show(self.ours), peer, ratio, goal, met)


HEADINGS = ("measure", "topics", "ours", "peer", "ratio", "goal", "")


def line(cells: tuple[str, ...]) -> str:
    """One line of the table."""
    padded = [cell.ljust(width) if place in (0, 3) else cell.rjust(width)
              for place, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=False))]  # fmt: skip
    return "  ".join([*padded, *cells[len(_WIDTHS) :]]).rstrip()


def show(measure: Measure) -> Measure:
    """Print a row as soon as it is measured."""
    sys.stdout.write(line(measure.cells()) + "\n")
    sys.stdout.flush()
    return measure
