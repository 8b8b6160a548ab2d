"""Whether producers with acks=all fail: they need min.insync.replicas replicas in sync."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.read import of_some_broker
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.min_isr import Requirement
from kafka_shell.admin.topics.model import NewTopic, named_topics
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.admin.topics.steps import CreateTopics
from kafka_shell.advice.altered_configs import AlteredConfig
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice, NotChecked
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition, Topic

_DEFAULT_FACTOR = "default.replication.factor"


class Facts(Struct, frozen=True):
    """The min.insync.replicas that topics get, and their replicas."""

    required: Sequence[Requirement] = ()
    capped: bool = True  # whether brokers cap it at the number of replicas
    before: Mapping[str, int] = {}  # min.insync.replicas, by topic; 0 if unknown
    out_of_sync: Sequence[Topic] = ()  # topics with replicas that are not in sync
    single: Sequence[str] = ()  # topics that get a single replica, although there are more brokers


# -- what is read ----------------------------------------------------------------------------------


def read(reads: Reads) -> Facts | None:
    """Read the replicas of the topics that are created, or whose min.insync.replicas changes."""
    created = [step for step in reads.plan.steps if isinstance(step, CreateTopics)]
    altered = _altered(reads)
    if not created and not altered:
        return None
    required, single = _of_created(reads, created) if created else ([], ())
    facts = _of_altered(reads, altered) if altered else Facts()
    facts = replace(facts, required=[*required, *facts.required], single=single)
    if not facts.required:
        return facts
    about = f"{min_isr.KEY} of {counted(len(facts.required), 'topic')}"
    capped = reads.attempt(about, lambda: min_isr.is_capped(reads.cluster))
    return Facts(single=single) if capped is None else replace(facts, capped=capped)


def _of_created(
    reads: Reads, steps: Sequence[CreateTopics]
) -> tuple[list[Requirement], Sequence[str]]:
    """What new topics require, and those with a single replica. The defaults of the cluster are
    read if they decide."""
    created = [new for step in steps for new in step.items]
    defaults: Mapping[str, str | None] = {min_isr.KEY: steps[0].min_isr}
    known = bool(steps[0].min_isr)
    if not all(_factor(new, "") and (known or min_isr.KEY in dict(new.configs)) for new in created):
        about = f"{min_isr.KEY} against the replication factor"
        defaults = reads.attempt(about, lambda: _defaults(reads.cluster)) or {}
    factors = {new.name: _factor(new, defaults.get(_DEFAULT_FACTOR)) for new in created}
    minima = {new.name: dict(new.configs).get(min_isr.KEY, defaults.get(min_isr.KEY))
              for new in created}  # fmt: skip
    required = [
        Requirement(name, int(minimum), factors[name])
        for name, minimum in minima.items()
        if minimum and minimum.isdecimal()
    ]
    single = [name for name, factor in factors.items() if factor == 1]
    if single:
        about = "whether topics could have more than one replica"
        brokers = reads.attempt(about, lambda: len(reads.cluster.brokers()))
        single = single if brokers is not None and brokers > 1 else []
    return required, single


def _defaults(cluster: Cluster) -> dict[str, str | None]:
    entries = of_some_broker(cluster, [min_isr.KEY, _DEFAULT_FACTOR])
    return {key: entry.value for key, entry in entries.items()}


def _factor(new: NewTopic, default: str | None) -> int:
    """The replication factor of a new topic; 0 if unknown."""
    if new.assignment:
        return min(map(len, new.assignment))
    return new.replication_factor or int(default or 0)


def _of_altered(reads: Reads, altered: Mapping[str, AlteredConfig]) -> Facts:
    names = list(altered)
    metadata = reads.attempt(
        "replication factors", lambda: scan_reassigned(reads.cluster, names, seen=reads.metadata)
    )
    if metadata is None:
        return Facts()
    unknown = sum(config.value is None for config in altered.values())
    if unknown:
        about = f"{min_isr.KEY} of {counted(unknown, 'topic')}"
        reads.not_checked.append(NotChecked(about, "its default is not known"))
    required = [
        Requirement(name, int(config.value), metadata.summary(name).replication_factor)
        for name, config in altered.items()
        if config.value is not None and config.value.isdecimal() and name in metadata
    ]
    before = {each.topic: _number(altered[each.topic].change.replaced) for each in required}
    return Facts(required, True, before, _out_of_sync(metadata, required))


def _altered(reads: Reads) -> dict[str, AlteredConfig]:
    """The altered min.insync.replicas that applies to each topic."""
    altered: dict[str, AlteredConfig] = {}
    for config in reads.altered:
        if config.topic_key != min_isr.KEY:
            continue
        if config.change.resource.kind == "topic":
            altered[config.change.resource.name] = config
        elif config.is_default and reads.topic_values:
            altered |= dict.fromkeys(reads.topic_values.inheriting(min_isr.KEY), config)
    return altered


def _out_of_sync(metadata: MetadataScan, required: Sequence[Requirement]) -> list[Topic]:
    return [
        metadata.topic(each.topic)
        for each in required
        if metadata.summary(each.topic).under_replicated or each.topic in metadata.reassigned
    ]


def _number(value: object) -> int:
    """The number in a config value; 0 if unknown."""
    return int(str(value)) if str(value).isdecimal() else 0


# -- what is said ----------------------------------------------------------------------------------


def say(facts: Facts) -> Advice:
    """Say where producers with acks=all fail at once, or as soon as a broker is down."""
    warnings = [
        *min_isr.unreplicated(dict.fromkeys(facts.single, 1)),
        *min_isr.warnings(facts.required, capped=facts.capped),
    ]
    failing = _failing(facts)
    if not failing:
        return Advice(warnings=tuple(warnings))
    partitions = counted(len(failing), "partition")
    of = named_topics(sorted({partition.topic for partition in failing}))
    return Advice(
        warnings=(
            *warnings,
            f"producers with acks=all to {partitions} of {of} will fail at once: too few replicas"
            " are in sync",
        ),
        stakes=f"producers with acks=all fail in {partitions}",
        confirm=True,
    )


def _failing(facts: Facts) -> set[Partition]:
    """The partitions whose in-sync replicas are enough for acks=all before, but not after."""
    after = {requirement.topic: requirement.minimum for requirement in facts.required}
    rising = [topic for topic in facts.out_of_sync if after[topic.name] > facts.before[topic.name]]
    already = {*min_isr.below(rising, facts.before, capped=facts.capped)}
    return {*min_isr.below(rising, after, capped=facts.capped)} - already
