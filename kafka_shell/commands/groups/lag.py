"""Rows of lag, largest first: by partition, or one for each group with its change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafka_shell.common.structs import replace
from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.activity.model import GroupActivity, Sample
    from kafka_shell.admin.groups.model import Group, GroupKey, GroupOffset


def by_partition(groups: Results[GroupKey, Group]) -> tuple[GroupOffset, ...]:
    """The partitions of all groups, largest lag first; unknown lag last."""
    rows = [row for group in groups for row in group.offsets or ()]
    rows.sort(key=lambda row: (row.lag is None, -(row.lag or 0), row.group, row.topic,
                               row.partition))  # fmt: skip
    return tuple(rows)


def by_group(
    groups: Results[GroupKey, Group],
    names: Sequence[str],
    previous: dict[str, Any] | None,
) -> dict[str, object]:
    """A row for each group, largest lag first; unknown lag last.

    `previous` is what a repeated command has kept of its last run: the changes are since then.
    """
    from kafka_shell.admin.activity.rates import group_rates

    rows: list[GroupActivity] = group_rates(*_samples(groups, names, previous))
    return {row.name: row for row in rows}


def with_changes(
    groups: Results[GroupKey, Group], names: Sequence[str], previous: dict[str, Any] | None
) -> Results[GroupKey, Group]:
    """The groups with the change of the lag in each partition, in a repeated command."""
    if previous is None:
        return groups
    from kafka_shell.admin.activity.rates import lag_changes

    changes = lag_changes(*_samples(groups, names, previous))
    return groups.map(
        lambda group: replace(
            group,
            offsets=group.offsets
            and tuple(
                replace(row, change_per_s=changes[group.name, row.topic_partition])
                for row in group.offsets
            ),
        )
    )


def _samples(
    groups: Results[GroupKey, Group], names: Sequence[str], previous: dict[str, Any] | None
) -> tuple[Sample | None, Sample]:
    """The sample of the last run, if it is repeated, and that of this one."""
    from kafka_shell.admin.activity.sample import of_groups

    sample, key = of_groups(groups), " ".join(("lag", *names))
    if previous is None:
        return None, sample
    before = previous.get(key)
    previous[key] = sample
    return before, sample
