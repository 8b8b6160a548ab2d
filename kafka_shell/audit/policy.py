"""Policy files: declared state (control X01), thresholds of controls, and suppressed findings.

[thresholds.T13]
shortest = "2h"                   # or a number, as in `spark controls T13`

[[topics]]
match = "payments.*"              # a selector: a,b  svc-*  /regex/
replication-factor = 3            # minimum
min-insync-replicas = 2           # minimum
retention-min = "1d"
retention-max = "30d"
naming = "[a-z]+\\.[a-z-]+"        # a regular expression for the whole name
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
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.audit.control import Control
from kafka_shell.audit.declared_state import ENTITIES, Acls, declared, regex_of, wrong
from kafka_shell.audit.declared_state import ID as ID
from kafka_shell.audit.macros import sql_text
from kafka_shell.audit.model import AuditFinding
from kafka_shell.common import units
from kafka_shell.common.files import read_text
from kafka_shell.errors import ShellError, did_you_mean

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
