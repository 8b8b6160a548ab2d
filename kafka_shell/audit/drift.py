"""Compare two collections row by row, with the commands that undo the differences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from kafka_shell.audit.collection import STATUS, Collection
from kafka_shell.audit.engine import Engine, tuned
from kafka_shell.audit.model import Drift
from kafka_shell.audit.remedy import sql_text
from kafka_shell.audit.snapshot import check
from kafka_shell.audit.table import Table
from kafka_shell.audit.trends import shown
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Resource, Value, inverse
from kafka_shell.base.text import is_printable, positional
from kafka_shell.base.units import same_value
from kafka_shell.output.change_kinds import lines

# Tables with intentional state -> their key columns. State that changes by itself (leaders, lag,
# sizes) is not compared.
KEYS: dict[str, tuple[str, ...]] = {
    "brokers": ("broker_id",),
    "topics": ("topic",),
    "topic_configs": ("topic", "key"),
    "broker_configs": ("broker_id", "key"),
    "acls": ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation",
             "permission"),
    "quotas": ("user", "client_id", "ip", "user_default", "client_id_default", "ip_default", "key"),
    "scram_users": ("user", "mechanism"),
    "features": ("feature",),
    "client_configs": ("user", "client_id", "key"),
    "groups": ("group",),
}  # fmt: skip
# The compared columns.
_STATE: dict[str, tuple[str, ...]] = {
    "brokers": ("host", "port", "rack", "version"),
    "acls": ("acl",),
    "quotas": ("value", "entity"),
    "scram_users": ("iterations",),
    "features": ("level",),
    "client_configs": ("value", "entity"),
    "topics": ("partitions", "min_factor", "max_factor"),
    "topic_configs": ("value",),
    "broker_configs": ("value",),
    "groups": (),
}
# Only configs that were set are compared, because defaults depend on the version.
_DECIDED = {
    "topic_configs": "overridden",
    "broker_configs": "source <> 'default'",
}
MOST_ROWS = 10_000  # that differ, in the memory of this program
TOO_MANY = f"only the first {MOST_ROWS:,} differences are shown"
_WORDS = ("acl", "entity")  # parts of commands, derived from the key


class _Side(Struct, frozen=True):
    """A cluster before or after: in which collection (`of`) under which name, and what it is
    matched by with its other side. `pair` counts the comparisons."""

    pair: int
    mark: str  # was, now
    of: str
    name: str
    by: str


# The rows of a key that are not the same on both sides.
_DIFFERENT = """
WITH states AS ({states}),
sides(pair, mark, `of`, cluster, `by`) AS (VALUES {sides})
SELECT d.pair, s.`table`, d.`by`, s.`key`, max(IF(d.mark = 'was', s.state, NULL)) AS was,
  max(IF(d.mark = 'now', s.state, NULL)) AS now, max_by(s.cluster, d.mark = 'now') AS cluster
FROM states s JOIN sides d ON d.`of` = s.`of` AND d.cluster = s.cluster
GROUP BY d.pair, s.`table`, d.`by`, s.`key`
HAVING NOT (max(IF(d.mark = 'was', s.state, NULL)) <=> max(IF(d.mark = 'now', s.state, NULL)))
ORDER BY pair DESC, cluster, `table`, `key`"""


def between(
    before: Collection,
    after: Collection,
    tables: Mapping[str, Table],
) -> tuple[tuple[Drift, ...], bool]:
    """Return the rows that appeared, vanished or changed, the first MOST_ROWS of them, and whether
    these are all. Clusters are compared by their IDs, but two clusters as they are now also if
    these differ. Raises ShellError if there are no clusters to compare.
    """
    names = [
        name for name in KEYS if all(name in of for of in (tables, before.frames, after.frames))
    ]
    sides: list[_Side] = []
    states: list[str] = []
    lost: set[tuple[str, str]] = set()
    both = _matched(before, after)
    for mark, side, matched in zip(("was", "now"), (before, after), both, strict=True):
        sides += [_Side(0, mark, mark, name, by) for name, by in matched.items()]
        lost |= {(table, matched[name]) for name, table in unread(side) if name in matched}
        for name in names:
            side.frames[name].createOrReplaceTempView(f"{mark}_{name}")
            states.append(_states(name, f"{mark}_{name}", sql_text(mark)))
    session = before.frames[STATUS].sparkSession
    with tuned(session, before.rows + after.rows):
        rows = _rows(session, states, sides).limit(MOST_ROWS + 1).collect()
        return _drifts(rows[:MOST_ROWS], lost), len(rows) <= MOST_ROWS


def over_snapshots(
    engine: Engine, folder: str, until: str, most: int
) -> list[tuple[str, tuple[Drift, ...]]]:
    """Return the differences of each of the newest snapshots of a folder, up to the ID `until`,
    from the one before it, with its ID: the newest MOST_ROWS rows that differ. Snapshots without a
    cluster in common are left out. Raises ShellError if a table does not have the rows that were
    written."""
    session = engine.session
    with shown(engine, folder, {*KEYS, "clusters", STATUS}, {}) as written:
        chosen = [id for id in written if id <= until][-most:]
        within = f"snapshot_id IN ({', '.join(map(sql_text, chosen))})"
        counts = _row_counts(session, within)
        for id in chosen:
            check(folder, id, written[id], {name: counts[id, name] for name in KEYS})
        clusters: dict[str, dict[str, str]] = {id: {} for id in chosen}
        for row in session.table("trend_clusters").where(within).collect():
            clusters[row["snapshot_id"]][row["cluster"]] = row["cluster_id"]
        lost = {
            id: {(name, by) for name in KEYS.keys() - written[id] for by in clusters[id].values()}
            for id in chosen
        }
        status = session.table("trend_collection_status").where(within)
        for row in status.where("status = 'error'").collect():
            at = row["snapshot_id"]
            lost[at].add((row["table"], clusters[at].get(row["cluster"], "")))
        sides = [
            _Side(pair, mark, id, name, by)
            for pair, ids in enumerate(pairwise(chosen), 1)
            for mark, id, matched in zip(
                ("was", "now"), ids, _common(*(clusters[id] for id in ids)), strict=True
            )
            for name, by in matched.items()
        ]
        states = [_states(name, f"trend_{name}", "snapshot_id", within) for name in KEYS]
        found = _rows(session, states, sides).limit(MOST_ROWS) if sides else None
        rows = found.collect() if found is not None else []
    return [
        (
            chosen[pair],
            _drifts(
                [row for row in rows if row["pair"] == pair],
                lost[chosen[pair - 1]] | lost[chosen[pair]],
            ),
        )
        for pair in sorted({each.pair for each in sides})
    ]


def _row_counts(session: Any, within: str) -> Counter[tuple[str, str]]:
    """The number of rows of each compared table, by snapshot and table."""
    counts = (
        f"SELECT snapshot_id, '{name}' AS `table`, count(*) AS n FROM trend_{name} WHERE {within}"
        " GROUP BY snapshot_id"
        for name in KEYS
    )
    rows = session.sql("\nUNION ALL\n".join(counts)).collect()
    return Counter({(row["snapshot_id"], row["table"]): row["n"] for row in rows})


def _states(table: str, view: str, of: str, where: str = "true") -> str:
    """The query of a table's rows as (of, table, key, state, cluster), with JSON key and state."""

    def packed(names: Sequence[str]) -> str:
        texts = ", ".join(f"CAST(`{name}` AS STRING) AS `{name}`" for name in names)
        return f"to_json(struct({texts}), map('ignoreNullFields', 'false'))" if names else "'{}'"

    return (
        f"SELECT {of} AS `of`, '{table}' AS `table`, {packed(KEYS[table])} AS `key`,"
        f" {packed(_STATE[table])} AS state, cluster"
        f" FROM {view} WHERE {where} AND {_DECIDED.get(table, 'true')}"
    )


def _rows(session: Any, states: Sequence[str], sides: Sequence[_Side]) -> Any:
    """The data frame of the rows that differ."""
    values = ", ".join(
        f"({each.pair}, {', '.join(map(sql_text, (each.mark, each.of, each.name, each.by)))})"
        for each in sides
    )
    query = _DIFFERENT.format(states="\nUNION ALL\n".join(states), sides=values)
    return session.sql(query)


def _drifts(rows: Iterable[Any], lost: Container[tuple[str, str]]) -> tuple[Drift, ...]:
    """The differences, in order. What appeared or vanished in a `lost` table of a cluster may only
    not have been read."""
    found: list[Drift] = []
    for row in rows:
        whole = row["was"] is None or row["now"] is None
        if not (whole and (row["table"], row["by"]) in lost):
            found += _drifts_of(row)
    order = list(KEYS)
    found.sort(key=lambda drift: (drift.cluster, order.index(drift.table)))
    return tuple(_without_whole_topics(found))


def _matched(before: Collection, after: Collection) -> tuple[dict[str, str], dict[str, str]]:
    """Return the clusters of both sides that are compared: by name, with what they share."""
    sides = before.cluster_ids, after.cluster_ids
    both = _common(*sides)
    if both[0]:
        return both
    if before.stored or after.stored or any(len(side) != 1 for side in sides):
        raise ShellError(
            "no cluster is on both sides:"
            f" {', '.join(before.clusters)}; {', '.join(after.clusters)}",
            hint="Name a snapshot of this cluster with DIR@ID." if before.stored else "",
            code="other-cluster",
        )
    return dict.fromkeys(sides[0], ""), dict.fromkeys(sides[1], "")


def _common(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The clusters that are on both sides, as IDs by their name there."""
    shared = set(before.values()) & set(after.values())
    first, second = (
        {name: id for name, id in side.items() if id in shared} for side in (before, after)
    )
    return first, second


def left_out(before: Collection, after: Collection) -> list[str]:
    """Return the clusters that are only on one side, and so are not compared."""
    sides = before.cluster_ids, after.cluster_ids
    if set(sides[0].values()).isdisjoint(sides[1].values()):
        return []
    return [
        name
        for side, other in (sides, sides[::-1])
        for name, id in side.items()
        if id not in other.values()
    ]


def unread(side: Collection) -> dict[tuple[str, str], str]:
    """Return the clusters and compared tables that were not read completely, with the first
    reason: their missing rows mean nothing."""
    return {
        (cluster, table): status.reason
        for (cluster, table), status in side.status.items()
        if status.errors and table in KEYS
    }


def _drifts_of(row: Any) -> list[Drift]:
    table, key = row["table"], json.loads(row["key"])
    was = None if row["was"] is None else json.loads(row["was"])
    now = None if row["now"] is None else json.loads(row["now"])
    where, about = row["cluster"], _resource(table, key, was or now or {})
    if was is not None and now is not None:
        return [
            Drift(where, table, about, "changed", _field(table, key, name), was[name], now[name],
                  *undo(table, key, was, now, name))
            for name in was
            if not same_value(str(key.get("key", "")), was[name], now[name])
        ]  # fmt: skip
    change = "appeared" if was is None else "vanished"
    return [
        Drift(
            where,
            table,
            about,
            change,
            _field(table, key, ""),
            _state_text(was),
            _state_text(now),
            *undo(table, key, was, now, ""),
        )
    ]


def _state_text(state: Mapping[str, Any] | None) -> str | None:
    if state is None:
        return None
    shown = {n: v for n, v in state.items() if v is not None and n not in _WORDS}
    if list(shown) == ["value"]:
        return str(shown["value"])
    return ", ".join(f"{name}={value}" for name, value in shown.items()) or "exists"


def _field(table: str, key: Mapping[str, Any], name: str) -> str:
    return str(key["key"]) if "key" in key else name


def _resource(table: str, key: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """The name of what differs, as plans name it."""
    if "topic" in key:
        return str(key["topic"])
    if table == "acls":
        return str(state["acl"])
    if "broker_id" in key:
        return f"broker {key['broker_id']}"
    if "user" in key:
        parts = []
        for name in ("user", "client_id", "ip"):
            if key.get(name) is not None:
                parts.append(f"{name.replace('_', '-')} {key[name]}")
            elif key.get(f"{name}_default") == "true":
                parts.append(f"{name.replace('_', '-')}-default")
        return " ".join(parts)
    return " ".join(f"{name} {value}" for name, value in key.items())


State = Mapping[str, Any] | None


def undo(
    table: str, key: Mapping[str, Any], was: State, now: State, name: str
) -> tuple[str, tuple[Change, ...]]:
    """Return the command that restores the earlier state, or an empty string, and its changes. A
    topic that is created again has none: its records are lost."""
    changes: tuple[Change, ...] = ()
    if table == "topics" and was is not None:
        topic, factor = str(key["topic"]), was["min_factor"]
        if now is None:
            shape = f"--partitions {was['partitions']} --replication-factor {factor}"
            line = f"create-topic {positional('--topic', topic)} {shape}"
            return line if is_printable(line) else "", ()
        if name == "min_factor":
            changed = int(now["min_factor"]), int(factor)
            changes = (Change(Resource("topic", topic), "replicate", "", *changed),)
    elif (change := _change(table, key, was, now)) is not None:
        changes = inverse([change])
    line = "; ".join(lines(changes))
    return (line, changes) if is_printable(line) else ("", ())


def _change(table: str, key: Mapping[str, Any], was: State, now: State) -> Change | None:
    """The change that led to a difference; None if none is undone."""
    either = was or now or {}
    verb = "create" if was is None else "delete" if now is None else "alter"
    # Brokers have created an internal topic, and need it.
    if table == "topics" and not str(key["topic"]).startswith("__"):
        return Change(Resource("topic", str(key["topic"])), verb)
    if table == "acls":
        return Change(Resource("acl", either["acl"]), verb)
    if table == "topic_configs":
        resource = Resource("topic", str(key["topic"]))
    elif table == "quotas":
        kind, _, name = either["entity"].partition(" ")
        resource = Resource(kind, name)
    elif table == "client_configs":
        resource = Resource("client-config", either["entity"])
    else:
        return None

    def value(state: State) -> Value:
        found = None if state is None else state["value"] or ""
        return float(found) if table == "quotas" and found else found

    return Change(resource, "alter", str(key["key"]), value(was), value(now))


def _without_whole_topics(found: Sequence[Drift]) -> list[Drift]:
    """Drop the configs of topics that appeared or vanished."""
    whole = {
        (each.cluster, each.resource)
        for each in found
        if each.table == "topics" and each.change != "changed"
    }
    return [
        each
        for each in found
        if each.table != "topic_configs" or (each.cluster, each.resource) not in whole
    ]
