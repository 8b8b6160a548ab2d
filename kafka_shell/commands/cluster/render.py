"""Tables and pages of brokers, health, the metadata quorum, features and API versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_shell.admin.cluster.model import (
    QUORUM,
    ApiSupport,
    BrokerDescription,
    ClusterMetadata,
    Feature,
    Features,
    Finding,
    Health,
    HealthDetails,
    Quorum,
    QuorumReplica,
    Severity,
    by_cause,
)
from kafka_shell.admin.groups.model import NOT_READY_STATES, REBALANCING_STATES
from kafka_shell.admin.partitions.model import LogDirUse
from kafka_shell.base.results import mentions
from kafka_shell.base.structs import fields
from kafka_shell.base.text import positional
from kafka_shell.base.units import counted, format_duration
from kafka_shell.commands.cluster import restart_render
from kafka_shell.commands.configs.render import CONFIG
from kafka_shell.commands.partitions.render import COLUMNS as PARTITIONS
from kafka_shell.output.columns import labeled_lines, summary
from kafka_shell.output.humanize import local_time
from kafka_shell.output.tables import Cell, Column, Page, Rows, draw_table
from kafka_shell.output.text import Role, Text, hang, text
from kafka_shell.wire.model import Broker

_LABEL = 10
_SEVERITY_LABEL = 13

COLUMNS: dict[type, tuple[Column, ...]] = {
    Broker: (
        Column("BROKER", lambda b: b.id, "right", "name"),
        Column("HOST", lambda b: b.host),
        Column("PORT", lambda b: b.port or None, "right"),
        Column("RACK", lambda b: b.rack),
        Column("VERSION", lambda b: b.version),
        Column("STATE", lambda b: _state(b)),
        Column("ROLE", lambda b: "controller" if b.controller else None, role="good"),
    ),
}


def _state(broker: Broker) -> Text | None:
    if broker.cordoned:
        return text(f"{broker.state}, cordoned", "warning")
    return text(broker.state, "" if broker.state == "up" else "bad") if broker.state else None


def _controller(cluster: ClusterMetadata) -> str | Text:
    if cluster.controller is not None:
        return f"controller {cluster.controller}"
    unknown = any(what == "controller" for what, _ in cluster.not_read)
    return text("controller unknown", "warning") if unknown else text("no controller", "bad")


def cluster_page(cluster: ClusterMetadata, width: int | None) -> Iterator[Text]:
    """The cluster: counts, brokers, features."""
    inner = f" ({cluster.internal_topics} internal)" if cluster.internal_topics else ""
    yield from summary(
        width,
        text(f"cluster {cluster.cluster_id}", "heading"),
        _controller(cluster),
        counted(sum(broker.state != "absent" for broker in cluster.brokers), "broker"),
        counted(cluster.topics, "topic") + inner,
        counted(cluster.partitions, "partition"),
        text(f"bootstrap {cluster.bootstrap}", "dim") if cluster.bootstrap else "",
    )
    if cluster.brokers:
        yield Text()
        yield from draw_table(COLUMNS[type(cluster.brokers[0])], cluster.brokers, width=width)
    if cluster.features:
        yield Text()
        levels = ", ".join(f"{each.name} {each.release or each.level}" for each in cluster.features)
        yield from hang(text("features", "heading") + f"  {levels}", width, _LABEL)
    if cluster.not_read:
        yield Text()
        for what, failure in cluster.not_read:
            message = failure.message.removeprefix(f"{what}: ")
            line = f"not read: {what}: {message}" + (f" ({failure.hint})" if failure.hint else "")
            yield from hang(text(line, "warning"), width, _LABEL)


_SEVERITY: dict[Severity, Role] = {
    Severity.CRITICAL: "bad",
    Severity.WARNING: "warning",
    Severity.NOT_CHECKED: "warning",
    Severity.NOTE: "dim",
}


def health_page(health: Health, width: int | None) -> Iterator[Text]:
    """The verdict, then the causes, worst first; notes in one line while anything is critical."""
    findings = by_cause(health.findings)
    yield from _health_lines(health, findings, width)


def health_details_page(health: HealthDetails, width: int | None) -> Iterator[Text]:
    """The verdict, then every finding, worst first."""
    yield from _health_lines(health, health.findings, width)


def _health_lines(health: Health, findings: Sequence[Finding], width: int | None) -> Iterator[Text]:
    size = ", ".join(
        (
            counted(health.brokers, "broker"),
            counted(health.topics, "topic"),
            counted(health.partitions, "partition"),
        )
    )
    about = text(f"cluster {health.cluster_id}: {size}", "dim")
    yield from summary(width, _verdict(findings), about)
    if findings:
        yield Text()
    notes = [each for each in findings if each.severity is Severity.NOTE]
    critical = any(each.severity is Severity.CRITICAL for each in findings)
    few = critical and not isinstance(health, HealthDetails)
    for finding in findings:
        if not (few and finding.severity is Severity.NOTE):
            yield from _finding(finding, width)
    if few and notes:
        label = text("NOTE", _SEVERITY[Severity.NOTE])
        told = f"{counted(len(notes), 'note')}: health --verbose"
        yield from labeled_lines(label, _SEVERITY_LABEL, told, (), 0, width)


def _verdict(findings: Sequence[Finding]) -> Text:
    counted_by = Counter(finding.severity for finding in findings)
    notes = counted_by.pop(Severity.NOTE, 0)
    if not counted_by:
        return text(", ".join(["healthy", *([counted(notes, "note")] if notes else [])]), "good")
    words = [
        counted(count, "warning")
        if severity is Severity.WARNING
        else f"{count:,} {_words(severity)}"
        for severity, count in sorted(counted_by.items())
    ]
    worst: Role = "bad" if Severity.CRITICAL in counted_by else "warning"
    known = min(counted_by) < Severity.NOT_CHECKED
    return text(("unhealthy: " if known else "unknown: ") + ", ".join(words), worst)


def _words(severity: Severity) -> str:
    return severity.name.lower().replace("_", " ")


def _finding(finding: Finding, width: int | None) -> Iterator[Text]:
    label = text(_words(finding.severity).upper(), _SEVERITY[finding.severity])
    stated = finding.severity is Severity.NOT_CHECKED  # by its label
    summary = finding.summary.removeprefix("not checked: ") if stated else finding.summary
    examples = [example for example in finding.examples if not mentions(summary, example)]
    yield from labeled_lines(label, _SEVERITY_LABEL, summary, examples, finding.count, width)
    if command := command_of(finding):
        yield text(" " * _SEVERITY_LABEL) + text(command, "hint")


PAGES: dict[type, Page] = {
    ClusterMetadata: cluster_page,
    Health: health_page,
    HealthDetails: health_details_page,
}
ROWS: dict[type, Rows] = {
    ClusterMetadata: lambda cluster: cluster.brokers,
    Health: lambda health: health.findings,
    HealthDetails: lambda health: health.findings,
}


_CONFIGS = (Column("CONFIG", lambda e: e.name, role="key"), *CONFIG)


def broker_page(described: BrokerDescription, width: int | None) -> Iterator[Text]:
    """A broker: address, state, leaders and replicas, log directories, configs."""
    broker = described.broker
    yield from summary(
        width,
        text(f"broker {broker.id}", "heading"),
        f"{broker.host}:{broker.port}" if broker.host else "",
        f"rack {broker.rack}" if broker.rack else "",
        f"Kafka {broker.version}" if broker.version else "",
        text(broker.state, "good" if broker.state == "up" else "bad"),
        f"metadata quorum: {described.quorum_role}" if described.quorum_role else "",
    )
    sync = described.out_of_sync
    yield from summary(
        width,
        f"leads {counted(described.leaders, 'partition')} (preferred leader of"
        f" {described.preferred:,})",
        counted(described.replicas, "replica"),
        text(f"{sync:,} not in sync", "warning") if sync else "",
    )
    if described.log_dirs:
        yield Text()
        yield from draw_table(PARTITIONS[LogDirUse][1:], described.log_dirs, width=width)
    if described.configs:
        yield Text()
        yield from draw_table(_CONFIGS, described.configs, width=width)


PAGES |= {BrokerDescription: broker_page}
COLUMNS |= restart_render.COLUMNS
PAGES |= restart_render.PAGES
ROWS |= restart_render.ROWS


_SLOW_MS = 1_000
_ROUND_MS = 10_000


def _behind(replica: QuorumReplica) -> Cell:
    if replica.behind_ms < 0 or replica.role == "leader":
        return None

    behind, slow = replica.behind_ms, replica.behind_ms > _SLOW_MS
    # Whole seconds for a voter that is far behind.
    rounded = behind - behind % 1_000 if behind >= _ROUND_MS else behind
    return text(format_duration(rounded), "warning" if slow else "")


def _supported(feature: Feature) -> str:
    if feature.lowest > feature.highest:
        return "no level in common"
    levels = f"{feature.lowest}-{feature.highest}"
    return f"{levels} ({feature.highest_release})" if feature.highest_release else levels


def _feature_note(feature: Feature) -> Cell:
    levels = [f"broker {b.broker}: {b.lowest}-{b.highest}" for b in feature.brokers]
    unread = [f"broker {broker}: unknown" for broker in feature.unread]
    if feature.differs or unread:
        return text(", ".join((*(levels if feature.differs else ()), *unread)), "warning")
    if feature.level < feature.highest:
        return text(f"upgradable to {feature.highest_release or feature.highest}", "hint")
    return None


def _versions(lowest: int | None, highest: int | None) -> str | None:
    return None if lowest is None else f"{lowest}-{highest}"


def _differences(api: ApiSupport) -> Text | None:
    if not api.differs:
        return None
    each = [f"broker {b.broker}: {b.lowest}-{b.highest}" for b in api.brokers]
    each += [f"broker {broker}: none" for broker in api.missing]
    return text(", ".join(each), "warning")


COLUMNS |= {
    QuorumReplica: (
        Column("ID", lambda r: r.id, "right", "name"),
        Column("ROLE", lambda r: text(r.role, "good" if r.role == "leader" else "")),
        Column("LOG-END-OFFSET", lambda r: r.log_end_offset, "right"),
        Column("LAG", lambda r: r.lag, "right"),
        Column("BEHIND", _behind, "right"),
        Column("LAST-CAUGHT-UP", lambda r: local_time(r.last_caught_up), overflow="drop"),
        Column("ENDPOINTS", lambda r: ",".join(map(str, r.endpoints)), overflow="wrap", least=24),
        Column("DIRECTORY-ID", lambda r: r.directory_id, role="dim", overflow="drop"),
    ),
    Feature: (
        Column("FEATURE", lambda f: f.name, role="key"),
        Column("LEVEL", lambda f: f.level, "right", "value"),
        Column("RELEASE", lambda f: f.release),
        Column("SUPPORTED", _supported),
        Column("NOTE", _feature_note, overflow="wrap"),
    ),
    ApiSupport: (
        Column("KEY", lambda a: a.key, "right"),
        Column("API", lambda a: a.name, role="name"),
        Column("VERSIONS", lambda a: _versions(a.lowest, a.highest)),
        Column("DIFFERENCES", _differences, overflow="wrap"),
    ),
}


def quorum_page(quorum: Quorum, width: int | None) -> Iterator[Text]:
    """The metadata quorum: its leader, then its voters and observers."""
    yield from summary(
        width,
        text("metadata quorum", "heading"),
        text("no leader", "bad") if quorum.leader < 0 else f"leader {quorum.leader}",
        f"epoch {quorum.leader_epoch}",
        f"high watermark {quorum.high_watermark}",
    )
    if quorum.replicas:
        yield Text()
        yield from draw_table(COLUMNS[QuorumReplica], quorum.replicas, width=width)


def features_page(features: Features, width: int | None) -> Iterator[Text]:
    """The features and their levels."""
    yield from summary(
        width,
        text("features", "heading"),
        f"epoch {features.epoch}" if features.epoch >= 0 else text("none", "warning"),
        *(text(f"broker {broker} could not be read", "bad") for broker, _ in features.unread),
    )
    if features.features:
        yield Text()
        yield from draw_table(COLUMNS[Feature], features.features, width=width)


PAGES |= {Quorum: quorum_page, Features: features_page}
ROWS |= {
    Quorum: lambda quorum: quorum.replicas,
    Features: lambda features: features.features,
}


# The command that shows more about a finding of `health`.

# The check of a finding -> command.
_COMMANDS = {
    "partitions": "list-topics --long",
    "offline": "describe-topic --unavailable-partitions",
    "under-replicated": "describe-topic --under-replicated-partitions",
    "under-min-isr": "describe-topic --under-min-isr-partitions",
    "at-min-isr": "describe-topic --at-min-isr-partitions",
    "preferred-not-in-sync": "describe-topic --under-replicated-partitions",
    "off-preferred": "elect-leaders --all-topic-partitions --dry-run",
    "brokers": "cluster-metadata",
    "quorum": "describe-quorum",
    "controllers": "describe-quorum",
    "moves": "list-reassignments",
    "throttles": "verify-reassign-partitions",
    "log-dirs": "describe-log-dirs",
    "permissions": "list-topics",
    "groups": "list-groups --long",
    "stuck": "lag",
    "transactions": "find-hanging-transactions",
}


_GROUP_STATES = {Severity.WARNING: NOT_READY_STATES, Severity.NOTE: REBALANCING_STATES}


class FindingWithCommand(Finding, frozen=True):
    """A finding and the command that shows more about it."""

    see: str = ""


def with_command(finding: Finding) -> FindingWithCommand:
    """The finding with its command."""
    values = {name: getattr(finding, name) for name in fields(Finding)}
    return FindingWithCommand(**values, see=command_of(finding))


def command_of(finding: Finding) -> str:
    """The command that shows more about a finding; empty if there is none."""
    if finding.check == "min-isr-above-replicas":
        topics = positional("--topic", ",".join(finding.examples))
        return f"describe-configs {topics} min.insync.replicas"
    lost = finding.check == QUORUM and finding.severity is Severity.CRITICAL
    if lost or finding.severity is Severity.NOT_CHECKED:
        return ""  # the command would fail for the same reason
    states = _GROUP_STATES.get(finding.severity, ()) if finding.check == "groups" else ()
    return " ".join([_COMMANDS.get(finding.check, ""), *(f"--state {state}" for state in states)])
