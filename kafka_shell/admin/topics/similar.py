"""Similar names for topics that do not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kafka_shell.base.errors import ShellError, near_miss
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.metadata_scan import scan

_MOST_UNKNOWN = 10  # more unknown names than this are an outdated list, not typing errors
_MANY = 2_000  # with more topics, comparing all names takes too long
_TOO_MANY = 20_000
_LENGTHS = 3  # ... so names of about the same length are compared

_INVALID = re.compile(r"[^a-zA-Z0-9._-]")

K = TypeVar("K")


def invalid_characters(name: str) -> str:
    """The characters that no topic name contains, for a message: `a space, @`; empty if none."""
    invalid = dict.fromkeys(_INVALID.findall(name))
    return ", ".join("a space" if char == " " else escape(char) for char in invalid)


def with_near_misses(
    cluster: Cluster, failures: Mapping[K, Failure], name_of: Callable[[K], str]
) -> dict[K, Failure]:
    """The failures; the hint of an unknown topic is a similar name, an invalid name is explained.

    Lists all topics once.
    """
    explained = {key: _explained(failure, name_of(key)) for key, failure in failures.items()}
    missing = [
        key
        for key, failure in failures.items()
        if failure.code == UNKNOWN_TOPIC_OR_PARTITION and not failure.hint and name_of(key)
    ]
    if not 0 < len(missing) <= _MOST_UNKNOWN:
        return explained
    try:
        names = scan(cluster).names
    except ShellError:
        return explained
    for key in missing:
        near = _similar_name(name_of(key), names)
        if near is not None:
            explained[key] = replace(explained[key], hint=f"Did you mean {near}?")
    return explained


def _explained(failure: Failure, name: str) -> Failure:
    characters = invalid_characters(name)
    if failure.code != INVALID_TOPIC_EXCEPTION or not characters:
        return failure
    return replace(
        failure,
        message=f"topic '{escape(name)}': the name contains {characters};"
        " only letters, digits, '.', '_' and '-' are allowed",
    )


def _similar_name(name: str, names: Sequence[str]) -> str | None:
    if len(names) > _MANY:
        first = name[0].lower()
        names = [
            known
            for known in names
            if known[0].lower() == first and abs(len(known) - len(name)) <= _LENGTHS
        ]
    if len(names) > _TOO_MANY:
        return None
    return near_miss(name, (known for known in names if known != name))
