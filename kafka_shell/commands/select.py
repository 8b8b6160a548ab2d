"""Which topics or brokers a line means: names, globs and /regular expressions/."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError
from kafka_shell.language.command import Invocation
from kafka_shell.language.selectors import is_pattern, select, split

if TYPE_CHECKING:
    from kafka_shell.admin.topics.model import Partition
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.admin.wire.metadata_scan import MetadataScan
    from kafka_shell.plan.model import Resource
    from kafka_shell.plan.results import Results

_LONGEST = (1 << 15) // 4  # characters; of a string in a request, 32,767 bytes


def topics(invocation: Invocation, cluster: Cluster, name: str = "topic") -> list[str]:
    """The topics that `name`'s words mean, in the order given; patterns are matched on the cluster.

    A name that is not there stays: what is done with it tells. A pattern that matches nothing is
    an error. No words at all mean every topic.
    """
    return seen_topics(invocation, cluster, name)[0]


def seen_topics(
    invocation: Invocation, cluster: Cluster, name: str = "topic"
) -> tuple[list[str], MetadataScan | None]:
    """The same, and the metadata of all topics, where it took them to know."""
    words: Sequence[str] = invocation.get(name) or ()
    items = [item for word in words for item in split(word)]
    _refuse_endless(items, invocation.span(name))
    if items and not any(is_pattern(item) for item in items):
        return list(dict.fromkeys(items)), None
    from kafka_shell.admin.wire import metadata_scan

    seen = metadata_scan.scan(cluster)
    existing = seen.names
    if not words:
        return sorted(existing), seen
    chosen = select(words, sorted(existing))
    _refuse_unmatched(invocation, name, chosen.unmatched, "topic")
    missing = [word for _, word in chosen.unmatched]  # names: each has an error of its own
    return list(dict.fromkeys([*chosen.names, *missing])), seen


def brokers(invocation: Invocation, cluster: Cluster, name: str = "broker-id") -> list[str]:
    """The ids of the brokers that `name`'s words mean."""
    words: Sequence[str] = invocation.get(name) or ()
    existing = [str(broker.id) for broker in cluster.brokers()]
    chosen = select(words, existing)
    if chosen.unmatched:
        index, word = chosen.unmatched[0]
        raise ShellError(
            f"no broker {word}",
            hint=f"This cluster has {', '.join(existing)}.",
            code="no-match",
            span=invocation.span(name, index),
        )
    return list(chosen.names)


def _refuse_endless(items: Sequence[str], span: tuple[int, int] | None) -> None:
    """A name that no request can hold: a broker hangs up on it without a word."""
    for item in items:
        if len(item) > _LONGEST:
            raise ShellError(
                f"{item[:20]}… is no topic: a name has at most 249 characters, not {len(item):,}",
                code="INVALID_TOPIC_EXCEPTION",
                span=span,
            )


def _refuse_unmatched(
    invocation: Invocation, name: str, unmatched: Sequence[tuple[int, str]], noun: str
) -> None:
    patterns = [(index, word) for index, word in unmatched if is_pattern(word)]
    if patterns:
        index, word = patterns[0]
        raise ShellError(
            f"no {noun} matches {word}",
            hint="Look: list-topics",
            code="no-match",
            span=invocation.span(name, index),
        )


def matching(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that the words mean; nothing matched is an empty list (`list-*` finds nothing)."""
    return list(select(words, names).names)


def partitions(
    invocation: Invocation, cluster: Cluster, name: str = "topic"
) -> Results[Resource, Partition]:
    """The partitions that `name`'s words mean (`orders:0,3-5`, `svc-*`), by topic and number.

    What is not there is a failure of its own; a pattern that matches nothing is an error. No words
    at all mean every partition.
    """
    from kafka_shell.admin.topics import partitions as partitions_module
    from kafka_shell.admin.wire.metadata_scan import scan

    words: Sequence[tuple[str, tuple[int, ...] | None]] = invocation.get(name) or ()
    for index, (word, _) in enumerate(words):
        _refuse_endless(split(word), invocation.span(name, index))
    items = [item for word, _ in words for item in split(word)]
    exact = bool(items) and not any(is_pattern(item) for item in items)
    found = scan(cluster, list(dict.fromkeys(items)) if exact else None)
    existing = sorted(found.names)
    wanted: dict[str, dict[int, None] | None] = {} if words else dict.fromkeys(existing)
    for index, (word, numbers) in enumerate(words):
        chosen = select([word], existing)
        unmatched = [(index, item) for _, item in chosen.unmatched]
        _refuse_unmatched(invocation, name, unmatched, "topic")
        for topic in [*chosen.names, *(item for _, item in unmatched)]:
            before = wanted.get(topic, {})
            if numbers is None or before is None:
                wanted[topic] = None
            else:
                wanted[topic] = before | dict.fromkeys(numbers)
    return partitions_module.of_topics(cluster, found, wanted)
