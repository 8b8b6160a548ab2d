"""The state that a policy file declares, as the SQL of control X01."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.admin.quotas.model import DEFAULT, QuotaEntity
from kafka_shell.audit.control import Control, Level
from kafka_shell.audit.macros import sql_text
from kafka_shell.common import quota_units, units
from kafka_shell.common.config_units import SETS
from kafka_shell.common.quoting import quote, with_option
from kafka_shell.errors import ShellError, Status

ID = "X01"
ENTITIES = ("user", "user-default", "client-id", "client-id-default", "ip", "ip-default")
Acls = Callable[[str], Sequence[str]]


def wrong(path: Path, what: str, hint: str = "") -> ShellError:
    """Return the error for a mistake in a policy file."""
    return ShellError(f"{path}: {what}", hint=hint, code="bad-policy", status=Status.WRONG)


def declared(path: Path, data: Mapping[str, Any], acls: Acls) -> Control | None:
    """Return control X01, or None if the file declares no state. Raises ShellError."""
    selects = [
        *(sql for entry in data.get("topics", []) for sql in _topics(path, entry)),
        *(_acl(rule) for entry in data.get("acls", []) for rule in _rules(path, entry, acls)),
        *(_quota(path, entry) for entry in data.get("quotas", [])),
    ]
    if not selects:
        return None
    needs = {"topics": ("topics", "topic_configs"), "acls": ("acls",), "quotas": ("quotas",)}
    return Control(
        id=ID,
        title="Differs from the declared policy",
        severity=Level.HIGH,
        description=f"The cluster differs from what {path} declares.",
        source=str(path),
        sql="\nUNION ALL\n".join(selects),
        path=path,
        tags=("policy",),
        needs=tuple(table for part in needs if data.get(part) for table in needs[part]),
        dynamic=True,
        risk="disruptive",
    )


def _topics(path: Path, entry: Mapping[str, Any]) -> Iterable[str]:
    match = entry["match"]
    chosen = f"topic RLIKE {sql_text(regex_of(match))}"
    matched = f"SELECT cluster FROM topics WHERE NOT internal AND {chosen}"
    yield _skip(match, f"no topic matches {match}", ("topics",), f"cluster NOT IN ({matched})")
    if "naming" in entry:
        regex = sql_text(f"^(?:{entry['naming']})$")
        yield _select("topics", f"NOT internal AND {chosen}", f"NOT topic RLIKE {regex}",
                      f"concat('name does not match ', {sql_text(entry['naming'])})")  # fmt: skip
    if "replication-factor" in entry:
        least = int(entry["replication-factor"])
        yield _select("topics", f"NOT internal AND {chosen}", f"min_factor < {least}",
                      f"concat('replication factor ', min_factor, ', declared: {least}')",
                      f"concat('alter-topic ', topic, ' --replication-factor {least}')",
                      "concat('alter-topic ', topic, ' --replication-factor ', min_factor)",
                      )  # fmt: skip
    for key, wanted, broken in _config_rules(path, entry):
        yield _config(chosen, key, wanted, broken)
        of_key = f"SELECT cluster FROM topic_configs WHERE {_of_config(chosen, key)}"
        unknown = f"cluster IN ({matched}) AND cluster NOT IN ({of_key})"
        reason = f"no topic has a config {key}"
        yield _skip(match, reason, ("topics", "topic_configs"), unknown)


def _config_rules(
    path: Path, entry: Mapping[str, Any]
) -> Iterable[tuple[str, str, Callable[[str], str]]]:
    """Yield (key, declared value, function from the SQL of the value to that of the violation)."""
    number = "TRY_CAST({} AS BIGINT)"
    if "min-insync-replicas" in entry:
        least = str(int(entry["min-insync-replicas"]))
        yield "min.insync.replicas", least, lambda v: f"{number.format(v)} < {least}"
    try:
        if "retention-min" in entry:
            low = str(units.parse_duration(str(entry["retention-min"])))
            yield "retention.ms", low, lambda v: f"{number.format(v)} BETWEEN 0 AND {low} - 1"
        if "retention-max" in entry:
            high = str(units.parse_duration(str(entry["retention-max"])))
            yield ("retention.ms", high,
                   lambda v: f"({number.format(v)} > {high} OR {v} = '-1')")  # fmt: skip
    except ShellError as error:
        raise wrong(path, error.message, "Use a duration such as 7d.") from None
    for key, value in entry.get("configs", {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        wanted = _unordered(key, sql_text(text))
        yield key, text, lambda v, key=key, wanted=wanted: f"NOT {_unordered(key, v)} <=> {wanted}"  # type: ignore[misc]


def _unordered(key: str, value: str) -> str:
    """The SQL of a value that is equal to others with the same meaning."""
    return f"array_sort(split({value}, ' *, *'))" if key in SETS else value


def _of_config(chosen: str, key: str) -> str:
    return f"key = {sql_text(key)} AND {chosen} AND NOT startswith(topic, '__')"


def _config(chosen: str, key: str, wanted: str, broken: Callable[[str], str]) -> str:
    pair = sql_text(" " + quote(f"{key}={wanted}"))
    return _select(
        "topic_configs",
        _of_config(chosen, key),
        broken("value"),
        f"concat({sql_text(key)}, ' is ', coalesce({{config concat(key, '=', value)}}, 'unset'),"
        f" ', declared: ', {{config concat(key, '=', {sql_text(wanted)})}})",
        f"concat('alter-configs ', topic, {pair})",
        "CASE WHEN overridden THEN concat('alter-configs ', topic, ' ', pair)"
        f" ELSE concat('alter-configs ', topic, ' --delete-config ', {sql_text(key)}) END",
    )


def _rules(path: Path, entry: Mapping[str, Any], acls: Acls) -> Sequence[str]:
    try:
        return acls(str(entry["rule"]))
    except ShellError as error:
        raise wrong(path, f"[[acls]] {entry['rule']!r}: {error.message}", error.hint) from None


def _acl(rule: str) -> str:
    line = sql_text(f"alter-acls --add {quote(rule)}")
    back = sql_text(f"alter-acls --remove {quote(rule)}")
    return (
        f"SELECT c.cluster, {sql_text(rule)} AS resource,"
        " CASE WHEN max(a.acl) IS NULL THEN 'alarm' ELSE 'ok' END AS status,"
        " 'declared ACL is missing' AS reason,"
        f" CASE WHEN max(a.acl) IS NULL THEN {line} END AS remedy,"
        f" CASE WHEN max(a.acl) IS NULL THEN {back} END AS undo"
        f" FROM {_clusters('acls')} c"
        f" LEFT JOIN acls a ON a.cluster = c.cluster AND a.acl = {sql_text(rule)}"
        " GROUP BY c.cluster"
    )


def _quota(path: Path, entry: Mapping[str, Any]) -> str:
    parts = [(name, entry[name]) for name in ENTITIES if entry.get(name)]
    if not parts:
        raise wrong(
            path,
            f"[[quotas]] entry for {entry['key']} has no entity",
            f"Add one of {', '.join(ENTITIES)}.",
        )
    entity = {
        name.removesuffix("-default").replace("-", "_"): (
            DEFAULT if name.endswith("default") else str(value)
        )
        for name, value in parts
    }
    if len(entity) < len(parts):
        names = ", ".join(name for name, _ in parts)
        raise wrong(path, f"[[quotas]] entry for {entry['key']} has a name and a default: {names}")
    options = " ".join(
        f"--{name}" if name.endswith("default") else with_option(f"--{name}", str(value))
        for name, value in parts
    )
    try:
        wanted = quota_units.parse_quota(entry["key"], str(entry["value"]))
    except ShellError as error:
        raise wrong(path, f"{entry['key']} = {entry['value']!r}: {error}") from None
    what = str(QuotaEntity(**entity))
    line = sql_text(f"alter-quotas {options} {entry['key']}={entry['value']}")
    gone = sql_text(f"alter-quotas {options} --delete-config {entry['key']}")
    return (
        f"SELECT c.cluster, {sql_text(what)} AS resource,"
        f" CASE WHEN max(q.value) <=> {wanted}D THEN 'ok' ELSE 'alarm' END AS status,"
        f" concat({sql_text(entry['key'])}, ' is ',"
        f" coalesce({{quota concat({sql_text(entry['key'])}, '=', max(q.value))}}, 'not set'),"
        f" ', declared: ', {sql_text(str(entry['value']))}) AS reason,"
        f" CASE WHEN max(q.value) <=> {wanted}D THEN NULL ELSE {line} END AS remedy,"
        f" CASE WHEN max(q.value) IS NULL THEN {gone} WHEN max(q.value) <> {wanted}D"
        f" THEN concat({sql_text(f'alter-quotas {options} ' + entry['key'] + '=')}, max(q.value))"
        " END AS undo"
        f" FROM {_clusters('quotas')} c LEFT JOIN quotas q ON q.cluster = c.cluster"
        f" AND q.entity = {sql_text(what)} AND q.key = {sql_text(entry['key'])} GROUP BY c.cluster"
    )


def _select(
    table: str, where: str, broken: str, reason: str, remedy: str = "NULL", undo: str = "NULL"
) -> str:
    return (
        f"SELECT cluster, topic AS resource, CASE WHEN {broken} THEN 'alarm' ELSE 'ok' END AS"
        f" status, {reason} AS reason, CASE WHEN {broken} THEN {remedy} END AS remedy,"
        f" CASE WHEN {broken} THEN {undo} END AS undo FROM {table} WHERE {where}"
    )


def _skip(resource: str, reason: str, tables: Sequence[str], where: str) -> str:
    """The query of the clusters in which a rule checks nothing, although these tables were read."""
    return (
        f"SELECT cluster, {sql_text(resource)} AS resource, 'skip' AS status,"
        f" {sql_text(reason)} AS reason, CAST(NULL AS STRING) AS remedy,"
        f" CAST(NULL AS STRING) AS undo FROM {_clusters(*tables)} WHERE {where}"
    )


def _clusters(*tables: str) -> str:
    """The clusters of which these tables were read completely: what is missing in others may only
    not have been read."""
    names = ", ".join(map(sql_text, tables))
    return (
        "(SELECT cluster FROM clusters WHERE cluster NOT IN (SELECT cluster FROM collection_status"
        f" WHERE `table` IN ({names}) AND status = 'error'))"
    )


def regex_of(selector: str) -> str:
    """Convert a selector (`a,b`, `svc-*`, `/regex/`) to a regular expression for the whole name
    that works in Python and Java.
    """
    if len(selector) > 2 and selector.startswith("/") and selector.endswith("/"):
        return f"^(?:{selector[1:-1]})$"
    parts = (_glob(part) for part in selector.split(","))
    return f"^(?:{'|'.join(parts)})$"


def _glob(part: str) -> str:
    """Convert a glob, with atomic groups so that many stars do not take exponential time."""
    first, *rest = map(_without_stars, re.split(r"\*+", part))
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>.*?{each})" for each in middle) + ".*" + last


def _without_stars(piece: str) -> str:
    return ".".join(map(re.escape, piece.split("?")))
