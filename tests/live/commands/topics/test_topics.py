"""alter-topic and describe-configs: unchanged values, missing topics, standard input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, forget
from tests.support.in_process_shell import Shell
from tests.support.produced_records import fill
from tests.support.program import Program


@pytest.fixture
def stem(shell: Shell) -> Iterator[str]:
    """Two topics, of 3 partitions and of 2."""
    stem = f"t{uuid4().hex[:8]}"
    shell.ok(f"create-topic {stem}.a --partitions 3")
    shell.ok(f"create-topic {stem}.b --partitions 2")
    yield stem
    shell.ok(f"delete-topic {stem}.* --yes")


def test_a_topic_with_as_many_partitions_is_unchanged(shell: Shell, stem: str) -> None:
    run = shell.ok(f"alter-topic {stem}.* --partitions 3 --output json")
    assert {(row["resource"], row["status"]) for row in run.json["changes"]} == {
        (f"topic {stem}.a", "unchanged"),
        (f"topic {stem}.b", "done"),
    }
    assert "no change" in shell.ok(f"alter-topic {stem}.* --partitions 3").err
    fewer = shell(f"alter-topic {stem}.a --partitions 2")
    assert fewer.status == 1 and "the number cannot be reduced" in fewer.err


def test_a_pattern_does_not_change_internal_topics(
    shell: Shell, cluster: Cluster, stem: str
) -> None:
    """Before: delete-topic '*' deleted __consumer_offsets, and all committed offsets with it.
    Metadata does not mark the topic of tiered storage as internal."""
    commit(cluster, f"{stem}.group", f"{stem}.a", 0)  # creates __consumer_offsets
    tiered = make_topic(cluster, "__remote_log_metadata")
    for line in (
        "delete-topic *",
        "delete-topic '/.*/'",
        "delete-records * --to latest",
        "alter-configs * retention.ms=1h",
        "alter-topic * --partitions 60",
    ):
        run = shell(f"{line} --dry-run")
        plan = run.out + run.err
        note = plan.partition("internal topics are changed only if they are named: ")[2]
        for name in ("__consumer_offsets", tiered):
            assert name in note.partition("\n")[0] and f"{stem}.a" in plan, line
            assert f"topic {name}" not in plan, line
            assert f"partition {name}" not in plan, line
    for selector in ("__consumer_offsets", "__c*", "'/__.*/'", "__consumer_offsets,t*"):
        run = shell.ok(f"delete-topic {selector} --dry-run")
        assert "- topic __consumer_offsets" in run.out, selector
        assert "not changed" not in run.err
    run = shell.ok("delete-topic '_*log*' '*offsets*' --dry-run")
    assert f"- topic {tiered}" in run.out, "a pattern that begins with _ selects it"
    assert "- topic __consumer_offsets" not in run.out, "another pattern does not"
    done(topic_changes.plan_delete(cluster, [tiered]), cluster)
    forget(cluster, f"{stem}.group")


def test_the_invalid_characters_of_a_name_are_named(shell: Shell) -> None:
    for command in ("describe-topic", "list-offsets", "describe-configs"):
        run = shell(f"{command} 'orders .pl@ced'")
        assert run.status == 1
        assert "the name contains a space, @; only letters, digits" in run.err, str(run)


def test_a_pattern_in_two_pairs_of_quotes_is_explained(shell: Shell) -> None:
    for command in ("list-topics", "describe-topic", "list-offsets"):
        run = shell(f"{command} \"'orders.*'\"")
        assert "The quotes are part of the pattern. Use 'orders.*'." in run.err, str(run)
        assert "quotes" not in shell(f"{command} 'nothing-like-it.*'").err


def test_an_option_of_the_same_command_is_suggested_once(shell: Shell) -> None:
    run = shell("scram-credentials --describe --password x")
    assert "hint: Did you mean --password-file?\n" in run.err


def test_a_config_without_its_option_is_refused(shell: Shell, stem: str) -> None:
    """Before: it was one more topic, and the other was created or altered without the config."""
    for line in (
        f"create-topic {stem}.c retention.ms=1h",
        f"alter-topic {stem}.a --partitions 4 a=1",
    ):
        run = shell(f"{line} --yes")
        word = next(word for word in line.split() if "=" in word)
        assert run.status == 2 and f"'{word}' is not a topic name" in run.err, str(run)
        assert f"Did you mean --config {word}?" in run.err, str(run)
    rows = shell.ok(f"topics {stem}.* --output json").json
    assert {row["name"]: row["partitions"] for row in rows} == {f"{stem}.a": 3, f"{stem}.b": 2}


def test_an_assignment_gives_the_number_of_partitions(shell: Shell, stem: str) -> None:
    shell.ok(f"alter-topic {stem}.b --replica-assignment 1,1,1")
    run = shell(f"alter-topic {stem}.b --replica-assignment 1,1,2")
    assert run.status == 1 and "INVALID_REPLICA_ASSIGNMENT" in run.err
    run = shell(f"alter-topic {stem}.b --partitions 4 --replica-assignment 1,1,1")
    assert run.status == 1
    assert f"the replica assignment of topic {stem}.b lists 3 partitions" in run.err
    assert "no change" in shell.ok(f"alter-topic {stem}.b --replica-assignment 1,1,1").err


def test_an_assignment_is_read_from_standard_input(
    sandbox: Sandbox, shell: Shell, stem: str, tmp_path: Path
) -> None:
    kafka = Program(tmp_path, sandbox.bootstrap)
    words = (f"{stem}.b", "--replica-assignment", "-")
    run = kafka.ok("alter-topic", *words, stdin="1,1\n1,1\n")
    assert "partitions 2 -> 4" in run.stdout
    wrong = kafka("alter-topic", *words, stdin="1,x")
    assert wrong.status == 2 and "x" in wrong.stderr
    in_a_script = kafka(stdin=f"alter-topic {stem}.b --replica-assignment -\n")
    assert in_a_script.status == 2 and "standard input" in in_a_script.stderr


def test_if_exists_skips_missing_topics(shell: Shell, stem: str) -> None:
    gone = f"{stem}.gone"
    assert shell(f"alter-topic {gone} --partitions 3").status == 1
    for change in ("--partitions 4", "--config flush.ms=7", "--replication-factor 1"):
        shell.ok(f"alter-topic {gone} {change} --if-exists")
        shell.ok(f"alter-topic {gone},{stem}.a {change} --if-exists")
    assert "flush.ms" in shell.ok(f"describe-configs {stem}.a").out


@pytest.mark.parametrize("count", ["--partitions 0", "--partitions -1", "--replication-factor 0"])
@pytest.mark.parametrize("line", ["create-topic new", "alter-topic {stem}.a"])
def test_a_count_that_no_topic_can_have_is_a_wrong_line(
    shell: Shell, stem: str, line: str, count: str
) -> None:
    run = shell(f"{line.format(stem=stem)} {count}")
    assert run.status == 2 and "must be a positive integer" in run.err, str(run)


def test_one_key_of_several_topics_is_a_row_each(shell: Shell, stem: str) -> None:
    shell.ok(f"alter-configs {stem}.a retention.ms=8d segment.ms=1d")
    rows = [
        row.split() for row in shell.ok(f"describe-configs {stem}.* retention.ms").out.splitlines()
    ]
    assert rows == [
        ["TOPIC", "KEY", "VALUE", "SOURCE"],
        [f"{stem}.a", "retention.ms", "8d", "topic"],
        [f"{stem}.b", "retention.ms", "7d", "default"],
    ]
    only = shell.ok(
        f"describe-configs {stem}.* retention.ms flush.ms --only-set --output json"
    ).json
    assert [(row["resource"], row["name"]) for row in only] == [(f"topic {stem}.a", "retention.ms")]
    none = shell.ok(f"describe-configs {stem}.b retention.ms --only-set")
    assert "no overridden configs" in none.out + none.err


@pytest.mark.parametrize("output", ["table", "json", "yaml", "csv"])
def test_documentation_is_text_without_tags(shell: Shell, stem: str, output: str) -> None:
    run = shell.ok(f"describe-configs {stem}.a --all --documentation --output {output}")
    for tag in ("<code>", "<a href", "<p>", "</", "<li>", "&lt;"):
        assert tag not in run.out
    assert "maximum time we will retain a log" in " ".join(run.out.split())


def test_a_topic_like_another_one_has_its_shape_configs_and_acls(shell: Shell, stem: str) -> None:
    shell.ok(f"alter-configs {stem}.a retention.ms=7d cleanup.policy=compact --yes")
    throttled = "replication.throttled.replicas"  # of a reassignment
    shell.ok(f"alter-configs {stem}.a leader.{throttled}=0:1 follower.{throttled}=0:1 --yes")
    shell.ok(f"alter-acls --topic {stem}.a --add 'allow User:bob Read'")
    shell.ok(f"create-topic {stem}.c --like {stem}.a --config retention.ms=1d --with-acls")
    text = shell.ok(f"export {stem}.c").out
    assert f"{stem}.c:\n    partitions: 3\n" in text
    assert "cleanup.policy: compact\n      retention.ms: 1d" in text
    assert throttled not in text
    assert f"topic {stem}.c:\n  - allow User:bob Read" in text
    shell.ok(f"alter-configs {stem}.a --delete-config leader.{throttled},follower.{throttled}")
    missing = shell(f"create-topic {stem}.d --like {stem}.nosuch")
    assert missing.status == 1 and f"topic {stem}.nosuch does not exist, or" in missing.err
    alone = shell(f"create-topic {stem}.d --with-acls")
    assert alone.status == 2 and "--with-acls requires --like" in alone.err


def test_a_topic_that_exists_already_gets_no_acls_of_another_one(shell: Shell, stem: str) -> None:
    """Before: the creation failed, and the ACLs were added to the existing topic."""
    shell.ok(f"alter-acls --topic {stem}.a --add 'allow User:bob Read'")
    run = shell(f"create-topic {stem}.b {stem}.c --like {stem}.a --with-acls")
    assert run.status == 1 and "already exists" in run.out + run.err, str(run)
    assert "bob" not in shell.ok(f"list-acls --topic {stem}.b").out
    assert shell.ok(f"list-topics {stem}.*").out.split() == [f"{stem}.a", f"{stem}.b"]
    shell.ok(f"create-topic {stem}.b {stem}.c --like {stem}.a --with-acls --if-not-exists")
    assert "bob" not in shell.ok(f"list-acls --topic {stem}.b").out
    assert "allow User:bob Read" in shell.ok(f"list-acls --topic {stem}.c").out


def test_an_export_creates_the_topics_that_it_describes(
    shell: Shell, stem: str, tmp_path: Path
) -> None:
    file = tmp_path / "topics.yaml"
    exported = shell.ok(f"export {stem}.* --only topics").out
    file.write_text(exported)
    shell.ok(f"delete-topic {stem}.* --yes")
    shell.ok(f"create-topic --from-file {file}")
    assert shell.ok(f"export {stem}.* --only topics").out == exported


# -- what a deletion affects -----------------------------------------------------------------------


def test_a_deletion_shows_what_is_lost_and_asks_with_it(
    sandbox: Sandbox, shell: Shell, stem: str
) -> None:
    empty = shell(f"delete-topic {stem}.b", answer="n")
    assert "\n  no records\n" in empty.err
    assert shell.asked == [f"Delete 1 topic (no records) on {sandbox.bootstrap}? [y/N] "]
    fill(sandbox.bootstrap, f"{stem}.a", 5, size=1000, enable_idempotence=True)
    shell.ok(f"reset-offsets {stem}-group --topic {stem}.a:0 --to earliest --yes")
    shell.ok(f"alter-acls --topic {stem}.a --add 'allow User:{stem} Read'")
    try:
        run = shell(f"delete-topic {stem}.a", answer="n")
        assert "\nrecords         up to 5, " in run.err and " KiB on disk\n" in run.err, run
        group = f"{stem}-group: no members, committed offsets of 1 partition"
        assert f"\ngroups          {group}\n" in run.err
        assert "\nproducers       1 idempotent producer, last record " in run.err
        assert f"\nremaining ACLs  allow User:{stem} Read on topic {stem}.a\n" in run.err
        assert re.fullmatch(r"Delete 1 topic \(up to 5 records, [\d.]+ KiB, 1 group\)"
                            rf" on {sandbox.bootstrap}\? \[y/N\] ", shell.asked[-1])  # fmt: skip
        both = shell(f"delete-topic {stem}.* --dry-run --output json")
        assert [topic["topic"] for topic in both.json["figures"][0]["topics"]] == [
            f"{stem}.a",
            f"{stem}.b",
        ]
        assert both.json["figures"][0]["topics"][0]["readers"][0]["group"] == f"{stem}-group"
        table = shell(f"delete-topic {stem}.* --dry-run").out
        assert "TOPIC" in table and f"{stem}-group" in table
    finally:
        shell.ok(f"alter-acls --remove 'any User:{stem} Any on any resource' --yes")
        shell.ok(f"delete-group {stem}-group --yes")


def test_defaults_are_shown_although_topics_exist(shell: Shell, stem: str, tmp_path: Path) -> None:
    """The controller reports its defaults only for topics that it would create."""
    names = [f"{stem}.{number:02}" for number in range(25)]
    shell.ok(f"create-topic {','.join(names)}")
    file = tmp_path / "topics.csv"
    file.write_text("name\n" + "\n".join([*names, f"{stem}.new"]) + "\n")
    run = shell(f"create-topic --from-file {file} --dry-run --verbose")
    assert f"+ topic {stem}.new: 1 partition, replication factor 1\n" in run.out, run
    assert "default number" not in run.out


def test_hostile_group_names_do_not_reach_the_terminal(
    cluster: Cluster, shell: Shell, stem: str
) -> None:
    group = f"\x1b[31m{stem}\r\n- topic x"
    commit(cluster, group, f"{stem}.a", 0)
    try:
        for topics in (f"{stem}.a", f"{stem}.*"):
            shown = shell(f"delete-topic {topics} --dry-run").out
            assert stem in shown and "\x1b" not in shown and "\r" not in shown, repr(shown)
            assert "\n- topic x" not in shown
    finally:
        forget(cluster, group)


def test_of_very_many_topics_only_the_most_used_are_listed(
    sandbox: Sandbox, shell: Shell, stem: str
) -> None:
    names = [f"{stem}.{number:02}" for number in range(25)]
    shell.ok(f"create-topic {','.join(names)}")
    fill(sandbox.bootstrap, names[24], 3)
    shown = shell(f"delete-topic {stem}.* --dry-run").out
    _, first, *_ = shown[shown.index("TOPIC ") :].splitlines()
    assert first.startswith(names[24]), shown
    assert "\n26 topics without records, groups, producers or ACLs\n" in shown
