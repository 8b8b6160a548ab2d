"""Damaged files of this program and invalid files of the user."""

from __future__ import annotations

import os

import pytest

from kafka_shell.wire.cluster import Cluster
from tests.support.faults import exists, hinted, refused
from tests.support.program import Program


def test_a_broken_journal(kafka: Program, victim: str) -> None:
    kafka.ok("alter-configs", victim, "retention.ms=30d")
    (entry,) = (kafka.home / "state" / "journal").glob("*/*.json")
    whole = entry.read_bytes()
    for number, garbage in enumerate(
        (b"", b"garbage", b"[]", b"{}", b"null", b"3", b"\xff\xfe", b"[" * 100_000, whole[:40])
    ):
        entry.with_name(f"{number:017d}-0123abc{number}.json").write_bytes(garbage)
    run = kafka("journal", "--output", "json")
    assert [entry["status"] for entry in run.json if "status" in entry] == ["done"]
    assert run.status == 1 and "is not a valid journal entry" in run.stderr, str(run)
    assert all(f"0123abc{number}.json" in run.stderr for number in range(9)), str(run)
    kafka.ok("alter-configs", victim, "retention.ms=31d")
    entries = kafka("journal", "--output", "json").json
    assert [entry["status"] for entry in entries if "status" in entry] == ["done", "done"]
    newest = max(entry.parent.glob("*.json"))
    newest.write_bytes(whole[:40])
    run = refused(kafka("undo"), 1, str(newest), "the last change is unknown")
    assert run.stdout == ""


def test_a_journal_that_cannot_be_written(kafka: Program, cluster: Cluster, victim: str) -> None:
    """What cannot be written down is not done."""
    journal = kafka.home / "state" / "journal"
    journal.parent.mkdir(parents=True)
    journal.write_text("a file\n")
    name = f"{victim}.new"
    for argv in (
        ("create-topic", name),
        ("delete-topic", victim, "--yes"),
        ("alter-configs", victim, "retention.ms=30d"),
    ):
        hinted(refused(kafka(*argv), 1, str(journal), "nothing was changed"))
    assert not exists(cluster, name)
    assert exists(cluster, victim)
    refused(kafka("journal"), 1, str(journal), "Not a directory")


def test_a_home_that_is_no_folder(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir()
    (kafka.home / "state").write_text("a file\n")
    assert kafka.ok("list-topics", victim).lines == [victim], "reading needs no home"
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "nothing was changed")
    assert exists(cluster, victim)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_is_read_only(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir(mode=0o500)
    assert kafka.ok("list-topics", victim).lines == [victim]
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "Permission denied")
    assert exists(cluster, victim)
