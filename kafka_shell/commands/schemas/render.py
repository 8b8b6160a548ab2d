"""Tables and pages of subjects and schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_shell.admin.schemas.subjects import SchemaVersion, Subject
from kafka_shell.base.text import printable
from kafka_shell.base.units import ranges
from kafka_shell.output.columns import summary
from kafka_shell.output.tables import Column, Page
from kafka_shell.output.text import Role, Text, text


def _level(row: Subject | SchemaVersion) -> Text:
    level = text(row.compatibility or "unknown")
    return level + text(" (default)", "dim") if row.inherited else level


COLUMNS: dict[type, tuple[Column, ...]] = {
    Subject: (
        Column("SUBJECT", lambda s: s.name, role="name"),
        Column("VERSION", lambda s: s.version, "right"),
        Column("ID", lambda s: s.id, "right"),
        Column("TYPE", lambda s: s.type),
        Column("COMPATIBILITY", _level),
        Column("STATE", lambda s: text("deleted", "warning") if s.deleted else None),
    ),
}


def readable(version: SchemaVersion) -> str:
    """The text of a schema, JSON indented."""
    try:
        return json.dumps(json.loads(version.schema), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return version.schema


def _schema_page(found: SchemaVersion, width: int | None) -> Iterator[Text]:
    gone = found.version in found.deleted_versions
    versions = f"versions {ranges(found.versions) or '-'}"
    yield from summary(
        width,
        text(f"subject {found.subject}", "heading"),
        text(f"version {found.version}{' (soft-deleted)' if gone else ''}", "heading"),
        f"ID {found.id}",
        found.type,
        versions,
        f"deleted {ranges(found.deleted_versions)}" if found.deleted_versions else "",
        text("compatibility ") + _level(found),
    )
    for each in found.references:
        yield text("reference ") + text(each.name, "name") + f": {each.subject} {each.version}"
    yield Text()
    role: Role = "" if found.type == "PROTOBUF" else "json"
    for line in readable(found).split("\n"):
        yield text(printable(line), role)


PAGES: dict[type, Page] = {SchemaVersion: _schema_page}
