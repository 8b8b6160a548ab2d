"""The command that reads records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_shell.base.command_results import NoRows, StreamedOutput
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Advice, Resource
from kafka_shell.base.structs import replace
from kafka_shell.base.units import OFFSET, as_offset, format_time, odd_hour, parse_time
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short
from kafka_shell.language.kinds import CandidateSource, Kind, is_pattern
from kafka_shell.language.kinds import select as matching

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.records.decode import Decoder
    from kafka_shell.admin.records.fetching import Span
    from kafka_shell.admin.records.formats import Formats
    from kafka_shell.admin.records.model import Record
    from kafka_shell.admin.records.read import Position, Reading
    from kafka_shell.base.plans import Plan
    from kafka_shell.base.results import Failure, Parts, Results
    from kafka_shell.context import Context


# How records are decoded and filtered: formats, the schema registry, conditions.

FORMATS = (
    "auto", "json", "string", "hex", "base64", "int32", "int64", "double",
    "avro", "protobuf", "json-schema",
)  # fmt: skip


def formats_of(context: Context, key: str | None = None, value: str | None = None) -> Formats:
    """These formats (None: auto), with the schema registry of the profile, if it has one."""
    from kafka_shell.admin.records.formats import AUTO, Formats
    from kafka_shell.admin.schemas.registry import registry_of

    return Formats(key or AUTO, value or AUTO, registry_of(context.settings.properties))


MAX_BATCH_SIZE = Option(
    "--max-batch-size", kinds.SIZE, "Skip record batches that are larger when decompressed"
    " (default: 64MiB).", least=1, most=(1 << 31) - 1,
)  # fmt: skip


def decoder_of(options: Mapping[str, Any], formats: Formats, *, internal: bool) -> Decoder:
    """The decoder for the conditions and the batch size of these options. `internal`: there may be
    records of internal topics, which are decoded."""
    from kafka_shell.admin.records.decode import Decoder
    from kafka_shell.admin.records.where import RecordFilter

    where, grep = options["where"], options["grep"]
    decoded = internal or formats.registry is not None
    keep = RecordFilter(where, grep, formats, schemas=decoded) if where or grep else None
    most = options["max-batch-size"]
    return Decoder(keep) if most is None else Decoder(keep, most)


# The isolation levels of consumers (KIP-98).

READ_COMMITTED = "read_committed"
ISOLATION_LEVELS = ("read_uncommitted", READ_COMMITTED)


# Positions in partitions as they are typed: earliest, latest, an offset or a time.

STARTS = Kind(
    "text",
    CandidateSource(lambda found, known: known.times(found.prefix, {"earliest": "", "latest": ""})),
)
ENDS = Kind("text", CandidateSource(lambda found, known: known.times(found.prefix, {"latest": ""})))


def position(invocation: Invocation, name: str, context: Context) -> Position | None:
    """The position that this option names; None without the option."""
    from kafka_shell.admin.partitions.model import EARLIEST, LATEST
    from kafka_shell.admin.records.read import Position

    text: str | None = invocation[name]
    if text is None:
        return None
    if text in ("earliest", "latest"):
        return Position(time=EARLIEST if text == "earliest" else LATEST)
    try:
        offset, time = offset_or_time(text, int(context.clock() * 1000))
        if time is None:
            return Position(offset)
        if note := odd_hour(text, time):
            context.note(note)
        return Position(time=time)
    except ShellError:
        raise UsageError(
            f"--{name} must be an offset, a time such as 2026-01-31T10:00 or -1h, earliest or"
            f" latest, got '{text}'",
            code="bad-value",
            span=invocation.span(name),
        ) from None


def check_order(invocation: Invocation, start: Position, end: Position, to: str) -> None:
    """Raise UsageError if the end, of the option `to`, is before the start of --from whatever a
    partition contains."""
    if start.offset is not None and end.offset is not None:
        reversed_ = end.offset < start.offset
    else:
        times = start.offset is None and end.offset is None and min(start.time, end.time) >= 0
        reversed_ = times and end.time < start.time
    if reversed_:
        raise UsageError(
            f"--{to} {invocation[to]} is before --from {invocation['from']}",
            code="bad-value",
            span=invocation.span(to),
        )


def future_warning(time: int, now: int, meaning: str) -> str:
    """A warning about a time in the future, empty for others: of records it usually is a mistake.
    `meaning` is what the command does there. Times are in milliseconds."""
    return f"{format_time(time)} is in the future: {meaning}" if time > now else ""


def with_time(plan: Plan, text: str, time: int, context: Context) -> Plan:
    """The plan with the time that selects its offsets, as it was typed and as an instant."""
    if not plan.steps:
        return plan
    meaning = "latest is used if there are no records that late"
    warning = future_warning(time, int(context.clock() * 1000), meaning)
    note = odd_hour(text, time) or f"{text} is {format_time(time)}"
    return plan.advised(Advice(warnings=tuple(filter(None, [warning])), notes=(note,)))


def offset_or_time(text: str, now: int) -> tuple[int | None, int | None]:
    """An offset and None, or None and a time (milliseconds since the epoch), as `now`.

    A number of more than 11 digits is a time, as in the output of read-records: taken for an offset
    it would be after the end of the log, and all records would be skipped or deleted. Such an
    offset is `offset:N`. Raises ShellError if it is neither.
    """
    number = text.removeprefix(OFFSET)
    if number.isascii() and number.isdigit() and (number != text or as_offset(text) == text):
        return int(number), None
    return None, max(0, parse_time(text, now=now))


T = TypeVar("T")

_LAST = 10  # records without any option that selects some
# Options with which all records are read, not the last ones.
_SELECTING = ("from", "where", "grep", "count")


def read_records(
    invocation: Invocation, context: Context
) -> StreamedOutput | Parts[object, object] | NoRows:
    """Records of partitions, as they arrive."""
    from kafka_shell.commands.records.record_table import Printer

    work = _Reading(invocation, context)
    if not work.spans.values and not work.failures:
        return NoRows("no partitions")
    if invocation["count"]:
        return StreamedOutput(work.count(), work.failures)
    several = len({each.topic for each in work.spans.values}) > 1
    printer = Printer(invocation, context, work.formats, several)
    return printer.output(work.blocks(), work.failures, work.values)


class _Reading:
    """What one command reads. `failures` is filled while it is read."""

    def __init__(self, invocation: Invocation, context: Context) -> None:
        from kafka_shell.admin.records import read

        self._invocation, self._context = invocation, context
        self._committed = invocation["isolation-level"] == READ_COMMITTED
        self._follow = bool(invocation["follow"])
        self.formats = formats_of(context, invocation["key-format"], invocation["value-format"])
        self._decoder = decoder_of(invocation.values, self.formats, internal=_internal(invocation))
        start = position(invocation, "from", context) or read.FROM_EARLIEST
        end = position(invocation, "to", context) or read.TO_LATEST
        check_order(invocation, start, end, "to")
        if future := future_warning(
            start.time,
            int(context.clock() * 1000),
            "only records with this timestamp or a later one are read",
        ):
            self._warn(future)
        chosen = select.partitions(invocation, context.cluster)
        self.failures: dict[Resource, Failure] = dict(chosen.failures)
        self.spans: Results[TopicPartition, Span] = read.spans(
            context.cluster, select.topic_partitions(chosen), start, end,
            committed=self._committed, warn=self._warn,
            unread="not read until it ends" if self._follow else "not read",
        )  # fmt: skip
        self._add_failures(self.spans.failures)

    def count(self) -> Iterator[str]:
        """The number of records."""
        reading = self._reading()
        total = reading.count()
        self._finish(reading)
        yield f"{total}\n"

    def _note_if_none(self, found: bool, reading: Reading) -> None:
        """Say on standard error that no record was printed, unless some could not be read."""
        if found or self.failures:
            return
        if self._decoder.keep is not None and reading.scanned:
            self._say("no record matches", "note")
        else:
            ranged = self._invocation["from"] is not None or self._invocation["to"] is not None
            self._say("no records in this range" if ranged else "no records", "note")

    def values(self) -> Iterator[list[bytes | None]] | None:
        """Only the values, if the order of arrival is that of the records, and all are wanted."""
        options = self._invocation
        if (
            self._decoder.keep
            or self._follow
            or self._last
            or options["limit"]
            or len(self.spans) != 1
        ):
            return None
        return self._values()

    def blocks(self) -> Iterator[list[Record]]:
        """The records in blocks, at most as many as wanted."""
        left = self._invocation["limit"]
        for block in self._all_blocks():
            if left is not None and len(block) >= left:
                yield block[:left]
                break
            left = None if left is None else left - len(block)
            yield block
        if self.formats.registry is not None:
            for failure in self.formats.registry.failures:
                self._warn(failure)

    def _values(self) -> Iterator[list[bytes | None]]:
        reading = self._reading()
        yield from self._noted(reading.values(), reading)

    def _noted(self, blocks: Iterable[list[T]], reading: Reading) -> Iterator[list[T]]:
        """The blocks of a reading, with a note if there is nothing in them."""
        found = False
        try:
            for block in blocks:
                found = found or bool(block)
                yield block
        finally:
            self._finish(reading)
        self._note_if_none(found, reading)

    def _all_blocks(self) -> Iterator[list[Record]]:
        if self._last:
            from kafka_shell.admin.records.read import last

            reading = self._reading()
            blocks = last(reading, self._last)
            if self._follow:
                yield from blocks
                self._finish(reading)
            else:
                yield from self._noted(blocks, reading)
        if self._follow:
            yield from self._arriving()
        elif not self._last:
            reading = self._reading()
            yield from self._noted(reading.ordered(), reading)

    def _arriving(self) -> Iterator[list[Record]]:
        """Records from the start, or from the end if none before it is wanted, without end."""
        after = self._invocation["from"] is None or bool(self._last)
        self.spans = self.spans.map(
            lambda span: replace(span, start=(span.end or 0) if after else span.start, end=None)
        )
        reading = self._reading()
        try:
            yield from reading.arriving()
        finally:
            self._finish(reading)

    @property
    def _last(self) -> int:
        """How many of the last records are wanted; 0 for all from the start."""
        options = self._invocation
        if options["last"] is not None:
            return int(options["last"])
        if any(options[name] for name in _SELECTING) or (self._follow and options["limit"]):
            return 0
        return options["limit"] or _LAST

    def _reading(self) -> Reading:
        from kafka_shell.admin.records.read import Reading

        return Reading(
            self._context.cluster, replace(self.spans, failures={}), committed=self._committed,
            decoder=self._decoder, warn=self._warn,
            progress=self._progress, grows=self._whole_topics() if self._follow else (),
        )  # fmt: skip

    def _whole_topics(self) -> Sequence[str]:
        """The topics that are read without a choice of partitions."""
        words = [word for word, numbers in self._invocation["topic"] if numbers is None]
        return matching(words, list({where.topic for where in self.spans.values})).names

    def _progress(self, reading: Reading) -> None:
        if self._follow:
            from kafka_shell.output.styled_stream import stop_if_closed

            stop_if_closed(self._context.out)
        else:
            self._context.report("reading records", reading.done, reading.offsets)

    def _finish(self, reading: Reading) -> None:
        self._add_failures(reading.failures)

    def _add_failures(self, failures: dict[TopicPartition, Failure]) -> None:
        self.failures.update({where.resource: why for where, why in failures.items()})

    def _warn(self, message: str) -> None:
        self._say(message, "warning")

    def _say(self, message: str, label: str) -> None:
        from kafka_shell.output.errors import draw_note
        from kafka_shell.output.styled_stream import StyledStream

        before = getattr(self._context.report, "clear", None)
        draw_note(message, StyledStream(self._context.err, before=before), label=label)


def _internal(invocation: Invocation) -> bool:
    """Whether there may be internal topics among them."""
    return any("__" in word or is_pattern(word) for word, _ in invocation["topic"])


COMMANDS: tuple[Command, ...] = (
    Command(
        name="read-records",
        summary="Read records of topics: the last ones, a range, or as they arrive.",
        family="records",
        run=read_records,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, "Partitions: orders:0,3-5  orders  svc-*",
                     many=True, option="--topic"),
        ),
        options=(
            Option("--from", STARTS, "Start: earliest, latest, an offset, or a time such as -1h.",
                   metavar="POSITION"),
            Option("--to", ENDS, "End, exclusive: an offset, a time or latest (default).",
                   metavar="POSITION", excludes=("--follow",)),
            Option("--last", kinds.INTEGER, "The last records before the end (default: 10).",
                   least=1, most=10_000_000, metavar="N"),
            Option("--limit", kinds.INTEGER, "Stop after this many records.",
                   least=1, metavar="N", excludes=("--last",)),
            Option("--follow", kinds.FLAG, "Keep reading new records until Ctrl-C."),
            Option("--where", kinds.TEXT,
                   "Only records that match this condition: key=4711, 'value.amount>10',"
                   " header.reason=~'5..'; may be repeated, all must match.",
                   many=True, metavar="CONDITION"),
            Option("--grep", kinds.TEXT,
                   "Only records whose key, value or headers match this regular expression.",
                   many=True, metavar="REGEX"),
            Option("--count", kinds.FLAG, "Print only the number of records.",
                   excludes=("--last", "--limit", "--follow")),
            Option("--keys-only", kinds.FLAG, "Print only the keys.", excludes=("--full",)),
            Option("--raw", kinds.FLAG, "Print raw values, one per line.",
                   excludes=("--full",)),
            Option("--full", kinds.FLAG, "Print each record in full instead of on one line."),
            Option("--isolation-level", kinds.CHOICE,
                   "read_committed: skip aborted transactions, stop at the first open one.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            MAX_BATCH_SIZE,
            Option("--key-format", kinds.CHOICE, "How to decode keys (default: auto).",
                   choices=FORMATS, metavar="FORMAT"),
            Option("--value-format", kinds.CHOICE, "How to decode values (default: auto).",
                   choices=FORMATS, metavar="FORMAT"),
        ),
        shorts=(Short("peek", "read-records"),),
        elsewhere=(
            ("--partition", "Write it after the topic: orders:0, or orders:0,3-5."),
            ("--offset", "Use --from: read-records orders:0 --from 5"),
            ("--from-beginning", "Use --from earliest."),
            ("--max-messages", "Use --limit."),
        ),
        search=("consume", "consumer", "tail", "messages", "kcat", "dump", "search", "grep"),
        description=(
            "Prints the last 10 records (or --limit); with --from, --where, --grep or --count it "
            "reads from the earliest, up to the current log end or --to (exclusive).\n"
            "A time selects the first record with this timestamp or a later one; offset:N is "
            "always an offset.\n"
            "Conditions: key, value, header.NAME, or a path into JSON such as value.user.name; "
            "operators = != < <= > >= =~ !~ (null finds tombstones).\n"
            "Quote conditions that contain < or >.\n"
            "Uses no consumer group, and commits nothing."
        ),
        apis=(1, 2, 3),
        examples=(
            Example("peek orders.placed", "show the last 10 records of a topic"),
            Example("read-records orders.placed:0-1 --from -1h --limit 5",
                    "show the first 5 records of the last hour of two partitions"),
            Example("read-records orders.placed --where 'value.items>=5' --count",
                    "count the orders of 5 items or more"),
            Example("read-records orders.placed --from earliest --limit 3 --output json",
                    "print the first records as JSON, one per line"),
        ),
    ),
)  # fmt: skip
