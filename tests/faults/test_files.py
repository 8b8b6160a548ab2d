"""Damaged files of this program and invalid files of the user."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pexpect
import pytest

from kafka_shell.admin.wire.connection import Cluster
from tests.support.faults import READS, Terminal, ended, exists, hinted, leave, quick, refused
from tests.support.program import Program


@quick
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a=b\nsecurity.protocol=TLS\n", 2, ("security.protocol=TLS", "SASL_SSL")),
        ("# c\n\nssl.keystore.location=\\u12\n", 3, ("hexadecimal",)),
        ("bootstrap.servers=host:port\n", 1, ("host:port",)),
        ("request.timeout.ms=soon\n", 1, ("soon",)),
        ("security.protocol=SSL\nssl.truststore.location=/no/such.pem\n", 2, ("/no/such.pem",)),
    ],
)
def test_malformed_properties(
    nowhere: Program, tmp_path: Path, text: str, line: int, words: tuple[str, ...]
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(text)
    argv = ["--command-config", str(config), "list-topics"]
    if "bootstrap" not in text:
        argv = ["--broker", "localhost:1", *argv]
    run = nowhere(*argv)
    assert run.status in (2, 3), str(run)
    hinted(refused(run, run.status, f"{config}:{line}: ", *words))


@quick
def test_a_properties_file_that_is_not_there(nowhere: Program, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "no", "No such file"), (tmp_path, "Is a directory")):
        run = nowhere("--command-config", str(path), "list-topics")
        hinted(refused(run, 2, str(path), why, "--command-config"))


@quick
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[profiles.p\n", 1, ("TOML",)),
        ('[profiles.p]\nbootstrap = "a:1\n', 2, ("TOML",)),
        ('[profiles.p]\nbootstrp = "a:1"\n', 2, ("bootstrp", "bootstrap")),
        ('[profiles.p]\nbootstrap = "a:1"\nguard = "some"\n', 3, ("guard", "read-only")),
        ('outptu = "json"\n[profiles.p]\n', 1, ("outptu", "output")),
        ("profiles = 3\n", 1, ("profiles",)),
        ('[profiles.p]\nbootstrap = "a:x"\n', 2, ("a:x",)),
    ],
)
def test_a_malformed_profile(
    nowhere: Program, text: str, line: int, words: tuple[str, ...]
) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    run = nowhere("--profile", "p", "list-topics")
    hinted(refused(run, 2, f"{config}:{line}: ", *words))


@quick
def test_a_profile_that_is_not_there(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[profiles.production]\nbootstrap = "a:1"\n')
    run = nowhere("--profile", "prodution", "list-topics")
    hinted(refused(run, 2, "prodution", "Did you mean production?"))


@quick
def test_a_profile_file_that_is_no_text(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_bytes(b"\xff\xfe[\0p\0")
    hinted(refused(nowhere("list-topics"), 2, str(config), "UTF-8"))


@quick
def test_a_malformed_theme(kafka: Program, terminal: Terminal, topic: str) -> None:
    theme = kafka.home / "config" / "themes" / "mine.toml"
    theme.parent.mkdir(parents=True)
    theme.write_text('description = "x"\n[styles\n')
    refused(kafka("theme", "mine"), 2, f"{theme}:2: ", "invalid TOML")
    refused(kafka("theme", "mines"), 1, "mines", "mine")
    run = kafka.ok("list-topics", topic)
    assert run.stderr == "", "no colour, no theme: nothing to say"
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kafka_shell", "--broker", kafka.broker, "list-topics", topic],
        env={**kafka.environment(), "KAFKA_SH_THEME": "mine"}, encoding="utf-8", timeout=20,
        dimensions=(24, 240),
    )  # fmt: skip
    status, text = ended(child)
    assert status == 0
    assert text.count("mine.toml:2: ") == 1, text
    assert topic in text


@quick
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


@quick
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
        hinted(refused(kafka(*argv), 1, str(journal), "Nothing was sent"))
    assert not exists(cluster, name)
    assert exists(cluster, victim)
    refused(kafka("journal"), 1, str(journal), "Not a directory")


@quick
def test_a_home_that_is_no_folder(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir()
    (kafka.home / "state").write_text("a file\n")
    assert kafka.ok("list-topics", victim).lines == [victim], "reading needs no home"
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "Nothing was sent")
    assert exists(cluster, victim)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@quick
def test_a_home_that_is_read_only(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir(mode=0o500)
    assert kafka.ok("list-topics", victim).lines == [victim]
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "Permission denied")
    assert exists(cluster, victim)


@quick
def test_a_broken_history(kafka: Program, terminal: Terminal) -> None:
    history = kafka.home / "state" / "history"
    history.parent.mkdir(parents=True)
    history.write_bytes(b"\xff\xfe\n# 2026-01-01 10:00:00\n+list-topics\n\0")
    assert "list-topics" in kafka.ok("history").stdout
    child = terminal("--shell")
    leave(child)
    assert history.read_bytes().startswith(b"\xff\xfe"), "nothing is lost"
    history.unlink()
    history.mkdir()
    refused(kafka("history"), 1, str(history), "Is a directory")


@quick
def test_a_broken_cache(kafka: Program, terminal: Terminal, topic: str) -> None:
    child = terminal("--shell")
    child.expect(READS)
    cache = kafka.home / "cache"
    until = time.monotonic() + 15
    while not (files := [path for path in cache.rglob("*") if path.is_file()]):
        assert time.monotonic() < until, "the view is kept on disk"
        time.sleep(0.05)
    child.sendeof()
    child.expect(pexpect.EOF)
    for path in files:
        path.write_bytes(b"\xff\xfe not json {")
    child = terminal("--shell")
    child.expect(READS)
    child.sendline(f"list-topics {topic} | tr a-z A-Z")
    child.expect(topic.upper())
    assert "Traceback" not in leave(child)
