"""The page of `health` in five outages: the cause first, at most eight lines, nothing twice."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster import health
from kafka_shell.admin.cluster.health import Check, combined, not_checked
from kafka_shell.admin.cluster.model import Finding, Health, Severity
from kafka_shell.base.results import Failure
from kafka_shell.commands.cluster.render import health_page

CRITICAL, WARNING, NOT_CHECKED, NOTE = Severity
LATE = Failure("deadline", "timed out after waiting 4.4 s for ListPartitionReassignments response")
PATH = "/var/lib/kafka/data-b"
LINES = {100: 8, 70: 10}  # at most, by width


def of_brokers(check: str, severity: Severity, what: str, count: int, about: str = "") -> Finding:
    return Finding(severity, check, what, count, (about,) if about else (), "brokers")


def dead(summary: str, count: int, lead: str) -> list[Finding]:
    ids = ("2", "3")[:count]
    return [
        Finding(CRITICAL, "brokers", summary, count, ids, short=lead),
        of_brokers("offline", CRITICAL, "1 partition without a leader", 1, "a:0"),
        of_brokers("under-min-isr", CRITICAL, "2 partitions under min ISR", 2, "a:0"),
        of_brokers("under-replicated", WARNING, "701 partitions under-replicated", 701, "a:0"),
        of_brokers("quorum", WARNING, "1 voter of the metadata quorum is behind", 1, "2"),
        of_brokers("brokers", NOT_CHECKED, "not checked: log directories of broker 2", 1),
        Finding(NOTE, "off-preferred", "4 partitions not led by their preferred replica", 4),
    ]


def denied(check: Check, requires: str) -> Finding:
    return not_checked(check, Failure("CLUSTER_AUTHORIZATION_FAILED", "", 31, requires=requires))


VOTER = Finding(
    CRITICAL, "controllers", "controller 2 is not responding: 127.0.0.1:9093 refused", 1, ("2",),
    "brokers", "the quorum tolerates no further failure",
)  # fmt: skip
WAITED = [not_checked(check, LATE) for check in (health._THROTTLES, health._MOVES)]
FEW_RIGHTS = [
    *(denied(health._MIN_ISR, f"DESCRIBE_CONFIGS on topic t{number}") for number in range(40)),
    *(denied(check, "DESCRIBE on the cluster") for check in (health._QUORUM, health._MOVES)),
]
OUTAGES = {
    "broker 2 is down (broker and controller): ": [*dead("broker 2 is down", 1, ""), VOTER],
    "broker 2 is not responding (broker and controller): leads 9 partitions, ": [
        *dead("broker 2 is not responding", 1, "leads 9 partitions"), VOTER,
    ],
    "broker 3 has 1 full log directory (less than 1% is left)": [
        Finding(CRITICAL, "log-dirs", "broker 3 has 1 full log directory (less than 1% is left)", 1,
                (f"3:{PATH}",)),
    ],
    "brokers 2, 3 are not responding, so the metadata quorum has no majority: ": [
        *dead("brokers 2, 3 are not responding", 2, "lead 8 partitions"),
        health._no_majority([2, 3], {2, 3}), *WAITED,
    ],
    "the metadata quorum has no majority (controllers 7, 8 are not responding), so leaders": [
        health._no_majority([7, 8], set()), *WAITED,
    ],
    "the metadata quorum, partition reassignments: requires DESCRIBE on the cluster": FEW_RIGHTS,
}  # fmt: skip


@pytest.mark.parametrize("cause", OUTAGES)
@pytest.mark.parametrize("width", LINES)
def test_the_cause_comes_first_and_nothing_twice(cause: str, width: int) -> None:
    found = tuple(sorted(combined(OUTAGES[cause]), key=lambda finding: finding.severity))
    health = Health("bB3CndtnRjmn5sIt2Y-eWA", 3, 2, 12, found)
    lines = [line.plain for line in health_page(health, width)]
    assert len(lines) <= LINES[width] and max(map(len, lines)) <= width, "\n".join(lines)
    told = [line for line in lines if line]
    assert len(told) == len(set(told))
    labels = ("CRITICAL", "NOT CHECKED")
    first = next(number for number, line in enumerate(lines) if line.startswith(labels))
    shown = " ".join(line.strip() for line in lines[first:])
    assert shown.partition("  ")[2].strip().startswith(cause), shown
