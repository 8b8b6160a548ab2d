"""Records as output: a table, pages, rows of JSON, or only keys or values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.model import Record
from kafka_shell.commands.records.record_table import RecordTable, one_line, page
from kafka_shell.commands.records.row import json_line, utc_time
from kafka_shell.common.command_results import StreamedOutput
from kafka_shell.language.command import Invocation
from kafka_shell.output.styled_stream import columns_of
from kafka_shell.output.text import Text
from kafka_shell.plan.results import Failure, Parts, Results

if TYPE_CHECKING:
    from kafka_shell.context import Context

Blocks = Iterable[list[Record]]
Values = Callable[[], Iterator[list[bytes | None]] | None]
_SAMPLE = 40  # records that the widths of the columns fit


class Printer:
    """Makes the output of a command from blocks of records."""

    def __init__(self, invocation: Invocation, context: Context, formats: Formats,
                 with_topic: bool) -> None:  # fmt: skip
        self._formats = formats
        self._with_topic = with_topic
        self._format: str = invocation.get("output") or context.settings.output
        self._raw, self._full = bool(invocation["raw"]), bool(invocation["full"])
        self._keys_only = bool(invocation["keys-only"])
        self._width = columns_of(context.out)

    def output(
        self, blocks: Blocks, failures: Mapping[Any, Failure], values: Values
    ) -> StreamedOutput | Parts[Any, Any]:
        """The output. `values` may return only the values, which are read faster than records."""
        if self._raw:
            return StreamedOutput(self._raw_pieces(blocks, values), failures)
        if self._format == "json":
            return StreamedOutput(self._json(blocks), failures)
        if self._format != "table":
            return Parts(self._rows(blocks, failures))
        if self._full:
            return StreamedOutput(self._pages(blocks), failures)
        if self._keys_only:
            return StreamedOutput(map(self._keys, blocks), failures)
        return StreamedOutput(self._table(blocks), failures)

    def _raw_pieces(self, blocks: Blocks, values: Values) -> Iterator[bytes]:
        if self._keys_only:
            found: Iterable[list[bytes | None]] = ([each.key for each in b] for b in blocks)
        else:
            found = values() or ([each.value for each in block] for block in blocks)
        for block in found:
            if block:
                yield b"\n".join([each or b"" for each in block]) + b"\n"

    def _json(self, blocks: Blocks) -> Iterator[str]:
        line = self._key_line if self._keys_only else json_line
        formats = self._formats
        for block in blocks:
            if block:
                yield "\n".join([line(record, formats) for record in block]) + "\n"

    def _key_line(self, record: Record, formats: Formats) -> str:
        row = msgspec.json.decode(json_line(record, formats), type=dict[str, msgspec.Raw])
        names = ("topic", "partition", "offset", "key", "key_base64")
        return msgspec.json.encode({name: row[name] for name in names if name in row}).decode()

    def _rows(self, blocks: Blocks, failures: Mapping[Any, Failure]) -> Iterator[Results[Any, Any]]:
        for block in blocks:
            rows = [_row(record, self._formats) for record in block]
            if self._keys_only:
                for row in rows:
                    del row["value"]
            yield Results(dict(enumerate(rows)))
        yield Results({}, dict(failures))

    def _keys(self, block: list[Record]) -> list[Text]:
        key, width = self._formats.key, self._width
        return [one_line(record.key, key(record), width, "key") for record in block]

    def _pages(self, blocks: Blocks) -> Iterator[list[Text]]:
        first = True
        for block in blocks:
            for record in block:
                lines = list(page(record, self._formats, self._width))
                yield lines if first else [Text(), *lines]
                first = False

    def _table(self, blocks: Blocks) -> Iterator[list[Text]]:
        table: RecordTable | None = None
        for block in blocks:
            if not block:
                continue
            lines: list[Text] = []
            if table is None:
                table = RecordTable(
                    self._formats, self._width, block[:_SAMPLE], with_topic=self._with_topic
                )
                lines += table.heading()
            line = table.line
            yield lines + [line(record) for record in block]


def _row(record: Record, formats: Formats) -> dict[str, str | int | None]:
    """A record in YAML and CSV: key and value as text."""
    key, value, errors = record.key, record.value, "backslashreplace"
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": utc_time(record.timestamp),
        "key": None if key is None else formats.key(record).text(key, errors),
        "value": None if value is None else formats.value(record).text(value, errors),
    }
