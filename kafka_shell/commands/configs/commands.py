"""Commands on configs: of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from kafka_shell.admin.configs.model import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ResourceType,
)
from kafka_shell.answers import Listing, Nothing
from kafka_shell.commands import select
from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.language.selectors import is_pattern, split
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.plan.results import Parts, Results

_AT_HAND = 1_000  # topics of which all configs are read before the first is shown

if TYPE_CHECKING:
    from kafka_shell.admin.configs.read import Entries
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

_OTHERS = ("--broker-id", "--broker-default", "--group", "--logger", "--client-metrics")

SUBJECT = Argument(
    "topic", Kind.TOPIC, "Which topics: a,b  svc-*  /regex/", required=False, option="--topic",
    unless=_OTHERS,
)  # fmt: skip
SUBJECT_OPTIONS = (
    Option("--broker-id", Kind.BROKER, "A broker; a selector of brokers.", metavar="ID",
           excludes=("--broker-default", "--group", "--logger", "--client-metrics")),
    Option("--broker-default", Kind.FLAG, "The cluster-wide default of all brokers.",
           excludes=("--group", "--logger", "--client-metrics")),
    Option("--group", Kind.GROUP, "A group.", many=True, metavar="GROUP",
           excludes=("--logger", "--client-metrics")),
    Option("--logger", Kind.BROKER, "The loggers of a broker, by its id.", metavar="ID",
           excludes=("--client-metrics",)),
    Option("--client-metrics", Kind.CLIENT_METRICS, "A client-metrics subscription.", many=True,
           metavar="NAME"),
)  # fmt: skip


# -- subjects --------------------------------------------------------------------------------------


def subjects(invocation: Invocation, cluster: Cluster) -> list[ConfigResource]:
    """The resources that a line is about."""
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
            "say whose configs: a topic, or one of " + ", ".join(_OTHERS),
            hint=f"For example: {invocation.command.name} orders.placed",
            text=invocation.text,
        )
    names = select.topics(_as_words(invocation, "topic"), cluster)
    return [ConfigResource(ResourceType.TOPIC, name) for name in names]


def _stopped(invocation: Invocation, cluster: Cluster) -> list[int]:
    """The ids that the line names of brokers that are not running."""
    up = {str(broker.id) for broker in cluster.brokers(refresh=True)}
    words = dict.fromkeys(split(invocation["broker-id"] or ""))
    return [int(word) for word in words if word.isdecimal() and word not in up]


def _refuse_stopped(invocation: Invocation, cluster: Cluster) -> None:
    stopped = _stopped(invocation, cluster)
    if stopped:
        up = ", ".join(str(broker.id) for broker in cluster.brokers())
        raise ShellError(
            f"broker {stopped[0]} is not running, and no other broker knows its configs",
            hint=f"Running: {up}. To delete a config that such a broker left behind:"
            f" alter-configs --broker-id {stopped[0]} --delete-config KEY",
            code="no-match",
            span=invocation.span("broker-id"),
        )


def _subscriptions(invocation: Invocation, cluster: Cluster) -> Sequence[str]:
    """The client-metrics subscriptions that are meant; names stay: there may be none yet."""
    words: Sequence[str] = invocation["client-metrics"]
    if not any(is_pattern(item) for word in words for item in split(word)):
        return list(dict.fromkeys(item for word in words for item in split(word)))
    from kafka_shell.admin.configs import (
        read as configs,
    )

    existing = configs.list_resources(cluster, ResourceType.CLIENT_METRICS)
    chosen = select.matching(words, existing)
    if not chosen:
        raise ShellError(
            f"no client-metrics subscription matches {words[0]}",
            hint="Look: list-configs client-metrics",
            code="no-match",
            span=invocation.span("client-metrics"),
        )
    return chosen


def _as_words(invocation: Invocation, name: str) -> Invocation:
    return replace(invocation, values=invocation.values | {name: (invocation[name],)})


# -- list ------------------------------------------------------------------------------------------

_LISTED = {"client-metrics": ResourceType.CLIENT_METRICS, "group": ResourceType.GROUP}


def list_configs(invocation: Invocation, context: Context) -> Listing | Nothing:
    """Names of what exists only by its configs."""
    from kafka_shell.admin.configs import (
        read as configs,
    )

    kind = _LISTED[invocation["kind"]]
    names = configs.list_resources(context.cluster, kind)
    if not names:
        return Nothing("there is none")
    return Listing(tuple(ConfigResource(kind, name) for name in names))


# -- describe --------------------------------------------------------------------------------------


def describe_configs(
    invocation: Invocation, context: Context
) -> Entries | Parts[ConfigResource, tuple[ConfigEntry, ...]] | Nothing:
    """Overridden configs, named keys, or all of them; of very many topics as they come."""
    from kafka_shell.admin.configs import (
        read as configs,
    )

    resources = subjects(invocation, context.cluster)
    keys: Sequence[str] = invocation["key"]
    every = invocation["all"] or any(r.type is ResourceType.BROKER_LOGGER for r in resources)
    documented = invocation["documentation"]
    found = configs.in_parts(
        context.cluster, resources, keys or None, synonyms=True, documentation=documented
    )
    only_set = invocation["only-set"] or not (keys or every)
    shown = (_shown(part, only_set=only_set, documented=documented) for part in found)
    if every and len(resources) > _AT_HAND:
        return Parts(shown)
    together = Results.merge(shown)
    if keys and together.values:
        _check_keys(invocation, context.cluster, together, keys)
    if only_set and together.ok and not any(together.values.values()):
        return Nothing("nothing is set at this level; --all shows the defaults too")
    return together


def _shown(found: Entries, *, only_set: bool, documented: bool) -> Entries:
    """Of these configs what the line asks for."""
    if only_set:
        found = found.map(lambda entries: tuple(entry for entry in entries if entry.overridden))
    if documented:
        found = found.map(lambda entries: tuple(map(_in_plain_text, entries)))
    return found


def _in_plain_text(entry: ConfigEntry) -> ConfigEntry:
    """The entry with its documentation as text: brokers send HTML."""
    return replace(entry, documentation=_text_of(entry.documentation))


@lru_cache(maxsize=1_000)
def _text_of(html: str) -> str:
    from kafka_shell.view.html_text import plain

    return plain(html)


def _check_keys(
    invocation: Invocation, cluster: Cluster, found: Entries, keys: Sequence[str]
) -> None:
    """Refuse a key that no resource has. Where one is missing, all keys are read off one."""
    from kafka_shell.admin.configs import (
        read as configs,
    )

    known = {entry.name for entries in found.values.values() for entry in entries}
    if not set(keys) <= known:
        read = configs.describe(cluster, [next(iter(found.values))])
        known |= {entry.name for entries in read.values.values() for entry in entries}
    for index, key in enumerate(keys):
        if known and key not in known:
            raise ShellError(
                f"there is no config {key} here",
                hint=did_you_mean(key, known, "Several topics are given as a,b,c."),
                code="unknown-key",
                span=invocation.span("key", index),
            )


# -- alter -----------------------------------------------------------------------------------------


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
    if only_deletes and invocation["broker-id"] and _stopped(invocation, cluster):
        words = split(invocation["broker-id"])
        if all(word.isdecimal() for word in words):
            from kafka_shell.admin.configs import leftovers as leftover_configs

            _refuse_twice(invocation, alterations)
            ids = list(dict.fromkeys(map(int, words)))  # those that are up are refused
            return leftover_configs.plan_delete(cluster, ids, invocation["delete-config"])
    return alter(invocation, cluster, subjects(invocation, cluster), alterations)


def alter(
    invocation: Invocation,
    cluster: Cluster,
    resources: Sequence[ConfigResource],
    alterations: Sequence[ConfigAlteration],
) -> Plan:
    """The plan of the same alterations on every resource; errors point at the word to blame."""
    from kafka_shell.admin.configs import (
        change as config_changes,
    )
    from kafka_shell.admin.configs import (
        checks as config_checks,
    )

    _refuse_twice(invocation, alterations)
    try:
        return config_changes.plan_alter(cluster, dict.fromkeys(resources, alterations))
    except config_checks.ConfigRefused as refused:
        refused.span = span_of_key(invocation, refused.key)
        raise


def span_of_key(invocation: Invocation, key: str) -> tuple[int, int] | None:
    """Where `key` stands in the line, in whichever option or argument holds it."""
    for name in ("config", "delete-config", "append", "subtract", "add-config"):
        for index, value in enumerate(invocation.get(name) or ()):
            if key in (value, value[0]):
                return invocation.span(name, index) or invocation.span(name)
    return None


def _refuse_twice(invocation: Invocation, alterations: Sequence[ConfigAlteration]) -> None:
    seen: set[str] = set()
    for alteration in alterations:
        if alteration.key in seen:
            raise UsageError(
                f"{alteration.key} stands twice in one alteration",
                hint="Say once what it is to be.",
                span=span_of_key(invocation, alteration.key),
                text=invocation.text,
            )
        seen.add(alteration.key)


_PAIR = "{} a config; may be repeated."

COMMANDS = (
    Command(
        name="list-configs",
        summary="Client-metrics subscriptions, or groups, that have configs of their own.",
        family="configs",
        run=list_configs,
        arguments=(
            Argument("kind", Kind.CHOICE, "Of which kind: client-metrics or group.",
                     choices=tuple(_LISTED)),
        ),
        search=("subscriptions", "telemetry", "names"),
        description=(
            "They can be configured without being there otherwise. Topics and brokers:"
            " list-topics, cluster-metadata."
        ),
        examples=(
            Example("list-configs client-metrics", "which metrics clients are asked for"),
            Example("list-configs group", "groups with configs of their own"),
        ),
        apis=(74,),
    ),
    Command(
        name="describe-configs",
        summary="Configs with their values, sources and documentation.",
        family="configs",
        run=describe_configs,
        arguments=(
            SUBJECT,
            Argument("key", Kind.CONFIG_KEY, "Only these keys.", many=True, required=False),
        ),
        options=(
            *SUBJECT_OPTIONS,
            Option("--all", Kind.FLAG, "Defaults too, not only what is set here."),
            Option("--only-set", Kind.FLAG, "Of the named keys only what is set here.",
                   excludes=("--all",)),
            Option("--documentation", Kind.FLAG, "With the broker's documentation."),
        ),
        shorts=(
            Short("configs", "describe-configs"),
            Short("config", "describe-configs"),
        ),
        search=("settings", "retention", "defaults"),
        description=(
            "Without keys: what is set at this very level; --all adds what holds by default."
        ),
        examples=(
            Example("describe-configs orders.placed", "what is set for one topic"),
            Example("describe-configs orders.placed retention.ms --documentation",
                    "one key, with what the broker says of it"),
            Example("describe-configs 'payments.*' cleanup.policy",
                    "one key of several topics, a row each"),
            Example("describe-configs '*' retention.ms --only-set",
                    "the topics with a retention.ms of their own"),
            Example("describe-configs --broker-id 1 --all | grep log.retention",
                    "what a broker runs with"),
            Example("describe-configs --logger 1 kafka.request.logger", "how much a broker logs"),
            Example("describe-configs --client-metrics 'slow*'", "what clients are asked for"),
        ),
        apis=(32, 74),
    ),
    Command(
        name="alter-configs",
        summary="Set, delete, append to and subtract from configs.",
        family="configs",
        run=alter_configs,
        effect=Effect.CHANGE,
        arguments=(
            SUBJECT,
            Argument("config", Kind.CONFIG_PAIR, "What to set: key=value.", many=True,
                     required=False, option="--add-config"),
        ),
        options=(
            *SUBJECT_OPTIONS,
            Option("--delete-config", Kind.CONFIG_KEYS, "Delete configs: k1,k2; may be repeated.",
                   many=True, metavar="KEYS"),
            Option("--append", Kind.CONFIG_PAIR, _PAIR.format("Append to"), many=True,
                   metavar="KEY=VALUE"),
            Option("--subtract", Kind.CONFIG_PAIR, _PAIR.format("Subtract from"), many=True,
                   metavar="KEY=VALUE"),
        ),
        at_least_one=(("config", "delete-config", "append", "subtract"),),
        search=("set", "change", "retention"),
        description=(
            "Values are checked against the broker's types; units are welcome:"
            " retention.ms=7d, segment.bytes=512MiB. Lowering retention deletes records: it asks.\n"
            "Of a broker that is not running, --delete-config deletes a dynamic config that it left"
            " behind; nobody can list those."
        ),
        examples=(
            Example("alter-configs orders.placed retention.ms=90d", "keep 90 days"),
            Example("alter-configs orders.placed retention.ms=7d --yes",
                    "keep a week: it deletes what is older, and asks unless told --yes"),
            Example("alter-configs 'payments.*' max.message.bytes=2MiB --dry-run",
                    "see what would change, and for which topics"),
            Example("alter-configs orders.placed --delete-config retention.ms --dry-run",
                    "what going back to the default would do"),
            Example("alter-configs orders.placed --append cleanup.policy=compact --dry-run",
                    "one more item of a list"),
            Example("alter-configs --broker-default log.cleaner.threads=2",
                    "for every broker of the cluster"),
            Example("alter-configs --logger 1 kafka.request.logger=DEBUG",
                    "a broker's log, while it runs"),
        ),
        apis=(32, 44, 55, 74),
    ),
)  # fmt: skip
