"""`config-command --describe`, exactly as KIP-248 lays it out: raw values, KIP-248's labels.

Users, client ids and ips have a line each, as KIP-649 and Kafka's own tool print them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.configs.model import ConfigEntry
from kafka_shell.admin.quotas.model import Default, QuotaEntity
from kafka_shell.commands.configs.model import ConfigLine, ConfigTable
from kafka_shell.output.text import Role, Text, pad, text

MARGIN = 2
VALUE = 37  # the KIP's sample has the flags 40 cells right of the "="; longer values move them
SENSITIVE, READ_ONLY, SOURCE = "Sensitive", "Read-only", "Source"
SOURCE_WIDTH = len("Dynamic topic config")


def kip248_table(table: ConfigTable, width: int | None = None) -> Iterator[Text]:
    """The heading, a blank line, and a line a config. A sensitive value is empty, as in Kafka."""
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
    """`true` or `false` in the middle under its heading, as the KIP's sample has it."""
    word = "true" if value else "false"
    left = (len(heading) - len("false")) // 2
    return pad(Text((("", " " * left),)) + text(word, role if value else ""), len(heading))


def config_line(told: ConfigLine, width: int | None = None) -> Iterator[Text]:
    """`Quota configs for user-principal 'alice' are producer_byte_rate=50000.0` (KIP-649)."""
    del width
    values = ", ".join(f"{key}={value}" for key, value in told.configs.items())
    yield text(f"{told.what} for {_whose(told.entity)} are {values}")


def _whose(entity: QuotaEntity) -> str:
    """`user-principal 'alice', the default client-id`."""
    return ", ".join(
        f"the default {_WORDS[kind]}" if isinstance(name, Default) else f"{_WORDS[kind]} '{name}'"
        for kind, name in entity.parts
    )


_WORDS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}
