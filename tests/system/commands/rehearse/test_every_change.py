"""Every change of the shell is rehearsed and then made on the real cluster: the outcomes are the
same."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.base.plans import Effect
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.rehearse.run import difference, placed_by, state_of
from kafka_shell.commands.rehearse.verdicts import known_limits
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.data import plain
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect
from tests.support.program import Program

SETUP = """
create-topic probe.a --partitions 3 --replication-factor 3
create-topic probe.b --replica-assignment 1:2,2:3,3:1
alter-quotas --user probe-u request_percentage=50
scram-credentials --add SCRAM-SHA-256 --username probe-u --generate
"""
LINES = """
create-topic probe.new --partitions 4 --replication-factor 3 --config retention.ms=7d
create-topic probe.new
create-topic probe.bad --replication-factor 4
create-topic probe.bad --config nosuch=1
create-topic probe.bad --config retention.ms=many
create-topic 'probe bad'
create-topic probe.placed --replica-assignment 1:2,2:3
create-topic probe.bad --replica-assignment 1:9
alter-topic probe.a --partitions 6
alter-topic probe.a --partitions 2
alter-topic probe.nosuch --partitions 2
alter-topic probe.b --replication-factor 3
create-topic probe.less --replica-assignment 1:2,2:3
alter-topic probe.less --replication-factor 1
alter-configs probe.a retention.ms=1d max.message.bytes=2MiB
alter-configs probe.a cleanup.policy=nonsense
alter-configs probe.a min.insync.replicas=0
alter-configs probe.a --append cleanup.policy=compact
alter-configs probe.a --delete-config retention.ms
alter-configs probe.nosuch retention.ms=1d
alter-configs --broker-default log.cleaner.threads=2
alter-configs --broker-default --delete-config log.cleaner.threads
alter-configs --broker-default log.retention.ms=1d
alter-configs --broker-default log.retention.ms=soon
create-topic probe.kept --config min.insync.replicas=1
alter-configs --broker-default --delete-config log.retention.ms
alter-configs --group probe-g consumer.session.timeout.ms=50000
consume-records probe-g --topic probe.a
alter-configs --group probe-g consumer.session.timeout.ms=1
alter-configs --group probe-g --delete-config consumer.session.timeout.ms
alter-configs --client-metrics probe-m interval.ms=60000
alter-configs --client-metrics probe-m interval.ms=1
alter-configs --client-metrics probe-m --delete-config interval.ms
alter-configs --broker-id 1 log.cleaner.threads=2
alter-configs --logger 1 kafka.request.logger=DEBUG
config-command --entity-type topics --entity-name probe.a --alter --add-config segment.ms=86400000
config-command --entity-type users --entity-name probe-u --alter --add-config request_percentage=5
alter-quotas --user probe-u consumer_byte_rate=5MB/s
alter-quotas --user probe-u nosuch_rate=5
alter-quotas --ip 10.0.0.9 connection_creation_rate=5
alter-quotas --ip 10.0.0.9 --delete-config connection_creation_rate
alter-quotas --ip nosuch.invalid connection_creation_rate=5
scram-credentials --add SCRAM-SHA-512 --username probe-u --generate
scram-credentials --delete SCRAM-SHA-512 --username probe-u
scram-credentials --delete SCRAM-SHA-256 --username probe-nosuch
alter-acls --topic probe.a --add 'allow User:probe Read,Write'
alter-acls --topic probe.a --remove 'allow User:probe Write'
alter-acls --topic probe.a --remove 'allow User:nosuch Write'
alter-client-configs --user probe-u acks=all
create-token
renew-token AAAA
expire-token AAAA
reassign-partitions --topics probe.b --broker-list 1,2
reassign-partitions --topics probe.nosuch --broker-list 1,2
reassign-partitions --topics probe.b --broker-list 2,3 --throttle 50MB/s
rebalance --topics probe.b
preferred-replica-leader-election probe.b
preferred-replica-leader-election probe.nosuch
elect-leaders probe.b:0
elect-leaders probe.nosuch:0
alter-log-dirs probe.a:0 --log-dir /data/b --broker-id 1
verify-reassign-partitions --finish
delete-group probe-g
remove-members probe-g
reset-offsets probe-g --to latest --topic probe.a
delete-offsets probe-g --topic probe.a
write-record probe.a value
copy-records probe.a --to-topic probe.b
delete-records probe.a:0 --to 0
unregister-broker 77
unregister-broker 3
alter-quorum --remove 1
update-features transaction.version=1
update-features transaction.version=2
update-features nosuch.version=1
update-features metadata.version=1
register-schema probe-value --id 1
alter-compatibility --default FULL
delete-schema probe-value
abort-transaction --hanging
fence-producer probe-t
undo
apply HOME/probe.yaml
delete-topic probe.nosuch
delete-topic probe.new
delete-topic probe.placed,probe.applied,probe.kept
alter-acls --topic probe.a --remove 'allow User:probe Read'
scram-credentials --delete SCRAM-SHA-256 --username probe-u
alter-quotas --user probe-u --delete-config request_percentage,producer_byte_rate,consumer_byte_rate
delete-topic 'probe.*'
"""
STATE = "version: 1\ntopics: {probe.applied: {partitions: 3, configs: {retention.ms: 7d}}}\n"
# The --fix of an audit goes through the same plans, and requires Spark. decommission waits until
# its broker is stopped, which a twin cannot do.
ELSEWHERE = {"spark audit", "decommission"}
MOVES = "the controller accepts it"  # a line that is unknown, but was sent


def lines_of(text: str, home: Path) -> list[str]:
    return text.strip().replace("HOME", str(home)).splitlines()


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path / "home", three_brokers.bootstrap)
    for line in lines_of(SETUP, tmp_path):
        program.ok(stdin=f"{line}\n")
    yield program
    cleanup = lines_of(LINES, tmp_path)[-4:]
    program("--keep-going", "--yes", stdin="\n".join(cleanup))


def rehearse(kafka: Program, lines: list[str], tmp_path: Path) -> Any:
    script = tmp_path / "script.kafka"
    script.write_text("\n".join(lines) + "\n")
    run = kafka("--output", "json", "rehearse", "--keep-going", str(script))
    assert run.stdout, run
    found = run.json
    statuses = {each["status"] for each in found["lines"]}
    assert run.status == (1 if "failed" in statuses else 4 if "unknown" in statuses else 0), run
    assert [each["line"] for each in found["lines"]] == lines
    assert "rollback-file" not in run.stdout, "it is removed with the twin"
    return found


def make(kafka: Program, found: Any) -> list[str]:
    """Run the rehearsed lines, but for those that are not known, and say what was otherwise."""
    reasons = [each.why for each in known_limits()]
    wrong = []
    for each in found["lines"]:
        line, status, error = each["line"], each["status"], each["error"]
        if status == "unknown" and not error.startswith(MOVES):
            if not any(reason in error for reason in reasons):
                wrong.append(f"{line}\n  no known limit: {error}")
            continue
        run = kafka("--yes", stdin=f"{line}\n")
        if (run.status != 0) != (status == "failed"):
            wrong.append(f"{line}\n  {status} {error}, and then {run.status} {run.stderr}")
        elif error and status == "failed" and plainly(error) not in plainly(run.stderr):
            wrong.append(f"{line}\n  {error}\n  and then\n  {run.stderr}")
    return wrong


def plainly(text: str) -> str:
    """In one line, and without the ID of the controller."""
    return re.sub("controller [0-9]+", "controller N", " ".join(text.split()))


def both(kafka: Program, three: Sandbox, lines: list[str], tmp_path: Path) -> Any:
    """Rehearse the lines, run them, and compare. Returns the rehearsal."""
    with connect(three) as cluster:
        before = state_of(cluster)
        found = rehearse(kafka, lines, tmp_path)
        assert not difference(before, state_of(cluster)).changes, "a rehearsal changed something"
        wrong = make(kafka, found)
        kafka("verify-reassign-partitions", "--finish", "--yes")
        placed = placed_by((), before) | dict(map(created, succeeded(found, "create-topic")))
        changed = plain(difference(before, state_of(cluster), placed).changes)
    assert not wrong, "\n".join(wrong)
    assert found["diff"]["changes"] == changed
    return found


def succeeded(found: Any, command: str) -> list[str]:
    """The rehearsed lines of this command that changed something."""
    return [
        each["line"]
        for each in found["lines"]
        if each["line"].startswith(command) and each["status"] == "ok" and each["plan"]["changes"]
    ]


def created(line: str) -> tuple[str, int]:
    """The topic that a line creates, and of how many partitions it says the replicas."""
    invocation = parse(tokenize(line), REGISTRY)
    (name,) = invocation["topic"]
    return name, len(invocation.get("replica-assignment") or ())


def test_every_changing_command_is_probed() -> None:
    probed = {parse(tokenize(line), REGISTRY).command.name for line in LINES.strip().splitlines()}
    changing = {command.name for command in REGISTRY if command.effect is not Effect.READ}
    assert changing - ELSEWHERE <= probed


def test_a_line_does_what_its_rehearsal_says(
    kafka: Program, three_brokers: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "probe.yaml").write_text(STATE)
    found = both(kafka, three_brokers, lines_of(LINES, tmp_path), tmp_path)
    assert "alter-topic probe.less --replication-factor 1" in succeeded(found, "alter-topic")


# -- random scripts --------------------------------------------------------------------------------


def random_line(draw: random.Random) -> str:
    topic = f"probe.{draw.choice('abcde')}"
    user = f"probe-{draw.choice('uv')}"
    count = draw.randint(1, 6)
    rule = f"'{draw.choice(('allow', 'deny'))} User:{user} {draw.choice(('Read', 'Write'))}'"
    entity = draw.choice((f"--user {user}", f"--user {user} --client-id app", "--ip 10.0.0.9"))
    rate = "connection_creation_rate" if "ip" in entity else "producer_byte_rate"
    config = draw.choice(("retention.ms=1d", "retention.ms=2d", "segment.ms=1h",
                          "cleanup.policy=compact", "min.insync.replicas=2"))  # fmt: skip
    key = config.partition("=")[0]
    return draw.choice(
        (
            f"create-topic {topic} --partitions {count} --config {config}",
            f"create-topic {topic} --if-not-exists --partitions {count}",
            f"create-topic {topic} --replica-assignment 3:1,1:2",
            f"alter-topic {topic} --partitions {count}",
            f"delete-topic {topic}",
            f"delete-topic {topic} --if-exists",
            f"alter-configs {topic} {config}",
            f"alter-configs {topic} --delete-config {key}",
            f"alter-configs {topic} --append cleanup.policy=delete",
            f"alter-acls --topic {topic} --add {rule}",
            f"alter-acls --topic {topic} --remove {rule}",
            f"alter-quotas {entity} {rate}={count}000",
            f"alter-quotas {entity} --delete-config {rate}",
            f"preferred-replica-leader-election {topic}",
        )
    )


RANDOM_CLEANUP = """
delete-topic 'probe.*'
alter-acls --remove-principal User:probe-u
alter-acls --remove-principal User:probe-v
alter-quotas --user probe-u --client-id app --delete-config producer_byte_rate
alter-quotas --user probe-v --client-id app --delete-config producer_byte_rate
alter-quotas --user probe-v --delete-config producer_byte_rate
alter-quotas --ip 10.0.0.9 --delete-config connection_creation_rate
"""


def test_a_random_script_changes_what_its_rehearsal_says(
    kafka: Program, three_brokers: Sandbox, tmp_path: Path, chance: random.Random
) -> None:
    again = ["create-topic probe.a --partitions 5", "create-topic probe.b --replica-assignment 2:3"]
    lines = [
        *(random_line(chance) for _ in range(60)),
        *("delete-topic probe.a --if-exists", "delete-topic probe.b --if-exists", *again),
    ]
    try:
        both(kafka, three_brokers, lines, tmp_path)
    finally:
        kafka("--keep-going", "--yes", stdin=RANDOM_CLEANUP)
