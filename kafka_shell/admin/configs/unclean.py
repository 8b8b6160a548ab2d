"""What enabling unclean leader elections means: a replica that is not in sync may become leader."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kafka_shell.admin.topics.model import named_topics
from kafka_shell.base.units import counted
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan_at_least

KEY = "unclean.leader.election.enable"


class UncleanElections(Struct, frozen=True):
    """The partitions without a leader, of topics for which unclean elections are enabled: the
    controller elects a leader for each that has a replica on a running broker."""

    topics: tuple[str, ...] = ()
    partitions: int = 0

    @property
    def warning(self) -> str:
        """What they lose, or may lose later."""
        elects = f"{KEY}=true elects replicas that are not in sync as leaders"
        if not self.partitions:
            return f"{elects} when no other is available: committed records may be lost"
        which = counted(self.partitions, "partition")
        without = "that has no leader" if self.partitions == 1 else "that have no leader"
        return (
            f"{elects} of {which} of {named_topics(self.topics)} {without}: committed records that"
            " they do not have are lost and cannot be restored"
        )

    @property
    def stakes(self) -> str:
        """What is lost in a few words, for the question; empty if nothing is lost now."""
        if not self.partitions:
            return ""
        return f"loses committed records of {counted(self.partitions, 'offline partition')}"


def read(
    cluster: Cluster, topics: Sequence[str], metadata: MetadataScan | None = None
) -> UncleanElections:
    """The partitions of these topics without a leader. Raises ShellError."""
    found = metadata or scan_at_least(cluster, topics)
    offline = {name: found.summary(name).offline for name in topics if name in found}
    affected = tuple(name for name, count in offline.items() if count)
    return UncleanElections(affected, sum(offline.values()))
