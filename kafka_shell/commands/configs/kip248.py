"""The output of `config-command --describe`, exactly as in KIP-248: raw values and labels.

Users, client IDs and IPs are printed one per line, as in KIP-649 and kafka-configs.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.configs.model import ConfigEntry
from kafka_shell.admin.quotas.model import Default, QuotaEntity
from kafka_shell.commands.configs.model import ConfigLine, ConfigTable
from kafka_shell.output.text import Role, Text, pad, text

MARGIN = 2
VALUE = 37  # in the KIP's sample the flags start 40 cells after the "="
SENSITIVE, READ_ONLY, SOURCE = "Sensitive", "Read-only", "Source"
SOURCE_WIDTH = len("Dynamic topic config")


def kip248_table(table: ConfigTable, width: int | None = None) -> Iterator[Text]:
    """The table of a resource's configs. Sensitive values are empty, as in Kafka."""
    del width  # the KIP's layout has one width
    names = max([len("Name"), *(text(entry.name).width for entry in table.entries)]) + MARGIN
    values = max([VALUE, *(text(entry.value or "").width for entry in table.entries)])
    sources = max([SOURCE_WIDTH, *(len(entry.source.label) for entry in table.entries)])
    yield text(f"   CONFIGS FOR {_title(table)}", "heading")
    yield Text()
    yield _heading(names, values, sources)
    for entry in table.entries:
        yield _line(entry, names, values, sources)


def _title(table: ConfigTable) -> str:
    kind = table.resource.kind.replace("-", " ").upper()
    return f"{kind} {table.resource.name}".rstrip()


def _heading(names: int, values: int, sources: int) -> Text:
    return text(
        f"{'Name':>{names}}   {'Value':<{values}}  {SENSITIVE}  {READ_ONLY} {SOURCE:>{sources}}",
        "heading",
    )


def _line(entry: ConfigEntry, names: int, values: int, sources: int) -> Text:
    role: Role = "override" if entry.overridden else ""
    return (
        pad(text(entry.name, "key"), names, "right")
        + text(" = ")
        + pad(text(entry.value or "", role), values)
        + "  "
        + _flag(entry.sensitive, SENSITIVE, "sensitive")
        + "  "
        + _flag(entry.read_only, READ_ONLY, "read-only")
        + " "
        + pad(text(entry.source.label, role or "default"), sources, "right")
    )


def _flag(value: bool, heading: str, role: Role) -> Text:
    """`true` or `false` centered under its heading, as in the KIP's sample."""
    word = "true" if value else "false"
    left = (len(heading) - len("false")) // 2
    return pad(Text((("", " " * left),)) + text(word, role if value else ""), len(heading))


def config_line(line: ConfigLine, width: int | None = None) -> Iterator[Text]:
    """`Quota configs for user-principal 'alice' are producer_byte_rate=50000.0` (KIP-649)."""
    del width
    values = ", ".join(f"{key}={value}" for key, value in line.configs.items())
    yield text(f"{line.what} for {_entity(line.entity)} are {values}")


def _entity(entity: QuotaEntity) -> str:
    """`user-principal 'alice', the default client-id`."""
    return ", ".join(
        f"the default {_WORDS[kind]}" if isinstance(name, Default) else f"{_WORDS[kind]} '{name}'"
        for kind, name in entity.parts
    )


_WORDS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}
