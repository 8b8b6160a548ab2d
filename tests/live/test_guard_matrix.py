"""Every command that can change a cluster is refused under a read-only profile, however the cluster
is reached; only reading requests are sent."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_shell import settings
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import Effect, apply
from kafka_shell.commands import REGISTRY
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.transport import Link
from tests.support.group_data import commit
from tests.support.in_process_shell import Shell
from tests.support.schema_registry import Registry

TOPIC, GROUP = "guard.matrix", "guard-matrix"

REGISTRY_URL = "--adminclient-property schema.registry.url=URL"

# A line for each command.
LINES: dict[str, str] = {
    "create-topic": "create-topic guard.new",
    "alter-topic": f"alter-topic {TOPIC} --partitions 3",
    "delete-topic": f"delete-topic {TOPIC} --yes",
    "delete-records": f"delete-records {TOPIC}:0 --to 0 --yes",
    "write-record": f"write-record {TOPIC} value --key k --yes",
    "copy-records": f"copy-records {TOPIC} --to-topic guard.copies --yes",
    "consume-records": f"consume-records {GROUP} --topic {TOPIC} --yes",
    "alter-configs": f"alter-configs {TOPIC} max.message.bytes=2MiB --yes",
    "config-command": f"config-command --entity-type topics --entity-name {TOPIC} --alter"
    " --add-config max.message.bytes=2000000 --yes",
    "alter-quotas": "alter-quotas --user alice producer_byte_rate=5MB/s --yes",
    "alter-client-configs": "alter-client-configs --user alice acks=all --yes",
    "scram-credentials": "scram-credentials --add SCRAM-SHA-512 --username dave --generate --yes",
    "alter-acls": f"alter-acls --topic {TOPIC} --add 'allow User:bob Read' --yes",
    "create-token": "create-token --yes",
    "renew-token": "renew-token AAAA --yes",
    "expire-token": "expire-token AAAA --yes",
    "reassign-partitions": f"reassign-partitions --topics {TOPIC} --broker-list 1 --yes",
    "rebalance": f"rebalance --topics {TOPIC} --yes",
    "preferred-replica-leader-election": f"preferred-replica-leader-election {TOPIC} --yes",
    "elect-leaders": f"elect-leaders {TOPIC}:0 --yes",
    "alter-log-dirs": f"alter-log-dirs {TOPIC}:0 --log-dir /data/b --broker-id 1 --yes",
    "delete-group": f"delete-group {GROUP} --yes",
    "remove-members": f"remove-members {GROUP} --yes",
    "reset-offsets": f"reset-offsets {GROUP} --to latest --topic {TOPIC} --yes",
    "delete-offsets": f"delete-offsets {GROUP} --topic {TOPIC} --yes",
    "unregister-broker": "unregister-broker 77 --yes",
    "decommission": "decommission 1 --yes",
    "alter-quorum": "alter-quorum --remove 1 --yes",
    "update-features": "update-features transaction.version=0 --yes",
    "abort-transaction": "abort-transaction --hanging --yes",
    "fence-producer": "fence-producer ledger-1 --yes",
    "verify-reassign-partitions": "verify-reassign-partitions --finish --yes",
    "register-schema": f"register-schema guard-new --id 1 --yes {REGISTRY_URL}",
    "alter-compatibility": f"alter-compatibility guard-value FULL --yes {REGISTRY_URL}",
    "delete-schema": f"delete-schema guard-value --yes {REGISTRY_URL}",
    "undo": "undo --yes",
    "apply": "apply HOME/guard.yaml --yes",
}
FEW = ("create-topic", "delete-topic", "write-record", "undo", "apply")
ELSEWHERE = {"spark audit"}  # its --fix goes through the same plans, and wants Spark
# On one idle broker without an authorizer, these find nothing to change or are refused before.
NOTHING_TO_DO = {
    "consume-records", "copy-records",
    "renew-token", "expire-token", "create-token", "reassign-partitions", "alter-log-dirs",
    "preferred-replica-leader-election", "elect-leaders", "remove-members", "alter-quorum",
    "abort-transaction", "verify-reassign-partitions", "unregister-broker", "alter-acls",
    "delete-records", "fence-producer", "rebalance", "decommission",
}  # fmt: skip
# Metadata, ApiVersions, Fetch, List..., Describe..., FindCoordinator, OffsetFetch.
QUESTIONS = {
    1, 2, 3, 9, 10, 15, 16, 17, 18, 23, 29, 32, 35, 36, 41, 46, 48, 50, 55, 60, 61, 65, 66, 69,
    74, 75, 77, 89, 90,
}  # fmt: skip


class Ways:
    """Ways to the same cluster. Each is (connection options of the run, options of the line)."""

    def __init__(self, home: Path, bootstrap: str, registry: str) -> None:
        self.registry = registry
        self.home, self.paths = home, Paths.of({"KAFKA_SH_HOME": str(home)})
        port = bootstrap.rpartition(":")[2]
        # Only the cluster's id tells that localhost is the same.
        self.paths.config_file.parent.mkdir(parents=True, exist_ok=True)
        self.paths.config_file.write_text(
            f'[profiles.frozen]\nbootstrap = "localhost:{port}"\nguard = "read-only"\n'
            f'[profiles.bare]\nbootstrap = "{bootstrap}"\n'
            '[profiles.free]\nbootstrap = "localhost:1"\nguard = "none"\n'
            '[profiles.asking]\nbootstrap = "localhost:1"\nguard = "confirm"\n'
        )
        (home / "guard.yaml").write_text(f"version: 1\ntopics: {{{TOPIC}: {{partitions: 3}}}}\n")
        file = home / "client.properties"
        file.write_text(f"bootstrap.servers={bootstrap}\n")
        self.all: dict[str, tuple[dict[str, object], str]] = {
            "profile": ({"profile": "frozen"}, ""),
            "broker": ({"broker": bootstrap}, ""),
            "profile without a guard": ({"profile": "bare"}, ""),
            "file": ({"command-config": str(file)}, ""),
            "broker on the line": ({"profile": "frozen"}, f"--bootstrap-server {bootstrap}"),
            "file on the line": ({"profile": "frozen"}, f"--command-config {file}"),
            "property on the line": (
                {"profile": "frozen"}, "--adminclient-property client.id=y"
            ),
            "profile on the line": ({"broker": bootstrap}, "--profile frozen"),
            "broker on the line of an unguarded profile": (
                {"profile": "free"}, f"--broker {bootstrap}"
            ),
            "broker on the line of a profile that asks": (
                {"profile": "asking"}, f"--broker {bootstrap}"
            ),
            "broker with an unguarded profile": ({"profile": "free", "broker": bootstrap}, ""),
        }  # fmt: skip

    def run(self, way: str, line: str) -> tuple[int, str]:
        """Status and standard error of a line."""
        flags, more = self.all[way]
        found = settings.load(flags, {}, self.paths.config_file)
        out, err = io.StringIO(), io.StringIO()
        context = Context(ClusterSession(found), self.paths, out, err, environ={})
        try:
            line = line.replace("HOME", str(self.home)).replace("URL", self.registry)
            status = run_text(f"{line} {more}", context)
        finally:
            context.close()
        return int(status), err.getvalue()


WAYS = (
    "profile", "broker", "profile without a guard", "file", "broker on the line",
    "file on the line", "property on the line", "profile on the line",
    "broker on the line of an unguarded profile", "broker on the line of a profile that asks",
    "broker with an unguarded profile",
)  # fmt: skip


@pytest.fixture(scope="module")
def ways(
    sandbox: Sandbox, registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ways]:
    home = tmp_path_factory.mktemp("ways")
    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        assert not apply(topic_changes.plan_create([NewTopic(TOPIC, 2)]), cluster).failures
        commit(cluster, GROUP, TOPIC, 0)
        Shell(home, sandbox.bootstrap).ok(f"alter-configs {TOPIC} flush.ms=1000")  # to undo
        registry.register("guard-value", '"string"')
        ways = Ways(home, sandbox.bootstrap, registry.url)
        status, err = ways.run("profile", "list-topics")  # its cluster's id is remembered
        assert status == 0, err
        yield ways
        apply(topic_changes.plan_delete(cluster, [TOPIC]), cluster)


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[int]]:
    """The API keys of all requests that are sent."""
    sent: set[int] = set()
    ask = Link.send

    def asked(self: Link, api_key: int, *rest: Any, **more: Any) -> Any:
        sent.add(api_key)
        return ask(self, api_key, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Link, "send", asked)
        yield sent


def test_every_changing_command_has_a_line() -> None:
    changing = {command.name for command in REGISTRY if command.effect is not Effect.READ}
    assert changing - ELSEWHERE <= set(LINES)


@pytest.mark.parametrize("way", WAYS)
def test_every_change_is_refused_whichever_way_the_cluster_is_reached(
    ways: Ways, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """All lines by the profile and by its address; by the other ways, one of each kind: a plan, a
    plan that deletes, a write, and what reads changes from a file or the journal."""
    wrong = []
    for command in LINES if way in ("profile", "broker") else FEW:
        line = LINES[command]
        with recorded(monkeypatch) as sent:
            status, err = ways.run(way, line)
        refused = status == 1 and "read-only" in err
        if sent - QUESTIONS:
            wrong.append(f"{command} sent {sorted(sent - QUESTIONS)}\n{err}")
        elif not refused and (command not in NOTHING_TO_DO or status not in (0, 1)):
            wrong.append(f"{command} ended with status {status}\n{err}")
    assert not wrong, "\n".join(wrong)


def test_every_way_is_tried(ways: Ways) -> None:
    assert set(WAYS) == set(ways.all)


def test_another_guard_is_how_one_says_that_it_is_meant(ways: Ways) -> None:
    text = ways.paths.config_file.read_text()
    bootstrap = ways.all["broker"][0]["broker"]
    ways.paths.config_file.write_text(
        f'{text}[profiles.admin]\nbootstrap = "{bootstrap}"\nguard = "none"\n'
    )
    ways.all["admin"] = ({"profile": "admin"}, "")
    try:
        for line in ("create-topic guard.meant", "undo --yes"):
            status, err = ways.run("admin", line)
            assert status == 0, err
    finally:
        del ways.all["admin"]
        ways.paths.config_file.write_text(text)
