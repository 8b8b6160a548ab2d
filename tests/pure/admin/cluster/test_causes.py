"""What follows from a broker, log directory or quorum that is down is folded into its finding."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster.health import _no_majority
from kafka_shell.admin.cluster.model import Finding, Severity, by_cause, cause_of
from kafka_shell.base.structs import replace
from kafka_shell.wire.model import Partition

CRITICAL, WARNING, NOT_CHECKED, NOTE = Severity
DOWN = Finding(CRITICAL, "brokers", "broker 2 is down", 1, ("2",), short="leads 12 partitions")
DISK = Finding(CRITICAL, "log-dirs", "broker 3 has 1 offline log directory", 1)
QUORUM = Finding(CRITICAL, "quorum", "the metadata quorum is unavailable", 1)
TWO = Finding(
    CRITICAL, "brokers", "brokers 2, 3 are down", 2, ("2", "3"), short="lead 8 partitions"
)
LOST = _no_majority([2, 3], frozenset({2, 3}))
CONTROLLER = Finding(
    CRITICAL, "controllers", "controller 2 is not responding", 1, ("2",), cause="brokers",
    short="the quorum tolerates no further failure",
)  # fmt: skip


def partitions(check: str, count: int, cause: str, severity: Severity = WARNING) -> Finding:
    return Finding(severity, check, "", count, cause=cause)


@pytest.mark.parametrize(
    ("leader", "isr", "offline", "down", "cause"),
    [
        (1, (1, 2, 3), (), (), ""),
        (1, (1, 3), (), (2,), "brokers"),
        (1, (1,), (), (2, 3), "brokers"),
        (1, (1,), (), (2,), ""),  # 3 is not in sync for another reason
        (1, (1, 3), (), (), ""),
        (1, (1, 3), (2,), (), "log-dirs"),
        (1, (1, 3), (2,), (2,), "brokers"),
        (1, (1,), (3,), (2,), "log-dirs"),
        (None, (2,), (), (2,), "brokers"),
        (None, (2,), (2,), (), "log-dirs"),
        (None, (2,), (), (), ""),
        (1, (1, 2, 3), (), (2,), ""),
    ],
)
def test_the_cause_of_a_partition(
    leader: int | None,
    isr: tuple[int, ...],
    offline: tuple[int, ...],
    down: tuple[int, ...],
    cause: str,
) -> None:
    assert cause_of(Partition("a", 0, leader, 1, (1, 2, 3), isr, offline), down) == cause


@pytest.mark.parametrize(
    ("findings", "told"),
    [
        ((DOWN,), ["broker 2 is down: leads 12 partitions"]),
        (  # no controller is left to elect leaders
            (DOWN, partitions("offline", 1, "brokers", CRITICAL)),
            ["broker 2 is down: leads 12 partitions, 1 partition offline"],
        ),
        (
            (
                replace(DOWN, short=""),
                partitions("offline", 1, "brokers", CRITICAL),
                partitions("under-min-isr", 2, "brokers", CRITICAL),
                CONTROLLER,
                partitions("under-replicated", 1701, "brokers"),
                partitions("at-min-isr", 5, "brokers"),
            ),
            ["broker 2 is down (broker and controller): 1 partition offline, 2 under min ISR,"
             " 1,701 under-replicated, the quorum tolerates no further failure"],
        ),
        (
            (DISK, partitions("offline", 3, "", CRITICAL), partitions("offline", 2, "log-dirs")),
            ["broker 3 has 1 offline log directory: 2 partitions offline", ""],
        ),
        (
            (QUORUM, Finding(NOT_CHECKED, "moves", "", 1, cause="quorum", short="reassignments"),
             Finding(NOT_CHECKED, "throttles", "", 1, cause="quorum", short="throttles")),
            ["the metadata quorum is unavailable: reassignments and throttles not checked"],
        ),
        (
            (DOWN, CONTROLLER,
             Finding(NOT_CHECKED, "moves", "", 1, cause="quorum", short="reassignments")),
            ["broker 2 is down (broker and controller): leads 12 partitions,"
             " the quorum tolerates no further failure, reassignments not checked"],
        ),
        (
            (TWO, LOST,
             Finding(NOT_CHECKED, "moves", "", 1, cause="quorum", short="reassignments")),
            ["brokers 2, 3 are down, so the metadata quorum has no majority: lead 8 partitions,"
             " leaders and in-sync replicas may be out of date, reassignments not checked"],
        ),
        ((TWO, replace(CONTROLLER, short="")),
         ["brokers 2, 3 are down (controller 2 too): lead 8 partitions"]),
        ((TWO, replace(CONTROLLER, short="", count=2)),
         ["brokers 2, 3 are down (brokers and controllers): lead 8 partitions"]),
        (
            (Finding(NOT_CHECKED, "moves", "not checked: x", 1, cause="quorum", short="x"),
             Finding(WARNING, "quorum", "1 voter is behind", 1)),
            ["not checked: x", "1 voter is behind"],  # the quorum is no cause: it is there
        ),
        ((partitions("under-replicated", 3, "brokers"),), [""]),  # its cause was not found
    ],
)  # fmt: skip
def test_what_follows_is_counted_in_the_line_of_its_cause(
    findings: tuple[Finding, ...], told: list[str]
) -> None:
    assert [finding.summary for finding in by_cause(findings)] == told
