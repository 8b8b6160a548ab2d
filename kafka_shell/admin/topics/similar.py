"""The topic that was probably meant, for one that is not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.errors import ShellError, near_miss
from kafka_shell.plan.results import Failure

_UNKNOWN_TOPIC = 3
_LOOKED_FOR = 10  # names missing at once after which nobody mistyped: a whole list is out of date
_MANY = 2_000  # names beyond which a comparison with each takes too long
_TOO_MANY = 20_000
_LENGTHS = 3  # ... and a name is compared with those as long, give or take

K = TypeVar("K")


def with_near_misses(
    cluster: Cluster, failures: Mapping[K, Failure], name_of: Callable[[K], str]
) -> dict[K, Failure]:
    """The failures; those of unknown topics name the near miss, for one more look at all names."""
    missing = [
        key
        for key, why in failures.items()
        if why.code == _UNKNOWN_TOPIC and not why.hint and name_of(key)
    ]
    found = dict(failures)
    if not 0 < len(missing) <= _LOOKED_FOR:
        return found
    try:
        names = scan(cluster).names
    except ShellError:
        return found
    for key in missing:
        near = _near(name_of(key), names)
        if near is not None:
            found[key] = replace(found[key], hint=f"Did you mean {near}?")
    return found


def _near(name: str, names: Sequence[str]) -> str | None:
    if len(names) > _MANY:
        first = name[0].lower()
        names = [
            each
            for each in names
            if each[0].lower() == first and abs(len(each) - len(name)) <= _LENGTHS
        ]
    if len(names) > _TOO_MANY:
        return None
    return near_miss(name, (each for each in names if each != name))
