"""The command that describes groups, with their lag."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from kafka_shell.admin.activity.model import GroupActivity, Sample
from kafka_shell.admin.activity.sample import (
    GROUP_WINDOW_S,
    group_rates,
    lag_changes,
    of_groups,
    sample_before,
    stuck_partitions,
)
from kafka_shell.admin.groups import offsets as group_offsets
from kafka_shell.admin.groups.model import Group, GroupKey, GroupOffset, GroupTotals
from kafka_shell.admin.groups.read import describe_listed
from kafka_shell.admin.groups.time_lag import TIME_LAG, with_time_lag
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands.groups.run import by_resource, selected_groups
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.failures import AUTHORIZATION

K = TypeVar("K")


def describe_group(invocation: Invocation, context: Context) -> Results[Resource, object] | NoRows:
    """State, offsets with lag, and members with their assignments of groups."""
    groups, at = _described(invocation, context)
    rows = _selected_rows(invocation, context, groups, at)
    if groups.values and not invocation["members"]:
        _note_hidden_offsets(context)  # after the rows, which take the time of reading for rates
    return rows


def _selected_rows(
    invocation: Invocation, context: Context, groups: Results[GroupKey, Group], at: float
) -> Results[Resource, object] | NoRows:
    if (invocation["lag"] or invocation["offsets"]) and _is_by(invocation) != "group":
        groups = with_changes(groups, at, _named(invocation), context.previous)
    if groups.values and (invocation["sort"] or _is_by(invocation)):
        return _largest_lag_first(invocation, context, groups, at)
    if invocation["state"]:
        groups = Results(_sorted_by_lag(groups.values), groups.failures)
    values = {name: _selected_view(group, invocation) for name, group in groups.values.items()}
    if groups.ok and not any(values.values()):
        what = "members" if invocation["members"] else "offsets"
        where = " ".join(groups.values) or "any visible group (requires DESCRIBE)"
        return NoRows(f"no {what} in {where}")
    return by_resource(Results(values, groups.failures))


def _named(invocation: Invocation) -> list[str]:
    return [*invocation["groups"], *invocation["group"]]


def _is_by(invocation: Invocation) -> str:
    """`group` or `partition` if the rows of all groups are sorted together, else empty."""
    of_all = invocation["lag"] and not _named(invocation) and not invocation["sort"]
    return invocation["by"] or ("group" if of_all else "")


def _described(invocation: Invocation, context: Context) -> tuple[Results[GroupKey, Group], float]:
    """The selected groups, and when their offsets were read; each broker that failed is a
    failure."""
    listed = selected_groups(invocation, context.cluster)
    groups = describe_listed(context.cluster, listed, offsets=not invocation["members"])
    at = time.monotonic()
    if not invocation["members"]:
        known = None if context.previous is None else context.previous.setdefault("time-lag", {})
        groups = with_time_lag(context.cluster, groups, known)
        groups = Results(groups.values, without_hidden_times(groups.failures, context))
    return groups, at


def without_hidden_times(failures: Mapping[K, Failure], context: Context) -> dict[K, Failure]:
    """The failures but for time lag that this user is not authorized to read: that is a note, as
    the lag in records requires no more than DESCRIBE."""
    kept = dict(failures)
    for key, why in failures.items():
        if isinstance(key, Resource) and key.kind == TIME_LAG and why.code in AUTHORIZATION:
            context.note(f"not checked: {key}: requires {why.requires}")
            del kept[key]
    return kept


def _note_hidden_offsets(context: Context) -> None:
    unseen = group_offsets.hidden(context.cluster)
    if unseen is not None:
        context.note(f"lag excludes {unseen.what}: {unseen.reason}")


def _largest_lag_first(
    invocation: Invocation, context: Context, groups: Results[GroupKey, Group], at: float
) -> Results[Resource, object]:
    """The groups, one row for each, or their partitions."""
    rows: dict[str, object]
    if _is_by(invocation) == "group":
        rows = by_group(groups, at, _named(invocation), context.previous)
    elif invocation["offsets"] or invocation["lag"] or invocation["by"]:
        offsets = by_partition(groups)
        failures = by_resource(Results({}, groups.failures)).failures
        return Results({Resource("group-offsets"): offsets}, failures)
    else:
        rows = dict(_sorted_by_lag(groups.values))
    return by_resource(Results(rows, groups.failures))


def _sorted_by_lag(groups: Mapping[str, Group]) -> dict[str, Group]:
    """The groups sorted by lag, largest first; unknown lag last."""

    def behind(name: str) -> tuple[bool, int, str]:
        lag = groups[name].lag
        return lag is None, -(lag or 0), name

    return {name: groups[name] for name in sorted(groups, key=behind)}


def _selected_view(group: Group, invocation: Invocation) -> object:
    """The group, or the rows of the table that the options select."""
    if invocation["members"]:
        return group.members
    if invocation["offsets"] or invocation["lag"]:
        return group.offsets
    if invocation["state"]:
        return GroupTotals.of(group)
    return group


# Rows of lag, largest first: by partition, or one for each group with its change.


def by_partition(groups: Results[GroupKey, Group]) -> tuple[GroupOffset, ...]:
    """The partitions of all groups, largest lag first; unknown lag last."""
    rows = [row for group in groups for row in group.offsets or ()]
    rows.sort(key=lambda row: (row.lag is None, -(row.lag or 0), row.group, row.topic,
                               row.partition))  # fmt: skip
    return tuple(rows)


def by_group(
    groups: Results[GroupKey, Group],
    at: float,
    names: Sequence[str],
    previous: dict[str, Any] | None,
) -> dict[str, object]:
    """A row for each group, largest lag first; unknown lag last. `at` is when they were read.

    `previous` is what a repeated command has kept of its last run: the changes are since then.
    """
    rows: list[GroupActivity] = group_rates(*_samples(groups, at, names, previous))
    return {row.name: row for row in rows}


def with_changes(
    groups: Results[GroupKey, Group],
    at: float,
    names: Sequence[str],
    previous: dict[str, Any] | None,
) -> Results[GroupKey, Group]:
    """The groups with the change of the lag in each partition, in a repeated command."""
    if previous is None:
        return groups
    samples = _samples(groups, at, names, previous)
    changes, stuck = lag_changes(*samples), stuck_partitions(*samples)
    return groups.map(
        lambda group: replace(
            group,
            offsets=group.offsets
            and tuple(
                replace(
                    row,
                    change_per_s=changes[group.name, row.topic_partition],
                    stuck=row.topic_partition in stuck.get(group.name, ()),
                )
                for row in group.offsets
            ),
        )
    )


def _samples(
    groups: Results[GroupKey, Group],
    at: float,
    names: Sequence[str],
    previous: dict[str, Any] | None,
) -> tuple[Sample | None, Sample]:
    """The sample of an earlier run, if it is repeated, and that of this one."""
    sample, key = of_groups(groups, at), " ".join(("lag", *names))
    if previous is None:
        return None, sample
    return sample_before(previous.setdefault(key, deque()), sample, GROUP_WINDOW_S), sample
