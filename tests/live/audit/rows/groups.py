"""Rows for controls of groups."""

# ruff: noqa: E501 - a row is one line
from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from tests.support.control_rows import DAY, NOW, Case, Rows, batch, configs, found

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
             "committed_at": NOW - ago - (last - n) * every,
             "lag": {0: lags[0], last: lags[1]}.get(n)}
            for n, offset in enumerate(offsets)]  # fmt: skip


def committed(group: str, lag: int) -> Rows:
    """The committed offset, with the current lag."""
    return [{"group": group, "topic": "orders", "offset": 100, "latest": 100 + lag, "lag": lag}]


def group(name: str, state: str = "Empty", **values: Any) -> dict[str, Any]:
    """A consumer group."""
    own = {"group": name, "state": state, "type": "consumer", "protocol": "consumer"}
    return own | values


CASES: list[Case] = [
    *((control, "the end offset of a partition could not be read",
            {"group_commits": [{"group": "g", "topic": topic, "offset": n, "position": n, "lag": 5}
                               for topic in ("orders", "deleted") for n in range(3)],
             "group_offsets": [{"group": "g", "topic": topic, "offset": 2, "note": note}
                               for topic, note in (("orders", "LEADER_NOT_AVAILABLE"),
                                                   ("deleted", "no such topic"))]},
            [found("group g orders:0", "skip",
                   reason="the end offset of the partition is unknown: LEADER_NOT_AVAILABLE")])
      for control in ("G01", "G02", "G04")),
    ("G01", "a pause of seconds after a burst of commits",
     {"group_commits": [*commits("busy", range(10), every=5 * MS, ago=3 * SECOND),
                        *commits("stopped", range(10), every=5 * MS, ago=300 * SECOND),
                        *commits("batch", range(10), every=5 * MS, ago=300 * SECOND),
                        *commits("slow", range(10), every=60 * SECOND, ago=300 * SECOND)],
      "group_offsets": [each for name in ("busy", "stopped", "slow", "batch")
                        for each in committed(name, 1000)],
      "groups": [group("stopped", "Stable", members=1), group("batch")]},
     [found("group batch orders:0", "info"), found("group busy orders:0", "ok"), found("group stopped orders:0", "alarm"),
      found("group slow orders:0", "ok")]),
    ("G02", "the group had read everything at its first commit",
     {"group_commits": [{"group": name, "topic": "orders", "offset": 7, "position": n,
                         "lag": lag if n == 0 else None}
                        for name, lag in (("idle", 0), ("stuck", 5)) for n in range(3)],
      "group_offsets": [{"group": name, "topic": "orders", "offset": 7, "latest": 12, "lag": 5}
                        for name in ("idle", "stuck")]},
     [found("group idle orders:0", "ok"), found("group stuck orders:0", "alarm")]),
    ("G03", "a group whose offsets no longer exist",
     {"group_commits": [*commits("gone", [500, 5]), *commits("back", [500, 5])],
      "group_offsets": committed("back", 5)},
     [found("group back orders:0", "alarm", reason="at offset 5, previously at 500")]),
    ("G04", "the lag between two commits is no sign of a slow group",
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
            reason="the end offset at the first or the last commit is unknown")]),
    ("G05", "a group committed after the offsets of the partition were read",
     {"groups": [{"group": "busy", "state": "Empty"}],
      "partition_offsets": [{"topic": "orders", "latest": 100, "records": 100}],
      "group_offsets": [{"group": "busy", "topic": "orders", "offset": 150, "latest": 160}]},
     [found("group busy orders:0", "ok",
            reason="offset 150, the log contains offsets 0 to 160")]),
    ("G05", "an offset beyond both end offsets",
     {"groups": [{"group": name, "state": "Empty"} for name in ("a", "b")],
      "partition_offsets": [{"topic": "orders", "latest": 100, "records": 100}],
      "group_offsets": [
          {"group": "a", "topic": "orders", "offset": 150, "latest": 90},
          {"group": "b", "topic": "orders", "offset": 150, "latest": None}]},
     [found(f"group {name} orders:0", "alarm",
            reason="offset 150, the log contains offsets 0 to 100",
            remedy=f"reset-offsets {name} --offset orders:0=100")
      for name in ("a", "b")]),
    ("G05", "an active group may have deleted records after its offset was read",
     {"groups": [{"group": state, "state": state}
                 for state in ("Empty", "Stable")],
      "partition_offsets": [{"topic": "orders", "earliest": 50, "latest": 90, "records": 40}],
      "group_offsets": [{"group": state, "topic": "orders", "offset": 40, "latest": 90}
                        for state in ("Empty", "Stable")]},
     [found("group Empty orders:0", "alarm",
            remedy="reset-offsets Empty --offset orders:0=50"),
      found("group Stable orders:0", "info", remedy="",
            reason="offset 40, the log contains offsets 50 to 90")]),
    ("G03", "the furthest offset", {"group_commits": commits("on", [5, 500]), "group_offsets": committed("on", 5)},
     [found("group on orders:0", "ok", reason="at offset 500")]),
    ("G06", "more members than partitions",
     {"groups": [*(group(name, "Stable") for name in ("idle", "busy", "streams", "standby")),
                 group("joining", "PreparingRebalance"), group("connect", "Stable", protocol="connect")],
      "group_members": [{"group": name, "member": f"m{partitions}", "partitions": partitions % 2,
                         "client_id": "shop-1-StreamThread-1-consumer" if name == "streams" else "c"}
                        for name, partitions in (("idle", 0), ("idle", 2), ("idle", 1), ("busy", 1), ("streams", 0),
                                                 ("standby", 0), ("standby", 1),
                                                 ("joining", 0), ("connect", 0))]},
     [found("group idle", "alarm", reason="members without partitions: 2 of 3"), found("group standby", "ok"),
      found("group busy", "ok")]),
    ("G07", "a group is deleted if it has no offsets of a topic that exists",
     {"topics": [{"topic": "orders"}, {"topic": "x.checkpoints.internal"},
                 *({"topic": name, "cluster": "copy"} for name in ("west.checkpoints.internal", "west.a", "b")),
                 *({"topic": name, "cluster": "same"} for name in ("west.checkpoints.internal", "heartbeats", "b"))],
      "groups": [group("orphan"), group("archive"), group("active", "Stable", members=2),
                 *(group(name) | {"cluster": "copy"} for name in ("copied", "own")),
                 group("copied") | {"cluster": "same"}],
      "group_offsets": [{"group": "orphan", "topic": "gone"}, {"group": "archive", "topic": "orders"},
                        {"group": "active", "topic": "orders"},
                        {"group": "copied", "topic": "west.a", "cluster": "copy"},
                        {"group": "own", "topic": "b", "cluster": "copy"},
                        {"group": "copied", "topic": "b", "cluster": "same"}]},
     [found("group own", "alarm", cluster="copy"), found("group copied", "info", cluster="same"),
      found("group orphan", "alarm", remedy="delete-group orphan",
            reason="no members, and no existing topic with committed offsets"),
      found("group archive", "alarm", remedy="",
            reason="no members; committed offsets in 1 partition"),
      found("group active", "ok", reason="2 members"),
      found("group copied", "info", cluster="copy", remedy="")]),
    ("G08", "the classic protocol where the newer one is enabled",
     {"features": [{"feature": "group.version", "level": 1}],
      "groups": [group("old", "Stable", type="classic", members=1), group("new", "Stable", members=1),
                 group("gone", type="classic"), group("streams", type="classic", members=1),
                 group("old", type="classic", members=1, cluster="3.9")],
      "group_members": [{"group": "streams", "client_id": "shop-1-StreamThread-1-consumer"}]},
     [found("group old", "alarm", reason="protocol classic, 1 member"), found("group new", "ok"),
      found("group gone", "ok"), found("group old", "ok", cluster="3.9")]),
    ("G09", "records that the group has not read are deleted soon",
     {"topic_configs": configs("orders", retention_ms="604800000", cleanup_policy="delete"),
      "group_offsets": [{"group": name, "topic": "orders", "offset": offset, "lag": 2000 - offset}
                        for name, offset in (("late", 5), ("busy", 1500), ("done", 2000))],
      "batches": [batch("earliest", 0, 9, 6.5 * DAY), batch("latest", 1990, 1999, MS)]},
     [found("group late orders:0", "alarm",
            reason="lag 1,995; the next record is at least 6d12h old, retention.ms is 7d"),
      found("group busy orders:0", "ok")]),
]  # fmt: skip
