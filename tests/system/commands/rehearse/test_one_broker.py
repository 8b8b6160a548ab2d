"""`rehearse` on one broker: its report, and that it changes and leaves nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity
from kafka_shell.base.processes import start_module
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import with_option
from kafka_shell.commands.rehearse.twins import OriginalState, read_original
from kafka_shell.commands.rehearse.verdicts import doubts_about, not_run
from kafka_shell.commands.state.model import State
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.process import find_all
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin import build as spare
from kafka_shell.sandbox.twin.build import CLIENT_ID, Original, take
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.transport import Link
from tests.live.test_guard_matrix import QUESTIONS
from tests.support.changes import connect, done, make_topic
from tests.support.hostile_names import NAMES
from tests.support.program import Process, Program
from tests.support.waiting import wait_for

SCRIPT = """
# a comment
create-topic rehearsed.new --partitions 3 \\
  --config retention.ms=7d
alter-configs rehearsed.new retention.ms=1d; list-topics rehearsed.new

list-topics | wc -l
!touch HOME/touched
list-topics > HOME/written
export --directory HOME/state
delete-topic rehearsed.old --profile other
delete-topic rehearsed.old --broker localhost:1
health
reset-offsets rehearsed --to latest
source HOME/more.kafka; create-topic rehearsed.more
source HOME/nosuch.kafka
delete-topic rehearsed.nosuch
exit
create-topic rehearsed.never
"""


@pytest.fixture(scope="module", autouse=True)
def old(sandbox: Sandbox) -> Iterator[None]:
    with connect(sandbox) as cluster:
        make_topic(cluster, "rehearsed.old")
    yield


def twins(kafka: Program) -> list[Path]:
    folder = kafka.home / "cache" / "twins"
    return list(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The API keys of all requests, but for those to twins."""
    keys: set[int] = set()
    send = Link.send

    def recording(self: Link, api_key: int, *rest: Any, **more: Any) -> Any:
        if self._config.client_id != CLIENT_ID:
            keys.add(api_key)
        return send(self, api_key, *rest, **more)

    monkeypatch.setattr(Link, "send", recording)
    return keys


def test_a_script_is_reported_line_by_line(
    kafka: Program, sandbox: Sandbox, sent: set[int]
) -> None:
    home = kafka.home
    (home / "script.kafka").write_text(SCRIPT.replace("HOME", str(home)))
    (home / "more.kafka").write_text("alter-topic rehearsed.old --partitions 5\n")
    profile = f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nguard = "read-only"\n'
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text(profile)
    script = (home / "script.kafka").read_bytes()
    kafka = Program(home)
    run = kafka("--profile", "prod", "--output", "json", "rehearse", "--keep-going", "-",
                stdin=script)  # fmt: skip
    assert run.status == 1, run
    statuses = {each["line"].split("\n")[0]: each["status"] for each in run.json["lines"]}
    assert statuses == {
        "create-topic rehearsed.new --partitions 3 \\": "ok",
        "alter-configs rehearsed.new retention.ms=1d; list-topics rehearsed.new": "ok",
        "list-topics | wc -l": "unknown",
        f"!touch {home}/touched": "unknown",
        f"list-topics > {home}/written": "unknown",
        f"export --directory {home}/state": "unknown",
        "delete-topic rehearsed.old --profile other": "unknown",
        "delete-topic rehearsed.old --broker localhost:1": "unknown",
        "health": "unknown",
        "reset-offsets rehearsed --to latest": "unknown",
        "alter-topic rehearsed.old --partitions 5": "ok",
        f"source {home}/more.kafka; create-topic rehearsed.more": "ok",
        f"source {home}/nosuch.kafka": "failed",
        "delete-topic rehearsed.nosuch": "failed",
        "exit": "ok",
    }
    assert not sent - QUESTIONS, "the original was only read"
    assert not (home / "touched").exists()
    assert not (home / "written").exists()
    assert not (home / "state" / "topics.yaml").exists()
    assert not (home / "state" / "journal").exists()
    assert "rehearsed.never" not in run.stdout
    assert twins(kafka) == []
    with connect(sandbox) as cluster:
        assert "rehearsed.new" not in scan(cluster).names


def test_the_page(kafka: Program) -> None:
    run = kafka("rehearse", "create-topic rehearsed.page && delete-topic rehearsed.old")
    assert run.status == 0, run
    text = run.stdout
    assert text.startswith("ok      1: create-topic rehearsed.page && delete-topic rehearsed.old\n")
    assert "+ topic rehearsed.page: 1 partition, replication factor 1" in text
    assert "- topic rehearsed.old" in text
    assert "2 differences in 2 topics: 1 created, 1 deleted" in text
    assert "undo:\n  delete-topic rehearsed.page\n" in text
    assert text.endswith("1 line: 1 ok. Nothing was changed on the cluster.\n")


def test_a_script_ends_at_the_first_line_that_fails(kafka: Program) -> None:
    script = kafka.home / "fails.kafka"
    script.write_text("create-topic rehearsed.old\ncreate-topic rehearsed.never\n")
    run = kafka("rehearse", str(script))
    assert run.status == 1
    assert "error: topic rehearsed.old already exists (TOPIC_ALREADY_EXISTS)" in run.stdout
    assert "1 line not run: the script stops at the first failure" in run.stderr
    assert "no differences between before and after" in run.stdout


def test_topics_that_were_not_copied_are_unknown(kafka: Program) -> None:
    script = kafka.home / "some.kafka"
    script.write_text(
        "alter-topic rehearsed.old --partitions 9\ndelete-topic '*.other'\n"
        "create-topic rehearsed.other\nlist-topics\n"
    )
    kafka.ok("create-topic", "rehearsed.other")
    run = kafka(  # options may come before the file and after it
        "--output", "json", "rehearse", "--keep-going", str(script), "--topics", "rehearsed.old"
    )
    kafka.ok("delete-topic", "rehearsed.other", "--yes")
    assert [each["status"] for each in run.json["lines"]] == ["ok", "unknown", "unknown", "ok"], run
    assert "not copied" in run.stderr
    assert run.status == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch.kafka",), "neither a command nor a file"),
        (("--topics", "nosuch-*", "list-topics"), "no topic matches 'nosuch-*'"),
        (
            ("alter-topic", "t", "--partitions", "2", "--output", "json"),
            "Put options of rehearse first: rehearse --output json",
        ),
        ((), "requires one of LINE, --limits"),
    ],
)
def test_what_is_wrong_is_said_before_a_twin_is_built(
    kafka: Program, words: tuple[str, ...], said: str
) -> None:
    run = kafka("rehearse", *words)
    assert run.status in (1, 2)
    assert said in run.stderr
    assert not (kafka.home / "cache" / "twins").exists()


def test_without_java(kafka: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shell.base.java._candidates", lambda: iter(()))
    run = kafka("rehearse", "list-topics")
    assert run.status == 1
    assert "The twin requires Java 17 or later" in run.stderr
    assert not (kafka.home / "cache" / "twins").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_rehearsal_leaves_nothing(
    sandbox: Sandbox, tmp_path: Path, number: signal.Signals
) -> None:
    kafka = Process(tmp_path, sandbox.bootstrap)
    words = [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap, "rehearse",
             "list-topics"]  # fmt: skip
    process = subprocess.Popen(
        words, env=kafka.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for("the node runs", lambda: any(map(find_all, twins(kafka))))
    (folder,) = twins(kafka)
    process.send_signal(number)
    assert process.wait(30) == (130 if number is signal.SIGINT else 143)
    assert not find_all(folder)
    assert twins(kafka) == []


def test_two_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Process(tmp_path, sandbox.bootstrap)
    words = [sys.executable, "-m", "kafka_shell", "--broker", sandbox.bootstrap, "--output", "json",
             "rehearse", "create-topic rehearsed.twice"]  # fmt: skip
    both = [
        subprocess.Popen(words, env=kafka.environment(), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert json.loads(out)["lines"][0]["status"] == "ok"
    assert twins(kafka) == []


def test_a_twin_that_nobody_takes_is_removed(sandbox: Sandbox, tmp_path: Path) -> None:
    with connect(sandbox) as cluster:
        original = read_original(cluster, (), no_report).original
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spare, "start_module", lambda *words, **options: None)
        spare.prepare(tmp_path, original)
    (folder,) = tmp_path.iterdir()
    spare.keep(folder, 0)
    assert not folder.exists()
    assert not find_all(folder)


@pytest.fixture
def originals(sandbox: Sandbox) -> tuple[Original, Original]:
    """Two clusters that differ."""
    with connect(sandbox) as cluster:
        original = read_original(cluster, (), no_report).original
    return original, replace(original, settings={**original.settings, "num.partitions": "7"})


def test_a_twin_that_is_being_started_for_another_cluster_is_removed(
    originals: tuple[Original, Original], tmp_path: Path
) -> None:
    one, other = originals
    spare.prepare(tmp_path, one)
    (first,) = tmp_path.iterdir()
    spare.prepare(tmp_path, other)
    wait_for("the first is removed", lambda: not first.exists(), 60)
    (second,) = tmp_path.iterdir()
    wait_for("the other is ready", (second / "spare-ready").exists, 60)
    spare.discard(tmp_path)
    wait_for("it is removed, too", lambda: not second.exists(), 60)
    assert not find_all(first) and not find_all(second)


def test_nobody_waits_for_a_twin_whose_process_was_killed(
    originals: tuple[Original, Original], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []

    def start(*words: object, **options: Any) -> None:
        pids.append(start_module(*words, **options).pid)

    monkeypatch.setattr(spare, "start_module", start)
    spare.prepare(tmp_path, originals[0])
    (folder,) = tmp_path.iterdir()
    wait_for("Kafka is being started", lambda: find_all(folder) != [], 60)
    os.kill(pids[0], signal.SIGKILL)
    os.waitpid(pids[0], 0)
    monkeypatch.setattr(spare, "START_S", 3600)  # how long one that is alive is waited for
    assert take(tmp_path, originals[0], no_report) is None
    assert not folder.exists() and not find_all(folder)


def test_names_that_mislead(sandbox: Sandbox, kafka: Program) -> None:
    """They are copied as they are, and no control character of theirs is printed."""
    names = [name for name in NAMES if name.isprintable() or "\x1b" in name or "\n" in name]
    entities = [QuotaEntity(user=name) for name in names]
    limits = [QuotaAlteration(entity, "request_percentage", 7.0) for entity in entities]
    with connect(sandbox) as cluster:
        done(quota_changes.plan_alter(cluster, limits), cluster)
        try:
            script = kafka.home / "hostile.kafka"
            lines = [
                f"alter-quotas {with_option('--user', name)} --delete-config request_percentage"
                for name in names
                if name.isprintable()
            ]
            script.write_text("\n".join(lines) + "\n")
            page = kafka("rehearse", str(script))
            assert page.status == 0, page
            assert f"{len(lines):,} lines: {len(lines):,} ok." in page.stdout
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", page.stdout + page.stderr)
            assert f"differences in {len(lines)} users: " in page.stdout
        finally:
            gone = [replace(limit, value=None) for limit in limits]
            done(quota_changes.plan_alter(cluster, gone), cluster)


def test_too_many_topics(kafka: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_shell.commands.rehearse.twins.MOST_TOPICS", 0)
    run = kafka("rehearse", "list-topics")
    assert run.status == 1
    assert "are too many for a twin on this machine" in run.stderr
    assert "hint: Use --topics to copy fewer" in run.stderr
    assert twins(kafka) == []


def test_what_the_brokers_name_makes_lines_unknown() -> None:
    def doubts(unread: dict[str, Failure], **settings: str) -> dict[int, str]:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        original = Original("4.3", (), (), None, (), settings=named)  # type: ignore[arg-type]
        reading = OriginalState(original, State(), frozenset(), unread, ())
        return {key: each.why for each in doubts_about(reading) for key in each.keys}

    assert doubts({}) == {}
    assert doubts({}, create_topic_policy_class_name="") == {}
    found = doubts({}, create_topic_policy_class_name="our.Policy")
    assert found[19] == "create.topic.policy.class.name=our.Policy may reject the change"
    assert 44 not in found
    assert 44 in doubts({}, alter_config_policy_class_name="our.Policy")
    assert doubts({}, authorizer_class_name="our.Own")[30] == "the authorizer is our.Own"
    why = Failure("CLUSTER_AUTHORIZATION_FAILED", "no", hint="Requires DESCRIBE on the cluster.")
    assert doubts({"acls": why})[31] == "acls could not be read: no"
    assert doubts({"static broker configs": why})[19].endswith("could not be read: no")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("list-topics | sh", "a rehearsal runs no programs"),
        ("create-topic a && !rm x", "a rehearsal runs no programs"),
        ("list-topics >> x", "a rehearsal writes no files"),
        ("export --directory x", "a rehearsal writes no files"),
        ("reset-offsets g --to latest --export x", "no groups"),
        ("delete-topic a --profile prod", "another cluster"),
        ("config-command --bootstrap-server a:1 --broker 1 --describe", "another cluster"),
        ("spark audit", "audits"),
        ("sandbox wipe --yes", "changes this machine"),
        ("connect prod", "no other cluster"),
        ("alter-topic lost --partitions 2", "topic lost is not on the twin"),
        ("delete-topic 'l*'", "topic lost is not on the twin"),
        ("preferred-replica-leader-election", "not all topics"),
        ("elect-leaders --all-topic-partitions", "not all topics"),
        ("apply x.yaml --prune", "not all topics"),
        ("preferred-replica-leader-election kept", ""),
        ("alter-quotas --user '/tmp/[x' producer_byte_rate=1", ""),
        ("delete-topic kept", ""),
        ("nosuch-command", ""),
        ("config-command --broker 1 --describe", ""),
    ],
)
def test_what_is_not_run(line: str, why: str) -> None:
    found = not_run(line, {"lost"})
    assert why in found
    assert bool(why) == bool(found)
