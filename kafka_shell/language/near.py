"""The near miss of a mistyped word."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant, or None where nothing is close."""
    if not 0 < len(word) <= 64:
        return None
    known = list(dict.fromkeys(candidates))
    folded = {each.lower().replace("_", "-"): each for each in reversed(known)}
    plain = word.lower().replace("_", "-")
    if plain in folded:
        return folded[plain]
    parts = sorted(plain.split("-"))
    for each, original in folded.items():
        if len(parts) > 1 and sorted(each.split("-")) == parts:
            return original  # topics-list
    # difflib is slow to import, and only a mistake needs it
    from difflib import get_close_matches

    close = get_close_matches(plain, folded, n=1, cutoff=0.7)
    if close:
        return folded[close[0]]
    begun = [each for each in known if len(word) > 2 and each.lower().startswith(plain)]
    return begun[0] if len(begun) == 1 else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The hint that names the near miss, or nothing."""
    near = nearest(word, candidates)
    return f"did you mean {near}?" if near else ""
