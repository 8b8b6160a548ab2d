"""One-shot commands on a real broker: standard output, standard error and exit status."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.program import Program


@pytest.fixture
def topic(kafka: Program) -> Iterator[str]:
    name = f"oneshot.{uuid.uuid4().hex[:8]}"
    kafka.ok("create-topic", name, "--partitions", "3")
    yield name
    kafka("delete-topic", name, "--yes", "--if-exists")


@pytest.mark.parametrize(
    "spelling",
    [("list-topics",), ("--list-topics",), ("topics",), ("--list-topics", "--exclude-internal")],
    ids=" ".join,
)
def test_every_spelling_of_list_topics_prints_bare_names(
    kafka: Program, topic: str, spelling: tuple[str, ...]
) -> None:
    run = kafka.ok(*spelling)
    assert topic in run.lines, str(run)
    assert run.stderr == ""


def test_the_command_may_stand_before_or_after_the_broker(kafka: Program, topic: str) -> None:
    bare = Program(kafka.home)
    for argv in (
        ("--list-topics", "--broker", kafka.broker),
        ("--broker", kafka.broker, "--list-topics"),
        ("--bootstrap-server", kafka.broker, "list-topics", topic),
        ("topics", "--broker=" + kafka.broker),
        ("--broker=" + kafka.broker, "--list-topics"),
        ("--broker=" + kafka.broker, "topics"),
        ("--deadline=30s", "--broker=" + kafka.broker, "--list-topics"),
    ):
        assert topic in bare.ok(*argv).lines


@pytest.mark.parametrize("spelling", ["--list-topics", "list-topics", "topics"])
def test_an_empty_value_before_the_command_is_named(kafka: Program, spelling: str) -> None:
    for option in ("--broker", "--profile", "--command-config"):
        run = Program(kafka.home)(f"{option}=", spelling)
        assert run.status == 2 and option in run.stderr, str(run)
        assert "unknown" not in run.stderr and "Did you mean" not in run.stderr


def test_describe_topic_means_the_same_in_every_spelling(kafka: Program, topic: str) -> None:
    expected = kafka.ok("describe-topic", topic).stdout
    assert topic in expected
    assert kafka.ok("--describe-topic", "--topic", topic).stdout == expected
    assert kafka.ok("topic", topic).stdout == expected
    assert kafka.ok(stdin=f"describe-topic {topic}\n").stdout == expected


def test_json_yaml_and_csv_have_the_nouns_field_names(kafka: Program, topic: str) -> None:
    (row,) = kafka.ok("list-topics", topic, "--output", "json").json
    assert row["name"] == topic
    assert row["partitions"] == 3
    assert row["internal"] is False
    (same,) = yaml.safe_load(kafka.ok("list-topics", topic, "--output", "yaml").stdout)
    assert same == row
    (flat,) = csv.DictReader(io.StringIO(kafka.ok("topics", topic, "--output", "csv").stdout))
    assert flat["name"] == topic
    assert flat["partitions"] == "3"


def test_a_list_that_finds_nothing_is_no_failure(kafka: Program) -> None:
    run = kafka.ok("list-topics", "no-such-*")
    assert run.stdout == ""


@pytest.mark.parametrize(
    "pattern", ["{0}*", "/{0}.*/", "other,{0}x"], ids=["glob", "regex", "list"]
)
def test_selectors_take_dots_for_dots(kafka: Program, topic: str, pattern: str) -> None:
    pattern = pattern.replace("{0}x", topic).format(topic[:-1].replace(".", r"\.")
        if pattern.startswith("/") else topic[:-1])  # fmt: skip
    assert topic in kafka.ok("list-topics", pattern).lines
    assert kafka.ok("list-topics", topic.replace(".", "_")).lines == []


def test_a_missing_topic_is_a_failure_of_that_item_alone(kafka: Program, topic: str) -> None:
    run = kafka("describe-topic", topic, "no-such-topic")
    assert run.status == 1, str(run)
    assert topic in run.stdout
    assert "UNKNOWN_TOPIC_OR_PARTITION" in run.stderr
    assert "no-such-topic" in run.stderr
    rows = kafka("describe-topic", topic, "no-such-topic", "--output", "json").json
    assert [row.get("error") for row in rows] == [None, "UNKNOWN_TOPIC_OR_PARTITION"]


def test_a_wrong_line_is_status_2_and_points_at_the_word(kafka: Program) -> None:
    run = kafka("list-topics", "--exlude-internal")
    assert run.status == 2, str(run)
    assert run.stdout == ""
    assert "--exclude-internal" in run.stderr, "the near miss is named"
    assert "^^^^" in run.stderr
    assert "usage: list-topics" in run.stderr


def test_a_wrong_value_is_refused_before_anything_is_sent(kafka: Program, topic: str) -> None:
    run = kafka("alter-configs", topic, "retention.ms=7 parsecs")
    assert run.status == 1, str(run)
    assert "retention.ms must be" in run.stderr
    assert "^^^" in run.stderr
    assert kafka.ok("configs", topic, "--output", "json").json == []


def test_units_are_turned_and_the_fresh_state_is_shown(kafka: Program, topic: str) -> None:
    run = kafka.ok("alter-configs", topic, "retention.ms=30d", "segment.bytes=512MiB")
    assert "undo: alter-configs" in run.stdout + run.stderr
    assert "30d" in run.stdout
    rows = kafka.ok("configs", topic, "--output", "json").json
    assert {row["name"]: row["value"] for row in rows} == {
        "retention.ms": "2592000000",
        "segment.bytes": "536870912",
    }


def test_an_alteration_is_json_for_programs(kafka: Program, topic: str) -> None:
    (change,) = kafka.ok("alter-configs", topic, "retention.ms=30d", "--output", "json").json[
        "changes"
    ]
    assert change == change | {
        "resource": f"topic {topic}",
        "field": "retention.ms",
        "before": None,
        "after": "2592000000",
        "status": "done",
        "error": None,
    }


def test_a_dry_run_is_the_result_and_changes_nothing(kafka: Program, topic: str) -> None:
    run = kafka.ok("alter-configs", topic, "retention.ms=3d", "--dry-run")
    assert "retention.ms: 7d (default) -> 3d" in run.stdout, "the plan of a dry run goes to stdout"
    assert kafka.ok("configs", topic, "--output", "json").json == []


def test_a_destroying_command_without_a_terminal_wants_yes(kafka: Program, topic: str) -> None:
    run = kafka("delete-topic", topic)
    assert run.status == 2, str(run)
    assert "--yes" in run.stderr
    assert topic in kafka.ok("list-topics").lines, "nothing was deleted"
    kafka.ok("delete-topic", topic, "--yes")
    assert topic not in kafka.ok("list-topics").lines


def test_the_journal_tells_how_to_take_a_change_back(kafka: Program, topic: str) -> None:
    kafka.ok("alter-configs", topic, "segment.ms=1h")
    entry = kafka.ok("journal", "--output", "json").json[-1]
    assert entry["status"] == "done"
    assert entry["command"] == f"alter-configs {topic} segment.ms=1h"
    (undo,) = entry["undo"]
    kafka.ok(stdin=undo + "\n")
    assert kafka.ok("configs", topic, "--output", "json").json == []


def test_config_command_prints_the_table_of_kip_248(kafka: Program, topic: str) -> None:
    altered = kafka.ok(
        "config-command", "--alter", "--entity-type", "topics", "--entity-name", topic,
        "--add-config", "cleanup.policy=[compact,delete],retention.ms=86400000", "--yes",
    )  # fmt: skip
    assert f"CONFIGS FOR TOPIC {topic}" in altered.stdout, "fresh state after an alter"
    run = kafka.ok("config-command", "--describe", "--topic", topic)
    heading = next(line for line in run.lines if "Name" in line)
    assert heading.split() == ["Name", "Value", "Sensitive", "Read-only", "Source"]
    row = next(line for line in run.lines if line.split()[:2] == ["retention.ms", "="])
    assert row.split()[2:] == ["86400000", "false", "false", "Dynamic", "topic", "config"]
    policy = next(line for line in run.lines if "cleanup.policy = " in line)
    assert "compact,delete" in policy


def test_topics_from_a_file(kafka: Program, tmp_path: Path) -> None:
    names = [f"file.{uuid.uuid4().hex[:6]}" for _ in range(3)]
    forms = {
        "topics.yaml": yaml.safe_dump(
            {
                "version": 1,
                "topics": {names[0]: {"partitions": 2, "configs": {"retention.ms": "2d"}}},
            }
        ),
        "topics.json": json.dumps({"version": 1, "topics": {names[1]: {"replication_factor": 1}}}),
        "topics.csv": f"name,partitions,configs\n{names[2]},4,cleanup.policy=compact\n",
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        kafka.ok("create-topic", "--from-file", str(tmp_path / name))
    counts = {row["name"]: row["partitions"] for row in
              kafka.ok("topics", "file.*", "--output", "json").json}  # fmt: skip
    assert [counts[name] for name in names] == [2, 1, 4]
    assert kafka.ok("configs", names[0], "--output", "json").json[0]["value"] == "172800000"
    kafka.ok("delete-topic", *names, "--yes")


def test_a_pasted_kafka_line_is_answered_with_the_line_here(kafka: Program) -> None:
    run = kafka("kafka-topics.sh", "--bootstrap-server", "x:1", "--describe", "--topic", "orders")
    assert run.status == 2, str(run)
    assert "describe-topic orders" in run.stderr


def test_words_of_argv_are_never_pipes(kafka: Program) -> None:
    run = kafka("list-topics", "|", "wc")
    assert "|" not in run.stdout


def test_help_of_every_spelling(kafka: Program) -> None:
    page = kafka.ok("help", "alter-configs").stdout
    assert "EXAMPLES" in page
    assert kafka.ok("alter-configs", "--help").stdout == page


def test_a_pipe_that_closes_early_is_quiet(kafka: Program, topic: str) -> None:
    run = kafka(stdin="describe-configs --broker-id 1 --all | head -n 1\n")
    assert run.status == 0, str(run)
    assert len(run.lines) == 1
    assert run.stderr == ""


def test_a_failed_change_is_reported_although_nobody_reads_the_result(
    kafka: Program, topic: str
) -> None:
    run = kafka(stdin=f"alter-topic {topic} no-such-topic --partitions 9 --yes | true\n")
    assert run.status == 1 and "no-such-topic" in run.stderr, str(run)


def test_a_missing_name_beside_a_pattern_is_not_dropped(kafka: Program, topic: str) -> None:
    run = kafka("delete-topic", f"{topic[:-1]}*", "no-such-topic", "--dry-run")
    assert run.status == 1, str(run)
    assert topic in run.stdout
    assert "no-such-topic" in run.stderr


def test_a_topic_may_be_created_by_a_list_too(kafka: Program) -> None:
    names = [f"listed.{uuid.uuid4().hex[:6]}" for _ in range(2)]
    kafka.ok("create-topic", ",".join(names))
    assert kafka.ok("topics", *names).lines == sorted(names)
    kafka.ok("delete-topic", *names, "--yes")


@pytest.mark.parametrize("pasted", ["kafka-topics --list", "$ kafka-topics.sh --list"])
def test_kafkas_own_tools_are_known_however_they_are_pasted(kafka: Program, pasted: str) -> None:
    run = kafka(stdin=pasted + "\n")
    assert run.status == 2, str(run)
    assert "list-topics" in run.stderr


def test_the_programs_help_names_its_options_and_commands(kafka: Program) -> None:
    page = kafka.ok("--help").stdout
    for word in ("--sandbox", "--broker", "--profile", "--completion", "describe-topic"):
        assert word in page


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        ("0", "SECONDS must be"),
        ("5 apples", "SECONDS must be"),
        ("-1", "no command before '-1'"),
        ("soon", "unknown command 'soon'"),
    ],
)
def test_watch_wants_seconds_or_a_command(kafka: Program, seconds: str, why: str) -> None:
    run = kafka("watch", "--", seconds, "topics")
    assert run.status == 2, str(run)
    assert why in run.stderr


def test_what_finds_nothing_says_so_on_standard_error(kafka: Program, topic: str) -> None:
    filtered = f"topic {topic} --unavailable-partitions"
    for line in (f"configs {topic}", "list-topics no-such", filtered):
        run = kafka.ok(stdin=line + "\n")
        assert run.stdout == ""
        assert run.stderr, line
        assert kafka.ok(stdin=f"{line} --output json\n").json == []


def test_the_journal_takes_back_nothing_of_another_cluster(kafka: Program, topic: str) -> None:
    kafka.ok("alter-configs", topic, "retention.ms=30d")
    entry = kafka.ok("journal", "--last", "1", "--output", "json").json[0]
    other = kafka.home / "state" / "journal" / entry["cluster"]
    other.rename(other.with_name("another-cluster"))  # it was at this address when it was changed
    run = kafka.ok("undo", "--yes")
    assert run.stdout == ""
    assert f"no changes of cluster {entry['cluster']} left to undo" in run.stderr


@pytest.mark.parametrize("output", ["csv", "json"])
def test_the_warnings_of_a_dry_run_are_printed_with_rows(
    kafka: Program, topic: str, output: str
) -> None:
    """Before: a dry run as CSV said nothing of what would be lost, and of what was not checked."""
    run = kafka.ok("alter-topic", topic, "--partitions", "9", "--dry-run", "--output", output)
    assert "warning: " in run.stderr, str(run)
