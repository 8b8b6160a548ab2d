"""Fields that a profile masks are in no output of any command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.write import Writer
from kafka_shell.commands import REGISTRY
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Option
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.live.commands.records.test_consume_records import a_share_group
from tests.support.changes import make_topic
from tests.support.group_data import forget
from tests.support.program import Program

SECRET = "hunter2"
VALUE = b'{"id":1,"email":"hunter2","lines":[{"phone":"hunter2"}]}'
RECORDS = [
    NewRecord(b"hunter2", VALUE, (("token", b"hunter2"), ("trace", b"t"))),
    NewRecord(b"hunter2", b"not JSON: hunter2"),
    NewRecord(b"hunter2", b"\xff\0hunter2", (("token", b"\xff\0hunter2"),)),
    NewRecord(b"hunter2", None),
]
PATHS = '["key", "value.email", "value.lines.phone", "header.token"]'
# What a command needs besides the topic, and what would run without end.
MORE = {"copy-records": ("--to-topic", "{masked}"), "write-record": ("x",),
        "create-partitions": ("--partitions", "2")}  # fmt: skip
ENDLESS = {"follow", "wait", "watch"}
SHOWS = {"read-records", "consume-records", "copy-records"}


def _topic(cluster: Cluster) -> str:
    topic = make_topic(cluster, f"masked.{uuid4().hex[:8]}")
    assert all(each.failure is None for each in Writer(cluster, topic).write({0: RECORDS}))
    return topic


def _profile(home: Path, sandbox: Sandbox, topics: str, *more: str) -> Program:
    """The program with a profile that masks fields of these topics."""
    config = home / "config"
    config.mkdir(mode=0o700, parents=True)
    profile = f'[profiles.p]\nbootstrap = "{sandbox.bootstrap}"\n' + "".join(
        map("{}\n".format, more)
    )
    file = config / "config.toml"
    file.write_text(f'default = "p"\n{profile}topics."{topics}".mask = {PATHS}\n')
    file.chmod(0o600)
    return Program(home)


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return _topic(cluster)


@pytest.fixture
def masking(tmp_path: Path, sandbox: Sandbox) -> Program:
    return _profile(tmp_path / "p", sandbox, "masked.*")


def _reads_records(command: Command) -> bool:
    first = command.arguments[0].kind if command.arguments else None
    return command.name in SHOWS or first in (kinds.TOPIC, kinds.TOPIC_PARTITIONS)


def _variants(options: tuple[Option, ...]) -> Iterator[tuple[str, ...]]:
    """No option, and each option that needs no value but one of its choices."""
    yield ()
    for option in options:
        if option.kind is kinds.FLAG and option.name not in ENDLESS:
            yield (f"--{option.name}",)
        for choice in option.choices if option.kind is kinds.CHOICE else ():
            yield (f"--{option.name}", choice)


@pytest.mark.parametrize("command", [*filter(_reads_records, REGISTRY)], ids=lambda each: each.name)
def test_no_command_shows_what_is_masked(
    masking: Program, cluster: Cluster, topic: str, command: Command
) -> None:
    subject, group = topic, ""
    if command.name == "consume-records":
        subject = group = a_share_group(cluster, topic)
    more = [word.format(masked=topic) for word in MORE.get(command.name, ())]
    changes = () if command.name in SHOWS or not command.effect.value else ("--dry-run",)
    shown = ""
    for words in _variants(command.options):
        for output in ("table", "json", "yaml", "csv"):
            line = (command.name, subject, *more, *words, *changes, "--output", output)
            run = masking(*(line if command.name != "copy-records" else (*line, "--dry-run")))
            assert SECRET not in run.stdout + run.stderr, str(run)
            assert SECRET.encode().hex() not in run.stdout, str(run)
            shown += run.stdout
    if group:
        forget(cluster, group)
    assert "***" in shown or command.name not in SHOWS - {"copy-records"}, "records were shown"


def test_rows_that_are_read_are_not_written_back(
    masking: Program, topic: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text(masking.ok("read-records", topic, "--output", "json").stdout)
    run = masking("write-record", topic, "--from-file", str(rows))
    assert run.status == 2 and "masked" in run.stderr


def test_a_condition_on_a_masked_field_is_an_error(masking: Program, topic: str) -> None:
    run = masking("read-records", topic, "--where", f"value.email={SECRET}", "--count")
    assert run.status == 2 and "masks fields" in run.stderr and run.stdout == ""
    assert masking.ok("read-records", topic, "--where", "value.id=1", "--count").stdout == "1\n"
    assert masking("read-records", topic, "--grep", "hunter").status == 2


def test_records_are_copied_only_to_where_they_are_masked(
    masking: Program, cluster: Cluster, topic: str
) -> None:
    masked, plain = _topic(cluster), make_topic(cluster, f"plain-{uuid4().hex[:8]}")
    run = masking("copy-records", topic, "--to-topic", plain)
    assert run.status == 1 and f"not in topic {plain}" in run.stderr
    masking.ok("copy-records", topic, "--to-topic", masked)
    unmasked = Program(masking.home.parent / "q", masking.broker or cluster_address(cluster))
    counted = unmasked.ok("read-records", masked, "--where", f"key={SECRET}", "--count")
    assert counted.stdout == "8\n", "what is copied is not masked"


def cluster_address(cluster: Cluster) -> str:
    return ",".join(map(str, cluster.config.bootstrap))


def test_unmask_if_the_profile_allows_it(
    masking: Program, sandbox: Sandbox, topic: str, tmp_path: Path
) -> None:
    run = masking("read-records", topic, "--unmask")
    assert run.status == 2 and "--unmask is not allowed" in run.stderr and SECRET not in run.stdout
    allowed = _profile(tmp_path / "q", sandbox, "masked.*", "unmask = true")
    assert SECRET not in allowed.ok("read-records", topic).stdout
    assert SECRET in allowed.ok("read-records", topic, "--unmask").stdout
    counted = allowed.ok("read-records", topic, "--unmask", "--grep", SECRET, "--count")
    assert counted.stdout == "4\n"


def test_masks_apply_at_the_address_of_their_profile(
    masking: Program, sandbox: Sandbox, topic: str
) -> None:
    """As guards do: with --broker instead of the profile, but not with a profile of its own."""
    broker = ("--broker", sandbox.bootstrap)
    assert SECRET not in masking.ok("read-records", topic, *broker).stdout
    config = masking.home / "config" / "config.toml"
    config.write_text(f'{config.read_text()}[profiles.q]\nbootstrap = "{sandbox.bootstrap}"\n')
    assert SECRET in masking.ok("read-records", topic, "--profile", "q").stdout
    run = masking("read-records", topic, *broker, "--unmask")
    assert run.status == 2 and SECRET not in run.stdout


def test_other_topics_are_shown_as_they_are(
    cluster: Cluster, sandbox: Sandbox, topic: str, tmp_path: Path
) -> None:
    other = _profile(tmp_path / "o", sandbox, "another")
    assert other.ok("read-records", topic, "--grep", SECRET, "--count").stdout == "4\n"
    assert SECRET in other.ok("read-records", topic).stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('topics."t".mask = "values.a"', "config.toml:4: 'values.a' is not a path"),
        ('topics."t".masks = "value.a"', "Did you mean mask?"),
        ("topics.t.x.mask = 'value.a'", 'topics."NAME"'),
        ('topics."/(/".mask = "value.a"', "config.toml:4"),
        ('topics."masked.*".value-format = "arvo"', "Did you mean avro?"),
        ('topics."masked.*".schema = "none.avsc"', "none.avsc"),
    ],
)
def test_a_mistake_in_the_profile_shows_no_record(
    sandbox: Sandbox, topic: str, tmp_path: Path, line: str, said: str
) -> None:
    program = _profile(tmp_path / "m", sandbox, "another", line)
    run = program("read-records", topic)
    assert run.status == 2 and said in run.stderr, str(run)
    assert run.stdout == ""
