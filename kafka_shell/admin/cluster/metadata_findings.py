"""Findings of the metadata that is read before all checks: brokers, and who leads partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from kafka_shell.admin.cluster import health_checks
from kafka_shell.admin.cluster.cluster_probe import ClusterProbe
from kafka_shell.admin.cluster.health_checks import finding_about
from kafka_shell.admin.cluster.model import Finding, Severity
from kafka_shell.admin.wire.metadata_scan import MetadataScan
from kafka_shell.common.units import counted
from kafka_shell.plan.results import Failure

# With other failures it responds, but refuses the login or TLS.
_SILENT = frozenset(
    {"refused", "no-answer", "connect-timeout", "unreachable", "unknown-host", "connection-lost"}
)


def of_metadata(probe: ClusterProbe) -> Iterator[Finding]:
    """All of these findings."""
    yield from _silent_brokers(probe.metadata, probe.probed.failures)
    yield from _absent_brokers(probe.metadata)
    yield from _behind_brokers(probe)
    yield from _not_led_by_preferred(probe.metadata)


def _silent_brokers(found: MetadataScan, silent: dict[int, Failure]) -> Iterator[Finding]:
    """Brokers that are in the metadata, but do not respond."""
    if not silent:
        return
    ids = ", ".join(map(str, silent))
    yield Finding(
        Severity.NOT_CHECKED, "brokers",
        "not checked: log directories, groups, throttles and transactions of"
        f" broker{'s' if len(silent) > 1 else ''} {ids}",
        len(silent),
    )  # fmt: skip
    led = found.led_by()
    what = (
        "do not respond"
        if all(each.name in _SILENT for each in silent.values())
        else "do not respond, or reject this client"
    )
    total = sum(led[id] for id in silent)
    if len(silent) == 1:
        ((id, failure),) = silent.items()
        what = "does not respond" if failure.name in _SILENT else "rejects this client"
        yield Finding(
            Severity.CRITICAL, "brokers",
            f"broker {id} {what}, and leads {counted(total, 'partition')}: {failure.message}",
            1, (str(id),),
        )  # fmt: skip
        return
    yield Finding(
        Severity.CRITICAL, "brokers",
        f"{len(silent):,} brokers {what}, and lead {counted(total, 'partition')}",
        len(silent),
        tuple(
            f"broker {id} (leads {led[id]:,}): {failure.message}"
            for id, failure in list(silent.items())[: health_checks.EXAMPLES]
        ),
    )  # fmt: skip


def _absent_brokers(found: MetadataScan) -> Iterator[Finding]:
    """Brokers that have replicas and are not in the cluster."""
    gone = sorted(found.replica_ids() - {broker.id for broker in found.brokers})
    if gone:
        what = f"with replicas {'is' if len(gone) == 1 else 'are'} not running"
        yield finding_about(
            Severity.CRITICAL, "brokers", f"{counted(len(gone), 'broker')} {what}", gone
        )


def _behind_brokers(probe: ClusterProbe) -> Iterator[Finding]:
    """Brokers that respond, but whose metadata is out of date."""
    if behind := probe.behind:
        if len(behind) == 1:
            what = next(iter(behind.values())).message
        else:
            what = f"the metadata of {len(behind):,} brokers is out of date"
        summary = f"{what}; clients may get outdated leaders"
        yield finding_about(Severity.WARNING, "brokers", summary, list(behind))


def _not_led_by_preferred(found: MetadataScan) -> Iterator[Finding]:
    """Partitions not led by their preferred replica: the load is not as planned. An election can
    only move the leadership to a replica that is in sync."""
    sick = {*found.unhealthy(), *found.reassigned}
    places, not_in_sync = list[str](), list[str]()
    for topic, misplaced in groupby(found.misplaced(), key=itemgetter(0)):
        waiting = _preferred_not_in_sync(found, topic) if topic in sick else frozenset()
        for _, number in misplaced:
            (not_in_sync if number in waiting else places).append(f"{topic}:{number}")
    if places:
        yield finding_about(Severity.NOTE, "off-preferred", _not_preferred(places), places)
    if not_in_sync:
        summary = f"{_not_preferred(not_in_sync)}, which is not in sync: an election would fail"
        yield finding_about(Severity.NOTE, "preferred-not-in-sync", summary, not_in_sync)


def _preferred_not_in_sync(found: MetadataScan, topic: str) -> frozenset[int]:
    """The partitions of a topic whose preferred replica is not in sync."""
    partitions = found.topic(topic).partitions
    return frozenset(each.partition for each in partitions if each.replicas[0] not in each.isr)


def _not_preferred(places: Sequence[str]) -> str:
    their = "its" if len(places) == 1 else "their"
    return f"{counted(len(places), 'partition')} not led by {their} preferred replica"
