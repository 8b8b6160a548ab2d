"""Whether records can be lost by an election: an unclean leader does not have all records."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kafka_shell.admin.topics.model import named_topics
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice
from kafka_shell.base.units import counted
from kafka_shell.wire.metadata_scan import scan_at_least

KEY = "unclean.leader.election.enable"


class Facts(Struct, frozen=True):
    """The partitions without a leader, of topics for which unclean elections are enabled: the
    controller elects a leader for each that has a replica on a running broker."""

    offline: Mapping[str, int]  # partitions by topic


def read(reads: Reads) -> Facts | None:
    """Read which partitions have no leader, if unclean elections become possible."""
    enabled = [
        config
        for config in reads.altered
        if config.topic_key == KEY
        and str(config.value).lower() == "true"
        and str(config.change.replaced).lower() != "true"
    ]
    if not enabled:
        return None
    names = [config.change.resource.name for config in enabled if not config.of_broker]
    if len(names) < len(enabled) and (topics := reads.topic_values):
        names += topics.inheriting(KEY)
    metadata = reads.metadata or reads.attempt(
        "partitions without a leader", lambda: scan_at_least(reads.cluster, names)
    )
    if metadata is None:
        return Facts({})
    offline = {name: metadata.summary(name).offline for name in names if name in metadata}
    return Facts({name: count for name, count in offline.items() if count})


def say(facts: Facts) -> Advice:
    """Say what is lost at once, or may be lost later."""
    elects = f"{KEY}=true elects out-of-sync replicas as leaders"
    if not facts.offline:
        later = f"committed records may be lost: {elects} when no in-sync replica is available"
        return Advice(warnings=(later,))
    count = sum(facts.offline.values())
    which = f"{counted(count, 'partition')} of {named_topics(list(facts.offline))}"
    return Advice(
        warnings=(
            f"{which} without a leader will lose committed records, which cannot be restored:"
            f" {elects}",
        ),
        stakes=f"loses committed records of {counted(count, 'offline partition')}",
        confirm=True,
    )
