"""Search names while typing, fast enough for 100,000 names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain, islice

from msgspec import Struct

LIMIT = 200
SHORT_LIST = 500  # subsequence matching is only used for fewer names
_SEPARATORS = re.compile(r"[\s._-]+")
_SORTABLE = 2_000  # more weak matches are not ranked
_RUN = 5_000  # names sorted per step, in a millisecond or two
_LAST = "\U0010ffff"


class Matches(Struct, frozen=True):
    """The best matches, best first, and the total number of matches."""

    names: tuple[str, ...]
    total: int

    @property
    def more(self) -> int:
        """The number of matches that are not in `names`."""
        return self.total - len(self.names)


class NameIndex:
    """A searchable, immutable, case-insensitively sorted set of names."""

    __slots__ = ("_folded", "_spelled", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        # A tuple instead of a joined string: with many matches, one `in` per name is faster. A list
        # or set would be scanned by the garbage collector again and again.
        every = tuple(names)
        # Share the string if both are equal.
        folded = [name if (low := name.lower()) == name else low for name in every]
        other = {name for name, low in zip(every, folded, strict=True) if name is not low}
        self._spelled: dict[str, str] = {}  # folded -> name, where the two differ
        if other:
            folded = self._fold(every, other)
        in_order = sort_in_runs(folded)
        if len(in_order) > 1:
            after = islice(in_order, 1, None)
            in_order = [a for a, b in zip(in_order, after, strict=False) if a != b] + in_order[-1:]
        self._folded = tuple(in_order)
        self.names: tuple[str, ...] = tuple(self._named(self._folded))

    def _fold(self, every: Iterable[str], other: Iterable[str]) -> list[str]:
        """Fold names to unique lower-case strings, also if names differ only in case."""
        taken = set(every)
        for name in sort_in_runs(list(other)):
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

    def find(self, typed: str) -> Matches:
        """Return names that start with `typed`, then names that contain it or all its fragments; if
        there are none in a short list, names that contain its letters in order."""
        query = typed.lower()
        if not query:
            return Matches(self.names[:LIMIT], len(self.names))
        containing = self._containing(query)
        first, end = bisect_left(containing, query), bisect_left(containing, query + _LAST)
        hits, loose = (
            containing[first : min(end, first + LIMIT)],
            containing[:first] + containing[end:],
        )
        if len(hits) < LIMIT:
            hits += _ranked(loose, query)[: LIMIT - len(hits)]
        total = len(containing)
        if not containing and len(self.names) < SHORT_LIST:
            hits = self._subsequences(query)
            total = len(hits)
        return Matches(tuple(self._named(hits[:LIMIT])), total)

    def _named(self, folded: Iterable[str]) -> Iterable[str]:
        spelled = self._spelled
        return (spelled.get(name, name) for name in folded) if spelled else folded

    def _containing(self, query: str) -> list[str]:
        """Return the names that contain every fragment of the query, sorted."""
        fragments = [part for part in _SEPARATORS.split(query) if part]
        # The longest first, because few names contain it.
        first, *rest = sorted(fragments, key=len, reverse=True) if len(fragments) > 1 else [query]
        containing = [name for name in self._folded if first in name]
        for fragment in rest:
            containing = [name for name in containing if fragment in name]
        return containing

    def _subsequences(self, query: str) -> list[str]:
        """Return the names that contain the letters of the query in order, closest letters
        first."""
        scored = []
        for name in self._folded:
            letters = _letters_in_order(name, query)
            if letters is not None:
                start, end = letters
                scored.append((end - start, start, name))
        return [name for _, _, name in sorted(scored)]


def _letters_in_order(name: str, query: str) -> tuple[int, int] | None:
    """Return the span of these letters in the name, or None, in linear time.

    (A regular expression could take exponential time.)
    """
    at = start = name.find(query[0])
    for letter in query[1:]:
        if at < 0:
            return None
        at = name.find(letter, at + 1)
    return None if at < 0 else (start, at + 1)


def sort_in_runs(names: list[str]) -> list[str]:
    """Sort in many short calls, because a long one would block all other threads."""
    runs = [sorted(names[at : at + _RUN]) for at in range(0, len(names), _RUN)] or [[]]
    while len(runs) > 1:
        # Merging two sorted runs takes linear time.
        runs = [sorted(chain.from_iterable(runs[at : at + 2])) for at in range(0, len(runs), 2)]
    return runs[0]


def _ranked(names: list[str], query: str) -> list[str]:
    """Sort exact matches at the start of a word first, then other exact matches."""
    if len(names) > _SORTABLE:
        return names
    return sorted(names, key=lambda name: _looseness(name, query))


def _looseness(name: str, query: str) -> int:
    at = name.find(query)
    if at < 0:
        return 2
    return 0 if at and name[at - 1] in "._-" else 1
