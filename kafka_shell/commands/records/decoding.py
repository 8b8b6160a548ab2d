"""How records are decoded and filtered: formats, the schema registry, conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_shell.admin.records.formats import Formats
    from kafka_shell.admin.records.where import RecordFilter
    from kafka_shell.context import Context

FORMATS = (
    "auto", "json", "string", "hex", "base64", "int32", "int64", "double",
    "avro", "protobuf", "json-schema",
)  # fmt: skip


def formats_of(context: Context, key: str | None = None, value: str | None = None) -> Formats:
    """These formats (None: auto), with the schema registry of the profile, if it has one."""
    from kafka_shell.admin.records.formats import AUTO, Formats
    from kafka_shell.admin.schemas.registry import registry_of

    return Formats(key or AUTO, value or AUTO, registry_of(context.settings.properties))


def filter_of(
    where: tuple[str, ...], grep: tuple[str, ...], formats: Formats, *, internal: bool
) -> RecordFilter | None:
    """The filter of these conditions, or None without any. `internal`: there may be records of
    internal topics, which are decoded."""
    from kafka_shell.admin.records.where import RecordFilter

    if not where and not grep:
        return None
    decoded = internal or formats.registry is not None
    return RecordFilter(where, grep, formats, schemas=decoded)
