"""The command that shows more about a finding of `health`."""

from __future__ import annotations

from kafka_shell.admin.cluster.model import Finding, Severity
from kafka_shell.admin.groups.model import NOT_READY_STATES, REBALANCING_STATES
from kafka_shell.common.quoting import positional
from kafka_shell.common.structs import fields

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
    states = _GROUP_STATES.get(finding.severity, ()) if finding.check == "groups" else ()
    return " ".join([_COMMANDS.get(finding.check, ""), *(f"--state {state}" for state in states)])
