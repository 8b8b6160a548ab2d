"""`undo` on real brokers: every reversible kind of change, the choice of the change, and
conflicts."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell import journal
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.topics.steps import CreateTopics
from kafka_shell.base.plans import Outcomes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import group_data
from tests.support.in_process_shell import Answer, Shell
from tests.support.produced_records import fill
from tests.support.undone_changes import configs, entries

DAY = 86_400_000


@pytest.fixture
def name(shell: Shell) -> Iterator[str]:
    """A name for a topic, user or group of this test."""
    name = f"undo-{uuid.uuid4().hex[:8]}"
    yield name
    shell(f"delete-topic '{name}*' --if-exists --yes")


@pytest.fixture
def topic(shell: Shell, name: str) -> str:
    shell.ok(f"create-topic {name}")
    return name


def refused(run: Answer, *words: str, status: int = 1) -> Answer:
    assert run.status == status, str(run)
    assert [word for word in words if word not in run.err] == [], str(run)
    return run


# (lines before, the change, the line that shows the state)
KINDS = {
    "topic configs": (
        ["create-topic {0} --config segment.ms=1d --config cleanup.policy=compact"],
        "alter-configs {0} retention.ms=8d --delete-config segment.ms"
        " --append cleanup.policy=delete --yes",
        "describe-configs {0} retention.ms segment.ms cleanup.policy",
    ),
    "a topic's configs by alter-topic": (
        ["create-topic {0}"],
        "alter-topic {0} --config retention.ms=30d --config min.insync.replicas=1",
        "describe-configs {0} retention.ms min.insync.replicas",
    ),
    "a broker": (
        [],
        "alter-configs --broker-id 1 log.cleaner.threads=2",
        "describe-configs --broker-id 1 log.cleaner.threads",
    ),
    "the default of brokers": (
        [],
        "alter-configs --broker-default message.max.bytes=2000000",
        "describe-configs --broker-default",
    ),
    "a logger": (
        ["alter-configs --logger 1 kafka.log.LogCleaner=INFO"],
        "alter-configs --logger 1 kafka.log.LogCleaner=DEBUG",
        "describe-configs --logger 1 kafka.log.LogCleaner",
    ),
    "a group's configs": (
        ["alter-configs --group {0} consumer.session.timeout.ms=50s"],
        "alter-configs --group {0} consumer.session.timeout.ms=55s"
        " consumer.heartbeat.interval.ms=6s",
        "describe-configs --group {0} consumer.session.timeout.ms consumer.heartbeat.interval.ms",
    ),
    "client metrics": (
        ["alter-configs --client-metrics {0} interval.ms=1m match=client_id=a"],
        "alter-configs --client-metrics {0} interval.ms=2m --delete-config match",
        "describe-configs --client-metrics {0} interval.ms match",
    ),
    "quotas": (
        ["alter-quotas --user {0} producer_byte_rate=5MB/s"],
        "alter-quotas --user {0} producer_byte_rate=1.5MB/s consumer_byte_rate=2MB/s",
        "describe-quotas --user {0}",
    ),
    "quotas of a client ID of a user": (
        [],
        "alter-quotas --user {0} --client-id 'an app' request_percentage=12.5%",
        "describe-quotas --user {0} --client-id 'an app'",
    ),
    "quotas of an address": (
        [],
        "alter-quotas --ip 10.1.2.3 connection_creation_rate=20/s",
        "list-quotas ips --long",
    ),
    "ACLs": (
        ["alter-acls --topic {0} --add 'allow User:{0} Read'"],
        "alter-acls --topic {0} --remove 'allow User:{0} Read' --add 'deny User:{0} Write'"
        " --add 'allow User:{0} Describe from 10.0.0.1' --yes",
        "list-acls --principal User:{0}",
    ),
    "client configs": (
        ["alter-client-configs --user {0} acks=all --yes"],
        "alter-client-configs --user {0} acks=1 linger.ms=5",
        "describe-client-configs --user {0}",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_is_undone_and_redone(shell: Shell, name: str, kind: str) -> None:
    before_it, change, look = KINDS[kind]
    for line in before_it:
        shell.ok(line.format(name))
    look = f"{look.format(name)} --output json"
    before = shell.ok(look).out
    shell.ok(change.format(name))
    after = shell.ok(look).out
    assert after != before, "nothing was changed"
    shell.ok("undo --yes")
    assert shell.ok(look).out == before
    shell.ok(f"undo {entries(shell)[-1]['id']} --yes")
    assert shell.ok(look).out == after, "undoing an undo is a redo"
    shell.ok("undo --yes")
    assert shell.ok(look).out == before
    states = [(entry["undone"], len(entry["undoes"])) for entry in entries(shell)[-4:]]
    assert states == [(True, 0), (True, 1), (False, 1), (False, 1)]


def test_a_created_topic_is_deleted_with_its_records_counted(
    shell: Shell, name: str, sandbox: Sandbox
) -> None:
    shell.ok(f"create-topic {name} --partitions 2 --config retention.ms=9d")
    fill(sandbox.bootstrap, name, 7)
    asked = refused(shell("undo"), f"- topic {name}", "records         up to 7, ",
                    "confirmation is required", status=2)  # fmt: skip
    assert "undo " in asked.err.splitlines()[0]
    assert name in shell.ok("list-topics").out
    refused(shell("undo", answer="n"), "not confirmed")
    assert f"deleted topic {name}" in shell("undo", answer="y").out
    assert name not in shell.ok("list-topics").out
    refused(shell(f"undo {entries(shell)[-1]['id']}"), "is irreversible")


def test_new_credentials_are_deleted_and_a_password_change_is_irreversible(
    shell: Shell, name: str, tmp_path: Path
) -> None:
    (tmp_path / "pw").write_text("a secret nobody reads\n")
    make = f"scram-credentials --username {name} --add SCRAM-SHA-512 --password-file {tmp_path}/pw"
    shell.ok(make)
    shell.ok(f"{make} --yes")
    refused(shell("undo --yes"), "the last change", "scram-credentials", "is irreversible")
    text = "".join(path.read_text() for path in (shell.home / "state").rglob("*.json"))
    assert "nobody reads" not in text
    first = entries(shell)[-2]["id"]
    refused(shell(f"undo {first}", answer="n"), "not confirmed")
    shell.ok(f"undo {first} --yes")
    assert name not in shell.ok("scram-credentials --describe --output json").out


@pytest.fixture
def group(cluster: Cluster, sandbox: Sandbox, name: str) -> Iterator[tuple[str, str]]:
    """A group at 3 and 6 of 10, and its topic."""
    topic = group_data.filled(sandbox, cluster, name)
    group_data.commit(cluster, name, topic, 3, 6)
    yield name, topic
    group_data.forget(cluster, name)


@pytest.mark.parametrize(
    "change",
    [
        "reset-offsets {0} --to earliest --yes",
        "delete-offsets {0} --topic {1}:1 --yes",
        "delete-group {0} --yes",
    ],
)
def test_committed_offsets_are_restored(shell: Shell, group: tuple[str, str], change: str) -> None:
    def offsets() -> str:
        out = shell(f"describe-group {group[0]} --offsets --output json").out
        return re.sub(r'"time_lag_ms": \d+', "", out)  # grows meanwhile

    before = offsets()
    shell.ok(change.format(*group))
    assert offsets() != before
    shell.ok("undo --yes")
    assert before and offsets() == before


def test_a_user_with_quotas_and_credentials_has_both_undone(shell: Shell, name: str) -> None:
    shell.ok(f"scram-credentials --username {name} --add SCRAM-SHA-256 --generate")
    shell.ok(f"alter-quotas --user {name} producer_byte_rate=1MB/s")
    shell.ok("undo --last 2 --yes")
    assert name not in shell.ok("list-quotas").out
    assert name not in shell.ok("scram-credentials --describe --output json").out


def test_a_feature(shell: Shell) -> None:
    def level() -> list[int]:
        rows = shell.ok("describe-features --output json").json["features"]
        return [row["level"] for row in rows if row["name"] == "streams.version"]

    before = level()
    shell.ok("update-features streams.version=0 --yes")
    assert level() == [0] != before
    shell.ok("undo --yes")
    assert level() == before


def test_running_it_again_goes_further_back(shell: Shell, topic: str) -> None:
    for days in (8, 9, 10):
        shell.ok(f"alter-configs {topic} retention.ms={days}d")
    for days in (9, 8):
        shell.ok("undo --yes")
        assert configs(shell, topic)["retention.ms"] == str(days * DAY)
    shell.ok("undo --yes")
    assert "retention.ms" not in configs(shell, topic)
    shell.ok("undo --yes")
    assert topic not in shell.ok("list-topics").out
    assert "no changes of cluster" in shell.ok("undo").err


def test_several_changes_are_one_plan_and_one_entry(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} retention.ms=8d segment.ms=1d")
    shell.ok(f"alter-configs {topic} retention.ms=9d")
    shell.ok(f"alter-configs {topic} --delete-config retention.ms --yes")
    shell.ok(f"alter-configs {topic} flush.ms=5000")
    run = shell.ok("undo --last 4 --yes")
    assert configs(shell, topic) == {}
    assert "retention.ms" not in run.out, "its values in between are not sent"
    assert len(entries(shell)) == 6
    assert len(entries(shell)[-1]["undoes"]) == 4
    shell.ok(f"undo {entries(shell)[-1]['id']} --yes")
    assert configs(shell, topic) == {"segment.ms": str(DAY), "flush.ms": "5000"}


def test_an_irreversible_change_is_not_skipped_for_an_earlier_one(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    shell.ok(f"alter-topic {topic} --partitions 2")
    shell.ok(f"alter-topic {topic} --partitions 3")
    for line in ("undo", "undo --last 1", "undo --last 3", "undo --yes --despite-changes"):
        run = refused(shell(line), "the last change", "alter-topic", "is irreversible")
        assert run.out == ""
        assert (
            f"To undo the newest reversible change (alter-configs {topic} segment.ms=1h)" in run.err
        )
    assert configs(shell, topic) == {"segment.ms": "3600000"}
    shell.ok(f"undo {entries(shell)[1]['id']}")
    assert configs(shell, topic) == {}


def test_what_is_irreversible_in_a_change_is_named(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-topic {topic} --partitions 3 --config flush.ms=5000")
    run = shell.ok("undo --yes")
    assert f"warning: irreversible and not undone: topic {topic} partitions" in run.err
    assert configs(shell, topic) == {}


def test_a_command_that_changed_nothing_is_no_change(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    assert shell(f"create-topic {topic}.x --replication-factor 2").status == 1
    shell.ok("undo --yes")
    assert configs(shell, topic) == {}


def test_only_what_was_changed_is_undone(shell: Shell, topic: str) -> None:
    """A topic that existed before is not deleted by undoing a command that could not create it."""
    refused(shell(f"create-topic {topic},{topic}.new"), "TOPIC_ALREADY_EXISTS")
    shell.ok("undo --yes")
    names = shell.ok("list-topics").out.split()
    assert topic in names and f"{topic}.new" not in names


def test_a_part_that_cannot_be_undone_keeps_the_rest_to_undo(shell: Shell, topic: str) -> None:
    shell.ok(f"create-topic {topic}.gone")
    shell.ok(f"alter-configs '{topic}*' flush.ms=1000")
    Shell(shell.home / "other", shell.bootstrap).ok(f"delete-topic {topic}.gone --yes")
    run = refused(shell("undo --yes"), f"topic {topic}.gone")
    assert configs(shell, topic) == {}, str(run)
    assert not entries(shell)[-2]["undone"]


def test_a_dry_run_undoes_nothing(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    run = shell.ok("undo --dry-run --output json")
    assert run.json["undoes"] == [entries(shell)[-1]["id"]] and run.json["dry_run"]
    assert configs(shell, topic) == {"segment.ms": "3600000"}
    assert [entry["undone"] for entry in entries(shell)] == [False, False]


def test_ids_that_cannot_be_undone(shell: Shell, topic: str) -> None:
    refused(shell("undo nothing"), "journal entry nothing does not exist")
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    id = entries(shell)[-1]["id"]
    shell.ok(f"undo {id}")
    refused(shell(f"undo {id}"), "was already undone")
    refused(shell(f"undo {id} --last 2"), "cannot be used with", status=2)
    refused(shell("undo --last 2 --session"), "cannot be used with", status=2)


def test_the_changes_of_a_session(shell: Shell, topic: str) -> None:
    """A script is a session: its changes are undone, and those before it are not."""
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    told = shell.ok("undo --session").err
    assert "nothing to undo: the journal has no changes of this session" in told
    assert "no matching journal entry" in shell.ok("journal --session").err
    script = f"alter-configs {topic} flush.ms=1000; alter-configs {topic} flush.ms=2000"
    listed = shell.ok(f"{script}; journal --session --output json").out
    own = json.loads(listed[listed.index("[\n") :])
    assert [entry["command"] for entry in own] == script.split("; ")
    assert len({entry["session"] for entry in entries(shell)}) == 3
    shell.ok(f"alter-configs {topic} flush.ms=3000; undo --session")
    assert configs(shell, topic) == {"segment.ms": "3600000", "flush.ms": "2000"}


def test_a_change_of_another_process_is_named_and_asked_about(shell: Shell, topic: str) -> None:
    change = f"alter-configs {topic} segment.ms=1h"
    shell.ok(change)
    session = entries(shell)[-1]["session"]
    said = f"by another kafka.sh process (session {session}, broker {shell.bootstrap})"
    run = refused(shell("undo"), said, f": {change}", "confirmation is required", status=2)
    about = f"undo {entries(shell)[-1]['id']} of "
    assert sum(line.startswith(about) for line in run.err.splitlines()) == 1
    assert "Use --yes" in run.err
    refused(shell("undo", answer="n"), said, "not confirmed")
    assert said in shell.ok("undo --dry-run").err + shell.ok("undo --dry-run").out
    assert configs(shell, topic) == {"segment.ms": "3600000"}
    assert said in shell("undo", answer="y").err
    assert configs(shell, topic) == {}


def test_a_change_of_this_process_is_undone_without_a_question(shell: Shell, topic: str) -> None:
    run = shell.ok(f"alter-configs {topic} segment.ms=1h; undo")
    assert "another kafka.sh process" not in run.err
    assert configs(shell, topic) == {}
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    mixed = shell(f"alter-configs {topic} flush.ms=1000; undo --last 2")
    refused(mixed, "by another kafka.sh process", "confirmation is required", status=2)
    assert mixed.err.count("by another kafka.sh process") == 1


def test_another_cluster_at_the_address_is_not_changed(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    entry = entries(shell)[-1]
    file = next((shell.home / "state" / "journal").glob(f"*/*-{entry['id']}.json"))
    other = file.parent.with_name("another-cluster")
    file.parent.rename(other)
    row = json.loads((other / file.name).read_text()) | {"cluster": "another-cluster"}
    (other / file.name).write_text(json.dumps(row))
    assert f"no changes of cluster {entry['cluster']}" in shell.ok("undo --yes").err
    refused(shell(f"undo {entry['id']}"), "changed cluster another-cluster")
    assert configs(shell, topic) == {"segment.ms": "3600000"}


def test_a_value_that_has_changed_since_is_shown_and_asked_about(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} retention.ms=8d flush.ms=1000")
    id = entries(shell)[-1]["id"]
    shell.ok(f"alter-configs {topic} retention.ms=9d")
    said = f"topic {topic} retention.ms is now 9d; that change set it to 8d"
    for line in (f"undo {id}", f"undo {id} --yes"):
        refused(shell(line), f"the cluster has changed since: {said}", "Use --despite-changes")
    refused(shell(f"undo {id} --yes", answer="y"), "Use --despite-changes")
    refused(shell(f"undo {id}", answer="n"), f"warning: {said}", "not confirmed")
    assert f"warning: {said}" in shell.ok(f"undo {id} --dry-run").out
    assert configs(shell, topic) == {"retention.ms": str(9 * DAY), "flush.ms": "1000"}
    asked = shell(f"undo {id}", answer="y")
    assert asked.status == 0, str(asked)
    assert configs(shell, topic) == {}


def test_force_undoes_it_and_answers_no_other_question(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} flush.ms=1000")
    shell.ok(f"alter-configs {topic} flush.ms=2000")
    first = entries(shell)[-2]["id"]
    shell.ok(f"undo {first} --despite-changes")
    assert configs(shell, topic) == {}
    shell.ok(f"alter-configs {topic} retention.ms=30d")
    shell.ok(f"alter-configs {topic} retention.ms=31d")
    run = shell(f"undo {entries(shell)[-2]['id']} --despite-changes")
    refused(run, f"removing retention.ms of topic {topic} deletes records", "Use --yes", status=2)


def test_what_is_already_as_it_was_is_undone(shell: Shell, topic: str) -> None:
    """Taken back by hand: nothing is sent, and undo goes on to the change before."""
    shell.ok(f"alter-configs {topic} flush.ms=1000")
    shell.ok(f"alter-configs {topic} segment.ms=1h")
    by_hand = Shell(shell.home / "other", shell.bootstrap)
    by_hand.ok(f"alter-configs {topic} --delete-config segment.ms")
    assert "nothing to change" in shell.ok("undo --yes").err
    assert [entry["undone"] for entry in entries(shell)] == [False, False, True]
    shell.ok("undo --yes")
    assert configs(shell, topic) == {}


def test_a_topic_that_is_gone_or_another_one(shell: Shell, name: str) -> None:
    by_hand = Shell(shell.home / "other", shell.bootstrap)
    shell.ok(f"create-topic {name}")
    by_hand.ok(f"delete-topic {name} --yes")
    assert f"already undone: topic {name} does not exist" in shell.ok("undo --yes").err
    assert entries(shell)[-1]["undone"]
    shell.ok(f"create-topic {name}")
    by_hand.ok(f"delete-topic {name} --yes")
    by_hand.ok(f"create-topic {name}")
    said = f"topic {name} was deleted and recreated since that change"
    refused(shell("undo --yes"), said, "--despite-changes")
    assert name in shell.ok("list-topics").out
    shell.ok("undo --yes --despite-changes")
    assert name not in shell.ok("list-topics").out


def test_values_are_compared_and_not_their_spelling(shell: Shell, topic: str) -> None:
    shell.ok(
        f"alter-configs {topic} min.cleanable.dirty.ratio=0.50 'cleanup.policy=compact, delete'"
        " --yes"
    )
    shell.ok("undo --yes")
    assert configs(shell, topic) == {}


def test_a_change_is_waited_for_until_brokers_show_it(
    shell: Shell, cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that is seconds behind the controller: undo does not read the old value."""
    shell.ok(f"alter-configs {topic} flush.ms=1000")
    real = config_changes.describe
    resource = ConfigResource(ResourceType.TOPIC, topic)
    before, reads = real(cluster, [resource], ["flush.ms"]), []

    def behind(*args: Any) -> Any:
        reads.append(args)
        return before if len(reads) < 20 else real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(config_changes, "describe", behind)
        shell.ok(f"alter-configs {topic} flush.ms=2000")
    assert 20 <= len(reads) < 25
    assert "flush.ms 2s -> 1s" in shell.ok("undo --yes").out
    assert configs(shell, topic) == {"flush.ms": "1000"}


def test_two_shells_do_not_undo_the_same_change(shell: Shell, topic: str) -> None:
    for number in range(1, 5):
        shell.ok(f"alter-configs {topic} flush.ms={number}000")
    begin = threading.Barrier(2)
    runs: list[Answer] = []

    def back() -> None:
        begin.wait()
        runs.append(Shell(shell.home, shell.bootstrap)("undo --yes"))

    threads = [threading.Thread(target=back) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    done = [run for run in runs if run.status == 0]
    assert done, "\n".join(map(str, runs))
    for run in runs:
        assert run.status == 0 or "undone by another shell" in run.err, str(run)
    undone = [entry for entry in entries(shell) if entry["undone"]]
    assert len(undone) == len(done)
    assert configs(shell, topic)["flush.ms"] == f"{4 - len(done)}000"


def test_a_change_of_another_shell_is_the_newest(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} flush.ms=1000")
    Shell(shell.home, shell.bootstrap).ok(f"alter-configs {topic} segment.ms=1h")
    run = shell.ok("undo --yes")
    assert f": alter-configs {topic} segment.ms=1h" in run.err
    assert configs(shell, topic) == {"flush.ms": "1000"}


@pytest.mark.parametrize("sent", [True, False])
def test_a_change_whose_outcome_is_unknown_is_undone(
    shell: Shell, name: str, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted after or before the request: the topics are deleted if they are there. What is
    seen to be there is known."""
    real = CreateTopics.send

    def interrupted(self: CreateTopics, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        if validate_only or sent:
            real(self, cluster, validate_only=validate_only)
        if not validate_only:
            raise KeyboardInterrupt
        return real(self, cluster, validate_only=True)

    with monkeypatch.context() as patch:
        patch.setattr(CreateTopics, "send", interrupted)
        refused(shell(f"create-topic {name}.a,{name}.b"), "interrupted", status=130)
    assert (f"{name}.b" in shell.ok("list-topics").out) is sent
    assert entries(shell)[-1]["status"] == ("done" if sent else "unknown")
    run = shell.ok("undo --yes")
    assert ("already undone" in run.err) is not sent
    assert name not in shell.ok("list-topics").out
    assert entries(shell)[0]["undone"]


def test_an_undo_that_was_interrupted_is_run_again(
    shell: Shell, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.ok(f"alter-configs {topic} flush.ms=1000")

    real = AlterConfigs.send

    def stopped(self: AlterConfigs, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        if not validate_only:
            raise KeyboardInterrupt
        return real(self, cluster, validate_only=True)

    with monkeypatch.context() as patch:
        patch.setattr(AlterConfigs, "send", stopped)
        refused(shell("undo --yes"), "interrupted", status=130)
    assert [entry["undone"] for entry in entries(shell)] == [False, False, False]
    shell.ok("undo --yes")
    assert configs(shell, topic) == {}
    assert [entry["undone"] for entry in entries(shell)] == [False, True, False, False]


def test_undo_survives_the_rotation_of_the_journal(
    shell: Shell, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_ENTRIES", 4)
    for number in range(1, 7):
        shell.ok(f"alter-configs {topic} flush.ms={number}000")
    assert len(entries(shell)) == 4
    shell.ok("undo --last 3 --yes")  # its own entry takes the place of the oldest
    assert configs(shell, topic) == {"flush.ms": "3000"}
    assert [entry["undone"] for entry in entries(shell)] == [True, True, True, False]
    refused(shell("undo --last 1"), status=0)


def test_many_topics_are_few_requests(shell: Shell, name: str) -> None:
    names = ",".join(f"{name}.{number:03}" for number in range(150))
    shell.ok(f"create-topic {names}")
    shell.ok(f"alter-configs '{name}.*' flush.ms=1000")
    assert "undo: undo " in shell.ok(f"alter-configs '{name}.*' segment.ms=1h").err
    run = shell.ok("undo --last 2 --yes")
    assert "altered 150 topics" in run.out
    assert configs(shell, f"{name}.149") == {}
    assert "\n  no records\n" in shell.ok("undo --dry-run").out
    shell.ok("undo --yes")
    assert name not in shell.ok("list-topics").out


def test_the_journal_is_filtered(shell: Shell, topic: str) -> None:
    shell.ok(f"alter-configs {topic} flush.ms=1000")
    shell.ok(f"alter-quotas --user {topic} producer_byte_rate=1MB/s")

    def listed(line: str) -> list[str]:
        return [row["command"].split()[0] for row in shell.ok(f"{line} --output json").json]

    every = ["create-topic", "alter-configs", "alter-quotas"]
    assert listed("journal --since 2h") == listed("journal --since -2h") == every
    assert listed("journal --since 2020-01-01T00:00") == every
    assert listed("journal --since 1ms") == []
    assert listed(f"journal --resource {topic}") == every
    assert listed(f"journal --resource 'topic {topic}'") == every[:2]
    assert listed("journal --resource 'user *' --last 5") == every[2:]
    assert listed("journal --resource nothing") == []
    refused(shell("journal --since soon"), "--since must be", status=2)
    refused(shell("journal --undo"), "requires the ID", "run undo", status=2)
    shell.ok("undo --yes")
    undone, undo = shell.ok("journal --last 2").out.splitlines()
    assert "  undone  alter-quotas" in undone and undo.endswith("  done  undo --yes")
    *_, changed, last = entries(shell)
    assert f"undoes: {changed['id']}" in shell.ok(f"journal {last['id']}").out


def state(shell: Shell, name: str) -> list[str]:
    looks = (
        f"list-topics '{name}.*'", f"describe-configs '{name}.*' flush.ms flush.messages",
        f"describe-quotas --user {name}.0", f"describe-quotas --user {name}.1",
        f"describe-quotas --user {name}.0 --client-id app",
        f"describe-quotas --user {name}.1 --client-id app",
        f"describe-configs --client-metrics {name} interval.ms", f"list-acls --topic {name}",
    )  # fmt: skip
    return [shell(f"{look} --output json").out for look in looks]
