"""Commands on configs: of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.admin.configs.model import (
    DELETE_ALL,
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.admin.configs.read import Entries
from kafka_shell.base.command_results import Listing, NoRows
from kafka_shell.base.errors import (
    MistakeCollector,
    ShellError,
    UsageError,
    did_you_mean,
    raise_all,
)
from kafka_shell.base.plans import Change, Plan, merge_plans
from kafka_shell.base.results import Parts, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import text_of_html
from kafka_shell.base.units import some
from kafka_shell.commands import select
from kafka_shell.commands.configs.spec import LISTED, OTHER_SUBJECTS
from kafka_shell.commands.options import reported
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import is_pattern, split
from kafka_shell.wire.cluster import Cluster

_STREAM_ABOVE = 1_000  # topics; with more, `--all` prints configs as they arrive


# -- subjects --------------------------------------------------------------------------------------


def subjects(
    invocation: Invocation, context: Context, *, to_change: bool = False
) -> list[ConfigResource]:
    """The resources whose configs the command describes or alters."""
    cluster = context.cluster
    if invocation["broker-id"]:
        _refuse_stopped(invocation, cluster)
        ids = select.brokers(_as_words(invocation, "broker-id"), cluster)
        return [ConfigResource(ResourceType.BROKER, name) for name in ids]
    if invocation["broker-default"]:
        return [ConfigResource(ResourceType.BROKER, "")]
    if invocation["logger"]:
        ids = select.brokers(_as_words(invocation, "logger"), cluster, "logger")
        return [ConfigResource(ResourceType.BROKER_LOGGER, name) for name in ids]
    if invocation["group"]:
        return [ConfigResource(ResourceType.GROUP, name) for name in invocation["group"]]
    if invocation["client-metrics"]:
        names = _subscriptions(invocation, cluster)
        return [ConfigResource(ResourceType.CLIENT_METRICS, name) for name in names]
    if not invocation["topic"]:
        raise UsageError(
            "a topic or one of " + ", ".join(OTHER_SUBJECTS) + " is required",
            hint=f"For example: {invocation.command.name} orders.placed",
        )
    words = _as_words(invocation, "topic")
    names = select.topics_to_change(words, context) if to_change else select.topics(words, cluster)
    return [ConfigResource(ResourceType.TOPIC, name) for name in names]


def stopped_brokers(invocation: Invocation, cluster: Cluster) -> list[int]:
    """The IDs in --broker-id of brokers that are not running."""
    running = {str(broker.id) for broker in cluster.brokers(refresh=True)}
    words = dict.fromkeys(split(invocation["broker-id"] or ""))
    return [int(word) for word in words if word.isdecimal() and word not in running]


def _refuse_stopped(invocation: Invocation, cluster: Cluster) -> None:
    stopped = stopped_brokers(invocation, cluster)
    if stopped:
        running = some([broker.id for broker in cluster.brokers()], 20)
        raise ShellError(
            f"broker {stopped[0]} is not running, and its configs cannot be read from others",
            hint=f"Use a running broker: {running}. To delete a dynamic config of a stopped"
            f" broker, run alter-configs --broker-id {stopped[0]} --delete-config KEY, or '*' for"
            " all.",
            code="no-match",
            span=invocation.span("broker-id"),
        )


def _subscriptions(invocation: Invocation, cluster: Cluster) -> Sequence[str]:
    """The selected client metrics subscriptions; a name need not exist yet."""
    items = [item for word in invocation["client-metrics"] for item in split(word)]
    if not any(map(is_pattern, items)):
        return list(dict.fromkeys(items))

    existing = configs.list_resources(cluster, ResourceType.CLIENT_METRICS)
    return select.among(invocation, "client-metrics", existing, "client-metrics")


def _as_words(invocation: Invocation, name: str) -> Invocation:
    return replace(invocation, values=invocation.values | {name: (invocation[name],)})


_NONE_CONFIGURED = {
    ResourceType.CLIENT_METRICS: "no client metrics subscriptions",
    ResourceType.GROUP: "no group has configs",
}


def list_configs(invocation: Invocation, context: Context) -> Listing | NoRows:
    """The names of the client metrics subscriptions, or of the groups with configs."""
    kind = LISTED[invocation["kind"]]
    names = configs.list_resources(context.cluster, kind)
    if not names:
        return NoRows(_NONE_CONFIGURED[kind])
    return Listing(tuple(ConfigResource(kind, name) for name in names))


# -- describe --------------------------------------------------------------------------------------


def describe_configs(
    invocation: Invocation, context: Context
) -> Entries | Parts[ConfigResource, tuple[ConfigEntry, ...]] | NoRows:
    """Overridden configs, the named keys, or all configs; streamed for very many topics."""
    resources = subjects(invocation, context)
    keys: Sequence[str] = invocation["key"]
    show_all = invocation["all"] or any(r.type is ResourceType.BROKER_LOGGER for r in resources)
    documented = invocation["documentation"]
    entries = configs.in_parts(
        context.cluster, resources, keys or None, synonyms=True, documentation=documented
    )
    entries = reported(entries, len(resources), context)
    only_set = invocation["only-set"] or not (keys or show_all)
    shown = (_shown(part, only_set=only_set, documented=documented) for part in entries)
    if show_all and not keys and len(resources) > _STREAM_ABOVE:
        return Parts(shown)
    merged = Results.merge(shown)
    if keys and merged.values:
        _check_keys(invocation, context.cluster, merged, keys)
    if only_set and merged.ok and not any(merged.values.values()):
        return NoRows("no overridden configs; use --all to see the defaults")
    return merged


def _shown(shown: Entries, *, only_set: bool, documented: bool) -> Entries:
    """The configs that the options select, with documentation as plain text."""
    if only_set:
        shown = shown.map(lambda entries: tuple(entry for entry in entries if entry.overridden))
    if documented:
        shown = shown.map(lambda entries: tuple(map(_in_plain_text, entries)))
    return shown


def _in_plain_text(entry: ConfigEntry) -> ConfigEntry:
    """The entry with its documentation, which brokers send as HTML, as plain text."""
    return replace(entry, documentation=_text_of(entry.documentation))


_text_of = lru_cache(maxsize=1_000)(text_of_html)


def _check_keys(
    invocation: Invocation, cluster: Cluster, described: Entries, keys: Sequence[str]
) -> None:
    """Raise ShellError for a key that no resource has. All keys of one resource are read if
    needed."""
    known = {entry.name for entries in described.values.values() for entry in entries}
    if not set(keys) <= known:
        read = configs.describe(cluster, [next(iter(described.values))])
        known |= {entry.name for entries in read.values.values() for entry in entries}
    raise_all(
        [
            ShellError(
                f"config '{key}' does not exist",
                hint=did_you_mean(key, known, "To name several topics, use a,b,c."),
                code="unknown-key",
                span=invocation.span("key", index),
            )
            for index, key in enumerate(keys)
            if known and key not in known
        ]
    )


# -- The command that alters configs ---------------------------------------------------------------


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
                from kafka_shell.admin.cluster.decommission import plan_delete_configs

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
    distinct = {error.message: error for error in mistakes.found}
    for error in distinct.values():
        if isinstance(error, ConfigRefused):
            error.span = span_of_key(invocation, error.key)
    raise_all([*distinct.values()])


def span_of_key(invocation: Invocation, key: str) -> tuple[int, int] | None:
    """The position of `key` in the command line, in any option or argument."""
    for name in ("config", "delete-config", "append", "subtract", "add-config"):
        for index, value in enumerate(invocation.get(name) or ()):
            if key in (value, value[0]):
                return invocation.span(name, index) or invocation.span(name)
    return None


def _refuse_duplicates(invocation: Invocation, alterations: Sequence[ConfigAlteration]) -> None:
    counts = Counter(alteration.key for alteration in alterations)
    raise_all(
        [
            UsageError(f"{key} is set twice", span=span_of_key(invocation, key))
            for key, count in counts.items()
            if count > 1
        ]
    )


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    wanted: dict[ConfigResource, list[ConfigAlteration]] = {}
    for change in changes:
        resource = ConfigResource.of(change.resource)
        value = None if change.after is None else str(change.after)
        how = ConfigOp.DELETE if value is None else ConfigOp.SET
        wanted.setdefault(resource, []).append(ConfigAlteration(change.field, how, value))
    brokers = [resource for resource in wanted if resource.kind == "broker"]
    running = {str(one.id) for one in context.cluster.brokers(refresh=True)} if brokers else set()
    plans = []
    for broker in brokers:
        deleted = [alteration.key for alteration in wanted[broker] if alteration.value is None]
        if broker.name not in running and len(deleted) == len(wanted[broker]):
            # That of a stopped broker is possible, others are refused.
            plans.append(config_changes.plan_delete(context.cluster, [int(broker.name)], deleted))
            del wanted[broker]
    plans += [config_changes.plan_alter(context.cluster, wanted)] if wanted else []
    return merge_plans(plans)
