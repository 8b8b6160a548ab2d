"""Compare two collections row by row, with the commands that undo the differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_shell.errors import ShellError
from kafka_shell.quoting import quote

from .collection import Collection
from .model import Drift
from .remedy import single_command
from .table import Table

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
    "quotas": ("value", "options"),
    "scram_users": ("iterations",),
    "features": ("level",),
    "client_configs": ("value", "options"),
    "topics": ("partitions", "min_factor", "max_factor"),
    "topic_configs": ("value",),
    "broker_configs": ("value",),
    "groups": (),
}
# Only configs that were set are compared, because defaults depend on the version.
_DECIDED = {
    "topic_configs": "overridden",
    "broker_configs": "source <> 'default_config'",
}
_WORDS = ("acl", "options")  # parts of commands, derived from the key


def between(
    before: Collection, after: Collection, tables: Mapping[str, Table]
) -> tuple[Drift, ...]:
    """Return all rows that appeared, vanished or changed. Clusters are compared by their IDs, but
    two clusters as they are now also if these differ. Raises ShellError if there are none to
    compare.
    """
    from pyspark.sql import functions as f

    matched = _matched(before, after)
    lost = set(unread(before)) | set(unread(after))
    both = None
    for side, mark, of_names in ((before, "was", matched[0]), (after, "now", matched[1])):
        for name in KEYS:
            if name in tables and name in before.frames and name in after.frames:
                rows = _rows(side.frames[name], name, mark, of_names)
                both = rows if both is None else both.union(rows)
    assert both is not None
    pairs = both.groupBy("table", "by", "key").agg(
        f.max(f.when(f.col("mark") == "was", f.col("state"))).alias("was"),
        f.max(f.when(f.col("mark") == "now", f.col("state"))).alias("now"),
        f.max_by("cluster", f.col("mark") == "now").alias("cluster"),
    )
    found: list[Drift] = []
    for row in pairs.where("not (was <=> now)").orderBy("cluster", "table", "key").collect():
        whole = row["was"] is None or row["now"] is None
        if not (whole and row["table"] in lost):
            found += _drifts(row)
    order = list(KEYS)
    found.sort(key=lambda drift: (drift.cluster, order.index(drift.table)))
    return tuple(_without_whole_topics(found))


def _matched(before: Collection, after: Collection) -> tuple[dict[str, str], dict[str, str]]:
    """Return the clusters of both sides that are compared: by name, with what they share."""
    sides = before.cluster_ids, after.cluster_ids
    common = set(sides[0].values()) & set(sides[1].values())
    if common:
        both = ({name: id for name, id in side.items() if id in common} for side in sides)
        return next(both), next(both)
    if before.stored or after.stored or any(len(side) != 1 for side in sides):
        raise ShellError(
            "there is no cluster that is on both sides:"
            f" {', '.join(before.clusters)}; {', '.join(after.clusters)}",
            hint="Name a snapshot of this cluster with DIR@ID." if before.stored else "",
            code="other-cluster",
        )
    return dict.fromkeys(sides[0], ""), dict.fromkeys(sides[1], "")


def left_out(before: Collection, after: Collection) -> list[str]:
    """Return the clusters that are only on one side, and so are not compared."""
    if not set(before.cluster_ids.values()) & set(after.cluster_ids.values()):
        return []
    sides = before.cluster_ids, after.cluster_ids
    return [
        name
        for side, other in (sides, sides[::-1])
        for name, id in side.items()
        if id not in other.values()
    ]


def unread(side: Collection) -> dict[str, str]:
    """Return the compared tables that were not read completely, with the first reason: their
    missing rows mean nothing."""
    status = side.frames["collection_status"]
    rows = status.where("status = 'error'").select("table", "reason").collect()
    return {row["table"]: row["reason"] for row in reversed(rows) if row["table"] in KEYS}


def _rows(frame: Any, table: str, mark: str, names: Mapping[str, str]) -> Any:
    """Return the rows of a table as (table, by, key, mark, state, cluster) with JSON key and
    state. `names` are the compared clusters with what they are matched by."""
    from pyspark.sql import functions as f

    def packed(names: Sequence[str]) -> Any:
        texts = (f.col(name).cast("string").alias(name) for name in names)
        return f.to_json(f.struct(*texts), {"ignoreNullFields": "false"}) if names else f.lit("{}")

    chosen = frame.where(_DECIDED[table]) if table in _DECIDED else frame
    chosen = chosen.where(f.col("cluster").isin(list(names)))
    by = f.create_map(*(f.lit(word) for pair in names.items() for word in pair))
    return chosen.select(
        f.lit(table).alias("table"),
        by[f.col("cluster")].alias("by"),
        packed(KEYS[table]).alias("key"),
        f.lit(mark).alias("mark"),
        packed(_STATE[table]).alias("state"),
        f.col("cluster"),
    )


def _drifts(row: Any) -> list[Drift]:
    table, key = row["table"], json.loads(row["key"])
    was = None if row["was"] is None else json.loads(row["was"])
    now = None if row["now"] is None else json.loads(row["now"])
    where, about = row["cluster"], _resource(table, key)
    if was is not None and now is not None:
        return [
            Drift(where, table, about, "changed", _field(table, key, name), was[name], now[name],
                  undo(table, key, was, now, name))
            for name in was
            if was[name] != now[name]
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
            undo(table, key, was, now, ""),
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


def _resource(table: str, key: Mapping[str, Any]) -> str:
    if "topic" in key:
        return str(key["topic"])
    if table in ("broker_configs", "brokers"):
        return f"broker {key['broker_id']}"
    return " ".join(
        str(value) for name, value in key.items() if value is not None and name != "key"
    )


State = Mapping[str, Any] | None


def undo(table: str, key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    """Return the command that restores the earlier state, or an empty string."""
    line = _UNDO.get(table)
    return single_command(line(key, was, now, name)) if line else ""


def _of_topic(key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    topic = f"--topic={quote(str(key['topic']))}"
    if was is None:
        return f"delete-topic {topic}"
    factor = f"--replication-factor {was['min_factor']}"
    if now is None:
        return f"create-topic {topic} --partitions {was['partitions']} {factor}"
    return f"alter-topic {topic} {factor}" if name == "min_factor" else ""


def _of_topic_config(key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    return f"alter-configs --topic={quote(str(key['topic']))} {_set_or_delete(key['key'], was)}"


def _of_quota(key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    options = (was or now or {})["options"]
    if was is None:
        return f"alter-quotas {options} --delete-config={quote(str(key['key']))}"
    value = str(was["value"]).removesuffix(".0")
    pair = quote(f"{key['key']}={value}")
    return f"alter-quotas {options} --add-config={pair}"


def _of_client_config(key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    options = (was or now or {})["options"]
    return f"alter-client-configs {options} {_set_or_delete(key['key'], was)}"


def _of_acl(key: Mapping[str, Any], was: State, now: State, name: str) -> str:
    rule = quote((was or now or {})["acl"])
    return f"alter-acls {'--add' if now is None else '--remove'}={rule}"


def _set_or_delete(key: str, was: State) -> str:
    if was is None:
        return f"--delete-config={quote(key)}"
    pair = quote(f"{key}={was['value'] or ''}")
    return f"--add-config={pair}"


_UNDO: dict[str, Callable[[Mapping[str, Any], State, State, str], str]] = {
    "topics": _of_topic,
    "topic_configs": _of_topic_config,
    "quotas": _of_quota,
    "client_configs": _of_client_config,
    "acls": _of_acl,
}


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
