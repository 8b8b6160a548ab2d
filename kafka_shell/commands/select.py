"""Resolve the topics, groups, partitions and brokers a command selects: names, globs, /regexes/."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Results
from kafka_shell.base.text import quote, short
from kafka_shell.base.units import some
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import is_pattern, select, split
from kafka_shell.output.resource_kinds import KINDS
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition

_NAMED = 20  # brokers in a hint
_MAX_NAME_LENGTH = (1 << 15) // 4  # characters; a string in a request has at most 32,767 bytes


def topics(invocation: Invocation, cluster: Cluster, name: str = "topic") -> list[str]:
    """The topics selected by argument `name`, in the order given; patterns match existing topics.

    Names of missing topics are kept, so that each is reported by what is done with it. A pattern
    that matches nothing raises ShellError. Without words: all topics.
    """
    return topics_and_scan(invocation, cluster, name)[0]


def topics_and_scan(
    invocation: Invocation, cluster: Cluster, name: str = "topic"
) -> tuple[list[str], MetadataScan | None]:
    """The selected topics, and the metadata scan if it had to be read to resolve them."""
    words: Sequence[str] = invocation.get(name) or ()
    items = [item for word in words for item in split(word)]
    _refuse_too_long(items, invocation.span(name))
    if items and not any(is_pattern(item) for item in items):
        return list(dict.fromkeys(items)), None
    seen = metadata_scan.scan(cluster)
    return among(invocation, name, sorted(seen.names)), seen


def among(
    invocation: Invocation, name: str, existing: Sequence[str], kind: str = "topic"
) -> list[str]:
    """The selected names, and those that do not exist; all without words. A pattern that matches
    nothing raises ShellError."""
    words = invocation.get(name)
    if not words:
        return list(existing)
    chosen = select([words] if isinstance(words, str) else words, existing)
    _refuse_unmatched(invocation, name, chosen.unmatched, kind)
    return list(dict.fromkeys([*chosen.names, *(word for _, word in chosen.unmatched)]))


def topics_to_change(invocation: Invocation, context: Context) -> list[str]:
    """As `topics`, but an internal topic is selected only by its name or by a pattern that itself
    begins with `_`."""
    names = topics(invocation, context.cluster)
    left_out = _internal(invocation["topic"], names, context)
    return [name for name in names if name not in left_out]


def partitions_to_change(invocation: Invocation, context: Context) -> Results[Resource, Partition]:
    """As `partitions`, but those of an internal topic are selected only by its name or by a pattern
    that itself begins with `_`."""
    rows = partitions(invocation, context.cluster)
    names = dict.fromkeys(row.topic for row in rows)
    left_out = _internal([word for word, _ in invocation["topic"]], names, context)
    kept = {about: each for about, each in rows.values.items() if each.topic not in left_out}
    return Results(kept, rows.failures)


def _internal(words: Iterable[str], names: Iterable[str], context: Context) -> set[str]:
    """The internal topics of these that the words do not select; a note names them."""
    items = [item for word in words for item in split(word)]
    if not any(is_pattern(item) for item in items):
        return set()
    suspects = [name for name in names if name.startswith("_")]
    wanted = [item for item in items if item.lstrip("/^").startswith("_")]
    suspects = sorted({*suspects} - {*select(wanted, suspects).names})
    if not suspects:
        return set()
    metadata = metadata_scan.scan(context.cluster, suspects)
    internal = sorted(name for name in metadata.names if metadata.summary(name).internal)
    if internal:
        context.note(f"internal topics are changed only if they are named: {', '.join(internal)}")
    return set(internal)


def brokers(invocation: Invocation, cluster: Cluster, name: str = "broker-id") -> list[str]:
    """The IDs of the brokers selected by argument `name`. Those that are not running are selected,
    too, so that each is reported by what is done with it."""
    ids = {broker.id for broker in cluster.brokers()}
    items = [item for word in invocation.get(name) or () for item in split(word)]
    if not {*items} <= {*map(str, ids)}:
        from kafka_shell.admin.cluster.registrations import not_running

        ids |= not_running(cluster)
    return brokers_among(invocation, sorted(ids), name)


def brokers_among(invocation: Invocation, ids: Iterable[int], name: str = "broker-id") -> list[str]:
    """The IDs that are selected by argument `name`. Raises ShellError if one is not in `ids`."""
    existing = list(map(str, ids))
    chosen = select(invocation.get(name) or (), existing)
    if chosen.unmatched:
        index, word = chosen.unmatched[0]
        raise unknown_broker(word, existing, invocation.span(name, index))
    return list(chosen.names)


def unknown_broker(word: str, ids: Iterable[object], span: tuple[int, int] | None) -> ShellError:
    """The error for a broker that is not in `ids`."""
    return ShellError(
        f"broker {word} does not exist",
        hint=f"Use one of: {some(list(ids), _NAMED)}.",
        code="no-match",
        span=span,
    )


def broker_id(word: str, span: tuple[int, int] | None) -> int:
    """The ID of a broker that need not be running. Raises UsageError if it is not a number."""
    if not word.isdecimal() or int(word) >= 1 << 31:
        raise UsageError(
            f"'{word}' is not a broker ID",
            hint="Use a number, such as 4.",
            span=span,
        )
    return int(word)


def _refuse_too_long(items: Sequence[str], span: tuple[int, int] | None) -> None:
    """Refuse a name too long for a request: brokers would close the connection without an error."""
    for item in items:
        if len(item) > _MAX_NAME_LENGTH:
            raise ShellError(
                f"topic name '{item[:20]}…' has {len(item):,} characters; the maximum is 249",
                code="INVALID_TOPIC_EXCEPTION",
                span=span,
            )


def _refuse_unmatched(
    invocation: Invocation, name: str, unmatched: Sequence[tuple[int, str]], kind: str = "topic"
) -> None:
    for index, word in unmatched:
        if is_pattern(word):
            raise ShellError(
                f"no {KINDS[kind].term or kind} matches '{word}'",
                hint=hint_of_quotes(word) or f"Run {KINDS[kind].all} to see the names.",
                code="no-match",
                span=invocation.span(name, index),
            )


def hint_of_quotes(word: str) -> str:
    """The hint for a pattern that is quoted twice, so that quotes are part of it; else ""."""
    if len(word) < 3 or word[0] != word[-1] or word[0] not in "'\"":
        return ""
    return f"The quotes are part of the pattern. Use {quote(word[1:-1])}."


def listed(
    words: Sequence[str], names: Sequence[str], noun: str, context: Context
) -> Sequence[str] | NoRows:
    """The selected names, all without words, or the row for none; a note names words that match
    nothing."""
    if not words:
        return names
    chosen = select(words, names)
    if chosen.names:
        if chosen.unmatched:
            missing = ", ".join(f"'{word}'" for _, word in chosen.unmatched)
            context.note(f"no {noun} matches {missing}")
        return chosen.names
    joined = short(" ".join(words))
    hint = "" if any(map(is_pattern, words)) else f"; use '*{joined}*' to match part of a name"
    if quotes := hint_of_quotes(joined):
        return NoRows(f"no {noun} matches {joined}. {quotes}")
    return NoRows(f"no {noun} matches '{joined}'{hint}")


def partitions(
    invocation: Invocation,
    cluster: Cluster,
    name: str = "topic",
    *,
    among: Collection[str] | None = None,
) -> Results[Resource, Partition]:
    """The partitions selected by argument `name` (`orders:0,3-5`, `svc-*`), by topic and number.

    Each missing topic or partition is a failure. A pattern that matches nothing raises ShellError.
    Without words: all partitions. Patterns match only topics in `among`; None is all.
    """
    from kafka_shell.admin.topics import partitions as partitions_module

    words: Sequence[tuple[str, tuple[int, ...] | None]] = invocation.get(name) or ()
    for index, (word, _) in enumerate(words):
        _refuse_too_long(split(word), invocation.span(name, index))
    items = [item for word, _ in words for item in split(word)]
    exact = bool(items) and not any(is_pattern(item) for item in items)
    metadata = metadata_scan.scan(cluster, list(dict.fromkeys(items)) if exact else None)
    existing = sorted(each for each in metadata.names if among is None or each in among)
    requested: dict[str, dict[int, None] | None] = {} if words else dict.fromkeys(existing)
    for index, (word, numbers) in enumerate(words):
        chosen = select([word], existing)
        unmatched = [(index, item) for _, item in chosen.unmatched]
        _refuse_unmatched(invocation, name, unmatched)
        for topic in [*chosen.names, *(item for _, item in unmatched)]:
            before = requested.get(topic, {})
            if numbers is None or before is None:
                requested[topic] = None
            else:
                requested[topic] = before | dict.fromkeys(numbers)
    return partitions_module.of_topics(cluster, metadata, requested)


def topic_partitions(chosen: Results[Resource, Partition]) -> list[TopicPartition]:
    """The partitions that were selected and exist."""
    return [TopicPartition(partition.topic, partition.partition) for partition in chosen]
