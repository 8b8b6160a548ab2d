"""Rows of lag, largest first: by partition, or one for each group with its change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.activity.model import GroupActivity
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
    from kafka_shell.admin.activity.sample import of_groups

    sample = of_groups(groups)
    key = " ".join(("lag by group", *names))
    before = None if previous is None else previous.get(key)
    if previous is not None:
        previous[key] = sample
    rows: list[GroupActivity] = group_rates(before, sample)
    return {row.name: row for row in rows}
