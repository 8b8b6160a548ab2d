"""Rows for controls, and what the controls find in them.

The rows of each case are those of a cluster of its own, so that all controls are evaluated together
in a few queries, as in an audit of many clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from kafka_shell.audit import control_tests
from kafka_shell.audit.control import load
from kafka_shell.audit.engine import tuned
from kafka_shell.audit.evaluate import query_of
from kafka_shell.audit.session import sentence
from kafka_shell.audit.snapshot import local_frame
from kafka_shell.audit.source import record_batch
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.units import ConfigType, format_config_value
from kafka_shell.wire.rounds import in_slices
from tests.support.places import CONTROLS as FOLDER

CONTROLS = load(FOLDER)
NOW = datetime.now(UTC)
DAY = timedelta(days=1)
NO_TIME = timedelta()
Rows = list[dict[str, Any]]
# Control, the situation, rows by table as in a test of `spark test-controls`, and the results.
Case = tuple[str, str, Mapping[str, Any], list[dict[str, str]]]

ORDERS: Rows = [{"topic": "orders", "partitions": 1}]
BROKERS: Rows = [{"broker_id": broker} for broker in (1, 2, 3)]
UNLIMITED = {"retention_ms": "-1", "retention_bytes": "-1", "cleanup_policy": "delete"}
_TOGETHER = 12


def configs(topic: str, **values: str) -> Rows:
    """Configs of a topic: `retention_ms` is retention.ms."""
    return [{"topic": topic, "key": key.replace("_", "."), "value": value,
             "inherited": value} for key, value in values.items()]  # fmt: skip


def override(topic: str, key: str, value: str, inherited: str = "") -> dict[str, Any]:
    """A config that a topic overrides."""
    return {"topic": topic, "key": key, "value": value, "overridden": True,
            "inherited": inherited}  # fmt: skip


def config(broker: int, key: str, value: str | None, source: str = "static_broker",
           **values: Any) -> dict[str, Any]:  # fmt: skip
    """A config of a broker, which is sensitive if it has no value."""
    static = value if source == "static_broker" else None
    return {"broker_id": broker, "key": key, "value": value, "source": source,
            "sensitive": value is None, "static_value": static,
            } | values  # fmt: skip


def acl(principal: str, operation: str, name: str, pattern_type: str = "literal",
        resource: str = "topic") -> dict[str, Any]:  # fmt: skip
    """An ACL that allows an operation."""
    pattern = "prefixed " if pattern_type == "prefixed" else ""
    rule = f"allow {principal} {operation} on {pattern}{resource} {name}"
    return {"resource_type": resource, "resource_name": name, "pattern_type": pattern_type,
            "principal": principal, "host": "*", "operation": operation, "permission": "allow",
            "acl": rule}  # fmt: skip


def listener(protocol: str, *mechanisms: str, reauth_ms: int | None = 0,
             **values: Any) -> dict[str, Any]:  # fmt: skip
    """A listener of broker 1."""
    return {"broker_id": 1, "listener": "CLIENTS", "protocol": protocol,
            "sasl_mechanisms": list(mechanisms), "max_reauth_ms": reauth_ms} | values  # fmt: skip


def batch(place: str, base: int, last: int, age: timedelta, **values: Any) -> dict[str, Any]:
    """A batch of orders:0, of this age."""
    at = NOW - age
    own = {"topic": "orders", "place": place, "base_offset": base, "last_offset": last,
           "records": last - base + 1, "base_timestamp": at, "max_timestamp": at}  # fmt: skip
    return own | values


def setting(key: str, value: str) -> str:
    """A config of a topic as commands show it."""
    return f"{key}={format_config_value(key, ConfigType.UNKNOWN, value)}"


def found(resource: str, status: str, **values: str) -> dict[str, str]:
    """A result that a control must return."""
    return {"resource": resource, "status": status} | values


class Result(NamedTuple):
    """The results of a control in the rows of a case, and why they are not as expected."""

    rows: list[dict[str, Any]]
    why: str


def evaluated(session: Any, cases: Sequence[Case]) -> list[Result]:
    """Evaluate the control of each case on its rows."""
    own = session.newSession()  # with views of its own
    _create_views(own, cases)
    queries = [_query(control, rows) for control, _, rows, _ in cases]
    results: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    errors: dict[str, str] = {}
    with tuned(own, 0):
        for group in in_slices(list(dict.fromkeys(queries)), _TOGETHER):
            for query, row in _rows(own, group, errors):
                case, _, row["cluster"] = row["cluster"].partition(" ")
                results[case, query].append(row)
    found = [results[str(number), query] for number, query in enumerate(queries)]
    return [
        Result(rows, errors.get(query) or control_tests.difference(rows, expected))
        for rows, query, (_, _, _, expected) in zip(found, queries, cases, strict=True)
    ]


def _query(control: str, rows: Mapping[str, Any]) -> str:
    return query_of(CONTROLS[control], rows.get("thresholds", {}))


def _create_views(session: Any, cases: Sequence[Case]) -> None:
    held: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    for number, (_, about, rows, _) in enumerate(cases):
        for name, given in ({"clusters": [{}]} | rows).items():
            if name == "thresholds":
                continue
            columns = {column.name for column in TABLES[name].all_columns}
            for row in given:
                assert row.keys() <= columns, (about, name, row.keys() - columns)
                cluster = f"{number} {row.get('cluster', control_tests.CLUSTER)}"
                complete = {"collected_at": NOW} | row | {"cluster": cluster}
                held[name].append(control_tests.complete(TABLES[name], complete))
    for name, table in TABLES.items():
        batches = [record_batch(table, held[name])] if held[name] else []
        local_frame(session, table, batches).createOrReplaceTempView(name)


def _rows(
    session: Any, queries: Sequence[str], errors: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the results of queries, which are run as one unless one of them fails."""
    text = "\nUNION ALL\n".join(
        f"SELECT {number} AS number, cluster, resource, status, reason, remedy FROM (\n{query}\n)"
        for number, query in enumerate(queries)
    )
    try:
        found = session.sql(text).collect()
    except Exception as error:
        if len(queries) == 1:
            errors[queries[0]] = sentence(error)
            return
        for query in queries:
            yield from _rows(session, [query], errors)
        return
    for row in found:
        yield queries[row["number"]], control_tests.as_shown(row.asDict())
