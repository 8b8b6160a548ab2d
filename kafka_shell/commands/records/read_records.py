"""The commands that read records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_shell.admin.partitions.model import EARLIEST, LATEST, TopicPartition
from kafka_shell.admin.records import read
from kafka_shell.admin.records.codecs import MOST_BYTES
from kafka_shell.admin.records.decode import Decoder
from kafka_shell.admin.records.fetching import Span
from kafka_shell.admin.records.formats import AUTO, Formats
from kafka_shell.admin.records.internal_topics import TOPICS
from kafka_shell.admin.records.mask import NO_MASK, Mask, parse_path
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import Position, Reading, last
from kafka_shell.admin.records.share import Acknowledgement, ConsumeRecords, plan_consume
from kafka_shell.admin.records.where import RecordFilter, check_masked
from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.registry import SchemaRegistry, registry_of
from kafka_shell.base.command_results import NoRows, StreamedOutput
from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.files import bad_file
from kafka_shell.base.plans import Plan, Resource
from kafka_shell.base.results import Failure, Parts, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import odd_hour
from kafka_shell.commands import select
from kafka_shell.commands.options import future_warning, offset_or_time
from kafka_shell.commands.records.record_table import Printer
from kafka_shell.commands.records.spec import READ_COMMITTED
from kafka_shell.config_file import TopicRule
from kafka_shell.context import Context
from kafka_shell.identity import masks_of
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import select as matching
from kafka_shell.output.errors import draw_note
from kafka_shell.output.styled_stream import StyledStream, stop_if_closed
from kafka_shell.wire.client_properties import Property, bad

if TYPE_CHECKING:
    from kafka_shell.admin.schemas.files import FileSchema


_OF_KEYS = {"key-format", "key-schema", "key-message-type"}
_OF_VALUES = {"value-format", "schema", "message-type"}


def mask_of(context: Context, unmask: bool) -> Mask:
    """What is masked; nothing with --unmask, if the profiles that mask allow it. Raises ShellError
    with file and line."""
    rules = masks_of(context)
    for rule in rules:
        try:
            kinds.check(rule.topics)
            for path in rule.mask:
                parse_path(path)
        except UsageError as error:
            raise bad(rule.settings["mask"].where, error.message, error.hint) from None
    if unmask and not all(rule.unmask for rule in rules):
        raise ShellError(
            "--unmask is not allowed: fields are masked by a profile",
            hint="The profile that masks them must have unmask = true.",
            code="masked",
            status=Status.WRONG,
        )
    if unmask or not rules:
        return NO_MASK
    return Mask(lambda topic: [path for rule in _rules(rules, topic) for path in rule.mask])


def _rules(rules: Iterable[TopicRule], topic: str) -> Iterator[TopicRule]:
    return (rule for rule in rules if matching([rule.topics], [topic]).names)


def formats_of(
    context: Context,
    topics: Iterable[str],
    invocation: Invocation | None = None,
    mask: Mask = NO_MASK,
) -> Formats:
    """The formats and schemas of these options, or of the profile for these topics, else auto, with
    the schema registry of the profile, if it has one. Raises ShellError."""
    registry = registry_of(context.settings.properties)
    options = {
        name: Property(invocation[name], f"--{name}")
        for name in ("key-format", "value-format", "schema", "message-type")
        if invocation is not None and invocation[name] is not None
    }
    found: dict[str, Formats] = {}
    of_topics: dict[str, Formats] = {}
    for topic in sorted(topics):
        if "schema" in options and mask.of(topic):
            raise UsageError(
                f"--schema cannot be used with topic {topic}: its fields are masked by name",
                hint="Set schema in the profile, or use --unmask if the profile allows it.",
                code="masked",
            )
        rules = [rule.settings for rule in _rules(context.settings.topics, topic)]
        settings = _chosen([options, *rules])
        if settings != options:
            strict = bool(mask.of(topic))  # another schema may name the fields otherwise
            same = repr([strict, *((name, each.value) for name, each in settings.items())])
            if same not in found:
                found[same] = _formats(settings, registry, strict=strict)
            of_topics[topic] = found[same]
    return _formats(options, registry, of_topics)


def _chosen(sources: Sequence[Mapping[str, Property]]) -> dict[str, Property]:
    """The settings of keys, and those of values, of the first that has any."""
    chosen: dict[str, Property] = {}
    for group in (_OF_KEYS, _OF_VALUES):
        found = next((each for each in sources if not group.isdisjoint(each)), {})
        chosen |= {name: found[name] for name in found if name in group}
    return chosen


def _formats(
    settings: Mapping[str, Property],
    registry: SchemaRegistry | None,
    topics: Mapping[str, Formats] | None = None,
    *,
    strict: bool = False,
) -> Formats:
    def text(name: str) -> str:
        return settings[name].value if name in settings else ""

    def schema(name: str, message: str) -> FileSchema | None:
        if name not in settings:
            return None
        from kafka_shell.admin.schemas.files import file_schema  # imports ssl

        try:
            return file_schema(text(name), text(message))
        except SchemaError as error:
            raise bad_file(text(name), str(error)) from None

    try:
        return Formats(
            text("key-format") or AUTO, text("value-format") or AUTO, registry,
            schema("schema", "message-type"), schema("key-schema", "key-message-type"), topics,
            strict=strict,
        )  # fmt: skip
    except UsageError as error:
        own = [each.where for name, each in settings.items() if each.own and "format" in name]
        raise bad(own[0], error.message, error.hint) if own else error from None


def decoder_of(
    options: Mapping[str, Any], formats: Formats, mask: Mask, topics: Collection[str]
) -> Decoder:
    """The decoder for the conditions and the batch size of these options. Records of internal
    topics are decoded. Raises UsageError, also for a condition on what is masked."""
    where, grep = options["where"], options["grep"]
    check_masked(where, grep, mask, topics)
    decoded = formats.has_schemas or not TOPICS.isdisjoint(topics)
    keep = RecordFilter(where, grep, formats, schemas=decoded) if where or grep else None
    most = options["max-batch-size"]
    return Decoder(keep) if most is None else Decoder(keep, most)


def position(invocation: Invocation, name: str, context: Context) -> Position | None:
    """The position that this option names; None without the option."""
    text: str | None = invocation[name]
    if text is None:
        return None
    if text in ("earliest", "latest"):
        return Position(time=EARLIEST if text == "earliest" else LATEST)
    try:
        now = int(context.clock() * 1000)
        offset, time = offset_or_time(text, now)
        if time is None:
            return Position(offset)
        if note := odd_hour(text, time, now):
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


T = TypeVar("T")
_LAST = 10  # records without any option that selects some

# Options with which all records are read, not the last ones.
_SELECTING = ("from", "where", "grep", "count")


def read_records(
    invocation: Invocation, context: Context
) -> StreamedOutput | Parts[object, object] | NoRows:
    """Records of partitions, as they arrive."""
    work = _Reading(invocation, context)
    if not work.spans.values and not work.failures:
        return NoRows("no partitions")
    if invocation["count"]:
        return StreamedOutput(work.count(), work.failures)
    several = len({each.topic for each in work.spans.values}) > 1
    printer = Printer(invocation, context, work.formats, work.mask, several)
    return printer.output(work.blocks(), work.failures, work.values)


class _Reading:
    """What one command reads. `failures` is filled while it is read."""

    def __init__(self, invocation: Invocation, context: Context) -> None:
        self._invocation, self._context = invocation, context
        self._committed = invocation["isolation-level"] == READ_COMMITTED
        self._follow = bool(invocation["follow"])
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
        partitions = select.topic_partitions(chosen)
        topics = {where.topic for where in partitions}
        self.mask = mask_of(context, invocation["unmask"])
        self.formats = formats_of(context, topics, invocation, self.mask)
        self._decoder = decoder_of(invocation.values, self.formats, self.mask, topics)
        self.failures: dict[Resource, Failure] = dict(chosen.failures)
        self.spans: Results[TopicPartition, Span] = read.spans(
            context.cluster, partitions, start, end,
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
            or any(self.mask.of(where.topic) for where in self.spans.values)
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
        before = getattr(self._context.report, "clear", None)
        draw_note(message, StyledStream(self._context.err, before=before), label=label)


# Records of a share group.


def consume_records(invocation: Invocation, context: Context) -> Plan:
    """Acquire the next records of a share group, acknowledge and print them, also if Ctrl-C comes
    between."""
    plan, records = plan_consume(
        context.cluster,
        invocation["group"],
        select.topics(invocation, context.cluster) if invocation["topic"] else None,
        Acknowledgement[(invocation["acknowledge"] or "release").upper()],
        invocation["limit"] or _LAST,
        most_bytes=invocation["max-batch-size"] or MOST_BYTES,
    )
    steps = [each for each in plan.steps if isinstance(each, ConsumeRecords)]
    topics = [name for each in steps for name in each.topics]
    mask = mask_of(context, invocation["unmask"])
    formats = formats_of(context, topics, invocation, mask)

    def acquired() -> StreamedOutput | Parts[object, object]:
        several = len({record.topic for record in records}) > 1
        printer = Printer(invocation, context, formats, mask, several)
        return printer.output([records], {}, lambda: None)

    return plan.noted(made=lambda: (acquired(),))
