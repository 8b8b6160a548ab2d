"""Lowering retention deletes records: the question says in how many topics and how many records."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Answer, Shell
from tests.support.produced_records import fill


@pytest.fixture
def stem(shell: Shell) -> Iterator[str]:
    """Three topics: two that delete, after a week and after 30 days, and a compacted one."""
    stem = f"r{uuid4().hex[:8]}"
    shell.ok(f"create-topic {stem}.week")
    shell.ok(f"create-topic {stem}.month --config retention.ms=30d")
    shell.ok(f"create-topic {stem}.compacted --config cleanup.policy=compact")
    yield stem
    shell.ok(f"delete-topic {stem}.* --yes")


def refused(run: Answer, *said: str) -> None:
    """Whether it would have to be asked, as it says, and nothing was done. The topics are empty."""
    assert run.status == 2, str(run)
    assert "not a terminal" in run.err and "--yes" in run.err
    for each in said:
        assert f"note: {each}; there are none now\n" in run.err, run.err


def test_what_deletes_records_asks(shell: Shell, stem: str) -> None:
    """Which changes do: pure/advice/test_deleted_records."""
    topic, change = f"{stem}.compacted", "--append cleanup.policy=delete"
    before = shell.ok(f"describe-configs {topic} --all").out
    warning = f"changing cleanup.policy of topic {topic} deletes records older than 7d"
    refused(shell(f"alter-configs {topic} {change}"), warning)
    assert shell(f"alter-configs {topic} {change}", answer="n").status == 1
    assert shell.ok(f"describe-configs {topic} --all").out == before
    shell.ok(f"alter-configs {topic} {change} --yes")
    assert shell.ok(f"describe-configs {topic} --all").out != before


@pytest.mark.parametrize(
    "line",
    [
        "alter-topic {0} --config retention.ms=1d",
        "alter-topic {0} --partitions 9 --config retention.ms=1d",
        "config-command --entity-type topics --entity-name {0} --alter --add-config retention.ms=1",
        "config-command --topic {0} --alter --add-config segment.ms=1d,retention.bytes=1",
    ],
)
def test_every_spelling_asks(shell: Shell, stem: str, line: str) -> None:
    refused(shell(line.format(f"{stem}.week")))


@pytest.mark.parametrize("subject", ["--broker-default", "--broker-id 1"])
def test_a_brokers_default_that_topics_inherit_asks(shell: Shell, stem: str, subject: str) -> None:
    run = shell(f"alter-configs {subject} log.retention.ms=1d")
    refused(run)
    of = " of broker 1" if "id" in subject else ""
    said = f"lowering log.retention.ms{of} deletes records older than 1d in the "
    assert re.search(f": {re.escape(said)}.* without (its|their) own retention.ms[;\n]", run.err)


def test_a_default_is_counted_where_it_is_inherited(shell: Shell, stem: str) -> None:
    def count() -> int:
        run = shell("alter-configs --broker-default log.retention.ms=1d")
        return int(run.err.partition(" in the ")[2].partition(" topic")[0])

    before = count()
    shell.ok(f"alter-configs {stem}.week retention.ms=8d")
    assert count() == before - 1


def test_a_default_that_is_raised_or_put_back_does_not_ask(shell: Shell) -> None:
    try:
        shell.ok("alter-configs --broker-default log.retention.ms=8d")
        refused(shell("alter-configs --broker-default --delete-config log.retention.ms"))
        shell.ok("alter-configs --broker-default log.retention.ms=6d --yes")
        shell.ok("alter-configs --broker-default --delete-config log.retention.ms")
    finally:
        shell("alter-configs --broker-default --delete-config log.retention.ms --yes")


def test_undoing_several_changes_says_which_topic_a_warning_is_about(
    shell: Shell, stem: str
) -> None:
    shell.ok(f"alter-configs {stem}.week retention.ms=30d")
    shell.ok(f"alter-configs {stem}.month retention.ms=60d --yes")
    refused(
        shell("undo --last 2"),
        f"removing retention.ms of topic {stem}.week deletes records older than 7d",
        f"lowering retention.ms of topic {stem}.month deletes records older than 30d",
    )


# -- how many records ------------------------------------------------------------------------------

NOW = round(time.time() * 1000)
HOUR = 3_600_000


@pytest.fixture
def aged(sandbox: Sandbox, shell: Shell) -> Iterator[str]:
    """A topic of two partitions: of one, six of ten records are older than two hours."""
    name = f"aged-{uuid4().hex[:8]}"
    shell.ok(f"create-topic {name} --partitions 2 --config retention.ms=7d")
    times = [NOW - 3 * HOUR] * 6 + [NOW] * 4
    fill(sandbox.bootstrap, name, 10, size=10_000, times=times)
    yield name
    shell.ok(f"delete-topic {name} --yes")


def counted(run: Answer) -> str:
    """The warning that counts what would be deleted."""
    (said,) = [line for line in run.err.splitlines() if "would be deleted immediately" in line]
    return said.removeprefix("warning: ").removeprefix("note: ")


def test_records_older_than_the_new_age_are_counted(shell: Shell, aged: str) -> None:
    run = shell(f"alter-configs {aged} retention.ms=2h")
    assert re.fullmatch(
        r"up to 6 of 10 records \(about [\d.]+ KiB of [\d.]+ KiB\) in 1 of 2 partitions of topic"
        rf" {aged} would be deleted immediately",
        counted(run),
    ), counted(run)


def test_records_beyond_the_new_size_are_estimated(shell: Shell, aged: str) -> None:
    said = counted(shell(f"alter-configs {aged} retention.bytes=50KiB"))
    assert re.match(r"about [45] of 10 records \(up to 4[789](\.\d)? KiB of ", said), said


def test_the_question_says_how_many(shell: Shell, aged: str) -> None:
    assert shell(f"alter-configs {aged} retention.ms=2h", answer="n").status == 1
    shell(f"alter-configs {aged} retention.ms=5h cleanup.policy=compact,delete", answer="n")
    assert shell.asked == [
        f"Apply 1 change to 1 topic (deletes up to 6 records) on {shell.bootstrap}? [y/N] ",
        "Apply 2 changes to 1 topic (deletes records older than 5h, all but the latest record of"
        f" each key) on {shell.bootstrap}? [y/N] ",
    ]


def test_a_default_counts_the_records_of_topics_that_inherit_it(
    shell: Shell, sandbox: Sandbox
) -> None:
    name = f"heir-{uuid4().hex[:8]}"
    shell.ok(f"create-topic {name}")
    fill(sandbox.bootstrap, name, 3, times=[NOW - 3 * HOUR] * 3)
    try:
        said = counted(shell("alter-configs --broker-default log.retention.ms=2h"))
        assert re.match(r"(up to|about) [\d,]+ (of [\d,]+ )?records ", said), said
        before = inheriting(shell)
        shell.ok(f"alter-configs {name} compression.type=gzip")
        assert inheriting(shell) == before - 1
    finally:
        shell.ok(f"delete-topic {name} --yes")


def inheriting(shell: Shell) -> int:
    """How many topics inherit a default, as the plan says."""
    run = shell.ok("alter-configs --broker-default compression.type=zstd --dry-run")
    found = re.search(r"warning: (\d+) of \d+ topics? inherits? compression.type\n", run.out)
    assert found, run
    return int(found[1])
