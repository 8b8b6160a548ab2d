"""Commands that write and copy records (API keys 0, 1, 2 and 22)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kafka_shell import journal, settings
from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.admin.records.copy import CopyRequest, Progress, plan_continue, plan_copy
from kafka_shell.admin.records.mask import Mask
from kafka_shell.admin.records.model import Header, NewRecord
from kafka_shell.admin.records.produce import plan_write
from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position
from kafka_shell.admin.schemas.budget import MissingSchema, NotJson, SchemaError
from kafka_shell.admin.schemas.client import Client
from kafka_shell.admin.schemas.files import LARGEST, SUFFIXES
from kafka_shell.admin.schemas.registry import client_of, no_registry
from kafka_shell.admin.schemas.subjects import RegisterSchemas
from kafka_shell.admin.schemas.write import Encoder, Framed, of_text, registered
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.files import read_text
from kafka_shell.base.plans import Advice, Order, Plan, Secret
from kafka_shell.base.structs import replace
from kafka_shell.base.units import format_time
from kafka_shell.commands.program.journal import entries
from kafka_shell.commands.records import row as lines
from kafka_shell.commands.records.read_records import (
    check_order,
    decoder_of,
    formats_of,
    mask_of,
    position,
)
from kafka_shell.commands.records.row import Input, Parse, parse_row
from kafka_shell.commands.records.spec import READ_COMMITTED, SAVED
from kafka_shell.context import Context, OtherClusterPlan
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language.command import Invocation


class Encoders(Struct, frozen=True):
    """The encoders of keys and values, None for plain ones, and the schemas to register."""

    key: Encoder | None = None
    value: Encoder | None = None
    steps: tuple[RegisterSchemas, ...] = ()

    def encode_key(self, raw: bytes | None) -> bytes | None:
        """The content of a key, which is JSON if it has a schema. Raises ShellError."""
        return _encoded_by(self.key, "key", raw)

    def encode_value(self, raw: bytes | None) -> bytes | None:
        """The content of a value."""
        return _encoded_by(self.value, "value", raw)


def _encoded_by(encoder: Encoder | None, part: str, raw: bytes | None) -> bytes | None:
    if encoder is None or raw is None:
        return raw
    try:
        return encoder.write(raw)
    except SchemaError as error:
        hint = "A string is JSON in quotes: '\"text\"'." if isinstance(error, NotJson) else ""
        raise ShellError(
            f"the {part} does not match its schema: {error}", hint=hint, code="schema"
        ) from None


def encoders_of(invocation: Invocation, context: Context) -> Encoders:
    """The encoders of a command's options. Raises ShellError."""
    if not (invocation["key-format"] or invocation["value-format"]):
        return Encoders()
    client = client_of(context.settings.properties)
    if client is None:
        raise no_registry("a format with a schema")
    key, key_step = _encoder("key", "key-schema", invocation, client)
    value, value_step = _encoder("value", "schema", invocation, client)
    steps = tuple(step for step in (key_step, value_step) if step is not None)
    return Encoders(key, value, steps)


def _encoder(
    part: str, option: str, invocation: Invocation, client: Client
) -> tuple[Encoder | None, RegisterSchemas | None]:
    format, named = invocation[f"{part}-format"], invocation[option]
    if not format:
        return None, None
    subject = f"{invocation['topic']}-{part}"
    message = invocation["message-type"] if part == "value" else ""
    about = ""
    try:
        if named is not None and Path(named).suffix in SUFFIXES:
            about, text = f"{named}: ", read_text(named, largest=LARGEST)
            return of_text(client, format, text, subject, message or "")
        if named is not None and named.isascii() and named.isdigit():
            return registered(client, format, int(named), message or ""), None
        return registered(client, format, named or subject, message or ""), None
    except SchemaError as error:
        raise ShellError(
            f"{about}{error} (nothing was written)",
            hint=f"Use --{option} FILE to register a schema."
            if isinstance(error, MissingSchema)
            else "",
            code="schema",
        ) from None


def write_record(invocation: Invocation, context: Context) -> Plan | NoRows:
    """Write one record, or those of a file."""
    _refuse_combinations(invocation)
    encoders = encoders_of(invocation, context)
    given = _input(invocation, context, encoders)
    if given.count == 0:
        return NoRows("no records in the input: nothing was written")
    framed = Framed(given.windows, encoders.key, encoders.value)
    plan = plan_write(
        context.cluster,
        invocation["topic"],
        framed if encoders.key or encoders.value else given.windows,
        count=given.count,
        codec=CODECS.index(invocation["compression-type"] or "none"),
    )
    if not (encoders.steps and plan.steps):
        return plan
    steps = (*encoders.steps, *plan.steps)
    return replace(plan, steps=steps, order=Order.CHAINED).advised(Advice(confirm=True))


def _refuse_combinations(invocation: Invocation) -> None:
    for name in ("keep-partitions", "keep-timestamps"):
        if invocation[name] and invocation["lines"]:
            raise _wrong(invocation, name, f"--{name} requires rows of JSON, not --lines")
    rows = invocation["from-file"] and not invocation["lines"]
    if rows and invocation["key"] is not None:
        raise _wrong(invocation, "key", "--key cannot be used with rows of JSON: they have a key")


def _wrong(invocation: Invocation, name: str, message: str) -> UsageError:
    return UsageError(message, span=invocation.span(name))


def _input(invocation: Invocation, context: Context, encoders: Encoders) -> Input:
    if invocation["from-file"]:
        return lines.read(invocation, context, _parser(invocation, encoders))
    value = None if invocation["tombstone"] else _bytes(invocation["value"])
    return lines.Input([[(1, _record(invocation, value, encoders))]], 1)


def _record(invocation: Invocation, value: bytes | None, encoders: Encoders) -> NewRecord:
    """A record with the key, headers and partition of the options."""
    key = encoders.encode_key(_bytes(invocation["key"]))
    value = encoders.encode_value(value)
    return NewRecord(key, value, _headers(invocation), invocation["partition"])


def _parser(invocation: Invocation, encoders: Encoders) -> Parse:
    if invocation["lines"]:
        same = _record(invocation, None, encoders)
        return lambda raw: replace(same, value=encoders.encode_value(raw))

    headers, partition = _headers(invocation), invocation["partition"]
    keep_partitions = invocation["keep-partitions"]
    keep_timestamps = invocation["keep-timestamps"]

    def parse(raw: bytes) -> NewRecord | None:
        if not raw.strip():
            return None
        try:
            row = parse_row(
                raw.decode("utf-8-sig"),
                encoders.encode_key if encoders.key else None,
                encoders.encode_value if encoders.value else None,
            )
        except UnicodeDecodeError:
            raise ShellError("not UTF-8 text") from None
        except ShellError as error:
            if error.code == "schema":
                raise
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


# -- The command that copies records, such as those of a dead-letter topic back to their topic -----


def copy_records(invocation: Invocation, context: Context) -> Plan | OtherClusterPlan | NoRows:
    """The plan of a copy, on this cluster or on that of --to-profile."""
    saved = _saved(invocation, context) if invocation["resume"] else None
    profile = invocation["to-profile"] if saved is None else saved["options"]["to-profile"]
    if profile is None:
        return _or_nothing(_plan(invocation, context, context, saved))
    target = _other(profile, invocation, context)
    try:
        plan = on_expected_cluster(target, lambda: _plan(invocation, context, target, saved))
    except BaseException:
        target.close()
        raise
    if not plan.steps:
        target.close()
        return _or_nothing(plan)
    return OtherClusterPlan(plan, target)


def _or_nothing(plan: Plan) -> Plan | NoRows:
    return plan if plan.steps or not plan.refused.ok else NoRows("no records to copy")


def _other(profile: str, invocation: Invocation, context: Context) -> Context:
    """The context of another profile."""
    flags = {"profile": profile}
    found = settings.load_for_line(
        context.settings, flags, context.environ, context.paths.config_file
    )
    target = context.with_settings(found)
    target.cluster.deadline = context.cluster.deadline
    return target


def _plan(
    invocation: Invocation, context: Context, target: Context, saved: dict[str, Any] | None
) -> Plan:
    if saved is not None:
        request, progress = _continued(saved, context, target, invocation["unmask"])
        plan = plan_continue(context.cluster, target.cluster, request, progress)
        return plan.noted(continues=saved["continues"])
    request = _request(invocation, context, target)
    _refuse_same_topic(request, context, target)
    plan = plan_copy(context.cluster, target.cluster, request, report=context.report)
    if not plan.steps:  # it is not shown
        for warning in plan.advice.warnings:
            context.note(warning)
    times = (("from", request.start.time), ("to", request.end.time))
    instants = (f"{invocation[name]} is {format_time(at)}" for name, at in times
                if invocation[name] and at > 0)  # fmt: skip
    return plan.advised(Advice(notes=tuple(instants)))


def _refuse_same_topic(request: CopyRequest, context: Context, target: Context) -> None:
    same = target is context or context.cluster.cluster_id == target.cluster.cluster_id
    if same and request.source == request.target:
        raise ShellError(
            f"topic {request.source} cannot be copied to itself",
            hint="Use another topic with --to-topic, or another cluster with --to-profile.",
            code="same-topic",
        )


def _refuse_unmasked(source: str, mask: Mask, target: str, there: Mask) -> None:
    """Raise ShellError if the copies of masked fields would be shown."""
    for path in mask.of(source):
        if not there.hides(path, target):
            raise ShellError(
                f"{'.'.join(path)} is masked in topic {source}, but not in topic {target}",
                hint="Mask it there, too, or use --unmask if the profile allows it.",
                code="masked",
            )


# -- a new copy ------------------------------------------------------------------------------------


def _request(invocation: Invocation, context: Context, target: Context) -> CopyRequest:
    source, numbers = invocation["source"]
    start = position(invocation, "from", context) or FROM_EARLIEST
    end = position(invocation, "to", context) or TO_LATEST
    if invocation["to-offset"] is not None:
        end = Position(offset=invocation["to-offset"])
    check_order(invocation, start, end, "to" if invocation["to"] else "to-offset")
    saved = {
        "source": source,
        "target": invocation["to-topic"],
        "source_cluster": context.cluster.cluster_id,
        "target_cluster": target.cluster.cluster_id,
        "options": {name: invocation[name] for name in SAVED},
    }
    request = _saved_request(saved, context, target, unmask=invocation["unmask"])
    return replace(request, numbers=numbers, start=start, end=end, limit=invocation["limit"])


def _saved_request(
    saved: dict[str, Any], context: Context, target: Context, *, unmask: bool
) -> CopyRequest:
    """The request with what a later run needs to continue it."""
    source, options = saved["source"], saved["options"]
    mask = mask_of(context, unmask)
    _refuse_unmasked(source, mask, saved["target"], mask_of(target, False))
    return CopyRequest(
        source=source,
        target=saved["target"],
        decoder=decoder_of(options, formats_of(context, [source]), mask, [source]),
        mask=mask,
        committed=(options["isolation-level"] or READ_COMMITTED) == READ_COMMITTED,
        keep_timestamps=options["keep-timestamps"],
        add_headers=options["add-source-headers"],
        codec=CODECS.index(options["compression-type"] or "none"),
        saved=saved,
    )


# -- continuing ------------------------------------------------------------------------------------


def _saved(invocation: Invocation, context: Context) -> dict[str, Any]:
    """The progress of an earlier copy, from the journal."""
    (entry,) = entries([invocation["resume"]], context)
    saved = entry.progress
    if entry.command.split()[0] != invocation.command.name or not saved:
        raise ShellError(
            f"journal entry {entry.id} is not a copy that can be continued", code="no-entry"
        )
    if saved.get("complete"):
        raise ShellError(f"the copy of journal entry {entry.id} is complete", code="complete")
    journal.check_continuable(context, entry.id)
    return saved | {"continues": entry.id}


def _continued(
    saved: dict[str, Any], context: Context, target: Context, unmask: bool
) -> tuple[CopyRequest, Progress]:
    for cluster, side in ((context.cluster, "source"), (target.cluster, "target")):
        if cluster.cluster_id != saved[f"{side}_cluster"]:
            raise ShellError(
                f"the {side} of this copy is cluster {saved[f'{side}_cluster']}, not"
                f" {cluster.cluster_id}",
                hint="Use the profile of that cluster.",
                code="other-cluster",
            )
    saved_request = {name: value for name, value in saved.items() if name != "progress"}
    request = _saved_request(saved_request, context, target, unmask=unmask)
    return request, msgspec.convert(saved["progress"], Progress, strict=False)
