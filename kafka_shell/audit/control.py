"""Controls: one file each, SQL with its metadata above it as comments.

    -- id: T01
    -- title: Replication factor 1
    -- severity: critical
    -- tags: durability
    -- description: One broker down takes the topic with it, for good if its disk is lost.
    -- source: Apache Kafka documentation, Replication
    -- parameter: factor = 3
    -- needs: topics
    -- wants: topic_configs retention.ms
    -- remedy: dynamic, disruptive
    SELECT cluster, topic AS resource, ... AS status, ... AS reason, ... AS remedy FROM topics

The SQL reads the tables of the audit and gives `cluster, resource, status, reason` and, where the
control has a remedy, `remedy` and `undo`: lines of this shell, or null. A status is ok, info,
alarm, skip or error. `{factor}` stands for the parameter's value, which a policy may change.

`needs` names the tables it reads. `wants` names configs: on a cluster that does not have one (its
version lacks it, or nobody could read it) the control is skipped, which it says in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

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
_LINE = re.compile(r"--\s?(?:(?P<key>[a-z]+):)?\s*(?P<value>.*)")
_ID = re.compile(r"[A-Z]\d{2,3}")
_PARAMETER = re.compile(r"(?P<name>[a-z_]+)\s*=\s*(?P<value>\S.*)")
_ONCE = ("id", "title", "severity", "description", "source", "remedy")
_KEYS = {*_ONCE, "tags", "parameter", "needs", "wants"}
_CONFIG_TABLES = ("topic_configs", "broker_configs")
_COLUMNS = "cluster, resource, status, reason, remedy, undo"
_REQUIRED = ("id", "title", "severity", "description", "source")


class Level(IntEnum):
    """How bad it is; the worst sorts first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


@dataclass(frozen=True)
class Control:
    """One control. `needs` are the tables it reads; where one could not be read it says so.

    `wants` are (table, config) pairs without which it judges nothing.

    `dynamic` tells whether its remedy needs no restart; None where it has no remedy.
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
    wants: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool | None = None
    risk: str = ""

    @property
    def family(self) -> str:
        """topics, brokers, security ..., by the letter of its id."""
        return FAMILIES.get(self.id[0], "own")

    def query(self, thresholds: Mapping[str, str]) -> str:
        """The SQL with its parameters, of which `thresholds` may change some."""
        sql = self.sql
        for name, value in self.parameters.items():
            sql = sql.replace("{" + name + "}", thresholds.get(name, value))
        if not self.wants:
            return sql
        skips = "".join(_skip(table, config) for table, config in self.wants)
        return f"SELECT {_COLUMNS} FROM (\n{sql}\n){skips}"


def _skip(table: str, config: str) -> str:
    """The rows of clusters without this config."""
    return f"""
UNION ALL
SELECT c.cluster, '{config}', 'skip',
  'no {config} in {table}: this version of Kafka has none, or it could not be read', NULL, NULL
FROM clusters c LEFT ANTI JOIN {table} k ON k.cluster = c.cluster AND k.key = '{config}'"""


def controls_of(user_folder: Path) -> dict[str, Control]:
    """Ours, and the user's own, of which one with the same id wins. Raises ShellError."""
    return load(Path(__file__).parent / "controls", user_folder)


def load(*folders: Path) -> dict[str, Control]:
    """Every control of these folders by id, sorted; a later folder's wins. Raises ShellError."""
    found: dict[str, Control] = {}
    for folder in folders:
        ids: dict[str, Path] = {}
        for path in sorted(folder.glob("*.sql")):
            control = parse(path.read_text(encoding="utf-8"), path)
            if control.id in ids:
                raise _malformed(path, 1, f"{control.id} is {ids[control.id].name} already")
            ids[control.id] = path
            found[control.id] = control
    return dict(sorted(found.items()))


@dataclass
class _Said:
    """One line of metadata: where it begins, and its text with the lines it runs on."""

    line: int
    text: str


_Metadata = dict[str, list[_Said]]


def parse(text: str, path: Path) -> Control:
    """One control's file. Raises ShellError with the file and line where it is malformed."""
    lines = text.splitlines()
    said: _Metadata = {}
    last = ""
    first = len(lines) + 1
    for at, line in enumerate(lines, 1):
        if not line.startswith("--"):
            first = at
            break
        last = _read_line(line, said, last, path, at)
    sql = "\n".join(lines[first - 1 :]).strip().rstrip(";")
    for key in _REQUIRED:
        if key not in said:
            raise _malformed(path, 1, f"`-- {key}:` is missing")
    if not re.match(r"(?i)(select|with)\b", sql):
        raise _malformed(path, min(first, len(lines)), "a SELECT is wanted below the metadata")
    return _control(said, sql, path, first)


def _read_line(line: str, said: _Metadata, last: str, path: Path, at: int) -> str:
    """Take one line of metadata; the key it belongs to."""
    found = _LINE.fullmatch(line)
    assert found is not None
    key = found["key"]
    if key in _KEYS:
        if key in _ONCE and key in said:
            raise _malformed(path, at, f"`{key}:` stands twice")
        said.setdefault(key, []).append(_Said(at, found["value"].strip()))
        return str(key)
    if not line.startswith("--  ") or not last:
        raise _malformed(path, at, f"`{line}` is no metadata; known: {', '.join(sorted(_KEYS))}")
    said[last][-1].text += " " + line[2:].strip()
    return last


def _control(said: _Metadata, sql: str, path: Path, first: int) -> Control:
    once = {key: said[key][0] for key in _ONCE if key in said}
    if not _ID.fullmatch(once["id"].text):
        raise _malformed(path, once["id"].line,
                         f"id {once['id'].text!r}: a letter and two digits are wanted")  # fmt: skip
    severity = once["severity"].text
    if severity.upper() not in Level.__members__:
        levels = ", ".join(level.name.lower() for level in Level)
        raise _malformed(path, once["severity"].line,
                         f"severity {severity!r}: one of {levels} is wanted")  # fmt: skip
    parameters = dict(_parameters(said.get("parameter", ()), path))
    for at, line in enumerate(sql.splitlines(), first):
        for name in re.findall(r"\{([a-z_]+)\}", line):
            if name not in parameters:
                raise _malformed(path, at, f"{{{name}}} has no `-- parameter: {name} = ...`")
    dynamic, risk = _remedy(once.get("remedy"), path)
    return Control(
        id=once["id"].text,
        title=once["title"].text,
        severity=Level[severity.upper()],
        description=once["description"].text,
        source=once["source"].text,
        sql=sql,
        path=path,
        tags=_words(said.get("tags", ())),
        needs=_words(said.get("needs", ())),
        wants=tuple(_wants(said.get("wants", ()), path)),
        parameters=parameters,
        dynamic=dynamic,
        risk=risk,
    )


def _parameters(said: Iterable[_Said], path: Path) -> Iterator[tuple[str, str]]:
    for each in said:
        pair = _PARAMETER.fullmatch(each.text)
        if pair is None:
            raise _malformed(path, each.line, f"parameter {each.text!r}: name = value is wanted")
        yield pair["name"], pair["value"]


def _remedy(said: _Said | None, path: Path) -> tuple[bool | None, str]:
    """`dynamic, safe` or `restart, disruptive`; nothing where a person has to look."""
    if said is None:
        return None, ""
    how, _, risk = (part.strip() for part in said.text.partition(","))
    if how not in ("dynamic", "restart") or risk not in RISKS:
        raise _malformed(path, said.line, f"remedy {said.text!r}: dynamic or restart, then one of "
                                          f"{', '.join(RISKS)} is wanted")  # fmt: skip
    return how == "dynamic", risk


def _wants(said: Iterable[_Said], path: Path) -> Iterator[tuple[str, str]]:
    """`topic_configs retention.ms, segment.ms` as pairs."""
    for each in said:
        table, _, configs = each.text.partition(" ")
        if table not in _CONFIG_TABLES or not configs.strip():
            tables = " or ".join(_CONFIG_TABLES)
            raise _malformed(path, each.line, f"wants {each.text!r}: {tables}, then configs")
        for config in configs.split(","):
            yield table, config.strip()


def _words(said: Iterable[_Said]) -> tuple[str, ...]:
    return tuple(word.strip() for each in said for word in each.text.split(",") if word.strip())


def _malformed(path: Path, line: int, why: str) -> ShellError:
    return UsageError(f"{path}:{line}: {why}", code="bad-control")
