"""Commands that write records (API keys 0 and 22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from kafka_shell.admin.records.model import Header, NewRecord
    from kafka_shell.base.plans import Secret
    from kafka_shell.commands.records.row import Input, Parse
    from kafka_shell.context import Context


class _Header(kinds.Pair):
    """key=value, whose value is not shown again."""

    def format(self, value: tuple[str, str]) -> str:
        return f"{value[0]}=***"


_HEADER = _Header("header", metavar="KEY=VALUE")


def write_record(invocation: Invocation, context: Context) -> Plan | NoRows:
    """Write one record, or those of a file."""
    from kafka_shell.admin.records.produce import plan_write

    _refuse_combinations(invocation)
    given = _input(invocation, context)
    if given.count == 0:
        return NoRows("no records in the input: nothing was written")
    return plan_write(
        context.cluster,
        invocation["topic"],
        given.windows,
        count=given.count,
        codec=CODECS.index(invocation["compression-type"] or "none"),
    )


def _refuse_combinations(invocation: Invocation) -> None:
    for name in ("keep-partitions", "keep-timestamps"):
        if invocation[name] and invocation["lines"]:
            raise _wrong(invocation, name, f"--{name} requires rows of JSON, not --lines")
    rows = invocation["from-file"] and not invocation["lines"]
    if rows and invocation["key"] is not None:
        raise _wrong(invocation, "key", "--key cannot be used with rows of JSON: they have a key")


def _wrong(invocation: Invocation, name: str, message: str) -> UsageError:
    return UsageError(message, span=invocation.span(name), text=invocation.text)


def _input(invocation: Invocation, context: Context) -> Input:
    from kafka_shell.commands.records import row as lines

    if invocation["from-file"]:
        return lines.read(invocation, context, _parser(invocation))
    value = None if invocation["tombstone"] else _bytes(invocation["value"])
    return lines.Input([[(1, _record(invocation, value))]], 1)


def _record(invocation: Invocation, value: bytes | None) -> NewRecord:
    """A record with the key, headers and partition of the options."""
    from kafka_shell.admin.records.model import NewRecord

    return NewRecord(
        _bytes(invocation["key"]), value, _headers(invocation), invocation["partition"]
    )


def _parser(invocation: Invocation) -> Parse:
    from kafka_shell.base.structs import replace

    if invocation["lines"]:
        same = _record(invocation, None)
        return lambda raw: replace(same, value=raw)

    from kafka_shell.commands.records.row import parse_row

    headers, partition = _headers(invocation), invocation["partition"]
    keep_partitions = invocation["keep-partitions"]
    keep_timestamps = invocation["keep-timestamps"]

    def parse(raw: bytes) -> NewRecord | None:
        if not raw.strip():
            return None
        try:
            row = parse_row(raw.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ShellError("not UTF-8 text") from None
        except ShellError as error:
            hint = error.hint or "To write each line as a value, use --lines."
            raise ShellError(error.message, hint=hint, code=error.code) from None
        if keep_partitions and row.partition is None:
            raise ShellError("the row has no partition, which --keep-partitions requires")
        return replace(
            row,
            headers=row.headers + headers,
            partition=row.partition if keep_partitions else partition,
            timestamp=row.timestamp if keep_timestamps else None,
        )

    return parse


def _headers(invocation: Invocation) -> tuple[Header, ...]:
    return tuple((key, _encoded(value)) for key, value in invocation["header"])


def _bytes(secret: Secret | None) -> bytes | None:
    return None if secret is None else _encoded(secret.reveal())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="write-record",
        summary="Write a record to a topic, or the records of a file.",
        family="records",
        run=write_record,
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", kinds.TOPIC, "The topic.", option="--topic"),
            Argument("value", kinds.SECRET, "The value of the record.", required=False,
                     option="--value"),
        ),
        options=(
            Option("--key", kinds.SECRET, "The key, which determines the partition.",
                   metavar="KEY"),
            Option("--header", _HEADER, "A header; may be repeated.", many=True),
            Option("--partition", kinds.INTEGER, "Write to this partition.", least=0,
                   most=(1 << 31) - 1, excludes=("--keep-partitions",)),
            Option("--tombstone", kinds.FLAG, "Write a null value, which deletes the key.",
                   requires=("--key",)),
            Option("--from-file", kinds.FILE,
                   "Write the rows of a file, as read-records --output json prints them; - is"
                   " standard input.", metavar="FILE"),
            Option("--lines", kinds.FLAG, "Each line of the file is a value, not a row of JSON.",
                   requires=("--from-file",)),
            Option("--keep-partitions", kinds.FLAG, "Write each row to its partition.",
                   requires=("--from-file",)),
            Option("--keep-timestamps", kinds.FLAG, "Write each row with its timestamp.",
                   requires=("--from-file",)),
            Option("--compression-type", kinds.CHOICE, "Codec of the batches (default: none).",
                   choices=CODECS),
        ),
        exactly_one=(("value", "tombstone", "from-file"),),
        shorts=(Short("produce", "write-record"),),
        search=("send", "publish", "producer", "message", "insert"),
        description=(
            "Keys select partitions as in Kafka's Java producer; a record without a key goes to "
            "any partition.\n"
            "Records are written exactly once, with acks=all; writing is irreversible.\n"
            "Rows have key, value and headers; partition and timestamp are used only with "
            "--keep-partitions and --keep-timestamps.\n"
            "All lines of a file are checked before the first record is written; standard input "
            "is written as it arrives.\n"
            "The journal records offsets, never keys or values."
        ),
        apis=(0, 22),
        examples=(
            Example("write-record parcels.delivered '{\"parcel\": 4711}' --key 4711",
                    "write one record"),
            Example("write-record orders.placed --key 4711 --tombstone --dry-run",
                    "preview a record that deletes a key"),
        ),
    ),
)  # fmt: skip
