"""The commands on groups."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.delete import plan_delete
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, filled, forget, held
from tests.support.program import Program


def test_names_alone_and_with_more(kafka: Program, group: str) -> None:
    assert group in kafka.ok("list-groups").lines
    assert group in kafka.ok("groups", "--state", "empty", "--type", "classic").lines
    assert group not in kafka.ok("list-groups", "--state", "Stable").lines
    heading, *rows = kafka.ok("list-groups", "--long").lines
    assert heading.split()[:3] == ["GROUP", "TYPE", "STATE"]
    assert [group, "classic", "Empty"] in [row.split()[:3] for row in rows]


def test_the_largest_lag_comes_first(
    kafka: Program, cluster: Cluster, topic: str, group: str
) -> None:
    further = f"z-{group}"
    commit(cluster, further, topic, 0, 0)
    try:
        for line in (["lag"], ["describe-group", "--state"]):
            rows = kafka.ok(*line, "--output", "json").json
            ours = [row["name"] for row in rows if row["name"] in (group, further)]
            assert ours == [further, group], line
            lags = [row["lag"] for row in rows if row["lag"] is not None]
            assert lags == sorted(lags, reverse=True)
    finally:
        forget(cluster, further)


def test_a_streams_application_keeps_more_than_its_group(
    kafka: Program, cluster: Cluster, topic: str, group: str
) -> None:
    """What Kafka Streams keeps beside a group is named where the group goes, or starts anew."""
    inner = make_topic(cluster, f"{group}-KSTREAM-AGGREGATE-0000000003-changelog")
    for line in (["delete-group", group], ["reset-offsets", group, "--to", "earliest"]):
        run = kafka(*line, "--dry-run")
        said = run.stdout + run.stderr
        assert "looks like a Kafka Streams" in said and inner in said and "state.dir" in said
    done(topic_changes.plan_delete(cluster, [inner]), cluster)
    assert "Kafka Streams" not in str(kafka("delete-group", group, "--dry-run"))


@pytest.mark.parametrize("name", ["broker 2", "topic x", "lag in x"])
def test_a_group_named_like_another_resource_is_a_group(kafka: Program, name: str) -> None:
    run = kafka("describe-group", name, "--output", "json")
    assert [row["resource"] for row in run.json] == [f"group {name}"]


def test_no_group_of_that_kind(kafka: Program) -> None:
    run = kafka.ok("list-groups", "--state", "Dead")
    assert run.stdout == ""
    assert "no groups of type or state Dead" in run.stderr


def test_a_page_of_a_group(kafka: Program, sandbox: Sandbox, topic: str, group: str) -> None:
    with members.classic(sandbox.bootstrap, group, topic):
        lines = kafka.ok("group", group).lines
    assert lines[0].split("   ")[:5] == [
        f"group {group}", "Stable", "classic", "1 member", "lag 11 in 2 of 2 partitions",
    ]  # fmt: skip
    assert lines[2].split() == [
        "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "TIME-LAG",
    ]  # fmt: skip
    assert [line.split()[:-1] for line in lines[3:5]] == [
        [topic, "0", "3", "10", "7"], [topic, "1", "6", "10", "4"],
    ]  # fmt: skip
    assert lines[6].split()[:4] == ["CLIENT-ID", "HOST", "PARTITIONS", "ASSIGNMENT"]
    assert lines[7].split()[:4] == ["reader", "127.0.0.1", "2", f"{topic}:0,1"]


def test_each_view_as_data(kafka: Program, topic: str, group: str) -> None:
    (whole,) = kafka.ok("describe-group", group, "--output", "json").json
    assert (whole["name"], whole["type"], whole["state"]) == (group, "classic", "Empty")
    assert whole["offsets"][0].pop("time_lag_ms") > 0
    assert whole["offsets"][0] == {
        "group": group, "topic": topic, "partition": 0, "offset": 3, "end": 10, "lag": 7,
        "leader_epoch": None, "metadata": "", "note": "", "client_id": "", "host": "",
        "member_id": "", "start": 0, "change_per_s": None, "stuck": False,
    }  # fmt: skip
    rows = kafka.ok("lag", group, "--output", "json").json
    assert [row["lag"] for row in rows] == [7, 4]
    (totals,) = kafka.ok("describe-group", group, "--state", "--output", "json").json
    assert (totals["members"], totals["partitions"], totals["lag"]) == (0, 2, 11)
    run = kafka.ok("describe-group", group, "--members")
    assert (run.stdout, run.stderr) == ("", f"no members in {group}\n")
    csv = kafka.ok("describe-group", group, "--output", "csv").lines
    assert csv[0].startswith("group,topic,partition,offset,end,lag,")
    assert len(csv) == 3


def test_a_failure_beside_an_answer(kafka: Program, group: str) -> None:
    run = kafka("describe-group", group, "no-such-group", "--state")
    assert run.status == 1
    assert group in run.stdout
    assert "group no-such-group does not exist (GROUP_ID_NOT_FOUND)" in run.stderr


def test_all_groups(kafka: Program, group: str) -> None:
    rows = [line.split() for line in kafka.ok("describe-group", "--state").lines]
    assert rows[0][:3] == ["GROUP", "STATE", "TYPE"]
    assert [group, "Empty", "classic", "0", "2", "11"] in [row[:6] for row in rows]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--to earliest", [0, 0]),
        ("--to latest", [10, 10]),
        ("--to 5", [5, 5]),
        ("--to +1", [4, 7]),
        ("--to -2", [1, 4]),
        ("--to -1h", [10, 10]),
        ("--to 1970-01-01T00:16:44Z", [4, 4]),
        ("--to 000001004000", [4, 4]),  # as long as a timestamp of today: milliseconds
        ("--to-earliest --execute --all-topics", [0, 0]),
        ("--to-offset 9", [9, 9]),
        ("--shift-by -1", [2, 5]),
        ("--to-datetime 1970-01-01T00:16:45.000Z", [5, 5]),
        ("--by-duration P1D", [10, 10]),
    ],
)
def test_where_to(kafka: Program, topic: str, group: str, words: str, wanted: list[int]) -> None:
    run = kafka("reset-offsets", group, *words.split(), "--dry-run", "--output", "json")
    assert run.status == 0, str(run)
    after = {row["field"]: row["after"] for row in run.json["changes"]}
    assert after == {f"{topic}:0": wanted[0], f"{topic}:1": wanted[1]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--to yesteryear", "invalid --to: 'yesteryear'"),
        ("--to erliest", "Did you mean earliest?"),
        ("", "reset-offsets requires one of --to, --offset"),
        ("--to 5 --to-latest", "cannot be used with"),
        ("--offset t=5", "--offset must be TOPIC:PARTITION=OFFSET, got 't=5'"),
        ("--offset t:0=5,0=6", "t:0 is set twice"),
    ],
)
def test_a_line_that_is_wrong(kafka: Program, words: str, said: str) -> None:
    run = kafka("reset-offsets", "g", *words.split())
    assert (run.status, run.stdout) == (2, "")
    assert said in run.stderr


def test_it_asks(kafka: Program, cluster: Cluster, topic: str, group: str) -> None:
    run = kafka("reset-offsets", group, "--to", "latest")
    assert f"warning: group {group} will skip up to 11 records\n" in run.stderr
    back = kafka.ok("reset-offsets", group, "--to", "earliest", "--dry-run").stdout
    assert f"note: group {group} will read up to 9 records again\n" in back and "skip" not in back
    assert run.status == 2
    assert "confirmation is required" in run.stderr
    assert held(cluster, group) == {f"{topic}:0": 3, f"{topic}:1": 6}


def test_export_and_back(kafka: Program, cluster: Cluster, topic: str, group: str) -> None:
    file = kafka.home / "before.csv"
    line = ("reset-offsets", group, "--to", "current", "--export", str(file), "--dry-run")
    kafka.ok(*line)
    assert file.read_text() == f"{topic},0,3\n{topic},1,6\n", "as Kafka's tool writes them"
    kafka.ok("reset-offsets", group, "--to", "latest", "--yes")
    kafka.ok("reset-offsets", group, "--to", f"file:{file}", "--topic", f"{topic}:1", "--yes")
    assert held(cluster, group) == {f"{topic}:0": 10, f"{topic}:1": 6}
    kafka.ok("reset-offsets", group, "--from-file", str(file), "--yes")
    assert held(cluster, group) == {f"{topic}:0": 3, f"{topic}:1": 6}


def test_another_groups_offsets(kafka: Program, cluster: Cluster, topic: str, group: str) -> None:
    new = f"{group}.new"
    run = kafka.ok("reset-offsets", new, "--to", f"group:{group}", "--topic", f"{topic}:1",
                   "--yes")  # fmt: skip
    assert f"group {new} does not exist and will be created" in run.stderr
    assert held(cluster, new) == {f"{topic}:1": 6}
    forget(cluster, new)
    run = kafka("reset-offsets", group, "--to", "group:no-such-group", "--yes")
    assert run.status == 1
    assert "group no-such-group does not exist" in run.stderr


def test_an_active_group_names_its_members(
    kafka: Program, sandbox: Sandbox, topic: str, group: str
) -> None:
    with members.classic(sandbox.bootstrap, group, topic):
        run = kafka("reset-offsets", group, "--to", "latest", "--yes")
    assert run.status == 1
    assert f"group {group} is Stable and has 1 member: reader at 127.0.0.1" in run.stderr


@pytest.mark.parametrize(
    "line",
    [
        "reset-offsets {} --to latest --topic {}:1,2",
        "delete-offsets {} --topic {}:0",
        "delete-group {}",
    ],
    ids=["reset", "delete-offsets", "delete-group"],
)
def test_the_undo_command(
    kafka: Program, cluster: Cluster, topic: str, group: str, line: str
) -> None:
    """Typed as it is printed, it restores every offset, and deletes those that were not there."""
    before = held(cluster, group)
    words = line.format(group, topic).replace(f"{topic}:1,2", f"{topic}:1").split()
    run = kafka.ok(*words, "--yes")
    (back,) = [each for each in run.stderr.splitlines() if each.startswith("undo: ")]
    kafka.ok(stdin=back.removeprefix("undo: ") + " --yes\n")
    assert held(cluster, group) == before


def test_the_undo_of_a_share_group(kafka: Program, cluster: Cluster, topic: str) -> None:
    group = f"share-{uuid4().hex[:8]}"
    start = {TopicPartition(topic, 0): 3, TopicPartition(topic, 1): 4}
    done(group_resets.plan_offsets(cluster, {group: start}, GroupType.SHARE), cluster)
    run = kafka.ok("delete-group", group, "--yes")
    back = f"reset-offsets {group} --type share --offset {topic}:0=3,1=4"
    assert f"undo: {back}" in run.stderr
    kafka.ok(stdin=back + " --yes\n")
    assert held(cluster, group) == {f"{topic}:0": 3, f"{topic}:1": 4}
    forget(cluster, group)


def test_a_line_back_of_a_name_that_looks_like_an_option(topic: str) -> None:
    from kafka_shell.base.plans import Change, Resource

    changes = [Change(Resource("group-offsets", "-g"), "alter", f"{topic}:0", None, 5)]
    assert undo_lines(changes) == (f"reset-offsets --group=-g --offset {topic}:0=none",)


def test_delete_if_it_is_there(kafka: Program, group: str) -> None:
    run = kafka("delete-group", group, "no-such-group", "--yes")
    assert (run.status, run.stdout) == (1, "")
    assert "nothing was changed: 1 of 2 items is invalid" in run.stderr
    run = kafka.ok("delete-group", group, "no-such-group", "--if-exists", "--yes")
    assert f"deleted group {group}" in run.stdout
    assert kafka.ok("delete-group", "no-such-group", "--if-exists", "--yes").stdout == ""


def test_delete_offsets_of_nothing(kafka: Program, topic: str, group: str) -> None:
    run = kafka("delete-offsets", group, "--topic", f"{topic}:7", "--topic", "none", "--yes")
    assert run.status == 1
    assert f"no offset in {topic}:7" in run.stderr
    assert "no offset in none" in run.stderr
    run = kafka("delete-offsets", group, "--topic", "none*", "--yes")
    assert (run.status, "no topic with offsets matches 'none*" in run.stderr) == (
        1, True,
    )  # fmt: skip


def test_members_are_put_out(kafka: Program, sandbox: Sandbox, topic: str, group: str) -> None:
    with members.classic(sandbox.bootstrap, group, topic, instance="desk-1"):
        pass
    run = kafka.ok("remove-members", group, "--instance", "desk-1", "--yes")
    assert "removed member reader-" in run.stdout.replace("desk-1", "reader")


def test_records_that_no_longer_exist_are_not_skipped(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, group: str
) -> None:
    cut = filled(sandbox, cluster, f"cut-{uuid4().hex[:8]}")
    commit(cluster, group, cut, 0, 6)
    done(plan_delete(cluster, {TopicPartition(cut, 0): 5}), cluster)
    where = ["--topic", cut, "--dry-run"]
    plan = kafka.ok("reset-offsets", group, "--to", "2", *where)
    assert "0 -> 5" in plan.stdout and "skip" not in plan.stdout + plan.stderr
    assert f"group {group} will read up to 4 records again" in plan.stdout
    ahead = kafka.ok("reset-offsets", group, "--to", "8", *where)
    assert f"group {group} will skip up to 5 records" in ahead.stdout, "3 from 5, 2 from 6"


def test_a_pattern_selects_only_topics_with_offsets(
    kafka: Program, cluster: Cluster, topic: str, group: str
) -> None:
    """Before: offsets were committed in all topics that it matches, which the group never read."""
    other = make_topic(cluster, f"{topic}.unread")
    line = ("--to", "latest", "--dry-run")
    for words in (["--topic", f"{topic}*"], ["--topic", "*"], ["--topic", "/.*/"]):
        plan = kafka.ok("reset-offsets", group, *line, *words).stdout
        assert f"{topic}:0:" in plan and other not in plan and "__" not in plan, words
    named = kafka.ok("reset-offsets", group, *line, "--topic", other, "--topic", f"{topic}*")
    assert other in named.stdout and f"{topic}:0:" in named.stdout
    run = kafka("reset-offsets", group, *line, "--topic", f"{other}*")
    assert run.status == 1 and f"no topic with offsets matches '{other}*'" in run.stderr
    new = kafka.ok("reset-offsets", f"{group}.new", *line, "--topic", "*")
    assert other in new.stdout and "__consumer_offsets:" not in new.stdout
    assert "__consumer_offsets" in new.stderr, "a note says that it is left out"
    done(topic_changes.plan_delete(cluster, [other]), cluster)


def test_a_mistyped_topic_of_a_reset(kafka: Program, topic: str, group: str) -> None:
    """The topic is the error: that the group has no offsets would be wrong."""
    run = kafka("reset-offsets", group, "--to", "-1h", "--topic", topic + "x", "--dry-run")
    assert run.status == 1
    assert "NO_OFFSETS" not in run.stderr and "has no committed offsets" not in run.stderr
    assert f"Did you mean {topic}?" in run.stderr


def test_deleting_records_names_the_groups_that_have_not_read_them(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, group: str
) -> None:
    cut = filled(sandbox, cluster, f"cut-{uuid4().hex[:8]}")
    behind, further = f"a-{group}", f"b-{group}"
    commit(cluster, group, cut, 10, 5)
    commit(cluster, behind, cut, 3, 6)
    commit(cluster, further, cut, 4, 0)
    try:
        plan = kafka.ok("delete-records", f"{cut}:0", "--to", "8", "--dry-run").stdout
        assert (
            f"warning: up to 8 records in partition {cut}:0 will be deleted; deleted records cannot"
            " be restored\n"
            f"warning: 2 groups have not read all of these records: {behind} (up to 5 records),"
            f" {further} (up to 4 records)\n"
        ) in plan
        ahead = kafka.ok("delete-records", f"{cut}:0", "--to", "2", "--dry-run").stdout
        assert "2 records in partition" in ahead and "have not read" not in ahead
        both = kafka.ok("delete-records", cut, "--to", "latest", "--dry-run").stdout
        assert f"3 groups have not read all of these records: {further} (up to 16 records)" in both
    finally:
        forget(cluster, behind, further)


def test_a_time_in_the_future_means_latest(kafka: Program, topic: str, group: str) -> None:
    warning = "is in the future: latest is used if there is no later record"
    reset = kafka.ok("reset-offsets", group, "--to", "2990-01-01", "--dry-run")
    assert warning in reset.stdout
    delete = kafka.ok("delete-records", f"{topic}:0", "--to", "2990-01-01", "--dry-run")
    assert warning in delete.stdout
    assert warning not in kafka.ok("reset-offsets", group, "--to", "-1h", "--dry-run").stdout


def test_a_name_after_a_command_that_lists_all(kafka: Program) -> None:
    for line, hint in (
        (["users", "dave"], "Did you mean user dave?"),
        (["brokers", "1"], "Did you mean broker 1?"),
        (["users", "da*"], "Filter the names: users | grep da"),
    ):
        run = kafka(*line)
        assert run.status == 2 and f"hint: {hint}\n" in run.stderr, run
