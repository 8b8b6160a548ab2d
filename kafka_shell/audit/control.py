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
    -- remedy: dynamic, disruptive
    -- fix: min.insync.replicas = 2
    SELECT cluster, topic AS resource, ... AS status, ... AS reason FROM topics

The SQL selects `cluster, resource, status, reason` and, if the remedy is not `fix`, `remedy` and
`undo`: kafka.sh commands, or null. A status is ok, info, alarm, skip or
error. `{factor}` is replaced with the value of the parameter, which a policy can change.
`{duration value}` in a reason is shown with its unit, and `{word name}` in a remedy is quoted (see
below). The value `$frameworks` of a parameter is a pattern of the topics of Kafka Connect, Kafka
Streams and others, and `{mirrored}` a query of the topics that MirrorMaker copies. Controls with
the tag `opinion` are evaluated only if they are selected.

`fix` is what the remedy of an alarm changes, from which its command and its undo follow:

    fix: CONFIG = VALUE                                  a config of the topic
    fix: KIND NAME FIELD = VALUE [was BEFORE] [if CONDITION]
    fix: acl NAME                                        the ACL is deleted

KIND is broker, broker-default, logger, feature (without FIELD), quota, client-config,
group-offsets, user (credentials) or topic. NAME, FIELD, VALUE, BEFORE and CONDITION are SQL of the
selected columns. The VALUE `delete` deletes the field; null is no remedy. `FIELD[]` is an array of
fields with their values before: struct(key, value). If all topics that inherit a value of a CONFIG
are alarms, they are one finding: of the default.

`needs` names the tables the control reads. `absence` names those of which missing rows alone can
raise an alarm: where one was not read completely, the control has no alarms.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from itertools import chain
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.admin.acls.authorizer import ANYONE, Rules
from kafka_shell.admin.acls.change import DeleteAcls
from kafka_shell.admin.acls.lost_access import losses
from kafka_shell.admin.acls.model import AclBinding, AclPermission, AclResourceType
from kafka_shell.admin.topics.model import OF_OTHER_SYSTEMS
from kafka_shell.audit.model import RISKS
from kafka_shell.audit.query import check
from kafka_shell.base import units
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Change, Plan, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.text import is_printable, quote
from kafka_shell.base.units import ConfigType, format_config_value

# Macros in the SQL of controls: `{duration value}` is shown as `7d`, `{word name}` is quoted.
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
# | `{word X}` | a name in a remedy | one word of a command, quoted if needed |
#
# The query only marks the value; `render` formats it, with the functions of all other output. Marks
# in the value are replaced by another control character, with which a command is no remedy.

_MACRO = re.compile(r"\{([a-z]+)\s+([^{}]+)\}")
_COMMAND = re.compile(r"(?:[\w@%+=:,./ \[\]-]|'[^']*+'|\"'\")++", re.ASCII)
_MARK = re.compile("\x02([a-z]+) ([^\x02\x03]*)\x03")


def expand(sql: str) -> str:
    """Replace `{duration X}` in a query with the SQL of a marked value. Raises ValueError for an
    unknown unit."""

    def one(found: re.Match[str]) -> str:
        if found[1] not in _FORMATS:
            raise ValueError(f"unknown unit {{{found[1]} ...}} (expected {', '.join(_FORMATS)})")
        value = f"translate({found[2].strip()}, '\x02\x03', '\x01\x01')"
        return f"concat('\x02{found[1]} ', {value}, '\x03')"

    return _MACRO.sub(one, sql.replace("{mirrored}", _MIRRORED))


# The topics that MirrorMaker copies to a cluster. It writes ALIAS.checkpoints.internal there, and
# ALIAS.TOPIC; with the identity policy, any topic may be a copy.
_MIRRORED = """(
  SELECT DISTINCT c.cluster, t.topic
  FROM (
    SELECT a.cluster, a.alias, count_if(t.topic LIKE 'mm2-%' OR t.topic = 'heartbeats') > 0
      AND count_if(startswith(t.topic, a.alias) AND t.topic NOT LIKE '%.internal'
        AND t.topic NOT LIKE '%.heartbeats') = 0 AS identity
    FROM (
      SELECT cluster, replace(topic, 'checkpoints.internal', '') AS alias FROM topics
      WHERE topic LIKE '%.checkpoints.internal'
    ) a JOIN topics t ON t.cluster = a.cluster GROUP BY a.cluster, a.alias
  ) c
  JOIN topics t ON t.cluster = c.cluster AND (startswith(t.topic, c.alias) OR c.identity)
)"""


def sql_text(value: str) -> str:
    """Quote a string for Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def render(text: str) -> str:
    """Format the values that a query has marked, in a reason or a remedy."""

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
    "word": quote,
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
_ONCE = ("id", "title", "severity", "description", "source", "remedy", "fix")
_KEYS = {*_ONCE, "tags", "parameter", "needs", "absence"}
COLUMNS = "cluster, resource, status, reason, remedy, undo"
_REQUIRED = ("id", "title", "severity", "description", "source")


class Level(IntEnum):
    """The severity of a finding; the highest sorts first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


_COMMENT = re.compile(r"(?m)^\s*--.*")
# What brokers have in common is one result: `brokers 1, 2, 3 CLIENTS`.
_OF_BROKER = re.compile(r"concat\('broker ', (\w+\.)?broker_id\b[^\n]*\) AS resource")
_MERGED = """\
SELECT cluster,
  IF(count(*) = 1, min(resource), concat('brokers ', array_join(sort_array(collect_set(
    CAST(regexp_extract(resource, r'^broker (-?[0-9]+)', 1) AS INT))), ', '), rest)) AS resource,
  status, reason, remedy, undo
FROM (
  SELECT *, regexp_replace(resource, r'^broker -?[0-9]+', '') AS rest FROM (
{}
  )
) GROUP BY cluster, rest, status, reason, remedy, undo"""


class Fix(Struct, frozen=True):
    """What a remedy changes, as SQL of the selected columns. An empty `after` deletes the field.
    Without a `kind` it is the config `field` of the topic."""

    kind: str
    name: str = ""
    field: str = "''"
    after: str = ""
    before: str = "NULL"
    condition: str = "true"

    def query(self, sql: str, *, merged: bool = True) -> str:
        """The query of a control, with the changes of its remedy as JSON."""
        if not self.kind:
            return _with_topic_config(sql, self.field, self.after, merged=merged)
        given = (self.name, self.field.removesuffix("[]"), self.after or "''")
        condition = " AND ".join(
            [
                "status = 'alarm'",
                f"({self.condition})",
                *(f"({each}) IS NOT NULL" for each in given),
            ]
        )
        if self.field.endswith("[]"):
            change = _change(self.kind, self.name, "x.key", "x.value", self.after or "NULL")
            fields = f"filter({self.field[:-2]}, x -> x.key IS NOT NULL)"
            changes = f"transform({fields}, x -> {change})"
        else:
            change = _change(self.kind, self.name, self.field, self.before, self.after or "NULL")
            changes = f"array({change})"
        return f"""\
SELECT cluster, resource, status, reason,
  CASE WHEN {condition} THEN to_json({changes}) END AS remedy, CAST(NULL AS STRING) AS undo
FROM (
{sql}
)"""


def _change(kind: str, name: str, field: str, before: str, after: str) -> str:
    values = {"name": name, "field": field, "before": before, "after": after}
    texts = ", ".join(f"'{key}', CAST({value} AS STRING)" for key, value in values.items())
    return f"named_struct('kind', '{kind}', {texts})"


def _with_topic_config(sql: str, key: str, value: str, *, merged: bool) -> str:
    """The query of a control whose remedy sets a config of the topic. If all topics that inherit a
    value are alarms, they are one result if `merged`: the default is the cause."""
    name = sql_text(key)
    changed = f"CASE WHEN status = 'alarm' THEN CAST({value} AS STRING) END"
    alone = "NOT by_default OR count(*) = 1"
    change = _change(
        "topic", "resource", name, "IF(overridden, before, NULL)",
        "IF(overridden AND inherited = changed, NULL, changed)",
    )  # fmt: skip
    return f"""\
SELECT cluster, IF({alone}, min(resource), concat('default of ', {name})) AS resource,
  min(status) AS status,
  IF({alone}, min(reason), concat(min(reason), '; inherited by ', {{number count(*)}},
    ' topics, such as ', min(resource))) AS reason,
  IF({alone}, min(remedy), NULL) AS remedy, CAST(NULL AS STRING) AS undo
FROM (
  SELECT cluster, resource, status, reason, by_default, IF(by_default, before, resource) AS subject,
    CASE WHEN changed IS NOT NULL THEN to_json(array({change})) END AS remedy
  FROM (
    SELECT q.*, {changed} AS changed, k.overridden, k.inherited, k.value AS before,
      {merged} AND NOT coalesce(k.overridden, true) AND every(q.status = 'alarm')
        OVER (PARTITION BY q.cluster, k.overridden, k.value) AS by_default
    FROM (
{sql}
    ) q LEFT JOIN topic_configs k
      ON k.cluster = q.cluster AND k.topic = q.resource AND k.key = {name}
  )
) GROUP BY cluster, by_default, subject"""


class Control(Struct, frozen=True):
    """One control. `needs` are the tables it reads; `absence` are those of which missing rows can
    raise an alarm.

    `dynamic` is whether the remedy works without a restart; None without a remedy. If `merged`,
    what brokers, or the topics with a default, have in common is one result.
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
    parameters: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool | None = None
    risk: str = ""
    fix: Fix | None = None
    merged: bool = True

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
        sql = self.sql if self.fix is None else self.fix.query(self.sql, merged=self.merged)
        columns = ", ".join(
            name
            if re.search(rf"\b{name}\b", _COMMENT.sub("", sql))
            else f"CAST(NULL AS STRING) AS {name}"
            for name in ("remedy", "undo")
        )
        sql = f"SELECT cluster, resource, status, reason, {columns} FROM (\n{sql}\n)"
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
            if name not in {*parameters, "mirrored"}:
                raise _malformed(
                    path, at, f"`-- parameter: {name} = ...` is missing for {{{name}}}"
                )
    for at, line in enumerate(sql.splitlines(), first):
        try:
            expand(line)
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
        parameters=parameters,
        dynamic=dynamic,
        risk=risk,
        fix=_fix(once.get("fix"), path),
    )


_KINDS = (
    "acl", "broker", "broker-default", "client-config", "feature", "group-offsets", "logger",
    "quota", "topic", "user",
)  # fmt: skip
_FIX = re.compile(
    r"(?P<left>[^=]+?)(\s*=\s*(?P<after>.+?)(\s+was\s+(?P<before>.+?))?(\s+if\s+(?P<condition>.+))?)?"
)


def _fix(entry: _Entry | None, path: Path) -> Fix | None:
    """Parse `retention.ms = 3600000`, `quota entity key = delete was value` or `acl resource`."""
    if entry is None:
        return None
    found = _FIX.fullmatch(entry.text)
    words = found["left"].split() if found else []
    is_acl = words[:1] == ["acl"]
    if found is None or not 0 < len(words) < 4 or (found["after"] is None) != is_acl:
        raise _malformed(path, entry.line, f"fix must be CONFIG = VALUE, KIND NAME FIELD = VALUE or"
                                          f" acl NAME, got {entry.text!r}")  # fmt: skip
    if words[1:] and words[0] not in _KINDS:
        raise _malformed(path, entry.line, f"the kind of a fix must be one of {', '.join(_KINDS)},"
                                          f" got {words[0]!r}")  # fmt: skip
    after = (found["after"] or "").strip()
    given = {name: found[name] for name in ("before", "condition") if found[name]}
    where = words if len(words) > 1 else ["", "", words[0]]
    given |= zip(("kind", "name", "field"), where, strict=False)
    return Fix(**given, after="" if after == "delete" else after)


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


def _words(entries: Iterable[_Entry]) -> tuple[str, ...]:
    return tuple(
        word.strip() for entry in entries for word in entry.text.split(",") if word.strip()
    )


def _malformed(path: Path, line: int, why: str) -> ShellError:
    return UsageError(f"{path}:{line}: {why}", code="bad-control")


# Validation of remedies: the kafka.sh commands that controls suggest.
#
# The SQL of a control inserts names of resources into a command. Whatever a name contains, the
# result must be a single command, and its plan may only change the resource of the finding.


def single_command(line: str) -> str:
    """Return the line, or an empty string if it is not exactly one printable command, in which
    only quoted characters could mean something to a shell. The names of topics are not quoted: a
    broker allows no others, but a hostile one or a snapshot can have them."""
    return line if is_printable(line) and _COMMAND.fullmatch(line) else ""


def resources_outside(plan: Plan, findings: Iterable[str]) -> list[Resource]:
    """Return the resources the plan would change that are not in `findings`.

    `findings` are the resource names of the findings that share the remedy.
    """
    named = set(findings)
    return list(
        dict.fromkeys(
            change.resource
            for step in (*plan.steps, *plan.following.afterwards)
            for change in step.changes
            if named.isdisjoint(_names(change)) and not _belongs_to_topic(change, named)
        )
    )


def finding_name(change: Change) -> str:
    """Return the resource of a finding about what this change sets."""
    return min(_names(change), key=len)


def _names(change: Change) -> set[str]:
    """Return the names a finding may use for the resource of this change."""
    kind, name, field = change.resource.kind, change.resource.name, change.field
    if kind in ("topic", "acl", "feature", "partition", "transaction"):
        return {name}
    if kind == "group-offsets":
        return {f"group {name} {field}"}
    if kind == "broker-default":
        return {"brokers", field}
    if kind == "broker":
        listener = field.split(".")[2].upper() if field.startswith("listener.name.") else field
        return {f"broker {name}", f"broker {name} {field}", f"broker {name} {listener}"}
    if kind == "logger":
        return {f"broker {name} {field}"}
    if kind == "replica":  # `orders:0 on broker 1`
        partition, _, broker = name.partition(" on ")
        return {f"{broker} {partition}"}
    if kind == "client-config":
        return {" ".join(shlex.split(name))}
    if kind in ("user", "user-default", "client-id", "client-id-default", "ip", "ip-default"):
        return _client_names(change)
    if kind == "transactional-id":
        return {f"transactional ID {name}"}
    return {f"{kind.replace('-', ' ')} {name}"}  # group


def _client_names(change: Change) -> set[str]:
    """Return the names of a quota or credential; a client ID quota may be set for the default
    user."""
    entity, field = str(change.resource), change.field
    names = {entity, f"{entity} {field}", f"user {change.resource.name} {field}",
             f"user {change.resource.name}"}  # fmt: skip
    if change.resource.kind in ("user-default", "client-id-default"):
        rest = entity.removeprefix(change.resource.kind).strip()
        names |= {f"{rest} {field}"} if rest else {field}
    return names


def _belongs_to_topic(change: Change, named: set[str]) -> bool:
    """Return whether a change of partitions or replicas is about the topic of a finding."""
    if change.resource.kind not in ("partition", "topic", "rollback-file"):
        return False
    if change.resource.kind == "rollback-file":  # a local file
        return True
    topic = change.resource.name.rpartition(":")[0] or change.resource.name
    return topic in named or any(name.rpartition(":")[0] == topic for name in named)


# Remedies that remove ACLs, checked together: each may be right alone, and take all access with
# another.


class AclRemoval(Struct, frozen=True):
    """The ACLs that one remedy removes. If it is `safe`, others must allow the same."""

    bindings: tuple[AclBinding, ...]
    safe: bool = False


def acl_removal(plan: Plan, *, safe: bool) -> AclRemoval:
    """The ACLs that allow something, and that this plan removes."""
    removed = (step.items for step in plan.steps if isinstance(step, DeleteAcls))
    return AclRemoval(tuple(each for some in removed for each in some if _allows(each)), safe)


class AclRemovals:
    """The ACLs that are left, after all remedies that were accepted so far.

    `login` is the principal of this connection, if it is known.
    """

    def __init__(self, bindings: Iterable[AclBinding], login: str | None) -> None:
        self._login = login
        self._gone: set[AclBinding] = set()
        self._by_principal: dict[str, list[AclBinding]] = {}
        self._safe: dict[str, list[AclBinding]] = {}  # removed, as others allow the same
        for each in bindings:
            self._by_principal.setdefault(each.principal, []).append(each)

    def refusal(self, wanted: AclRemoval) -> Failure | None:
        """Why a remedy may not remove its ACLs; None if it may, and then they are gone."""
        before = set(self._gone)
        self._gone.update(wanted.bindings)
        if wanted.safe:
            for each in wanted.bindings:
                self._safe.setdefault(each.principal, []).append(each)
        why = next(filter(None, map(self._why, wanted.bindings)), None)
        if why is not None:
            self._gone = before
            if wanted.safe:
                for each in wanted.bindings:
                    self._safe[each.principal].remove(each)
        return why

    def _why(self, removed: AclBinding) -> Failure | None:
        principal = removed.principal
        if self._is_own(removed) and self._is_lost(removed):
            return Failure("own-login", f"{removed} is needed by the current principal")
        if principal != ANYONE and self._is_lost(removed) and not any(self._allowing(principal)):
            return Failure("no-access-left", f"{principal} would have no access left")
        affected = self._safe.values() if principal == ANYONE else [self._safe.get(principal, ())]
        for each in chain.from_iterable(affected):
            if self._is_lost(each):
                why = f"{each} is needed if the other remedies are applied"
                return Failure("needed", why)
        return None

    def _allowing(self, principal: str) -> Iterator[AclBinding]:
        """The ACLs that are left and allow a principal, or everyone, something."""
        return (each for each in self._of(principal) if _allows(each) and each not in self._gone)

    def _of(self, principal: str) -> Iterator[AclBinding]:
        """All ACLs of a principal and of everyone."""
        for name in dict.fromkeys((principal, ANYONE)):
            yield from self._by_principal.get(name, ())

    def _is_lost(self, removed: AclBinding) -> bool:
        """Whether the principal loses access by this removal, after the others."""
        of = self._of(removed.principal)
        before = tuple(each for each in of if each == removed or each not in self._gone)
        lost, _ = losses(Rules(before), [removed], [], {})
        return bool(lost)

    def _is_own(self, binding: AclBinding) -> bool:
        """Whether the login may need it: its own ACLs, and those of everyone on the cluster."""
        everyone = binding.principal == ANYONE
        on_cluster = binding.resource_type is AclResourceType.CLUSTER
        return binding.principal == self._login or (everyone and on_cluster and bool(self._login))


def _allows(binding: AclBinding) -> bool:
    return binding.permission is AclPermission.ALLOW
