"""Every command without permissions states which operation on which resource is missing, or that
resources may be hidden; no change succeeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.cluster.unregister import UnregisterBroker
from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import NewScramCredential, ScramMechanism
from kafka_shell.base.plans import Secret
from kafka_shell.commands import REGISTRY
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.support.changes import done, make_topic
from tests.support.program import Program, Run

PASSWORD = "nobody-secret"

# What is refused, in whole or in part.
REFUSED = """
cluster-metadata
describe-topic {topic}
create-topic {topic}-new --partitions 1
alter-topic {topic} --partitions 12
alter-topic {topic} --config retention.ms=30d
delete-topic {topic} --yes
list-offsets {topic}
read-records {topic}
delete-records {topic}:0 --to 10 --yes
write-record {topic} value --key k
copy-records {topic} --to-topic {topic}-copies
consume-records {topic} --topic {topic}
list-configs client-metrics
describe-configs {topic}
describe-configs --broker-id 1
describe-configs --group {topic}
describe-configs --client-metrics {topic}
alter-configs {topic} retention.ms=7d
alter-configs --broker-default log.cleaner.threads=2
alter-configs --logger 1 kafka.request.logger=DEBUG
alter-configs --group {topic} consumer.session.timeout.ms=50000
config-command --entity-type topics --entity-name {topic} --describe
config-command --entity-type users --entity-name alice --alter --add-config producer_byte_rate=1024
list-quotas
describe-quotas --user alice
alter-quotas --user alice producer_byte_rate=5MB/s
resolve-quota --user alice --client-id reports
scram-credentials --describe
scram-credentials --describe --username alice
scram-credentials --add SCRAM-SHA-512 --username {topic} --generate
scram-credentials --delete SCRAM-SHA-256 --username alice --yes
describe-user alice
list-acls
alter-acls --topic {topic} --add 'allow User:bob Read,Write'
alter-acls --topic {topic} --remove 'deny User:bob Write' --yes
check-acl --principal User:alice --operation Write --topic {topic}
create-token --owner-principal User:alice
alter-client-configs --user alice session.timeout.ms=20s --yes
reassign-partitions --topics {topic} --broker-list 1
rebalance --topics {topic}
reassign-partitions --cancel --topics {topic}
verify-reassign-partitions
list-reassignments
preferred-replica-leader-election {topic}
verify-preferred-replica-leader-election {topic}
elect-leaders {topic}:0
describe-log-dirs
alter-log-dirs {topic}:0 --log-dir /data/b --broker-id 1
describe-group {topic}
delete-group {topic} --yes
remove-members {topic} --yes
reset-offsets {topic} --to earliest --yes
delete-offsets {topic} --topic {topic} --yes
rehearse alter-quotas --user alice producer_byte_rate=5MB/s
describe-quorum
health
wait-until healthy
check-restart 1
decommission 1 --yes
describe-broker 1
alter-quorum --remove 1 --yes
update-features streams.version=0 --yes
describe-transactions {topic}
describe-producers {topic}:0
find-hanging-transactions {topic}
abort-transaction --hanging --topic {topic} --yes
abort-transaction {topic}:0 --start-offset 42 --yes
fence-producer {topic} --yes
export
diff {home}/state.yaml
apply {home}/state.yaml
"""

# What shows only what one may see: here nothing, and it says that there may be more.
HIDDEN = """
list-topics
describe-topic
list-offsets
describe-group
find-hanging-transactions
abort-transaction --hanging --yes
top --once --interval 200ms
top groups --once --interval 200ms
top brokers --once --interval 200ms
describe-client-configs
describe-tokens
renew-token 3Fq8xk1VSVOQbUJm0WnKtA
expire-token 3Fq8xk1VSVOQbUJm0WnKtA --yes
list-groups
list-transactions
"""

# What is refused on this side, where the only broker is up.
ELSEWHERE = """
unregister-broker 1 --yes
"""

# What everybody may ask, as far as it goes.
OPEN = """
api-versions ShareGroup
describe-features
"""

# What takes back the changes of others, as far as one has the rights.
UNDO = """
undo --yes
"""

_OPERATION = "READ|WRITE|CREATE|DELETE|ALTER|DESCRIBE|CLUSTER_ACTION|DESCRIBE_CONFIGS|ALTER_CONFIGS"
_RESOURCE = "the cluster|topic|group|transactional ID|user|delegation token"
NAMES_WHAT_IS_MISSING = re.compile(
    rf"\b(?:{_OPERATION}|CREATE_TOKENS|DESCRIBE_TOKENS)\b[\w, ]*? on (?:{_RESOURCE})\b"
)
MAY_BE_HIDDEN = re.compile(r"\bnot authorized\b|\brequires\b|\bvisible\b|\bhidden\b", re.IGNORECASE)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def topic(secure_sandbox: Sandbox) -> Iterator[str]:
    """A topic that nobody but the administrator sees, and the user `nobody`."""
    where = parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    sasl = Sasl("SCRAM-SHA-256", "admin", Secret(passwords(secure_sandbox)["admin"]))
    config = ConnectionConfig(where, security_protocol="SASL_PLAINTEXT", sasl=sasl)
    with Cluster(config) as admin:
        new = NewScramCredential("nobody", ScramMechanism.SCRAM_SHA_256, Secret(PASSWORD))
        done(scram.plan_upsert(admin, [new]), admin)
        yield make_topic(admin, f"rights-{uuid4().hex[:8]}")
        done(scram.plan_delete(admin, [("nobody", ScramMechanism.SCRAM_SHA_256)]), admin)


@pytest.fixture
def nobody(secure_sandbox: Sandbox, topic: str, tmp_path: Path) -> Program:
    """The program, logged in as a user that no ACL speaks of."""
    login = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    (tmp_path / "state.yaml").write_text("version: 1\nacls: {topic x: [allow User:a Read]}\n")
    (tmp_path / "nobody.properties").write_text(
        f"bootstrap.servers={secure_sandbox.bootstraps['SASL_PLAINTEXT']}\n"
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        f'sasl.jaas.config={login} username="nobody" password="{PASSWORD}";\n'
    )
    return Program(tmp_path)


def run(nobody: Program, line: str) -> Run:
    return nobody("--command-config", str(nobody.home / "nobody.properties"), stdin=f"{line}\n")


def test_every_command_is_tried() -> None:
    tried = {line.split()[0] for line in lines(REFUSED + HIDDEN + ELSEWHERE + OPEN + UNDO)}
    # Audits say what they could not read: tests/audit/test_whole_audits.py. A schema registry has
    # rights of its own: tests/live/commands/schemas.
    others = ("audit", "schemas")
    commands = {c.name for c in REGISTRY if c.needs_cluster and c.family not in others}
    assert commands <= tried, "these are not tried by a user without rights"


@pytest.mark.parametrize("line", lines(REFUSED))
def test_what_is_missing_is_named(nobody: Program, topic: str, line: str) -> None:
    tried = run(nobody, line.format(topic=topic, home=nobody.home))
    assert tried.status == 1, str(tried)
    said = tried.stdout + tried.stderr
    assert NAMES_WHAT_IS_MISSING.search(" ".join(said.split())), (
        f"no operation and resource are named:\n{tried}"
    )
    assert PASSWORD not in said


@pytest.mark.parametrize("line", lines(HIDDEN))
def test_what_is_not_shown_may_be_hidden(nobody: Program, topic: str, line: str) -> None:
    tried = run(nobody, line)
    assert tried.status in (0, 1), str(tried)
    assert topic not in tried.stdout, f"nobody may see this:\n{tried}"
    assert MAY_BE_HIDDEN.search(tried.stderr + tried.stdout), (
        f"it does not say that there may be more:\n{tried}"
    )


def test_a_broker_is_not_unregistered_by_nobody(secure_sandbox: Sandbox, topic: str) -> None:
    where = parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    sasl = Sasl("SCRAM-SHA-256", "nobody", Secret(PASSWORD))
    config = ConnectionConfig(where, security_protocol="SASL_PLAINTEXT", sasl=sasl)
    with Cluster(config) as cluster:
        (why,) = UnregisterBroker(99).send(cluster, validate_only=False).failures.values()
    assert why.name == "CLUSTER_AUTHORIZATION_FAILED"
    assert why.hint == "Requires ALTER on the cluster."


@pytest.mark.parametrize("line", lines(OPEN))
def test_what_everybody_may_ask(nobody: Program, line: str) -> None:
    tried = run(nobody, line)
    assert tried.status == 0, str(tried)
    assert tried.stdout


@pytest.mark.parametrize("undo", lines(UNDO))
@pytest.mark.parametrize(
    "change",
    [
        "create-topic {topic}.made",
        "alter-configs {topic} flush.ms=1000",
        "alter-acls --topic {topic} --add 'allow User:bob Read'",
        "alter-quotas --user {topic} producer_byte_rate=1MB/s",
        "scram-credentials --add SCRAM-SHA-256 --username {topic} --generate",
        "create-token",
    ],
)
def test_the_changes_of_others_are_not_undone_without_rights(
    nobody: Program, topic: str, secure_sandbox: Sandbox, change: str, undo: str
) -> None:
    """What one may not see is not taken for already undone."""
    properties = str(secure_sandbox.client_properties["admin-sasl-plaintext"])
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]

    def admin(line: str) -> Run:
        words = ("--broker", broker, "--command-config", properties)
        ran = nobody(*words, stdin=f"{line}\n")
        assert ran.status == 0, str(ran)
        return ran

    admin(change.format(topic=topic))
    tried = run(nobody, undo)
    assert tried.status == 1, str(tried)
    said = " ".join((tried.stdout + tried.stderr).split())
    hidden = change == "create-token" and MAY_BE_HIDDEN.search(said)
    assert NAMES_WHAT_IS_MISSING.search(said) or hidden, str(tried)
    undone = [entry["undone"] for entry in admin("journal --output json").json]
    assert True not in undone, str(tried)
    admin(undo)
