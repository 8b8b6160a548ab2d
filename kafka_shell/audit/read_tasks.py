"""The tasks of a collection, which Spark executors receive as JSON.

A target contains a profile name or an address, never a secret: executors look up the profile
themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar

import msgspec
from msgspec import Struct

from kafka_shell.admin.wire.chunks import in_slices

# The size of a task. A Spark task costs some tens of milliseconds, so slices are not small, but
# 100,000 topics are still enough slices for a hundred cores.
TOPICS_PER_SLICE = 1_000
GROUPS_PER_SLICE = 500
# Positions in a log that are sampled, and the bytes per second of a task.
PLACES = ("earliest", "middle", "latest")
BYTES_PER_SECOND = 20_000_000
# The task of this thread, for readers that depend on more than a slice.
CURRENT: ContextVar[ReadTask] = ContextVar("task")


class Target(Struct, frozen=True):
    """A cluster to collect: its address and where its credentials are.

    `profile` is looked up in `config_file`; `command_config` is a .properties file; `properties`
    are client properties of the command line, without secrets.
    """

    name: str
    profile: str = ""
    bootstrap: str = ""
    config_file: str = ""
    command_config: str = ""
    properties: tuple[str, ...] = ()


class ClusterNames(Struct, frozen=True):
    """The names by which the tasks of a cluster are sliced."""

    topics: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Sampling(Struct, frozen=True):
    """How logs are sampled: the positions in each partition (the older ones may be in cold
    segments), and the bytes per second of each task, or 0 for no limit."""

    places: tuple[str, ...] = PLACES
    bytes_per_second: int = BYTES_PER_SECOND


SAMPLING = Sampling()


class ReadTask(Struct, frozen=True):
    """A task: reads `tables` of one slice of one cluster over one connection."""

    target: Target
    tables: tuple[str, ...]
    names: tuple[str, ...] = ()
    sampling: Sampling = SAMPLING


def split(
    target: Target,
    names: ClusterNames,
    tables_by: Mapping[str, Sequence[str]],
    sampling: Sampling = SAMPLING,
) -> tuple[ReadTask, ...]:
    """Return the tasks of one cluster. `tables_by` are the tables by the `by` of Table."""
    slices: dict[str, Sequence[tuple[str, ...]]] = {
        "cluster": [()],
        "topics": [tuple(part) for part in in_slices(names.topics, TOPICS_PER_SLICE)],
        "groups": [tuple(part) for part in in_slices(names.groups, GROUPS_PER_SLICE)],
        "brokers": [(broker,) for broker in names.brokers],
        "none": [],  # rows are added while other tables are read
    }
    return tuple(
        ReadTask(target, tuple(tables), chunk, sampling)
        for by, tables in tables_by.items()
        if tables
        for chunk in slices[by]
    )


def to_json(tasks: Sequence[ReadTask]) -> str:
    """Encode tasks as an option of the data source."""
    return msgspec.json.encode(tasks).decode()


def from_json(text: str) -> tuple[ReadTask, ...]:
    """Decode the output of `to_json`."""
    return msgspec.json.decode(text, type=tuple[ReadTask, ...])
