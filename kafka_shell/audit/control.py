"""Controls: one file each, `T01.sql`, SQL with its metadata above it as comments.

    -- title: Replication factor 1
    -- severity: critical
    -- tags: durability
    -- description: There is a single copy of every record.
    -- source: Apache Kafka documentation, Replication
    -- parameter: factor = 3
    -- absence: topics
    -- fix: retention.ms = 3600000
    -- risk: safe
    SELECT cluster, topic AS resource, ... AS status, ... AS reason FROM topics

The SQL selects `cluster, resource, status, reason`, and what `fix` needs. A status is ok, info,
alarm, skip or error. `{factor}` is replaced with the value of the parameter, which a policy can
change. `{duration value}` in a reason is shown with its unit (see below). The value `$frameworks`
of a parameter is a pattern of the topics of Kafka Connect, Kafka Streams and others, and
`{topic_configs retention.ms, cleanup.policy}` a query of topics with the values of these configs in
columns: `retention_ms`, `cleanup_policy`. `{mirrored}` and others are the queries in `views/`.
Controls with the tag `opinion` are evaluated only if they are selected.

A query may leave out `status`: the reason then begins with it, as in `alarm: lag 5`.

`fix` is what the remedy of an alarm changes (see `remedy`); of several, the first that has a value.
Its risk is `irreversible`, or `disruptive`, or what `risk: safe` says: clients do not notice it.

`absence` names the tables of which missing rows alone can raise an alarm: where one was not read
completely, the control has no alarms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.admin.topics.model import OF_OTHER_SYSTEMS
from kafka_shell.audit.model import RISKS
from kafka_shell.audit.query import check
from kafka_shell.audit.remedy import Fix, parse_fix, sql_text, with_changes
from kafka_shell.audit.tables import TABLES
from kafka_shell.base import units
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.units import ConfigType, format_config_value

# Macros in the SQL of controls: `{duration value}` is shown as `7d`.
#
# | in SQL | for | shown as |
# |---|---|---|
# | `{duration X}` | a config in milliseconds | `7d`, `1h30m`, exact |
# | `{bytes X}` | a config in bytes | `1MiB`, exact |
# | `{config X}` | `key=value` of any config | the value, as describe-configs prints it |
# | `{quota X}` | `key=value` of a quota | the value, as describe-quotas prints it |
# | `{age X}` | a measured time in milliseconds | `3m20s`, rounded |
# | `{size X}` | a measured size in bytes | `1.4 GiB`, rounded |
# | `{number X}` | a count | `1,234` |
#
# The query only marks the value; `render` formats it, with the functions of all other output. Marks
# in the value are replaced by another control character.

_MACRO = re.compile(r"\{([a-z_]+)\s+([^{}]+)\}")
_MARK = re.compile("\x02([a-z]+) ([^\x02\x03]*)\x03")


def expand(sql: str) -> str:
    """Replace `{duration X}` in a query with the SQL of a marked value. Raises ValueError for an
    unknown unit."""

    def one(found: re.Match[str]) -> str:
        if found[1] in ("topic_configs", "broker_configs"):
            return _configs(found[1], [key.strip() for key in found[2].split(",")])
        if found[1] in _VIEWS:
            return f"(\n{_VIEWS[found[1]]})".replace("{key}", found[2].strip())
        if found[1] not in _FORMATS:
            raise ValueError(f"unknown unit {{{found[1]} ...}} (expected {', '.join(_FORMATS)})")
        value = f"translate({found[2].strip()}, '\x02\x03', '\x01\x01')"
        return f"concat('\x02{found[1]} ', {value}, '\x03')"

    for name, view in _VIEWS.items():
        sql = sql.replace(f"{{{name}}}", f"(\n{view})")
    return _MACRO.sub(one, sql)


# Queries that several controls read as `{name}`, or as `{name key}` with the key of a config.
_VIEWS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (Path(__file__).parent / "views").glob("*.sql")
}


def _configs(table: str, keys: Sequence[str]) -> str:
    """The query of topics or brokers with these configs as columns: null where there is none."""
    of = "topic" if table == "topic_configs" else "broker_id"
    columns = (
        f"max(IF(key = {sql_text(key)}, value, NULL)) AS {key.replace('.', '_')}" for key in keys
    )
    return (
        f"(SELECT cluster, {of}, {', '.join(columns)} FROM {table}"
        f" WHERE key IN ({', '.join(map(sql_text, keys))}) GROUP BY cluster, {of})"
    )


def render(text: str) -> str:
    """Format the values that a query has marked."""

    def one(found: re.Match[str]) -> str:
        format_value = _FORMATS.get(found[1])
        if format_value is None:
            return found[0]
        try:
            return format_value(found[2])
        except (ValueError, OverflowError):
            return found[2]

    return _MARK.sub(one, text) if "\x02" in text else text


def _config(pair: str) -> str:
    key, _, value = pair.partition("=")
    return format_config_value(key, ConfigType.UNKNOWN, value)


def _quota(pair: str) -> str:
    key, _, value = pair.partition("=")
    return units.format_quota(key, float(value))


_FORMATS: dict[str, Callable[[str], str]] = {
    "duration": lambda value: units.format_duration(int(value)),
    "bytes": lambda value: units.format_bytes(int(value)),
    "config": _config,
    "quota": _quota,
    "age": lambda value: units.approximate_duration(round(float(value)) / 1000),
    "size": lambda value: units.approximate_bytes(round(float(value))),
    "number": lambda value: f"{round(float(value)):,}",
}


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
OPINION = "opinion"
_FOLDER = Path(__file__).parent / "controls"
_LINE = re.compile(r"--\s?(?:(?P<key>[a-z]+):)?\s*(?P<value>.*)")
_ID = re.compile(r"[A-Z]\d{2,3}")
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)\s*=\s*(?P<value>\S.*)")
_ONCE = ("title", "severity", "description", "source", "risk")
_KEYS = {*_ONCE, "tags", "parameter", "absence", "fix"}
COLUMNS = "cluster, resource, status, reason, remedy"
_REQUIRED = ("title", "severity", "description", "source")


class Level(IntEnum):
    """The severity of a finding; the highest sorts first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


_NAMED = r"(\w+)(?:\s+(?:AS\s+)?\w+)?"  # a table, and its alias
_READ = re.compile(rf"(?i)\b(?:FROM|JOIN)\s+(?=({_NAMED}(?:\s*,\s*{_NAMED})*))")
_NOT_SQL = re.compile(r"--.*|'[^']*'")  # comments and strings
# What brokers have in common is one result: `brokers 1, 2, 3 CLIENTS`.
_OF_BROKER = re.compile(r"concat\('broker ', (\w+\.)?broker_id\b[^\n]*\) AS resource")
_MERGED = """\
SELECT cluster,
  IF(count(*) = 1, min(resource), concat('brokers ', array_join(sort_array(collect_set(
    CAST(regexp_extract(resource, r'^broker (-?[0-9]+)', 1) AS INT))), ', '), rest)) AS resource,
  status, reason, remedy
FROM (
  SELECT *, regexp_replace(resource, r'^broker -?[0-9]+', '') AS rest FROM (
{}
  )
) GROUP BY cluster, rest, status, reason, remedy"""


class Control(Struct, frozen=True):
    """One control. `absence` are the tables of which missing rows can raise an alarm.

    `risk` is that of its remedy, or empty. If `merged`, what brokers, or the topics with a default,
    have in common is one result.
    """

    id: str
    title: str
    severity: Level
    description: str
    source: str
    sql: str
    path: Path
    tags: tuple[str, ...] = ()
    absence: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    risk: str = ""
    fixes: tuple[Fix, ...] = ()
    merged: bool = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The tables it reads."""
        lists = _READ.findall(_NOT_SQL.sub("", expand(self.sql)).lower())
        names = (each.split()[0] for tables, *_ in lists for each in tables.split(","))
        return tuple(dict.fromkeys(name for name in names if name in TABLES))

    @property
    def is_opinion(self) -> bool:
        """Whether it is evaluated only if it is selected."""
        return OPINION in self.tags

    @property
    def built_in(self) -> bool:
        """Whether it is one of this program, not of a user."""
        return self.path.parent == _FOLDER

    @property
    def family(self) -> str:
        """The family, by the letter of the ID: topics, brokers, security ..."""
        return FAMILIES.get(self.id[0], "own")

    def query(self, thresholds: Mapping[str, str]) -> str:
        """Return the SQL with parameters filled in; `thresholds` override their defaults."""
        sql = with_changes(self.sql, self.fixes, merged=self.merged)
        if self.merged and _OF_BROKER.search(sql):
            sql = _MERGED.format(sql)
        for name, value in self.parameters.items():
            sql = sql.replace("{" + name + "}", thresholds.get(name, value))
        return expand(sql)


def controls_of(*user_folders: Path) -> dict[str, Control]:
    """Return the built-in controls and those of users, of which the last take precedence. Raises
    ShellError."""
    return load(_FOLDER, *user_folders)


def load(*folders: Path) -> dict[str, Control]:
    """Return all controls by ID, sorted; later folders take precedence. Raises ShellError."""
    paths = {path.stem: path for folder in folders for path in folder.glob("*.sql")}
    return {id: parse(path.read_text(encoding="utf-8"), path) for id, path in sorted(paths.items())}


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
    if not _ID.fullmatch(path.stem):
        raise _malformed(path, 1, "the name of the file must be a letter and two or three digits")
    severity = once["severity"].text
    if severity.upper() not in Level.__members__:
        levels = ", ".join(level.name.lower() for level in Level)
        raise _malformed(path, once["severity"].line,
                         f"severity must be one of {levels}, got {severity!r}")  # fmt: skip
    parameters = dict(_parameters(entries.get("parameter", ()), path))
    for at, line in enumerate(sql.splitlines(), first):
        for name in re.findall(r"\{([a-z_]+)\}", line):
            if name not in {*parameters, *_VIEWS}:
                raise _malformed(
                    path, at, f"`-- parameter: {name} = ...` is missing for {{{name}}}"
                )
    for at, line in enumerate(sql.splitlines(), first):
        try:
            expand(line)
        except ValueError as error:
            raise _malformed(path, at, str(error)) from None
    fixes = tuple(_fix(entry, path) for entry in entries.get("fix", ()))
    return Control(
        id=path.stem,
        title=once["title"].text,
        severity=Level[severity.upper()],
        description=once["description"].text,
        source=once["source"].text,
        sql=sql,
        path=path,
        tags=_words(entries.get("tags", ())),
        absence=_words(entries.get("absence", ())),
        parameters=parameters,
        risk=_risk(once.get("risk"), fixes, path),
        fixes=fixes,
    )


def _fix(entry: _Entry, path: Path) -> Fix:
    try:
        return parse_fix(entry.text)
    except ValueError as error:
        raise _malformed(path, entry.line, f"{error}, got {entry.text!r}") from None


def _risk(entry: _Entry | None, fixes: Sequence[Fix], path: Path) -> str:
    """The highest risk of the remedies; safe, if the control says so of those with an inverse."""
    if entry is not None and entry.text != RISKS[0]:
        raise _malformed(path, entry.line, f"risk must be {RISKS[0]}, got {entry.text!r}")
    if any(each.irreversible for each in fixes):
        return RISKS[2]
    return "" if not fixes else RISKS[0] if entry is not None else RISKS[1]


def _parameters(entries: Iterable[_Entry], path: Path) -> Iterator[tuple[str, str]]:
    for entry in entries:
        pair = _PARAMETER.fullmatch(entry.text)
        if pair is None:
            raise _malformed(
                path, entry.line, f"parameter must be name = value, got {entry.text!r}"
            )
        value = pair["value"]
        yield pair["name"], OF_OTHER_SYSTEMS if value == "$frameworks" else value


def _words(entries: Iterable[_Entry]) -> tuple[str, ...]:
    return tuple(
        word.strip() for entry in entries for word in entry.text.split(",") if word.strip()
    )


def _malformed(path: Path, line: int, why: str) -> ShellError:
    return UsageError(f"{path}:{line}: {why}", code="bad-control")
