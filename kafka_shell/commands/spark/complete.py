"""Completion of audit controls, tables, and SQL queries over the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from kafka_shell.audit.control import FAMILIES, controls_of
from kafka_shell.audit.model import AuditTable
from kafka_shell.audit.tables import tables_of
from kafka_shell.base.errors import ShellError
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidate, Candidates, Catalog, pick

_WORDS = (
    "select", "from", "where", "join", "left", "on", "using", "group by", "having", "order by",
    "desc", "limit", "with", "as", "and", "or", "not", "in", "is null", "is not null", "like",
    "rlike", "between", "case", "when", "then", "else", "end", "distinct", "union all", "count(*)",
    "sum(", "min(", "max(", "avg(", "explode(",
)  # fmt: skip
_SOURCE = re.compile(r"(?i)\b(?:from|join)\s+`?(\w+)`?(?:\s+(?:as\s+)?(\w+))?")
_AFTER_SOURCE = re.compile(r"(?i)\b(?:from|join)\s+`?$")
_ALIAS = re.compile(r"(\w+)\.$")


@cache
def _known() -> Mapping[str, AuditTable]:
    return {table.name: table for table in tables_of()}


@cache
def _control_candidates(user_folder: Path) -> Mapping[str, str]:
    """Tags, families and control IDs with their titles."""
    try:
        controls = controls_of(user_folder)
    except ShellError:  # reported by spark audit
        return {}
    tags = sorted({tag for control in controls.values() for tag in control.tags})
    return {
        **dict.fromkeys(tags, "a tag"),
        **dict.fromkeys(FAMILIES.values(), "a family"),
        **{
            id: f"{control.severity.name.lower()}  {control.title}"
            for id, control in controls.items()
        },
    }


def offer_tables(request: CompletionRequest, known: Catalog) -> Candidates:
    """The tables with their descriptions."""
    tables = _known()
    return pick(tables, request.prefix, lambda name: (tables[name].about, ""))


def offer_controls(request: CompletionRequest, known: Catalog) -> Candidates:
    controls = _control_candidates(known.config / "controls")
    return pick(controls, request.prefix)


def offer_words(request: CompletionRequest, known: Catalog) -> Candidates:
    """Tables after FROM and JOIN; else columns of the tables named so far."""
    before, typed = request.key, request.prefix
    if _AFTER_SOURCE.search(before):
        return offer_tables(request, known)
    sources = _sources(before)
    alias = _ALIAS.search(before)
    if alias is not None:
        table = _known().get(sources.get(alias[1], ""))
        return _columns([table] if table else [], typed)
    if not before.strip():
        return _plain(("select", "with"), typed)
    if not typed:
        return _columns([_known()[name] for name in dict.fromkeys(sources.values())], typed)
    columns = _columns(
        [_known()[name] for name in dict.fromkeys(sources.values())] or _known().values(), typed
    )
    words = _plain(_WORDS, typed)
    return Candidates(columns.offered + words.offered, columns.more + words.more)


def _sources(query: str) -> dict[str, str]:
    """Name or alias -> table, for the tables that the query names so far."""
    found: dict[str, str] = {}
    for name, alias in _SOURCE.findall(query):
        if name.lower() in _known():
            found |= {name: name.lower(), **({alias: name.lower()} if alias else {})}
    return found


def _columns(tables: Iterable[AuditTable], typed: str) -> Candidates:
    about: dict[str, str] = {}
    for table in tables:
        for column in table.columns:
            about.setdefault(column.column, f"{column.type}  {table.name}: {column.about}")
    return pick(about, typed) if about else NONE


def _plain(words: Iterable[str], typed: str) -> Candidates:
    """SQL keywords that start with the typed text."""
    return Candidates(
        tuple(Candidate(word, "SQL") for word in words if typed and word.startswith(typed.lower()))
        or (tuple(Candidate(word, "SQL") for word in words) if not typed else ())
    )
