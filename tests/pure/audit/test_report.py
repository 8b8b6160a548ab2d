"""The HTML report, in a real browser if one is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_shell.audit.model import (
    AuditFinding,
    AuditReport,
    ControlResult,
    FindingHistory,
    LeftOut,
    Trend,
)
from kafka_shell.audit.report import Bar, Chart, page, source_url, write
from kafka_shell.base.structs import replace
from tests.support.audit_report import FINDINGS, finding
from tests.support.samples import drawn


@pytest.fixture
def made_up() -> str:
    """A page of a few findings, without Spark."""
    chart = Chart("Lag", "Who is behind.", (Bar("billing", "9", 1.0), Bar("web", "3", 1 / 3)))
    return page(AuditReport("s", 0, ("dev",), {}, (), FINDINGS), (chart,))


def test_names_are_escaped() -> None:
    evil = "<script>alert(1)</script>"
    one = AuditFinding("T01", evil, "high", "alarm", evil, evil, evil, evil)
    chart = Chart(evil, evil, (Bar(evil, evil, 1.0, more=evil),))
    text = page(AuditReport("s", 0, (evil,), {evil: evil}, (), (one,)), (chart,))
    assert evil not in text and "&lt;script&gt;alert" in text


def test_the_report_is_private(tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    for text in ("a longer page", "page"):  # a new file, and one of an older version
        write(file, text)
        assert file.read_text() == text and file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o644)
    before = Path("/dev/null").stat().st_mode
    write(Path("/dev/null"), "page")
    assert Path("/dev/null").stat().st_mode == before


def test_an_audit_that_checked_nothing_is_not_shown_as_good() -> None:
    skipped = AuditFinding("S05", "", "high", "skip", "dev", "ACLs", "could not be read", "")
    text = page(AuditReport("s", 0, ("dev",), {}, (), (skipped,)), ())
    assert "No findings, 1 not checked." in text and '"good">No findings' not in text
    refused = AuditReport("s", 0, ("dev",), {"dev": "refused"}, (), ())
    unread = page(refused, ())
    assert "No findings." in unread and '"good">No findings' not in unread
    assert "dev could not be read: refused\n" in drawn(refused)
    assert '"good">No findings.' in page(AuditReport("s", 0, ("dev",), {}, (), ()), ())


def test_what_is_at_risk_and_the_counts_come_before_usage(made_up: str) -> None:
    judged = ControlResult("T01", "One", "high", "topics", {"alarm": 2}, "It is lost.", "KIP-1")
    found = (finding("T01", "high", "orders"),) * 1002
    text = page(AuditReport("s", 0, ("dev",), {}, (judged,), found), ())
    assert "It is lost." in text and "queryString=KIP-1" in text
    assert "1,002" in text and "And 2 more" in text and text.count("<tr data-cluster") == 1000
    assert made_up.index(">Findings<") < made_up.index(">Lag<")
    assert "Score" not in text and "%</td>" not in text


def test_a_fleet_shows_what_is_worst_where() -> None:
    clusters = tuple(f"c{n:02}" for n in range(50))
    found = tuple(
        AuditFinding(control, control, severity, "alarm", cluster, "orders", "why")
        for control, severity, count in (
            ("T04", "high", 43),
            ("T01", "critical", 1),
            ("T05", "high", 44),
        )
        for cluster in clusters[:count]
    )
    report = AuditReport(
        "s", 0, clusters, {}, (), found, left_out=(LeftOut("T04", "high", "c00", 9),)
    )
    assert [(each.control, each.findings, len(each.clusters)) for each in report.worst] == [
        ("T01", 1, 1), ("T05", 44, 44), ("T04", 52, 43),
    ]  # fmt: skip
    shown = " ".join(re.sub(r"<[^>]+>", "", page(report, ())).split())
    assert (
        "high T04 on 43 of 50 clusters T04 52 findings: c00, c01, c02, c03, c04 and 38 more"
        in shown
    )
    assert "high T04 on 43 of 50 clusters: " in drawn(report)


def test_the_gravest_findings_of_one_cluster_come_first() -> None:
    shown = page(AuditReport("s", 0, ("dev",), {}, (), FINDINGS), ())
    first = shown[: shown.index("<h2>")]
    assert [id for id in ("T01", "T05", "T16", "T24") if id in first] == ["T01", "T05", "T16"]
    assert "Worst findings" not in shown


def test_what_is_new_or_fixed_is_shown_with_its_owner() -> None:
    changes = (
        FindingHistory("dev", "T01", "One", "high", "orders", "new", 0, 1, 0, 1, "payments"),
        FindingHistory("dev", "T01", "One", "high", "web", "fixed", 0, 1, 0, 1),
    )
    report = AuditReport("s", 0, ("dev",), {}, (), (), changes=changes)
    shown = page(report, ())
    assert "1 new" in shown and "1 fixed" in shown and "payments" in shown
    assert "returned" not in shown
    assert "since the previous audit: 1 new, 1 fixed" in drawn(report)


def test_a_finding_is_shown_with_its_owner() -> None:
    owned = replace(FINDINGS[0], owner="payments")
    report = AuditReport("s", 0, ("dev",), {}, (), (owned,))
    assert '<span class="owner">payments</span>' in page(report, ())
    assert "orders  why (payments)\n" in drawn(report)


def test_a_family_without_rows_has_nothing_to_check() -> None:
    controls = (
        ControlResult("Q01", "", "low", "quotas", {}),
        ControlResult("T01", "", "low", "topics", {"ok": 2}),
    )
    report = AuditReport("s", 0, ("dev",), {}, controls, ())
    assert page(report, ()).count("nothing to check") == 1
    assert drawn(report).count("nothing to check") == 1
    skipped = ControlResult("Q01", "", "low", "quotas", {"skip": 1})
    assert "nothing to check" not in page(replace(report, controls=(skipped,)), ())
    informed = replace(skipped, counts={"info": 1})
    assert "nothing to check" not in page(replace(report, controls=(informed,)), ())


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("kafka.sh", ""),
        ("internal guidelines", ""),
        ("https://wiki.example.com/kafka", "https://wiki.example.com/kafka"),
        ("javascript:alert(1)", ""),
        ("KIP-500; KIP-578",
         "https://cwiki.apache.org/confluence/dosearchsite.action?queryString=KIP-500"),
        ("Apache Kafka documentation, Topic configs, min.insync.replicas",
         "https://kafka.apache.org/documentation/#topicconfigs_min.insync.replicas"),
        ("Apache Kafka documentation, Replication",
         "https://kafka.apache.org/documentation/#replication"),
        ("Apache Kafka documentation, kafka-log-dirs; KIP-112",
         "https://kafka.apache.org/documentation/"),
    ],
)  # fmt: skip
def test_the_source_of_a_control_is_a_link(source: str, url: str) -> None:
    assert source_url(source) == url


def test_alarms_that_are_counted_only_belong_to_their_cluster() -> None:
    judged = ControlResult("T01", "One", "high", "topics", {"alarm": 30}, "", "")
    rest = (LeftOut("T01", "high", "prod", 20), LeftOut("T01", "high", "dev", 9))
    found = (finding("T01", "high", "orders"),)
    report = AuditReport("s", 0, ("dev", "prod"), {}, (judged,), found, left_out=rest)
    assert report.alarms == {"high": 30}
    assert {each.cluster: each.alarms for each in report.by_cluster} == {
        "prod": {"high": 20},
        "dev": {"high": 10},
    }
    assert "And 29 more" in page(report, ())


def test_the_hint_about_more_findings_keeps_the_options_of_the_audit() -> None:
    found = (*(finding("T01", "high", f"t{n}") for n in range(12)), finding("T02", "high", "t"))
    assert "  and 2 more (to see them, use --controls T01 with the same options)\n" in drawn(
        AuditReport("s", 0, ("dev",), {}, (), found)
    )


def test_trends_and_the_history_of_findings_show_whole_names() -> None:
    name = "orders-" * 12
    rows = [
        Trend("lag", name, name, 2, 0, 1, 0, 1, 0.04),
        FindingHistory(name, "T01", "Title", "high", name, "new", 0, 1, 0, 1),
    ]
    assert "…" not in drawn(rows, width=60)
    assert "<0.1" in drawn(rows)


def test_names_do_not_steer_whoever_reads_the_page() -> None:
    chart = Chart("Lag\x1b[2J", "about\x00", (Bar("g\u202eevil<b>", "1", 1.0),))
    empty = AuditReport("20260101T000000Z", 0, (), {}, (), ())
    shown = page(empty, [chart])
    assert r"g\u202eevil&lt;b&gt;" in shown
    assert not [char for char in shown if not char.isprintable() and char not in "\n\t"]
