"""The command that lists topics (KIP-4)."""

from __future__ import annotations

from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.base.command_results import LazyRows, Listing, NoRows
from kafka_shell.commands import select
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.failures import in_one_line
from kafka_shell.wire.metadata_scan import MetadataScan

NO_TOPIC = NoRows("no topics (topics without DESCRIBE permission are hidden)")
_UNREAD = "reassignments could not be read, so replicas that are being added count as out of sync"


def list_topics(invocation: Invocation, context: Context) -> Listing | NoRows:
    """The names of topics; with --long also their counts."""
    metadata = metadata_scan.scan(context.cluster)
    if invocation["long"] or (invocation["output"] or context.settings.output) != "table":
        metadata = scan_reassigned(context.cluster, seen=metadata)
        note_unread(metadata, context)
    names = select.listed(invocation["topic"], sorted(metadata.names), "topic", context)
    if isinstance(names, NoRows):
        return names
    if not names:
        return NO_TOPIC
    if invocation["exclude-internal"]:
        names = [name for name in names if not metadata.summary(name).internal]
    return Listing(LazyRows(names, metadata.summary), long=invocation["long"])


def note_unread(metadata: MetadataScan, context: Context) -> None:
    if metadata.reassignments_unread is not None:
        context.note(f"{_UNREAD}: {in_one_line(metadata.reassignments_unread)}")
