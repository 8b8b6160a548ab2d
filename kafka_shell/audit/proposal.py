"""The tables of a cluster after changes that are planned but not made: `spark audit --plan`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from msgspec import Struct

from kafka_shell.admin.acls.change import CreateAcls, DeleteAcls
from kafka_shell.admin.configs.losses import TOPIC_KEYS
from kafka_shell.admin.quotas.model import DEFAULT, Quota, QuotaEntity
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.steps import CreateTopics
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.drift import KEYS
from kafka_shell.audit.snapshot import local_frame
from kafka_shell.audit.source import record_batch
from kafka_shell.audit.table import Table
from kafka_shell.audit.tables.access import acl_row, effective_rows, quota_row
from kafka_shell.base.plans import Change, Plan
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.text import entity_parts
from kafka_shell.base.units import counted

Row = dict[str, Any]
Rows = dict[tuple[Any, ...], Row]  # by the columns that identify a row
_OF_TOPICS = ("topics", "topic_configs")
# The tables that changes are made in, and the columns that identify a row.
_KEYS = {
    **{name: KEYS[name] for name in
       (*_OF_TOPICS, "broker_configs", "quotas", "scram_users", "features")},
    "acls": ("acl",),
    "effective_quotas": ("user", "client_id", "key"),
}  # fmt: skip
TABLES = frozenset(_KEYS)


class Proposal(Struct, frozen=True):
    """A collection after changes, the tables that differ, and the changes that they do not show."""

    collection: Collection
    changed: frozenset[str]
    left_out: tuple[Change, ...]


def after(session: Any, found: Collection, plan: Plan, tables: dict[str, Table]) -> Proposal:
    """Return what a collection of one cluster would be after a plan. New topics have no replicas
    yet, so that nothing is judged of where they would be placed."""
    state = _State(session, found, tables)
    state.topics = {c.resource.name for c in plan.changes if c.resource.kind == "topic"}
    left_out = [change for step in plan.steps for change in state.make(step)]
    frames = state.frames_after()
    changed = frozenset(name for name in frames if frames[name] is not found.frames.get(name))
    return Proposal(replace(found, frames=frames), changed, tuple(left_out))


class _State:
    """Rows of tables, as far as changes touch them: of tables of topics those of some `topics`."""

    def __init__(self, session: Any, found: Collection, tables: dict[str, Table]) -> None:
        self.topics: set[str] = set()
        self._session, self._found, self._tables = session, found, tables
        self._held: dict[str, Rows] = {}
        self._deleted: set[str] = set()
        self._defaults: dict[str, str] = {}  # of topics, by key
        self._quotas_changed = False
        self._common = {
            "cluster": found.clusters[0],
            "collected_at": datetime.fromtimestamp(found.collected_at / 1000, UTC),
            "snapshot_id": found.snapshot_id,
        }

    def make(self, step: Any) -> Iterator[Change]:
        """Make the changes of a step, and yield those that are not supported."""
        if isinstance(step, CreateTopics):
            for new in step.items:
                self._create(new)
        elif isinstance(step, CreateAcls | DeleteAcls):
            for each in step.items:
                self._rows("acls").pop((str(each),), None)
                if isinstance(step, CreateAcls):
                    self._put("acls", acl_row(each))
        else:
            yield from (change for change in step.changes if not self._change(change))

    def _change(self, change: Change) -> bool:
        """Make a change; False if --plan does not support it."""
        kind = change.resource.kind
        if kind == "topic" and change.verb == "delete":
            self._deleted.add(change.resource.name)
            return True
        if kind == "topic":
            return self._of_topic(change)
        if kind in ("broker", "broker-default"):
            return self._of_broker(change)
        if change.field.startswith("SCRAM-"):
            return self._credential(change)
        if kind.removesuffix("-default") in ("user", "client-id", "ip") and change.field:
            return self._quota(change)
        row = self._rows("features").get((change.resource.name,)) if kind == "feature" else None
        if row is not None:
            row["level"] = int(change.after or 0)
        return row is not None

    # -- topics ------------------------------------------------------------------------------------

    def _create(self, new: NewTopic) -> None:
        replicas = new.assignment
        partitions = len(replicas) or new.partitions or self._default("num.partitions")
        factor = new.replication_factor or self._default("default.replication.factor")
        factors = [len(each) for each in replicas] or [factor]
        shape = (new.name, None, False, partitions, min(factors), max(factors))
        self._put("topics", shape)
        configs = self._rows("topic_configs")
        for row in self._any_topic:
            inherited = {"value": row["inherited"], "overridden": False}
            of_topic = {"topic": new.name, "source": "default_config"}
            configs[new.name, row["key"]] = row | inherited | of_topic
        for key, value in new.configs:
            self._set(new.name, key, value)

    def _default(self, key: str) -> int:
        """A default of brokers, for new topics."""
        for broker in self._brokers:
            row = self._rows("broker_configs").get((broker, key))
            if row is not None and row["value"]:
                return int(row["value"])
        return 1

    @cached_property
    def _brokers(self) -> list[int]:
        return sorted({broker for broker, _ in self._rows("broker_configs")})

    @cached_property
    def _any_topic(self) -> list[Row]:
        """The configs of a topic, of which another one inherits the same values."""
        frame = self._found.frames["topic_configs"]
        for row in frame.select("topic").limit(1).collect():
            return list(frame.where(frame["topic"] == row["topic"]).toArrow().to_pylist())
        return []

    def _of_topic(self, change: Change) -> bool:
        name = change.resource.name
        if change.field == "partitions":
            row = self._rows("topics").get((name,))
            if row is not None:
                row["partitions"] = int(change.after or 0)
            return row is not None
        return self._set(name, change.field, None if change.after is None else str(change.after))

    def _set(self, topic: str, key: str, value: str | None) -> bool:
        row = self._rows("topic_configs").get((topic, key))
        if row is not None:
            row["overridden"] = value is not None
            row["value"] = row["inherited"] if value is None else value
            row["source"] = "default_config" if value is None else "dynamic_topic"
        return row is not None

    # -- brokers -----------------------------------------------------------------------------------

    def _of_broker(self, change: Change) -> bool:
        key, whole = change.field, change.resource.kind == "broker-default"
        of_brokers = self._rows("broker_configs")
        rows = [of_brokers[each, key] for each in self._brokers if (each, key) in of_brokers]
        built_in = next((row["value"] for row in rows if row["source"] == "default"), None)
        mine = [row for row in rows if whole or str(row["broker_id"]) == change.resource.name]
        value = None if change.after is None else str(change.after)
        for row in mine:
            if whole:
                row["cluster_default"] = value
            if whole and row["source"] == "dynamic_broker":
                continue
            inherited = (
                ("dynamic_default_broker", row["cluster_default"]),
                ("static_broker", row["static_value"]),
                ("default", built_in),
            )
            own = () if whole else (("dynamic_broker", value),)
            known = [each for each in (*own, *inherited) if each[1] is not None]
            if not known:  # the built-in default is unknown
                return False
            row["source"], row["value"] = known[0]
        if whole and key in TOPIC_KEYS and mine:
            self._defaults[TOPIC_KEYS[key]] = mine[0]["value"]
        return bool(mine)

    # -- users -------------------------------------------------------------------------------------

    def _credential(self, change: Change) -> bool:
        key = change.resource.name, change.field
        self._rows("scram_users").pop(key, None)
        if change.after is not None:
            iterations = int(re.sub(r"\D", "", str(change.after)))
            self._put("scram_users", (*key, iterations))
        return True

    def _quota(self, change: Change) -> bool:
        after = None if change.after is None else float(change.after)
        row = self._row(
            "quotas", quota_row(Quota(_entity(change.resource), change.field, after or 0))
        )
        if after is None:
            self._rows("quotas").pop(_key("quotas", row), None)
        else:
            self._rows("quotas")[_key("quotas", row)] = row
        self._quotas_changed = True
        return True

    def _effective_quotas(self) -> Iterator[Row]:
        """The effective quotas, after all changes."""

        def name(row: Row, part: str) -> Any:
            return DEFAULT if row[f"{part}_default"] else row[part]

        found = [
            Quota(QuotaEntity(*(name(row, part) for part in QuotaEntity.__struct_fields__)),
                  row["key"], row["value"])
            for row in self._rows("quotas").values()
        ]  # fmt: skip
        users = {user for user, _ in self._rows("scram_users")}
        for row in effective_rows(found, users):
            if isinstance(row, tuple):
                yield self._row("effective_quotas", row)

    # -- rows --------------------------------------------------------------------------------------

    def _row(self, table: str, values: tuple[Any, ...]) -> Row:
        names = (column.name for column in self._tables[table].columns)
        return self._common | dict(zip(names, values, strict=True))

    def _put(self, table: str, values: tuple[Any, ...]) -> None:
        row = self._row(table, values)
        self._rows(table)[_key(table, row)] = row

    def _rows(self, table: str) -> Rows:
        """The rows of a table, to be changed."""
        if table not in self._held:
            frame = self._found.frames[table]
            if table in _OF_TOPICS:
                frame = frame.where(frame["topic"].isin(list(self.topics)))
            rows = frame.toArrow().to_pylist()
            self._held[table] = {_key(table, row): row for row in rows}
        return self._held[table]

    def frames_after(self) -> dict[str, Any]:
        """The data frames of all tables with the changes."""
        from pyspark.sql import functions as f

        frames = dict(self._found.frames)
        if self._quotas_changed:
            rows = self._effective_quotas()
            self._held["effective_quotas"] = {_key("effective_quotas", row): row for row in rows}
        for name, held in self._held.items():
            new = self._frame(self._tables[name], held.values())
            if name in _OF_TOPICS:
                others = frames[name].where(~f.col("topic").isin(list(self.topics)))
                new = others.unionByName(new)
            frames[name] = new
        for key, value in self._defaults.items():
            is_key = f.col("key") == key
            frame = frames["topic_configs"].withColumn(
                "value", f.when(is_key & ~f.col("overridden"), value).otherwise(f.col("value"))
            )
            inherited = f.when(is_key, value).otherwise(f.col("inherited"))
            frames["topic_configs"] = frame.withColumn("inherited", inherited)
        for name, frame in frames.items():
            if self._deleted and "topic" in frame.columns:
                frames[name] = frame.where(~f.col("topic").isin(list(self._deleted)))
        return frames

    def _frame(self, table: Table, rows: Iterable[Row]) -> Any:
        def value(row: Row, name: str, kind: str) -> Any:
            found = row[name]
            return int(found.timestamp() * 1000) if kind == "time" and found else found

        columns = table.all_columns
        values = [tuple(value(row, c.name, c.type) for c in columns) for row in rows]
        return local_frame(self._session, table, [record_batch(table, values)] if values else [])


def _key(table: str, row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in _KEYS[table])


def _entity(resource: Resource) -> QuotaEntity:
    parts = {
        kind.removesuffix("-default").replace("-", "_"): DEFAULT if name is None else name
        for kind, name in entity_parts(str(resource))
    }
    return QuotaEntity(**parts)


def described(changes: Iterable[Change], title: Callable[[Resource], str]) -> Iterator[str]:
    """The resources of changes, and how many changes each has."""
    by_resource: dict[Resource, int] = {}
    for change in changes:
        by_resource[change.resource] = by_resource.get(change.resource, 0) + 1
    for resource, count in by_resource.items():
        yield f"{title(resource)}: {counted(count, 'change')}"
