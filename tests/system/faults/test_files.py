"""Damaged files of this program and invalid files of the user."""

from __future__ import annotations

import sys
import time

import pexpect

from tests.support.faults import READS, Terminal, ended, leave, refused
from tests.support.program import Program


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


def test_a_broken_history(kafka: Program, terminal: Terminal) -> None:
    history = kafka.home / "state" / "history"
    history.parent.mkdir(parents=True)
    history.write_bytes(b"\xff\xfe\n# 2026-01-01 10:00:00\n+list-topics\n\0")
    assert "list-topics" in kafka.ok("history").stdout
    child = terminal("--shell")
    child.expect(READS)
    child.sendline("help refresh")
    child.expect("usage: refresh")
    leave(child)
    assert history.read_bytes().startswith(b"\xff\xfe"), "nothing is lost"
    assert history.read_bytes().count(b"+help refresh") == 1
    history.unlink()
    history.mkdir()
    refused(kafka("history"), 1, str(history), "Is a directory")


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
