"""Records in a table, one per line, and as pages (`--full`).

Only `text` makes Text of Kafka's data, so that no control character reaches a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Literal

import msgspec

from kafka_shell.admin.records.formats import Decoded, Formats, Shown
from kafka_shell.admin.records.internal_topics import TOPICS
from kafka_shell.admin.records.mask import Mask
from kafka_shell.admin.records.model import Header, Record
from kafka_shell.base.command_results import StreamedOutput
from kafka_shell.base.results import Failure, Parts, Results
from kafka_shell.base.text import printable
from kafka_shell.base.units import approximate_bytes
from kafka_shell.commands.records.row import json_line, utc_time
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.output.columns import summary
from kafka_shell.output.errors import draw_note
from kafka_shell.output.styled_stream import StyledStream, columns_of
from kafka_shell.output.tables import GAP, NOTHING, Column, Layout
from kafka_shell.output.text import Role, Text, cut, hang, join, pad, text

_INDENT = 9  # cells of the labels of a page
TOMBSTONE = text("(tombstone)", "removed")
_LEAST_VALUE = 24  # cells of the last column; other columns give way to it
_ROOM_FOR_HEADERS = 48  # with less, values are not cut for headers
_LEAST_HEADERS = 8
_LEAST_KEY = 8  # later keys may be longer than the first
_MOST_KEY = 32
_MOST_INTERNAL_KEY = 60
_MOST_TOPIC = 24
_MOST_CELLS = 1 << 20  # of a line where there is no terminal; records can be larger
_MOST_INDENTED = 256 << 10  # bytes of JSON
_LINE = re.compile(r"^.*$", re.MULTILINE)
_WIDE = 120  # from this width on, times have their year and zone


class RecordTable:
    """A table of records. Its columns fit the `first` records, which need not be all."""

    def __init__(
        self,
        formats: Formats,
        width: int | None,
        first: Sequence[Shown] = (),
        *,
        with_topic: bool = False,
    ) -> None:
        self._formats = formats
        self._width = width
        columns = self._columns(with_topic)
        most = _MOST_KEY if width is None else min(_MOST_KEY, width // 5)
        if first and first[0].topic in TOPICS:  # their keys are long, and matter most
            most = _MOST_INTERNAL_KEY if width is None else width * 2 // 5
        widths = [_measured(column, first, most) for column in columns]
        if width is not None:
            _narrow(columns, widths, width - len(GAP) * (len(columns) - 1))
        self._layout = Layout(columns, tuple(widths))
        self._room = _MOST_CELLS if width is None else widths[-1]

    def heading(self) -> list[Text]:
        """The lines of the heading."""
        return self._layout.heading()

    def line(self, record: Shown) -> Text:
        """The line of a record, not wider than the table."""
        (line,) = self._layout.row(record)
        return line if self._width is None else cut(line, self._width)

    def _columns(self, with_topic: bool) -> tuple[Column, ...]:
        wide = self._width is None or self._width >= _WIDE
        cutting: Literal["", "cut"] = "" if self._width is None else "cut"
        return (
            *((Column("TOPIC", _topic, role="name", overflow=cutting),) if with_topic else ()),
            Column("PARTITION" if wide else "P", _partition, "right"),
            Column("OFFSET", _offset, "right"),
            Column("TIME", _time if wide else _short_time),
            Column("KEY", self._key, overflow=cutting),
            Column("VALUE", self._value),
        )

    def _key(self, record: Shown) -> Text:
        room = _MOST_CELLS if self._width is None else max(_MOST_KEY, self._width * 2 // 5)
        return one_line(record.key, self._formats.key(record), room, "key")

    def _value(self, record: Shown) -> Text:
        if record.value is None:
            value = TOMBSTONE
        else:
            value = one_line(record.value, self._formats.value(record), self._room)
        if not record.headers:
            return value
        reserved = self._room // 3 if self._room >= _ROOM_FOR_HEADERS else 0
        headers = _headers(record, max(reserved, self._room - value.width - len(GAP)))
        left = self._room - headers.width - len(GAP)
        return cut(value, left) + GAP + headers if headers else value


def _topic(record: Shown) -> str:
    return record.topic


def _partition(record: Shown) -> int:
    return record.partition


def _offset(record: Shown) -> int:
    return record.offset


def _time(record: Shown) -> Text:
    return text(_local_time(record.timestamp), "dim")


def _short_time(record: Shown) -> Text:
    """Without year, milliseconds and zone."""
    found = _local_time(record.timestamp)
    return text(found[5:19] if found[10:11] == "T" else found, "dim")


def _measured(column: Column, rows: Sequence[Shown], most_key: int) -> int:
    if column.heading == "VALUE":  # gets what the others leave
        return len(column.heading)
    cells = (column.cell(row) for row in rows)
    widths = (cell.width if isinstance(cell, Text) else len(str(cell)) for cell in cells)
    most = {"KEY": most_key, "TOPIC": _MOST_TOPIC}.get(column.heading, 1 << 30)
    least = _LEAST_KEY if column.heading == "KEY" else len(column.heading)
    return max(least, min(most, max(widths, default=0)))


def _narrow(columns: Sequence[Column], widths: list[int], room: int) -> None:
    """Cut the key, then the topic, as far as the value needs it; the value gets the rest."""
    giving = [index for index, column in enumerate(columns) if column.overflow == "cut"]
    for least in (10, 3):
        for index in reversed(giving):
            missing = sum(widths[:-1]) + _LEAST_VALUE - room
            widths[index] = max(min(least, widths[index]), widths[index] - max(0, missing))
    widths[-1] = max(widths[-1], room - sum(widths[:-1]))


# -- keys, values and headers on one line ----------------------------------------------------------


def one_line(raw: bytes | None, decoded: Decoded, room: int, role: Role = "") -> Text:
    """A key or value on one line of at most this many cells; `-` for null, `""` if empty."""
    if raw is None:
        return NOTHING
    once = decoded.schema is not None  # those of a schema are printed after the records
    problem = Text() if once or not decoded.problem else text(f"({decoded.problem}) ", "warning")
    data = decoded.data
    if type(data) is bytes:
        shown = _hex(raw, room)
    elif decoded.kind.endswith(("Key", "Value")):
        shown = _internal(decoded, room, role)
    elif type(data) is str:
        shown = _of_text(data[: room + 1] or '""', role)
    elif type(data) in (dict, list):
        shown = text(_json(raw, decoded, -1)[: room + 1], "json")
    else:
        shown = text(_json(raw, decoded, -1), role)
    return cut(problem + shown, room)


def _internal(decoded: Decoded, room: int, role: Role) -> Text:
    """A record of an internal topic without the frame around its fields: `OffsetCommit billing
    orders 0` of a key, the JSON of a value."""
    fields = decoded.data["data"]
    if decoded.kind.endswith("Value"):
        return text(msgspec.json.encode(fields).decode()[: room + 1], "json")
    name = text(decoded.kind.removesuffix("Key"), "dim")
    return join(" ", [name, *(text(str(each)[: room + 1], role) for each in fields.values())])


def _hex(raw: bytes, room: int) -> Text:
    return text("0x" + raw[: room // 2 + 1].hex(), "dim")


def _json(raw: bytes, decoded: Decoded, indent: int) -> str:
    """The JSON of a key or value; of JSON, its numbers and strings as they are written."""
    return msgspec.json.format(decoded.text(raw), indent=indent)


def _of_text(value: str, role: Role = "") -> Text:
    """A text, in the colors of XML if it looks so."""
    return text(value, "xml" if value.lstrip()[:1] == "<" else role)


def _headers(record: Shown, room: int) -> Text:
    """`trace=abc type=Order`, cut to the room; nothing if there is hardly any."""
    shown: list[Text] = []
    left = room if room >= _LEAST_HEADERS else 0
    for key, value in record.headers:  # they can be many
        if left <= 0:
            break
        shown.append(text(f"{key[: left + 1]}=", "dim") + _header_value(value, left))
        left -= shown[-1].width + 1
    return cut(join(" ", shown), room)


def _header_value(value: bytes | None, room: int) -> Text:
    if value is None:
        return NOTHING
    try:
        return text(value.decode()[: room + 1], "dim")
    except UnicodeDecodeError:
        return _hex(value, room)


def _local_time(milliseconds: int) -> str:
    """Local time with milliseconds and zone; "" for no timestamp."""
    if milliseconds < 0:
        return ""
    seconds, rest = divmod(milliseconds, 1000)
    start, zone = _second(seconds)
    return f"{start}.{rest:03d}{zone}" if start else str(milliseconds)


@lru_cache(maxsize=1024)
def _second(seconds: int) -> tuple[str, str]:
    """The time and the zone of a second; empty after the year 9999."""
    try:
        moment = datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return "", ""
    return moment[:19], moment[19:]


# -- pages -----------------------------------------------------------------------------------------


def page(record: Shown, formats: Formats, width: int | None) -> Iterator[Text]:
    """All of a record: JSON indented, text with its line breaks, bytes as a hex dump."""
    key, value = formats.key(record), formats.value(record)
    place = f"{record.topic}:{record.partition} offset {record.offset}"
    when = f"{_local_time(record.timestamp)} {record.timestamp_type}"
    yield from summary(width, text(place, "heading"), when if record.timestamp >= 0 else "")
    if record.key is not None:
        yield from _part("key", record.key, key, width)
    yield from _header_lines(record.headers)
    if record.value is None:
        yield _label("value") + TOMBSTONE
    else:
        yield from _part("value", record.value, value, width)


def _label(name: str) -> Text:
    return pad(text(name, "heading"), _INDENT)


def _header_lines(headers: Sequence[Header]) -> Iterator[Text]:
    names = [text(name, "key") for name, _ in headers]
    room = min(_MOST_INTERNAL_KEY, max((name.width for name in names), default=0))
    for index, (name, (_, value)) in enumerate(zip(names, headers, strict=True)):
        label = _label("" if index else "headers")
        yield label + pad(name, room) + GAP + _header_value(value, 2 * len(value or b""))


def _part(name: str, raw: bytes, decoded: Decoded, width: int | None) -> Iterator[Text]:
    """A key or value: on one line if it is short, else below a line with its kind and size."""
    lines = _lines(raw, decoded, width)
    first = list(islice(lines, 2))
    if decoded.problem:
        yield from hang(_label(name) + text(decoded.problem, "warning"), width, _INDENT)
    elif len(first) == 1:
        yield from hang(_label(name) + first[0], width, _INDENT)
        return
    else:
        schema = "" if decoded.schema is None else f", schema {decoded.schema}"
        about = f"{decoded.kind}{schema}, {approximate_bytes(len(raw))}"
        yield _label(name) + text(about, "dim")
    for line in chain(first, lines):
        yield text(" " * 2) + line


def _lines(raw: bytes, decoded: Decoded, width: int | None) -> Iterator[Text]:
    data = decoded.data
    if type(data) is bytes:
        return _hex_dump(raw, width)
    if type(data) is str:
        return (_of_text(line.group()) for line in _LINE.finditer(printable(data or '""')))
    # Deeply nested values are mostly indentation.
    source = _json(raw, decoded, 2 if len(raw) <= _MOST_INDENTED else -1)
    return (text(line.group(), "json") for line in _LINE.finditer(source))


def _hex_dump(raw: bytes, width: int | None) -> Iterator[Text]:
    """`00000000  7b 22 61 22 ...  {"a"...`: 16 bytes a line, 8 in a narrow terminal."""
    step = 16 if width is None or width >= 80 else 8
    for at in range(0, len(raw), step):
        some = raw[at : at + step]
        shown = "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in some)
        yield (
            text(f"{at:08x}", "dim") + GAP + text(some.hex(" ").ljust(3 * step)) + text(f" {shown}")
        )


# Records as output: a table, pages, rows of JSON, or only keys or values.

Blocks = Iterable[list[Shown]]
Values = Callable[[], Iterator[list[bytes | None]] | None]
_LINES = 1_000  # of a page that are written together
_SAMPLE = 40  # records that the widths of the columns fit


class Printer:
    """Makes the output of a command from blocks of records."""

    def __init__(self, invocation: Invocation, context: Context, formats: Formats,
                 mask: Mask, with_topic: bool) -> None:  # fmt: skip
        self._formats, self._mask, self._context = formats, mask, context
        self._with_topic = with_topic
        self._format: str = invocation.get("output") or context.settings.output
        self._raw, self._full = bool(invocation["raw"]), bool(invocation["full"])
        self._keys_only = bool(invocation["keys-only"])
        self._width = columns_of(context.out)

    def output(
        self,
        records: Iterable[list[Record]],
        failures: Mapping[Any, Failure],
        values: Values,
    ) -> StreamedOutput | Parts[Any, Any]:
        """The output. `values` may return only the values, which are read faster than records, if
        nothing is masked."""
        blocks = self._shown(records)
        if self._raw:
            return StreamedOutput(self._raw_pieces(blocks, values), failures)
        if self._format == "json":
            return StreamedOutput(self._json(blocks), failures, "json")
        if self._format != "table":
            return Parts(self._rows(blocks, failures))
        if self._full:
            return StreamedOutput(self._pages(blocks), failures)
        if self._keys_only:
            return StreamedOutput(map(self._keys, blocks), failures)
        return StreamedOutput(self._table(blocks), failures)

    def _shown(self, records: Iterable[list[Record]]) -> Iterator[list[Shown]]:
        """The records as they may be shown, with a note of the topics that have masked fields, then
        why some could not be decoded."""
        masked: set[str] = set()
        for block in records:
            shown = self._mask.shown(block, self._formats)
            for topic in sorted({each.topic for each in shown if type(each) is Shown} - masked):
                self._note(f"fields of topic {topic} are masked", "note")
                masked.add(topic)
            yield shown
        for problem in self._formats.problems:
            self._note(problem, "warning")

    def _note(self, message: str, label: str) -> None:
        before = getattr(self._context.report, "clear", None)
        draw_note(message, StyledStream(self._context.err, before=before), label=label)

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
                yield "\n".join([line(record, formats) for record in block])
                yield "\n"

    def _key_line(self, record: Shown, formats: Formats) -> str:
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

    def _keys(self, block: list[Shown]) -> list[Text]:
        key, room = self._formats.key, self._width or _MOST_CELLS
        return [one_line(record.key, key(record), room, "key") for record in block]

    def _pages(self, blocks: Blocks) -> Iterator[list[Text]]:
        between: list[Text] = []
        for record in chain.from_iterable(blocks):
            lines = chain(between, page(record, self._formats, self._width))
            while some := list(islice(lines, _LINES)):
                yield some
            between = [Text()]

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


def _row(record: Shown, formats: Formats) -> dict[str, str | int | None]:
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
