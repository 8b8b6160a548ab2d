"""Names for what has been typed so far: pure, and fast enough for a keystroke on 100,000 names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

LIMIT = 200
SHORT_LIST = 500  # in fewer names, letters in order but apart are looked for where nothing else is
_SEPARATORS = re.compile(r"[\s._-]+")
_SORTABLE = 2_000  # beyond this the order among weak matches is the names' own
_RUN = 5_000  # names that are sorted in a millisecond or two
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Matches:
    """The best names, the best first, and how many match in all."""

    names: tuple[str, ...]
    total: int

    @property
    def more(self) -> int:
        """How many match that are not in `names`."""
        return self.total - len(self.names)


class NameIndex:
    """Names, sorted without regard to case, ready to be searched. Immutable."""

    __slots__ = ("_folded", "_spelled", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        # A tuple, and not one joined string: as soon as the matches are many one `in` a name is
        # faster than walking through the hits, and the slowest keystroke is what counts. Nor a
        # list or a set: Python's collector would look at each name again and again.
        every = tuple(names)
        # One string where the two are alike, not two.
        folded = [name if (low := name.lower()) == name else low for name in every]
        other = {name for name, low in zip(every, folded, strict=True) if name is not low}
        self._spelled: dict[str, str] = {}  # folded -> name, where the two differ
        if other:
            folded = self._fold(every, other)
        in_order = in_steps(folded)
        if len(in_order) > 1:
            after = islice(in_order, 1, None)
            in_order = [a for a, b in zip(in_order, after, strict=False) if a != b] + in_order[-1:]
        self._folded = tuple(in_order)
        self.names: tuple[str, ...] = tuple(self._named(self._folded))

    def _fold(self, every: Iterable[str], other: Iterable[str]) -> list[str]:
        """Every name folded, each to something of its own: two names that differ in case only are
        two names."""
        taken = set(every)
        for name in in_steps(list(other)):
            low = name.lower()
            while low in self._spelled or low in taken:
                low += "\0"
            self._spelled[low] = name
        return [*(name for name in every if name not in other), *self._spelled]

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        low, folded = name.lower(), self._folded
        at = bisect_left(folded, low)
        while at < len(folded) and folded[at].rstrip("\0") == low.rstrip("\0"):
            if self._spelled.get(folded[at], folded[at]) == name:
                return True
            at += 1
        return False

    def find(self, typed: str, limit: int = LIMIT) -> Matches:
        """Names that begin with `typed`, then those that hold it, then those that hold its
        fragments in any order; where none does, and they are few, those with its letters."""
        query = typed.lower()
        if not query:
            return Matches(self.names[:limit], len(self.names))
        holding = self._holding(query)
        first, end = bisect_left(holding, query), bisect_left(holding, query + _LAST)
        found, loose = holding[first : min(end, first + limit)], holding[:first] + holding[end:]
        if len(found) < limit:
            found += _ranked(loose, query)[: limit - len(found)]
        total = len(holding)
        if not holding and len(self.names) < SHORT_LIST:
            found = self._apart(query)
            total = len(found)
        return Matches(tuple(self._named(found[:limit])), total)

    def _named(self, folded: Iterable[str]) -> Iterable[str]:
        spelled = self._spelled
        return (spelled.get(name, name) for name in folded) if spelled else folded

    def _holding(self, query: str) -> list[str]:
        """The names that hold every fragment (or begin with the query), sorted."""
        fragments = [part for part in _SEPARATORS.split(query) if part]
        # The longest first: few hold it.
        first, *rest = sorted(fragments, key=len, reverse=True) if len(fragments) > 1 else [query]
        holding = [name for name in self._folded if first in name]
        for fragment in rest:
            holding = [name for name in holding if fragment in name]
        return holding

    def _apart(self, query: str) -> list[str]:
        """The names that hold the query's letters in order, those nearest together first."""
        scored = []
        for name in self._folded:
            found = _letters_in_order(name, query)
            if found is not None:
                start, end = found
                scored.append((end - start, start, name))
        return [name for _, _, name in sorted(scored)]


def _letters_in_order(name: str, query: str) -> tuple[int, int] | None:
    """From where to where the name holds these letters in order, or None: one walk over the name.

    (A regular expression would try every combination before it gives up.)
    """
    at = start = name.find(query[0])
    for letter in query[1:]:
        if at < 0:
            return None
        at = name.find(letter, at + 1)
    return None if at < 0 else (start, at + 1)


def in_steps(names: list[str]) -> list[str]:
    """Sorted by many short calls: one long one would keep every other thread from running."""
    runs = [sorted(names[at : at + _RUN]) for at in range(0, len(names), _RUN)] or [[]]
    while len(runs) > 1:
        # Two sorted runs are merged in a walk.
        runs = [sorted(chain.from_iterable(runs[at : at + 2])) for at in range(0, len(runs), 2)]
    return runs[0]


def _ranked(names: list[str], query: str) -> list[str]:
    """What holds the query as it is before what holds its fragments; at a word's start first."""
    if len(names) > _SORTABLE:
        return names
    return sorted(names, key=lambda name: _looseness(name, query))


def _looseness(name: str, query: str) -> int:
    at = name.find(query)
    if at < 0:
        return 2
    return 0 if at and name[at - 1] in "._-" else 1


def common_prefix(words: Sequence[str]) -> str:
    """What all of the words begin with."""
    if not words:
        return ""
    low, high = min(words), max(words)
    for place, (one, other) in enumerate(zip(low, high, strict=False)):
        if one != other:
            return low[:place]
    return low[: min(len(low), len(high))]
