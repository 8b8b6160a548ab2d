"""Controls of groups evaluated on given rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tests.support.control_rows import NOW, Case, Rows, evaluating, found

MS = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)


def commits(
    group: str,
    offsets: Sequence[int],
    *,
    every: timedelta = SECOND,
    ago: timedelta = SECOND,
    lags: tuple[int | None, int | None] = (None, None),
) -> Rows:
    """Commits of orders:0 with these offsets, the last so long ago; lags of the first and last."""
    last = len(offsets) - 1
    return [{"group": group, "topic": "orders", "offset": offset, "position": n,
             "collected_at": NOW, "committed_at": NOW - ago - (last - n) * every,
             "lag": {0: lags[0], last: lags[1]}.get(n)}
            for n, offset in enumerate(offsets)]  # fmt: skip


def committed(group: str, lag: int) -> Rows:
    """The committed offset, with the current lag."""
    return [{"group": group, "topic": "orders", "offset": 100, "latest": 100 + lag, "lag": lag}]


CASES: list[Case] = [
    (
        "G01", "a pause of seconds after a burst of commits",
        {"group_commits": [*commits("busy", range(10), every=5 * MS, ago=3 * SECOND),
                           *commits("stopped", range(10), every=5 * MS, ago=300 * SECOND),
                           *commits("slow", range(10), every=60 * SECOND, ago=300 * SECOND)],
         "group_offsets": [each for name in ("busy", "stopped", "slow")
                           for each in committed(name, 1000)]},
        [found("group busy orders:0", "ok"), found("group stopped orders:0", "alarm"),
         found("group slow orders:0", "ok")],
    ),
    (
        "G02", "the lag at the first commit counts, not at the last",
        {"group_commits": commits("idle", [7, 7, 7], lags=(0, 5)),
         "group_offsets": committed("idle", 5)},
        [found("group idle orders:0", "ok")],
    ),
    (
        "G03", "a group whose offsets no longer exist",
        {"group_commits": [*commits("gone", [500, 5]), *commits("back", [500, 5])],
         "group_offsets": committed("back", 5)},
        [found("group back orders:0", "alarm", reason="at offset 5, previously at 500")],
    ),
    (
        "G04", "the lag between two commits is no sign of a slow group",
        {"group_commits": [*commits("steady", [1000, 2000, 3000], lags=(10, 9)),
                           *commits("empty", [1000, 2000, 3000], lags=(0, 0)),
                           *commits("slow", [1000, 2000, 3000], lags=(10, 2010)),
                           *commits("older", [1000, 2000, 3000], lags=(10, None))],
         "group_offsets": [each for name in ("steady", "empty", "slow", "older")
                           for each in committed(name, 1500)]},
        [found("group steady orders:0", "ok"), found("group empty orders:0", "ok"),
         found("group slow orders:0", "alarm",
               reason="lag 2,010 at the last of 3 commits, 10 at the first"),
         found("group older orders:0", "skip",
               reason="the end offset at the first or the last commit is unknown")],
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
