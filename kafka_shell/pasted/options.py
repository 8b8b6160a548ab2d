"""Options of a pasted line of Kafka's own tools, and the same under their names here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field

from kafka_shell.base.errors import UsageError

Given = dict[str, list[str]]
"""Options of the pasted line and their values, in order; "" holds the words before any option."""

_EVERYWHERE = {"--bootstrap-server": "--broker", "--zookeeper": "", "--broker-list": "--broker",
               "--force": "--yes"}  # fmt: skip


class Action(Struct, frozen=True):
    """What one of a tool's actions is called here. `renames` maps its options to ours; "" drops."""

    command: str
    renames: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()


def line_of(action: Action, given: Given, done: Sequence[str]) -> list[str]:
    """The action's command with the options that are not `done`, under their names here."""
    line = [*action.command.split(), *action.extra]
    renames = _EVERYWHERE | dict(action.renames)
    cluster: dict[str, str] = {}  # what names the cluster, and by which option
    for name, values in given.items():
        ours = renames.get(name, name)
        if not name or not ours or name in done:
            continue
        if ours == "--broker":
            cluster |= dict.fromkeys(values, name)
        else:
            line += [f"{ours}={value}" for value in values] or [ours]
    if len(cluster) > 1:
        said = " and ".join(f"{name} {value}" for value, name in cluster.items())
        raise UsageError(f"two clusters are named: {said}")
    return [*line, *(f"--broker={value}" for value in cluster)]


_T = TypeVar("_T")


def first(given: Given, options: Mapping[str, _T]) -> tuple[str, _T] | None:
    return next(((name, value) for name, value in options.items() if name in given), None)


def split_keys(values: Sequence[str]) -> list[str]:
    return [key.strip() for value in values for key in value.split(",") if key.strip()]
