"""Commands on topics (KIP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_shell.errors import UsageError
from kafka_shell.files import read_text
from kafka_shell.language.command import (
    Argument,
    Command,
    Effect,
    Example,
    Invocation,
    Kind,
    Option,
    Short,
)
from kafka_shell.language.convert import assignment as assignment_of
from kafka_shell.language.selectors import is_pattern
from kafka_shell.nouns import (
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    Failure,
    Lazy,
    Listing,
    NewTopic,
    Nothing,
    Partition,
    Plan,
    Resource,
    ResourceType,
    Results,
    Topic,
    TopicDescription,
    TopicSummary,
    merge_plans,
)

from . import select
from .configs import alter, span_of_key
from .reassignments import THROTTLE, WAIT

if TYPE_CHECKING:
    from kafka_shell.admin.connection import Cluster
    from kafka_shell.context import Context

Shown = Callable[[Partition], bool]

_EXCLUDE_INTERNAL = Option("--exclude-internal", Kind.FLAG, "Leave Kafka's own topics out.")
_PARTITIONS = Option("--partitions", Kind.INTEGER, "The number of partitions.", metavar="N",
                     least=1, most=2**31 - 1)  # fmt: skip
_ASSIGNMENT = Option(
    "--replica-assignment",
    Kind.ASSIGNMENT,
    "Brokers of every partition, the preferred leader first: 1:2,2:3; - reads standard input.",
    metavar="B:B,B:B",
)
_NO_TOPIC = Nothing("no topic (it takes Describe on a topic to see it)")
_NO_SUCH_TOPIC = 3
_LONGEST_ASSIGNMENT = 16 << 20  # bytes: of a topic of a million partitions
_FILTERS = (
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
)


# -- list ------------------------------------------------------------------------------------------


def list_topics(invocation: Invocation, context: Context) -> Listing | Nothing:
    """Names of topics, or their counts too."""
    from kafka_shell.admin import topics

    found = topics.scan(context.cluster)
    names: Sequence[str] = sorted(found.names)
    if invocation["topic"]:
        names = select.matching(invocation["topic"], names)
    if invocation["topic"] and not names:
        said = " ".join(invocation["topic"])
        patterns = any(is_pattern(word) for word in invocation["topic"])
        hint = "" if patterns else f"; a part of a name wants stars: '*{said}*'"
        return Nothing(f"no topic is {said}{hint}")
    if not names:
        return _NO_TOPIC
    if invocation["exclude-internal"]:
        names = [name for name in names if not found.summary(name).internal]
    return Listing(Lazy(names, found.summary), long=invocation["long"])


# -- describe --------------------------------------------------------------------------------------


def describe_topic(
    invocation: Invocation, context: Context
) -> Results[Resource, TopicDescription] | Nothing:
    """Partitions and overridden configs of topics, or the partitions a filter asks for."""
    from kafka_shell.admin import topics

    cluster = context.cluster
    names, seen = select.seen_topics(invocation, cluster)
    if not names:
        return _NO_TOPIC
    filters = [name for name in _FILTERS if invocation[name]]
    leave_out = invocation["exclude-internal"]
    found = topics.describe(
        cluster,
        names,
        seen=seen,
        only=lambda summary: (
            not (leave_out and summary.internal)
            and (not filters or any(_MAY_HOLD[which](summary) for which in filters))
        ),
    )
    if filters:
        described = _filtered(found, cluster, filters)
    else:
        described = _with_overrides(found, cluster, only=invocation["topics-with-overrides"])
    if described.ok and not described.values:
        return Nothing(f"none of {len(names):,} topics")
    return described


def _of_topics(found: Results[str, Topic]) -> dict[Resource, Failure]:
    return {Resource("topic", name): why for name, why in found.failures.items()}


def _filtered(
    found: Results[str, Topic], cluster: Cluster, filters: Sequence[str]
) -> Results[Resource, TopicDescription]:
    """Only the partitions for which one of the filters holds, and topics that have such."""
    from kafka_shell.admin import min_isr, quorum

    failures = _of_topics(found)
    stale = quorum.why_stale(cluster)
    if stale is not None:
        failures[Resource("metadata", "of the cluster")] = stale
    minimum: dict[str, int] = {}
    capped = False
    if any("min-isr" in name for name in filters) and found.values:
        read = min_isr.read(cluster, found.values)
        minimum, capped = read.values, min_isr.is_capped(cluster)
        failures |= {
            Resource(min_isr.KEY, f"of topic {name}"): why for name, why in read.failures.items()
        }
    described = {}
    for name, topic in found.values.items():
        shown = tuple(
            partition
            for partition in topic.partitions
            if any(
                _HOLDS[which](
                    partition,
                    min_isr.needed(partition, minimum[name], capped=capped)
                    if name in minimum
                    else None,
                )
                for which in filters
            )
        )
        if shown:
            described[Resource("topic", name)] = TopicDescription(topic, shown=shown)
    return Results(described, failures)


# What the counts of a topic tell before its partitions are decoded.
_MAY_HOLD: dict[str, Callable[[TopicSummary], bool]] = {
    "under-replicated-partitions": lambda topic: bool(topic.under_replicated),
    "under-min-isr-partitions": lambda topic: True,
    "at-min-isr-partitions": lambda topic: True,
    "unavailable-partitions": lambda topic: bool(topic.offline),
}

# Of a partition and the in-sync replicas that it needs; None where that is not known.
_HOLDS: dict[str, Callable[[Partition, int | None], bool]] = {
    "under-replicated-partitions": lambda p, _: p.under_replicated,
    "under-min-isr-partitions": lambda p, least: least is not None and len(p.isr) < least,
    "at-min-isr-partitions": lambda p, least: len(p.isr) == least,
    "unavailable-partitions": lambda p, _: p.leader is None,
}


def _with_overrides(
    found: Results[str, Topic], cluster: Cluster, *, only: bool
) -> Results[Resource, TopicDescription]:
    from kafka_shell.admin import configs

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in found.values]
    read = configs.describe(cluster, resources) if resources else Results()
    failures = _of_topics(found)
    for resource, why in read.failures.items():
        failures[Resource("configs", f"of topic {resource.name}")] = why
    described = {}
    for resource, (name, topic) in zip(resources, found.values.items(), strict=True):
        entries = read.values.get(resource, ())
        overrides = tuple(entry for entry in entries if entry.overridden)
        if overrides or not only:
            described[Resource("topic", name)] = TopicDescription(topic, overrides)
    return Results(described, failures)


# -- create, alter, delete -------------------------------------------------------------------------


def create_topic(invocation: Invocation, context: Context) -> Plan:
    """Create topics from the line, or from a file of many."""
    from kafka_shell.admin import topics

    if invocation["from-file"]:
        from .topic_files import read_topics

        wanted = read_topics(invocation["from-file"])
    else:
        names = [name for word in invocation["topic"] for name in word.split(",") if name]
        assignment = _assignment(invocation, context)
        wanted = [_new_topic(name, invocation, assignment) for name in names]
    checked = _with_checked_configs(wanted, invocation, context.cluster)
    if invocation["if-not-exists"]:
        there = topics.scan(context.cluster, [new.name for new in checked])
        checked = [new for new in checked if new.name not in there]
    return topics.plan_create(checked, timeout_ms=_timeout(invocation))


def _with_checked_configs(
    wanted: Sequence[NewTopic], invocation: Invocation, cluster: Cluster
) -> list[NewTopic]:
    from kafka_shell.admin import configs

    known = configs.topic_types(cluster) if any(new.configs for new in wanted) else {}
    try:
        return [
            replace(new, configs=configs.checked_for_create(new.configs, known)) for new in wanted
        ]
    except configs.ConfigRefused as refused:
        refused.span = span_of_key(invocation, refused.key)
        raise


def _assignment(invocation: Invocation, context: Context) -> tuple[tuple[int, ...], ...]:
    """The replica assignment of the line, or of standard input; empty where there is none."""
    given = invocation["replica-assignment"]
    if given != "-":
        return given or ()
    if context.script.from_stdin or context.shell is not None:
        raise UsageError(
            "--replica-assignment - reads standard input, which these lines come from",
            hint="Give it on kafka.sh's own command line, or write it here: 1:2,2:3",
            span=invocation.span("replica-assignment"),
            text=invocation.text,
        )
    text = ",".join(read_text("/dev/stdin", largest=_LONGEST_ASSIGNMENT).split())
    try:
        return assignment_of(_ASSIGNMENT, text.strip(","))
    except UsageError as error:
        error.span = invocation.span("replica-assignment")
        raise


def _new_topic(
    name: str, invocation: Invocation, assignment: tuple[tuple[int, ...], ...]
) -> NewTopic:
    return NewTopic(
        name,
        invocation["partitions"],
        invocation["replication-factor"],
        assignment,
        invocation["config"],
    )


def _timeout(invocation: Invocation) -> int:
    from kafka_shell.admin.topics import DEFAULT_TIMEOUT_MS

    timeout = invocation.get("timeout")
    return DEFAULT_TIMEOUT_MS if timeout is None else int(timeout)


def alter_topic(invocation: Invocation, context: Context) -> Plan:
    """More partitions, more or fewer replicas, configs added, configs deleted."""
    from kafka_shell.admin import topics

    cluster = context.cluster
    names = select.topics(invocation, cluster)
    if invocation["if-exists"]:
        found = topics.scan(cluster, names)
        names = [name for name in names if found.errors.get(name) != _NO_SUCH_TOPIC]
        if not names:
            return Plan(Effect.CHANGE, ())
    plans = []
    assignment = _assignment(invocation, context)
    count = invocation["partitions"]
    if count is not None or assignment:
        plans.append(
            topics.plan_partitions(
                cluster,
                names,
                len(assignment) if count is None else count,
                assignment=assignment,
                timeout_ms=_timeout(invocation),
            )
        )
    alterations = [
        *(ConfigAlteration(key, ConfigOp.SET, value) for key, value in invocation["config"]),
        *(ConfigAlteration(key, ConfigOp.DELETE) for key in invocation["delete-config"]),
    ]
    if alterations:
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
        plans.append(alter(invocation, cluster, resources, alterations))
    if invocation["replication-factor"] is not None:
        from .reassignments import replicate

        plans.append(replicate(invocation, context, names))
    return merge_plans(plans)


def delete_topic(invocation: Invocation, context: Context) -> Plan:
    """Delete topics, after a question."""
    from kafka_shell.admin import topics

    names = select.topics(invocation, context.cluster)
    plan = topics.plan_delete(context.cluster, names, timeout_ms=_timeout(invocation))
    if invocation["if-exists"]:
        return plan.without_refused("UNKNOWN_TOPIC_OR_PARTITION")
    return plan


COMMANDS = (
    Command(
        name="list-topics",
        summary="Names of the topics.",
        family="topics",
        run=list_topics,
        arguments=(
            Argument("topic", Kind.TOPIC, "Only these: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _EXCLUDE_INTERNAL,
            Option("--long", Kind.FLAG, "Partitions, replication factor and health too.",
                   aliases=("-l",)),
        ),
        shorts=(Short("topics", "list-topics"), Short("ls", "list-topics")),
        search=("show", "names"),
        examples=(
            Example("list-topics", "every topic, one name a line"),
            Example("list-topics --exclude-internal --long", "with counts, without Kafka's own"),
            Example("list-topics 'payments.*' | wc -l", "how many topics payments has"),
        ),
    ),
    Command(
        name="describe-topic",
        summary="Partitions, replicas and overridden configs of topics.",
        family="topics",
        run=describe_topic,
        apis=(32, 55),
        arguments=(
            Argument("topic", Kind.TOPIC, "Which topics: a,b  svc-*  /regex/ (none: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            Option("--under-replicated-partitions", Kind.FLAG,
                   "Only partitions with a replica that is not in sync."),
            Option("--under-min-isr-partitions", Kind.FLAG,
                   "Only partitions with fewer in-sync replicas than min.insync.replicas."),
            Option("--at-min-isr-partitions", Kind.FLAG,
                   "Only partitions with just min.insync.replicas in sync."),
            Option("--unavailable-partitions", Kind.FLAG, "Only partitions without a leader."),
            Option("--topics-with-overrides", Kind.FLAG,
                   "Only topics with configs of their own.",
                   excludes=tuple(f"--{name}" for name in _FILTERS)),
            _EXCLUDE_INTERNAL,
        ),
        shorts=(Short("topic", "describe-topic"),),
        search=("partitions", "replicas", "leader", "isr"),
        examples=(
            Example("describe-topic orders.placed", "one topic"),
            Example("describe-topic 'payments.*' --topics-with-overrides",
                    "the topics of payments that have configs of their own"),
            Example("describe-topic --under-replicated-partitions",
                    "what is not fully replicated, anywhere"),
            Example("describe-topic orders.placed --output json", "the same for a program"),
        ),
    ),
    Command(
        name="create-topic",
        summary="Create topics.",
        family="topics",
        run=create_topic,
        apis=(19, 32),
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", Kind.NEW_TOPIC, "Names of the new topics.", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            _PARTITIONS,
            Option("--replication-factor", Kind.INTEGER, "Copies of every partition.",
                   metavar="N", least=1, most=32767),
            Option("--replica-assignment", Kind.ASSIGNMENT, _ASSIGNMENT.help,
                   metavar="B:B,B:B", excludes=("--partitions", "--replication-factor")),
            Option("--config", Kind.CONFIG_PAIR, "A config of the topic; may be repeated.",
                   many=True, metavar="KEY=VALUE"),
            Option("--if-not-exists", Kind.FLAG, "Leave a topic that is there as it is."),
            Option("--from-file", Kind.FILE, "Many topics from a YAML, JSON or CSV file.",
                   metavar="FILE",
                   excludes=("--partitions", "--replication-factor", "--replica-assignment",
                             "--config")),
        ),
        exactly_one=(("topic", "from-file"),),
        description=(
            "Without --partitions, --replication-factor or --replica-assignment the broker's"
            " defaults hold. --timeout 0 does not wait until every partition has a leader.\n"
            "A file for --from-file ends in .yaml, .json or .csv and lists topics with name, and"
            " partitions, replication_factor, replica_assignment (1:2,2:3) or configs (a mapping;"
            " in CSV k1=v1,k2=[v1,v2])."
        ),
        examples=(
            Example("create-topic parcels.delivered --partitions 6 --config retention.ms=7d",
                    "a topic that keeps a week"),
            Example("create-topic parcels.lost parcels.found --dry-run",
                    "see what the broker thinks of it first"),
        ),
    ),
    Command(
        name="alter-topic",
        summary="Add partitions; change the replication factor; set and delete configs.",
        family="topics",
        run=alter_topic,
        apis=(32, 35, 37, 44, 45, 46),
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", Kind.TOPIC, "Which topics: a,b  svc-*  /regex/", many=True,
                     option="--topic"),
        ),
        options=(
            _PARTITIONS,
            _ASSIGNMENT,
            Option("--replication-factor", Kind.INTEGER,
                   "Copies of every partition: replicas are added in other racks, or removed.",
                   metavar="N", least=1, most=32767,
                   excludes=("--partitions", "--replica-assignment")),
            THROTTLE,
            WAIT,
            Option("--config", Kind.CONFIG_PAIR, "Set a config; may be repeated.", many=True,
                   aliases=("--add-config",), metavar="KEY=VALUE"),
            Option("--delete-config", Kind.CONFIG_KEYS, "Delete configs: k1,k2; may be repeated.",
                   many=True, metavar="KEYS"),
            Option("--if-exists", Kind.FLAG, "A topic that is not there is no failure."),
        ),
        at_least_one=(
            ("partitions", "replica-assignment", "replication-factor", "config", "delete-config"),
        ),
        search=("increase", "grow", "retention", "replicas"),
        examples=(
            Example("alter-topic orders.placed --partitions 12 --dry-run",
                    "what raising the number of partitions would do"),
            Example("alter-topic orders.placed --config retention.ms=90d"
                    " --delete-config segment.ms",
                    "set one config, delete another"),
            Example("alter-topic orders.placed --replication-factor 1 --dry-run",
                    "where its replicas would be"),
        ),
    ),
    Command(
        name="delete-topic",
        summary="Delete topics and all their records.",
        family="topics",
        run=delete_topic,
        apis=(20,),
        effect=Effect.DESTROY,
        arguments=(
            Argument("topic", Kind.TOPIC, "Which topics: a,b  svc-*  /regex/", many=True,
                     option="--topic"),
        ),
        options=(
            Option("--if-exists", Kind.FLAG, "A topic that is not there is no failure."),
        ),
        search=("remove", "drop"),
        examples=(
            Example("delete-topic 'tmp.*' --dry-run", "see which topics would go"),
            Example("delete-topic tmp.backfill --yes", "without a question"),
        ),
    ),
)  # fmt: skip
