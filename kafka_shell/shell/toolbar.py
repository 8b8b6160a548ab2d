"""The toolbar: cluster, size, health, and age of the cached view."""

from __future__ import annotations

import time

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.utils import get_cwidth

from kafka_shell.common.escaping import escape
from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted
from kafka_shell.output.text import Text, cut
from kafka_shell.view.cache import CacheState
from kafka_shell.view.view import ClusterView, TopicIndex

PLAIN = "class:toolbar"
WARNING = "class:toolbar-warning"
GAP = "  "
HINTS = ("F1 help", "^R search", "F4 vi", "^D exit")
NEEDED = ("F1 help", "^D exit")  # without a connection these are shown instead of old data
_OLD = 5  # rank from which on segments are old data without a connection


class Segment(Struct, frozen=True):
    """A part of the toolbar. Segments with a high `rank` are dropped first on a narrow terminal."""

    text: str
    rank: int
    style: str = PLAIN


def toolbar(
    view: ClusterView,
    state: CacheState,
    columns: int,
    *,
    guard: str = "",
    vi: str = "",
    progress: str = "",
) -> StyleAndTextTuples:
    """Return the toolbar in at most `columns` cells. `vi` is the vi mode, or empty with emacs keys;
    `progress` is that of background tasks."""
    every = [*_segments(view, state, guard, vi), Segment(progress, 4)]
    segments = [replace(each, text=escape(each.text)) for each in every if each.text]
    room = columns - 2
    needed = len(GAP.join(NEEDED)) + 2 * len(GAP) if state.failure is not None else 0
    while len(segments) > 1:
        last = max(segments, key=lambda segment: segment.rank)
        if _width(segments) + (needed if last.rank >= _OLD else 0) <= room:
            break
        segments.remove(last)
    pieces: StyleAndTextTuples = [(PLAIN, " ")]
    used = 0
    for number, segment in enumerate(segments):
        gap = GAP if number else ""
        text = _cut(segment.text, room - used - len(gap))
        pieces += [(PLAIN, gap), (segment.style, text)]
        used += len(gap) + get_cwidth(text)
    hints = _hints(room - used - 2 * len(GAP), vi)
    pieces.append((PLAIN, " " * max(0, room - used - get_cwidth(hints)) + hints))
    return pieces


def _segments(view: ClusterView, state: CacheState, guard: str, vi: str) -> list[Segment]:
    topics = view.topics.value
    known = bool(view.read_at)
    failing = "unreachable" if state.unreachable else "not refreshed"
    return [
        Segment(view.name or view.bootstrap, 0),
        Segment(f"{failing} since {_clock(state.since)}" if state.failure else "", 1, WARNING),
        Segment(state.failure.message if state.failure else "", 4, WARNING),
        Segment(f"{topics.offline:,} offline" if topics.offline else "", 2, WARNING),
        Segment(_under_replicated(topics), 3, WARNING),
        Segment(_guard(guard), 2, WARNING),
        Segment(counted(len(view.brokers.value), "broker") if known else "", 6),
        Segment(counted(len(topics), "topic") if len(topics) or known else "", 5),
        Segment(_age(view), 7),
        Segment(_reading(view, state), 8),
        Segment(vi, 9),
    ]


def _under_replicated(topics: TopicIndex) -> str:
    if not topics.under_replicated:
        return ""
    what = "not in sync or being reassigned" if topics.reassignments_unread else "under-replicated"
    return f"{topics.under_replicated:,} {what}"


def _guard(guard: str) -> str:
    return {"confirm": "guard: confirm", "typed": "guard: typed", "read-only": "read-only"}.get(
        guard, guard
    )


def _age(view: ClusterView) -> str:
    """Return the time of the view. An age in seconds would be wrong without redraws."""
    if view.read_at:
        return f"as of {_clock(view.read_at)}"
    return "from the last session" if len(view.topics.value) else ""


def _reading(view: ClusterView, state: CacheState) -> str:
    if not state.reading:
        return ""
    if not view.read_at:
        return "connecting…"
    return f"loading {state.reading[0]}…"


def _hints(room: int, vi: str) -> str:
    hints = [hint for hint in HINTS if not (vi and hint == "F4 vi")]
    while hints and len(GAP.join(hints)) > room:
        spare = [hint for hint in hints if hint not in NEEDED]
        hints.remove((spare or hints)[-1])
    return GAP.join(hints)


def _clock(when: float) -> str:
    """The time with the day: what is drawn may be read on the next day."""
    return time.strftime("%a %H:%M", time.localtime(when))


def _width(segments: list[Segment]) -> int:
    return sum(get_cwidth(segment.text) for segment in segments) + len(GAP) * (len(segments) - 1)


def _cut(text: str, room: int) -> str:
    return cut(Text((("", text),)), room).plain if room > 0 else ""
