"""Findings of health, by their checks."""

from __future__ import annotations

from kafka_shell.admin.cluster import health
from kafka_shell.admin.cluster.model import Finding, Health
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.cluster.render import command_of
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.wire.cluster import Cluster

ONLY_READS = "verify-reassign-partitions"  # without --finish


def look(cluster: Cluster) -> dict[str, Finding]:
    found = health.health(cluster)
    for finding in found.findings:
        if not (line := command_of(finding)):
            continue
        invocation = parse(tokenize(line), REGISTRY)
        command = invocation.command
        only_shown = command.name == ONLY_READS or invocation.get("dry-run")
        assert command.effect.value == "read" or only_shown, line
    return by_check(found)


def by_check(found: Health) -> dict[str, Finding]:
    return {finding.check: finding for finding in found.findings}
