r"""Policy files: declared state (control X01), thresholds of controls, and suppressed findings.

[thresholds.T13]
shortest = "2h"                   # or a number, as in `spark controls T13`

[[topics]]
match = "payments.*"              # a selector: a,b  svc-*  /regex/
replication-factor = 3            # minimum
min-insync-replicas = 2           # minimum
retention-min = "1d"
retention-max = "30d"
naming = "[a-z]+\.[a-z-]+"        # a regular expression for the whole name
configs = { "cleanup.policy" = "delete" }

[[acls]]
rule = "allow User:alice Write on topic orders.placed"

[[quotas]]
user = "alice"                    # or client-id, ip, user-default, client-id-default ...
key = "producer_byte_rate"
value = "5MB/s"

[[suppress]]
control = "T01"
owner = "team-data"
resource = "tmp.*"
cluster = "dev"                   # optional, like resource
reason = "scratch topics"
expires = 2027-01-31
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.quotas.model import DEFAULT, QuotaEntity
from kafka_shell.audit.control import Control, Level, sql_text
from kafka_shell.audit.model import AuditFinding
from kafka_shell.base import units
from kafka_shell.base.errors import ShellError, Status, did_you_mean
from kafka_shell.base.files import read_text
from kafka_shell.base.text import quote, with_option
from kafka_shell.base.units import SETS

# The state that a policy file declares, as the SQL of control X01.

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
        wanted = units.parse_quota(entry["key"], str(entry["value"]))
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


FILE = "policy.toml"  # of a folder
DRIFT = ("X02", "X03")  # differences from another cluster, and from an earlier snapshot
_KEYS: dict[str, tuple[str, ...]] = {
    "topics": ("match", "replication-factor", "min-insync-replicas", "retention-min",
               "retention-max", "naming", "configs"),
    "acls": ("rule",),
    "quotas": (*ENTITIES, "key", "value"),
    "suppress": ("control", "owner", "resource", "cluster", "reason", "expires"),
}  # fmt: skip
_REQUIRED = {
    "topics": ("match",),
    "acls": ("rule",),
    "quotas": ("key", "value"),
    "suppress": ("control", "owner", "reason", "expires"),
}
_TYPES: dict[str, tuple[type, str]] = {
    "replication-factor": (int, "an integer"),
    "min-insync-replicas": (int, "an integer"),
    "configs": (dict, 'a table: { "cleanup.policy" = "delete" }'),
} | dict.fromkeys(
    ("match", "naming", "rule", "control", "owner", "resource", "cluster", "reason", "key"),
    (str, "a string"),
)
# Parameters of controls in milliseconds and in bytes, besides those with the endings _ms, _bytes.
_DURATIONS = frozenset({
    ("C03", "session"), ("D06", "shortest"), ("T12", "retention"), ("T13", "shortest"),
    ("T14", "longest"), ("T15", "shortest"), ("T18", "shortest"), ("T21", "after"),
})  # fmt: skip
_SIZES = frozenset({("D01", "smallest"), ("Q01", "rate"), ("T27", "most"), ("T28", "smallest")})


class Suppression(Struct, frozen=True):
    """Findings that are accepted until a date."""

    control: str
    owner: str
    reason: str
    expires: date
    resource: str = "*"
    cluster: str = "*"

    def covers(self, finding: AuditFinding, today: date) -> bool:
        """Return whether the finding is suppressed today."""
        return (
            today <= self.expires
            and finding.status == "alarm"
            and self.control.upper() == finding.control
            and re.fullmatch(regex_of(self.resource), finding.resource) is not None
            and re.fullmatch(regex_of(self.cluster), finding.cluster) is not None
        )


class Policy(Struct, frozen=True):
    """A policy file. `declared` is control X01, if the file declares any state."""

    thresholds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()
    declared: Control | None = None

    def suppressed(self, today: date) -> dict[str, str]:
        """Return the SQL conditions of the findings that are suppressed today, by control."""
        found: dict[str, list[str]] = {}
        for each in self.suppressions:
            if today <= each.expires:
                resource, cluster = (sql_text(regex_of(t)) for t in (each.resource, each.cluster))
                found.setdefault(each.control.upper(), []).append(
                    f"resource RLIKE {resource} AND cluster RLIKE {cluster}"
                )
        return {control: " OR ".join(conditions) for control, conditions in found.items()}

    def expired(self, today: date) -> tuple[Suppression, ...]:
        """Return the expired suppressions."""
        return tuple(entry for entry in self.suppressions if entry.expires < today)


def read(path: Path, controls: Mapping[str, Control], acls: Acls) -> Policy:
    """Read a policy file. `acls` returns the ACLs of a rule, as brokers' ACLs are printed. Raises
    ShellError with the location of a mistake."""
    try:
        data = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise wrong(path, f"not valid TOML: {error}") from None
    for name in data:
        if name not in (*_KEYS, "thresholds"):
            known = (*_KEYS, "thresholds")
            raise wrong(
                path, f"unknown section [{name}]", did_you_mean(name, known, ", ".join(known))
            )
    for name in _KEYS:
        _check_entries(path, name, data.get(name, []))
    return Policy(
        _thresholds(path, data.get("thresholds", {}), controls),
        tuple(_suppression(path, entry, controls) for entry in data.get("suppress", [])),
        declared(path, data, acls),
    )


def _check_entries(path: Path, name: str, entries: Any) -> None:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise wrong(path, f"{name} must be written as [[{name}]]")
    for number, entry in enumerate(entries, 1):
        where = f"[[{name}]] {number}"
        for key, value in entry.items():
            if key not in _KEYS[name]:
                hint = did_you_mean(key, _KEYS[name], ", ".join(_KEYS[name]))
                raise wrong(path, f"unknown key {key} in {where}", hint)
            expected, what = _TYPES.get(key, (object, ""))
            if what and (not isinstance(value, expected) or isinstance(value, bool)):
                raise wrong(path, f"{key} must be {what}, got {value!r} in {where}")
        for key in _REQUIRED[name]:
            if key not in entry:
                raise wrong(path, f"{key} is missing in {where}")


def _thresholds(
    path: Path, data: Any, controls: Mapping[str, Control]
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    if not isinstance(data, dict) or not all(isinstance(each, dict) for each in data.values()):
        raise wrong(path, "thresholds must be written as [thresholds.CONTROL]")
    for id, changed in data.items():
        if id not in controls:
            raise wrong(path, f"[thresholds.{id}]: unknown control", did_you_mean(id, controls))
        known = controls[id].parameters
        for name, value in changed.items():
            if name not in known:
                hint = f"Parameters of {id}: {', '.join(known) or 'none'}."
                raise wrong(path, f"[thresholds.{id}]: unknown parameter {name}", hint)
            found.setdefault(id, {})[name] = _threshold(path, id, name, value, known[name])
    return found


def _threshold(path: Path, id: str, name: str, value: Any, default: str) -> str:
    """Return the value of a parameter for SQL: a number if the default is one, in milliseconds or
    bytes if it was written with a unit."""
    text = str(value)
    if not units.NUMBER.fullmatch(default):
        if isinstance(value, str):
            return value
        raise wrong(path, f"[thresholds.{id}]: {name} must be a string, got {value!r}")
    if isinstance(value, int | float | str) and units.NUMBER.fullmatch(text):
        return text
    if (id, name) in _DURATIONS or name.endswith("_ms"):
        parse, what, hint = units.parse_duration, "a duration", "Use a duration such as 7d."
    elif (id, name) in _SIZES or name.endswith("_bytes"):
        parse, what, hint = units.parse_size, "a size", "Use a size such as 512MiB."
    else:
        raise wrong(path, f"[thresholds.{id}]: {name} must be a number, got {value!r}")
    try:
        return str(parse(text))
    except ShellError:
        problem = f"[thresholds.{id}]: {name} must be {what}, got {value!r}"
        raise wrong(path, problem, hint) from None


def _suppression(
    path: Path, entry: Mapping[str, Any], controls: Mapping[str, Control]
) -> Suppression:
    id = str(entry["control"]).upper()
    if id not in controls and id not in (ID, *DRIFT):
        hint = did_you_mean(id, [*controls, ID, *DRIFT])
        raise wrong(path, f"[[suppress]]: unknown control {entry['control']}", hint)
    if not isinstance(entry["expires"], date) or isinstance(entry["expires"], datetime):
        raise wrong(
            path,
            f"expires must be a date, got {entry['expires']}",
            "Example: expires = 2027-01-31",
        )
    return Suppression(**{key: entry[key] for key in entry})
