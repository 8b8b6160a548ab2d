"""The last measurements of each row, as sparklines."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isnan, nan

LENGTH = 120  # measurements: four minutes, two seconds apart
_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", "_.-=+*#@"
_UNKNOWN = " "
_MOST_EACH = 4  # measurements in a cell: a narrow line shows less time, not less detail


class History:
    """The last values of the rows of one view. A row that is gone is forgotten."""

    def __init__(self) -> None:
        self._values: dict[str, array[float]] = {}
        self._added = 0

    def add(self, values: Iterable[tuple[str, float | None]]) -> None:
        """Add one measurement: the value of each row, None if unknown."""
        kept: dict[str, array[float]] = {}
        for name, value in values:
            row = self._values.get(name)
            if row is None:
                row = array("f")
            elif len(row) == LENGTH:
                del row[0]
            row.append(nan if value is None else value)
            kept[name] = row
        self._values = kept
        self._added += 1

    def sparkline(self, name: str, width: int, *, unicode: bool = True) -> str:
        """The values of a row in at most `width` cells, newest last; a blank is an unknown value.

        A cell is the mean of some measurements. Which ones are in a cell together does not change
        with time, so that the line moves and does not flicker.
        """
        row = self._values.get(name)
        if not row or width <= 0:
            return ""
        each = min(_MOST_EACH, -(-LENGTH // width))
        cells = _means(row, each, newest=(self._added - 1) % each + 1)[-width:]
        top = max((cell for cell in cells if not isnan(cell)), default=0.0)
        levels = _BLOCKS if unicode else _ASCII
        return "".join(_UNKNOWN if isnan(cell) else _level(cell, top, levels) for cell in cells)


def _means(values: Sequence[float], each: int, newest: int) -> list[float]:
    """The means of groups of `each` values, of which the last has the `newest` ones."""
    ends = range(len(values) - newest, 0, -each)
    bounds = [0, *reversed(ends), len(values)]
    return [_mean(values[begin:end]) for begin, end in pairwise(bounds)]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def _level(value: float, top: float, levels: str) -> str:
    if value <= 0 or top <= 0:
        return levels[0]
    return levels[min(len(levels) - 1, max(1, round(value / top * (len(levels) - 1))))]
