"""Controls: one file each, SQL with its metadata above it as comments.

    -- id: T01
    -- title: Replication factor 1
    -- severity: critical
    -- tags: durability
    -- description: There is a single copy of every record.
    -- source: Apache Kafka documentation, Replication
    -- parameter: factor = 3
    -- needs: topics
    -- absence: topics
    -- configs: topic_configs retention.ms
    -- remedy: dynamic, disruptive
    SELECT cluster, topic AS resource, ... AS status, ... AS reason, ... AS remedy FROM topics

The SQL selects `cluster, resource, status, reason` and, if the control has a remedy, `remedy` and
`undo`: kafka.sh commands, or null. A status is ok, info, alarm, skip or error. `{factor}` is
replaced with the value of the parameter, which a policy can change. `{duration value}` in a reason
is shown with its unit, and `{word name}` in a remedy is quoted (see macros.py). The value
`$frameworks` of a parameter is a pattern of the topics of Kafka Connect, Kafka Streams and others.

`needs` names the tables the control reads. `absence` names those of which missing rows alone can
raise an alarm: where one was not read completely, the control has no alarms. `configs` names
required configs: a cluster without one, such as of an older version of Kafka, is ok.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.admin.topics.internal import OF_OTHER_SYSTEMS
from kafka_shell.audit import macros
from kafka_shell.audit.query import check
from kafka_shell.errors import ShellError, UsageError

FAMILIES = {
    "T": "topics",
    "B": "brokers",
    "S": "security",
    "Q": "quotas",
    "G": "groups",
    "C": "clients",
    "X": "drift",
    "D": "log",
}
RISKS = ("safe", "disruptive", "irreversible")
_FOLDER = Path(__file__).parent / "controls"
_LINE = re.compile(r"--\s?(?:(?P<key>[a-z]+):)?\s*(?P<value>.*)")
_ID = re.compile(r"[A-Z]\d{2,3}")
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)\s*=\s*(?P<value>\S.*)")
_ONCE = ("id", "title", "severity", "description", "source", "remedy")
_KEYS = {*_ONCE, "tags", "parameter", "needs", "absence", "configs"}
_CONFIG_TABLES = ("topic_configs", "broker_configs")
COLUMNS = "cluster, resource, status, reason, remedy, undo"
_REQUIRED = ("id", "title", "severity", "description", "source")


class Level(IntEnum):
    """The severity of a finding; the highest sorts first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


class Control(Struct, frozen=True):
    """One control. `needs` are the tables it reads; `absence` are those of which missing rows can
    raise an alarm; `required_configs` are (table, config) pairs.

    `dynamic` is whether the remedy works without a restart; None without a remedy.
    """

    id: str
    title: str
    severity: Level
    description: str
    source: str
    sql: str
    path: Path
    tags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    absence: tuple[str, ...] = ()
    required_configs: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool | None = None
    risk: str = ""

    @property
    def built_in(self) -> bool:
        """Whether it is one of this program, not of a user."""
        return self.path.parent == _FOLDER

    @property
    def family(self) -> str:
        """The family, by the letter of the ID: topics, brokers, security ..."""
        return FAMILIES.get(self.id[0], "own")

    @property
    def requires(self) -> frozenset[str]:
        """The tables that show whether a cluster has the required configs."""
        tables = {table for table, _ in self.required_configs}
        return frozenset({"clusters", *tables} if tables else ())

    def query(self, thresholds: Mapping[str, str]) -> str:
        """Return the SQL with parameters filled in; `thresholds` override their defaults."""
        sql = self.sql
        for name, value in self.parameters.items():
            sql = sql.replace("{" + name + "}", thresholds.get(name, value))
        return macros.expand(sql)


def controls_of(*user_folders: Path) -> dict[str, Control]:
    """Return the built-in controls and those of users, of which the last take precedence. Raises
    ShellError."""
    return load(_FOLDER, *user_folders)


def load(*folders: Path) -> dict[str, Control]:
    """Return all controls by ID, sorted; later folders take precedence. Raises ShellError."""
    controls: dict[str, Control] = {}
    for folder in folders:
        ids: dict[str, Path] = {}
        for path in sorted(folder.glob("*.sql")):
            control = parse(path.read_text(encoding="utf-8"), path)
            if control.id in ids:
                raise _malformed(
                    path, 1, f"id {control.id} is already used in {ids[control.id].name}"
                )
            ids[control.id] = path
            controls[control.id] = control
    return dict(sorted(controls.items()))


class _Entry(Struct):
    """One metadata entry: its line number, and its text including continuation lines."""

    line: int
    text: str


_Metadata = dict[str, list[_Entry]]


def parse(text: str, path: Path) -> Control:
    """Parse a control file. Raises ShellError with the file and line of a mistake."""
    lines = text.splitlines()
    entries: _Metadata = {}
    last = ""
    first = len(lines) + 1
    for at, line in enumerate(lines, 1):
        if not line.startswith("--"):
            first = at
            break
        last = _read_line(line, entries, last, path, at)
    sql = "\n".join(lines[first - 1 :]).strip().rstrip(";")
    for key in _REQUIRED:
        if key not in entries:
            raise _malformed(path, 1, f"`-- {key}:` is missing")
    try:
        check(sql)
    except UsageError as error:
        raise _malformed(path, min(first, len(lines)), str(error)) from None
    return _control(entries, sql, path, first)


def _read_line(line: str, entries: _Metadata, last: str, path: Path, at: int) -> str:
    """Add one line of metadata and return its key."""
    match = _LINE.fullmatch(line)
    assert match is not None
    key = match["key"]
    if key in _KEYS:
        if key in _ONCE and key in entries:
            raise _malformed(path, at, f"`{key}:` is set twice")
        entries.setdefault(key, []).append(_Entry(at, match["value"].strip()))
        return str(key)
    if not line.startswith("--  ") or not last:
        raise _malformed(
            path, at, f"unknown metadata `{line}` (expected {', '.join(sorted(_KEYS))})"
        )
    entries[last][-1].text += " " + line[2:].strip()
    return last


def _control(entries: _Metadata, sql: str, path: Path, first: int) -> Control:
    once = {key: entries[key][0] for key in _ONCE if key in entries}
    if not _ID.fullmatch(once["id"].text):
        identifier = once["id"]
        why = f"id must be a letter and two or three digits, got {identifier.text!r}"
        raise _malformed(path, identifier.line, why)
    severity = once["severity"].text
    if severity.upper() not in Level.__members__:
        levels = ", ".join(level.name.lower() for level in Level)
        raise _malformed(path, once["severity"].line,
                         f"severity must be one of {levels}, got {severity!r}")  # fmt: skip
    parameters = dict(_parameters(entries.get("parameter", ()), path))
    for at, line in enumerate(sql.splitlines(), first):
        for name in re.findall(r"\{([a-z_]+)\}", line):
            if name not in parameters:
                raise _malformed(
                    path, at, f"`-- parameter: {name} = ...` is missing for {{{name}}}"
                )
    for at, line in enumerate(sql.splitlines(), first):
        try:
            macros.expand(line)
        except ValueError as error:
            raise _malformed(path, at, str(error)) from None
    dynamic, risk = _remedy(once.get("remedy"), path)
    return Control(
        id=once["id"].text,
        title=once["title"].text,
        severity=Level[severity.upper()],
        description=once["description"].text,
        source=once["source"].text,
        sql=sql,
        path=path,
        tags=_words(entries.get("tags", ())),
        needs=_words(entries.get("needs", ())),
        absence=_words(entries.get("absence", ())),
        required_configs=tuple(_required_configs(entries.get("configs", ()), path)),
        parameters=parameters,
        dynamic=dynamic,
        risk=risk,
    )


def _parameters(entries: Iterable[_Entry], path: Path) -> Iterator[tuple[str, str]]:
    for entry in entries:
        pair = _PARAMETER.fullmatch(entry.text)
        if pair is None:
            raise _malformed(
                path, entry.line, f"parameter must be name = value, got {entry.text!r}"
            )
        value = pair["value"]
        yield pair["name"], OF_OTHER_SYSTEMS if value == "$frameworks" else value


def _remedy(entry: _Entry | None, path: Path) -> tuple[bool | None, str]:
    """Parse `dynamic, safe` or `restart, disruptive`; (None, "") without a remedy."""
    if entry is None:
        return None, ""
    how, _, risk = (part.strip() for part in entry.text.partition(","))
    if how not in ("dynamic", "restart") or risk not in RISKS:
        raise _malformed(path, entry.line, f"remedy must be dynamic or restart, then one of "
                                          f"{', '.join(RISKS)}, got {entry.text!r}")  # fmt: skip
    return how == "dynamic", risk


def _required_configs(entries: Iterable[_Entry], path: Path) -> Iterator[tuple[str, str]]:
    """Yield `topic_configs retention.ms, segment.ms` as (table, config) pairs."""
    for entry in entries:
        table, _, configs = entry.text.partition(" ")
        if table not in _CONFIG_TABLES or not configs.strip():
            raise _malformed(path, entry.line, f"configs must be TABLE CONFIG[, CONFIG...] with the"
                                              f" table {' or '.join(_CONFIG_TABLES)}, got"
                                              f" {entry.text!r}")  # fmt: skip
        for config in configs.split(","):
            yield table, config.strip()


def _words(entries: Iterable[_Entry]) -> tuple[str, ...]:
    return tuple(
        word.strip() for entry in entries for word in entry.text.split(",") if word.strip()
    )


def _malformed(path: Path, line: int, why: str) -> ShellError:
    return UsageError(f"{path}:{line}: {why}", code="bad-control")
