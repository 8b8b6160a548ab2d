"""What is collected, cut into slices that executors read. Plain data: it travels as JSON.

A target names a profile or an address, never a secret: whoever reads it looks the profile up where
it runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .table import Slice

# How much one task reads. A task costs Spark some tens of milliseconds, so slices are not small;
# a cluster of 100,000 topics still makes enough of them for a hundred cores.
TOPICS_A_SLICE = 1_000
GROUPS_A_SLICE = 500


@dataclass(frozen=True, slots=True)
class Target:
    """One cluster to be collected: where it is, and what names the login to it.

    `profile` is looked up in `config_file`; `command_config` is a .properties file; `properties`
    are client settings that were spelt out, no secret among them.
    """

    name: str
    profile: str = ""
    bootstrap: str = ""
    config_file: str = ""
    command_config: str = ""
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """What a cluster holds, as far as slices are cut by it."""

    topics: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """One task: the `tables` of one slice of one cluster, over one connection."""

    target: Target
    tables: tuple[str, ...]
    names: tuple[str, ...] = ()

    @property
    def slice(self) -> Slice:
        """What the readers are handed."""
        return Slice(self.target.name, self.names)


def cut(target: Target, survey: Survey, tables_by: Mapping[str, Sequence[str]]) -> tuple[Work, ...]:
    """The slices of one cluster. `tables_by` are the tables wanted, by what slices them."""
    names: dict[str, Sequence[tuple[str, ...]]] = {
        "cluster": [()],
        "topics": _chunks(survey.topics, TOPICS_A_SLICE),
        "groups": _chunks(survey.groups, GROUPS_A_SLICE),
        "brokers": [(broker,) for broker in survey.brokers],
        "none": [],  # its rows come from reading the others
    }
    return tuple(
        Work(target, tuple(tables), chunk)
        for by, tables in tables_by.items()
        if tables
        for chunk in names[by]
    )


def _chunks(names: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(names[at : at + size]) for at in range(0, len(names), size)]


def to_json(works: Iterable[Work]) -> str:
    """The works as one option of the data source."""
    return json.dumps([asdict(work) for work in works])


def from_json(text: str) -> tuple[Work, ...]:
    """What `to_json` wrote."""
    return tuple(
        Work(_target(work["target"]), tuple(work["tables"]), tuple(work["names"]))
        for work in json.loads(text)
    )


def _target(data: dict[str, Any]) -> Target:
    return Target(**{**data, "properties": tuple(data["properties"])})
