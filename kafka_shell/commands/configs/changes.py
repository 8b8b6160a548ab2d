"""The command that alters configs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.admin.configs.model import DELETE_ALL, ConfigAlteration, ConfigOp, ConfigResource
from kafka_shell.base.errors import MistakeCollector, UsageError, raise_all
from kafka_shell.base.plans import Plan, merge_plans
from kafka_shell.commands.configs.run import stopped_brokers, subjects
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import split
from kafka_shell.wire.connection import Cluster


def alter_configs(invocation: Invocation, context: Context) -> Plan:
    """Set, delete, append to and subtract from configs."""
    cluster = context.cluster
    alterations = [
        *(ConfigAlteration(key, ConfigOp.SET, value) for key, value in invocation["config"]),
        *(ConfigAlteration(key, ConfigOp.DELETE) for key in invocation["delete-config"]),
        *(ConfigAlteration(key, ConfigOp.APPEND, value) for key, value in invocation["append"]),
        *(ConfigAlteration(key, ConfigOp.SUBTRACT, value) for key, value in invocation["subtract"]),
    ]
    only_deletes = len(alterations) == len(invocation["delete-config"])
    if only_deletes and invocation["broker-id"] and stopped_brokers(invocation, cluster):
        words = split(invocation["broker-id"])
        if all(word.isdecimal() for word in words):
            _refuse_duplicates(invocation, alterations)
            ids = list(dict.fromkeys(map(int, words)))  # running brokers are refused
            if alterations == [DELETE_ALL]:  # they cannot be listed
                from kafka_shell.admin.cluster.decommission.plans import plan_delete_configs

                return merge_plans([plan_delete_configs(cluster, id) for id in ids])
            return config_changes.plan_delete(cluster, ids, invocation["delete-config"])
    return alter(invocation, cluster, subjects(invocation, context, to_change=True), alterations)


def alter(
    invocation: Invocation,
    cluster: Cluster,
    resources: Sequence[ConfigResource],
    alterations: Sequence[ConfigAlteration],
) -> Plan:
    """The plan of the same alterations on each resource; errors point at the wrong word."""
    _refuse_duplicates(invocation, alterations)
    with pointing_at_keys(invocation):
        return config_changes.plan_alter(cluster, dict.fromkeys(resources, alterations))


@contextmanager
def pointing_at_keys(invocation: Invocation) -> Iterator[None]:
    """Let errors for invalid configs point at their words, and repeat none for each resource."""
    mistakes = MistakeCollector()
    with mistakes.collecting():
        yield
    distinct = {each.message: each for each in mistakes.found}
    for each in distinct.values():
        if isinstance(each, ConfigRefused):
            each.span = span_of_key(invocation, each.key)
    raise_all([*distinct.values()])


def span_of_key(invocation: Invocation, key: str) -> tuple[int, int] | None:
    """The position of `key` in the command line, in any option or argument."""
    for name in ("config", "delete-config", "append", "subtract", "add-config"):
        for index, value in enumerate(invocation.get(name) or ()):
            if key in (value, value[0]):
                return invocation.span(name, index) or invocation.span(name)
    return None


def _refuse_duplicates(invocation: Invocation, alterations: Sequence[ConfigAlteration]) -> None:
    counts = Counter(each.key for each in alterations)
    raise_all(
        [
            UsageError(
                f"{key} is set twice",
                span=span_of_key(invocation, key),
                text=invocation.text,
            )
            for key, count in counts.items()
            if count > 1
        ]
    )
