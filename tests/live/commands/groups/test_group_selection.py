"""Groups are selected by names, patterns and lists; `--group` names one, whatever it is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.groups.resets import of_groups
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.group_data import commit, forget
from tests.support.group_data import held as offsets_by_partition
from tests.support.program import Program


def held(cluster: Cluster, name: str) -> list[int | None]:
    return list(offsets_by_partition(cluster, name).values())


@pytest.fixture
def stem(cluster: Cluster, topic: str) -> Iterator[str]:
    """The beginning of three groups: -a, -b and x."""
    name = f"sel{uuid4().hex[:8]}"
    for ending in ("-a", "-b", "x"):
        commit(cluster, name + ending, topic, 3, 6)
    yield name
    for ending in ("-a", "-b", "x"):
        forget(cluster, name + ending)


def test_a_pattern_lists_and_describes_two_of_three(kafka: Program, stem: str) -> None:
    both = [f"{stem}-a", f"{stem}-b"]
    for pattern in (f"{stem}-*", f"/{stem}-[ab]/", ",".join(both)):
        assert kafka.ok("list-groups", pattern).lines == both
        rows = kafka.ok("describe-group", pattern, "--state", "--output", "json").json
        assert [row["name"] for row in rows] == both
        rows = kafka.ok("lag", pattern, "--output", "json").json
        assert {row["group"] for row in rows} == set(both)


def test_a_pattern_that_matches_nothing_is_an_error(kafka: Program, stem: str) -> None:
    none = f"{stem}-none*"
    assert "no group matches" in kafka.ok("list-groups", none).stderr
    for line in (["describe-group"], ["delete-group", "--yes"], ["remove-members", "--yes"],
                 ["reset-offsets", "--to", "latest", "--yes"]):  # fmt: skip
        run = kafka(*line, none)
        assert run.status == 1 and f"no group matches '{none}'" in run.stderr, str(run)
        assert "Run list-groups to see the names." in run.stderr
    run = kafka("describe-group", f"{stem}-c,{stem}-a", "--state")
    assert run.status == 1 and f"{stem}-a" in run.stdout
    assert f"group {stem}-c does not exist" in run.stderr


def test_one_plan_resets_two_of_three(kafka: Program, cluster: Cluster, stem: str) -> None:
    dry = kafka.ok("reset-offsets", f"{stem}-*", "--to", "earliest", "--dry-run")
    assert dry.stdout.count(" -> 0") == 4 and f"{stem}x" not in dry.stdout
    read = f"note: 2 groups ({stem}-a, {stem}-b) will read up to 18 records again"
    assert read in dry.stdout + dry.stderr, str(dry)
    kafka.ok("reset-offsets", f"{stem}-*", "--to", "earliest", "--yes")
    offsets = [held(cluster, stem + ending) for ending in ("-a", "-b", "x")]
    assert offsets == [[0, 0], [0, 0], [3, 6]]
    kafka.ok("undo", "--yes")
    assert held(cluster, f"{stem}-b") == [3, 6]


def test_a_group_that_is_refused_stops_the_whole_plan(
    kafka: Program, cluster: Cluster, sandbox: Sandbox, topic: str, stem: str
) -> None:
    with members.classic(sandbox.bootstrap, f"{stem}-b", topic):
        for line in (["reset-offsets", f"{stem}-*", "--to", "earliest"],
                     ["delete-group", f"{stem}-*"]):  # fmt: skip
            run = kafka(*line, "--yes")
            assert run.status == 1 and "NON_EMPTY_GROUP" in run.stderr, str(run)
            assert "nothing was changed" in run.stderr
        run = kafka.ok("remove-members", f"{stem}-*", "--dry-run")
        assert f"of group {stem}-b" in run.stdout and f"group {stem}-a" not in run.stdout
    assert held(cluster, f"{stem}-a") == [3, 6]


def test_offsets_and_groups_are_deleted_by_pattern(
    kafka: Program, cluster: Cluster, topic: str, stem: str
) -> None:
    kafka.ok("delete-offsets", f"{stem}-*", "--topic", f"{topic}:0", "--yes")
    assert [held(cluster, f"{stem}-{each}") for each in "ab"] == [[6], [6]]
    kafka.ok("delete-group", f"{stem}-*", "--yes")
    assert kafka.ok("list-groups", f"{stem}*").lines == [f"{stem}x"]


def test_each_refusal_names_its_group(
    kafka: Program, cluster: Cluster, topic: str, stem: str
) -> None:
    """Before: the refusals of several groups replaced one another, and named only the topic."""
    run = kafka(
        "delete-offsets", f"{stem}-*", "--topic", f"{topic}:0", "--topic", "other:1", "--yes"
    )
    for ending in "ab":
        assert f"error: topic other of group {stem}-{ending}: " in run.stderr, str(run)
    assert run.status == 1 and "nothing was changed" in run.stderr
    assert [held(cluster, f"{stem}-{ending}") for ending in "ab"] == [[3, 6], [3, 6]]


def test_a_refusal_names_its_group_if_a_topic_has_the_same_name() -> None:
    why = Failure("NO_OFFSETS", "none")
    refused = {name: {Resource("topic", "orders"): why} for name in ("orders", "b")}
    named = [resource.name for resource in of_groups(refused).failures]
    assert named == ["orders of group orders", "orders of group b"]


def test_exported_offsets_of_several_groups_are_read_again(
    kafka: Program, cluster: Cluster, stem: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "before.csv")
    kafka.ok("reset-offsets", f"{stem}*", "--to", "current", "--export", file, "--dry-run")
    kafka.ok("reset-offsets", f"{stem}*", "--to", "latest", "--yes")
    kafka.ok("reset-offsets", f"{stem}*", "--to", f"file:{file}", "--yes")
    assert [held(cluster, stem + ending) for ending in ("-a", "-b", "x")] == [[3, 6]] * 3


@pytest.mark.parametrize("shape", ["{},b", "/{}", "/{}.*/", "{}*", "{} b'\"", "-{}", "[{}]"])
def test_a_hostile_name_is_that_group_also_in_undo(
    kafka: Program, cluster: Cluster, topic: str, shape: str
) -> None:
    stem = uuid4().hex[:8]
    name, plain = shape.format(stem), stem
    commit(cluster, plain, topic, 1, 1)
    commit(cluster, name, topic, 3, 6)
    try:
        word = [name] if not name.startswith("-") else ["--", name]
        assert kafka.ok("list-groups", *word).lines == [name]
        for named in (["--group", name] if not name.startswith("-") else [f"--group={name}"], word):
            rows = kafka.ok("lag", "--output", "json", *named).json
            assert {row["group"] for row in rows} == {name}
        kafka.ok("delete-offsets", "--topic", f"{topic}:0", "--yes", *word)
        assert held(cluster, name) == [6]
        kafka.ok("undo", "--yes")
        kafka.ok("reset-offsets", "--to", "latest", "--yes", f"--group={name}")
        kafka.ok("undo", "--yes")
        assert (held(cluster, name), held(cluster, plain)) == ([3, 6], [1, 1])
    finally:
        forget(cluster, name)
        forget(cluster, plain)


def test_the_group_without_a_name(kafka: Program, cluster: Cluster, topic: str) -> None:
    assert "group '' does not exist" in kafka("describe-group", "").stderr
    kafka.ok("reset-offsets", "", "--offset", f"{topic}:0=3,1=6", "--yes")
    try:
        assert "''" in kafka.ok("list-groups").lines
        assert kafka.ok("list-groups", "", "--output", "json").json[0]["name"] == ""
        assert kafka.ok("describe-group", "").lines[0].startswith("group ''")
        kafka.ok("reset-offsets", "--group", "", "--to", "earliest", "--yes")
        kafka.ok("undo", "--yes")
        assert held(cluster, "") == [3, 6]
    finally:
        run = kafka("delete-group", "", "--yes")
    assert run.status == 0 and "deleted group ''" in run.stdout
