"""Policy files: thresholds of controls, and suppressed findings.

[thresholds.T13]
shortest = "2h"                   # or a number, as in `spark controls T13`

[[suppress]]
control = "T01"
owner = "team-data"
resource = "tmp.*"
cluster = "dev"                   # optional, like resource
reason = "scratch topics"
expires = 2027-01-31
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.audit.control import FAMILIES, Control, Level
from kafka_shell.audit.model import AuditFinding
from kafka_shell.audit.remedy import sql_text
from kafka_shell.base import units
from kafka_shell.base.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.base.files import read_toml

STATE = "X01"  # differences from a state file
PLANNED = "X04"  # changes that --plan does not judge


def wrong(path: Path, what: str, hint: str = "") -> ShellError:
    """Return the error for a mistake in a policy file."""
    return ShellError(f"{path}: {what}", hint=hint, code="bad-policy", status=Status.WRONG)


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
_SECTIONS = ("thresholds", "suppress")
_KEYS = ("control", "owner", "resource", "cluster", "reason", "expires")
_REQUIRED = ("control", "owner", "reason", "expires")
# Parameters of controls in milliseconds and in bytes, besides those with the endings _ms, _bytes.
_DURATIONS = frozenset({
    ("C03", "session"), ("D06", "shortest"), ("T13", "shortest"),
    ("T14", "longest"), ("T15", "shortest"), ("T18", "shortest"), ("T21", "after"),
})  # fmt: skip
_SIZES = frozenset({
    ("D01", "smallest"), ("Q01", "rate"), ("T27", "most"), ("T28", "smallest"), ("T32", "smallest"),
    ("T33", "smallest"), ("Q07", "bytes"),
})  # fmt: skip


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
    """A policy file."""

    thresholds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()

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

    def suppresses(self, finding: AuditFinding, today: date) -> bool:
        """Return whether the finding is suppressed today."""
        return any(each.covers(finding, today) for each in self.suppressions)

    def expired(self, today: date) -> tuple[Suppression, ...]:
        """Return the expired suppressions."""
        return tuple(entry for entry in self.suppressions if entry.expires < today)


def read(path: Path, controls: Mapping[str, Control]) -> Policy:
    """Read a policy file. Raises ShellError with the location of a mistake."""
    _, data = read_toml(path)
    for name in data:
        if name in ("topics", "acls", "quotas"):
            raise wrong(
                path,
                f"[[{name}]] is not allowed in a policy",
                "Use a state file: spark audit --against STATE-FILE.",
            )
        if name not in _SECTIONS:
            hint = did_you_mean(name, _SECTIONS, ", ".join(_SECTIONS))
            raise wrong(path, f"unknown section [{name}]", hint)
    suppressed = data.get("suppress", [])
    check_entries(path, "suppress", suppressed, _KEYS, _REQUIRED)
    return Policy(
        _thresholds(path, data.get("thresholds", {}), controls),
        tuple(_suppression(path, entry, controls) for entry in suppressed),
    )


def check_entries(
    path: Path, section: str, entries: Any, keys: Sequence[str], required: Sequence[str]
) -> None:
    """Raise ShellError for a mistake in the entries of [[section]]; all but dates are strings."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise wrong(path, f"{section} must be written as [[{section}]]")
    for number, entry in enumerate(entries, 1):
        where = f"[[{section}]] {number}"
        for key, value in entry.items():
            if key not in keys:
                hint = did_you_mean(key, keys, ", ".join(keys))
                raise wrong(path, f"unknown key {key} in {where}", hint)
            if key != "expires" and not isinstance(value, str):
                raise wrong(path, f"{key} must be a string, got {value!r} in {where}")
        for key in required:
            if key not in entry:
                raise wrong(path, f"{key} is missing in {where}")


def accepted(findings: Iterable[AuditFinding], reason: str, expires: date, owner: str) -> str:
    """Return entries of a policy file that suppress these alarms, and only these. `owner` is for
    those whose resource has none."""
    entries = dict.fromkeys(
        (each.control, each.owner or owner, _selector(each.resource), _selector(each.cluster))
        for each in findings
        if each.status == "alarm"
    )
    names = ("control", "owner", "resource", "cluster", "reason")

    def entry(values: tuple[str, ...]) -> str:
        lines = (
            f"{name} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in zip(names, (*values, reason), strict=True)
        )
        return "\n".join(["[[suppress]]", *lines, f"expires = {expires}", ""])

    return "\n".join(map(entry, entries))


def _selector(name: str) -> str:
    """A selector that matches only this name."""
    return f"/{re.escape(name)}/" if re.search(r"[,*?/]", name) else name


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
    if id not in controls and id not in (STATE, *DRIFT):
        hint = did_you_mean(id, [*controls, STATE, *DRIFT])
        raise wrong(path, f"[[suppress]]: unknown control {entry['control']}", hint)
    if not isinstance(entry["expires"], date) or isinstance(entry["expires"], datetime):
        raise wrong(
            path,
            f"expires must be a date, got {entry['expires']}",
            "Example: expires = 2027-01-31",
        )
    return Suppression(**{key: entry[key] for key in entry})


# -- Choose controls by ID, family or tag ----------------------------------------------------------

ALL = "all"


def select_controls(
    controls: Mapping[str, Control], words: Iterable[str], threshold: str = ""
) -> tuple[Control, ...]:
    """Return the controls with these IDs, families or tags of at least a severity: by default all
    but opinions, with the word `all` all.

    Raises UsageError for an unknown word.
    """
    wanted = [word.strip() for word in words if word.strip()]
    if wanted:
        chosen = {id for word in wanted for id in _matching(controls, word)}
    else:
        chosen = {id for id, control in controls.items() if not control.is_opinion}
    lowest = Level[threshold.upper()] if threshold else max(Level)
    return tuple(
        control for id, control in controls.items() if id in chosen and control.severity <= lowest
    )


def _matching(controls: Mapping[str, Control], word: str) -> set[str]:
    if word.upper() in (STATE, *DRIFT):
        return set()  # of --against
    if word.lower() == ALL:
        return set(controls)
    found = {
        id
        for id, control in controls.items()
        if word.upper() == id or word.lower() in (control.family, *map(str.lower, control.tags))
    }
    if not found and word.lower() not in FAMILIES.values():
        tags = {tag for control in controls.values() for tag in control.tags}
        raise UsageError(
            f"unknown control, family or tag {word!r}",
            hint=did_you_mean(
                word, [*controls, *FAMILIES.values(), *sorted(tags)],
                f"Use a family ({', '.join(FAMILIES.values())}), an ID or a tag.",
            ),
            code="no-control",
        )  # fmt: skip
    return found
