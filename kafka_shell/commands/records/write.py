"""Commands that write records (API keys 0 and 22)."""

from __future__ import annotations

from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.admin.records.model import Header, NewRecord
from kafka_shell.admin.records.produce import plan_write
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Plan, Secret
from kafka_shell.base.structs import replace
from kafka_shell.commands.records import row as lines
from kafka_shell.commands.records.row import Input, Parse, parse_row
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def write_record(invocation: Invocation, context: Context) -> Plan | NoRows:
    """Write one record, or those of a file."""
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
    if invocation["from-file"]:
        return lines.read(invocation, context, _parser(invocation))
    value = None if invocation["tombstone"] else _bytes(invocation["value"])
    return lines.Input([[(1, _record(invocation, value))]], 1)


def _record(invocation: Invocation, value: bytes | None) -> NewRecord:
    """A record with the key, headers and partition of the options."""
    return NewRecord(
        _bytes(invocation["key"]), value, _headers(invocation), invocation["partition"]
    )


def _parser(invocation: Invocation) -> Parse:
    if invocation["lines"]:
        same = _record(invocation, None)
        return lambda raw: replace(same, value=raw)

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
