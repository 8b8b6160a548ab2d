"""The commands on the quorum, features and brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.cluster import features, quorum
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.program import Program


@pytest.fixture
def run(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path, sandbox.bootstrap)


def test_the_quorum_as_a_page_as_json_and_as_csv(run: Program) -> None:
    page = run.ok("describe-quorum").lines
    assert page[0].startswith("metadata quorum   leader 1   epoch ")
    assert page[2].split() == [
        "ID", "ROLE", "LOG-END-OFFSET", "LAG", "LAST-CAUGHT-UP", "ENDPOINTS", "DIRECTORY-ID",
    ]  # fmt: skip
    told = run.ok("describe-quorum", "--output", "json").json
    (only,) = told["replicas"]
    assert (only["id"], only["role"], only["lag"]) == (1, "leader", 0)
    assert only["endpoints"][0]["name"] == "CONTROLLER" and len(only["directory_id"]) == 22
    assert run.ok("describe-quorum", "--output", "csv").lines[0].startswith("id,role,log_end")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--add", "4"), "--add must be a voter"),
        (("--add", "4@host"), "--add must be a voter"),
        (("--add", "4@host:99999"), "--add must be a voter"),
        (("--add", "4@CONTROLLER:host:1"), "--add must be a voter"),
        (("--remove", "x"), "--remove must be ID or ID:DIRECTORY-ID"),
        (("--remove", "4:short"), "--remove must be ID or ID:DIRECTORY-ID"),
        (("--controller-id", "4", "--controller-directory-id", "short"), "22 characters"),
    ],
)
def test_an_invalid_voter_is_marked(run: Program, words: tuple[str, ...], wrong: str) -> None:
    ran = run("alter-quorum", *words)
    assert ran.status == 2 and wrong in ran.stderr and "^" in ran.stderr, str(ran)


def test_spellings_of_a_voter() -> None:
    from kafka_shell.commands import REGISTRY
    from kafka_shell.commands.cluster.quorum import _to_add
    from kafka_shell.language.parse import parse
    from kafka_shell.language.tokens import tokenize

    directory = "PE6Md4dwQtyVwTuD1K7Aqw"
    line = f"alter-quorum --add 4@[::1]:9093 --add 5@A://h:1,B://i:2:{directory} --add 6@h.x:9"
    invocation = parse(tokenize(line), REGISTRY)
    found = [_to_add(invocation, index) for index in range(3)]
    places = [[(each.name, each.host, each.port) for each in voter.endpoints] for voter in found]
    assert [(v.id, v.directory_id, at) for v, at in zip(found, places, strict=True)] == [
        (4, "", [("", "::1", 9093)]),
        (5, directory, [("A", "h", 1), ("B", "i", 2)]),
        (6, "", [("", "h.x", 9)]),
    ]  # fmt: skip


def test_kafkas_own_spelling_of_a_removal(run: Program, cluster: Cluster) -> None:
    (only,) = quorum.describe(cluster).voters
    ran = run(
        "alter-quorum", "--controller-id", "1", "--controller-directory-id", only.directory_id,
        "--dry-run",
    )  # fmt: skip
    assert ran.status == 1 and "the last voter of the quorum" in ran.stderr, str(ran)


def level(cluster: Cluster, name: str) -> int:
    found = features.describe(cluster).get(name)
    assert found is not None
    return found.level


def test_a_downgrade_asks_and_its_undo_works(run: Program, cluster: Cluster) -> None:
    refused = run("update-features", "streams.version=0")
    assert refused.status == 2 and "--yes" in refused.stderr, "a downgrade asks"
    assert level(cluster, "streams.version") == 1
    dry = run.ok("update-features", "--disable", "streams.version", "--dry-run")
    assert "the brokers accept the plan" in dry.stderr + dry.stdout
    done = run.ok("update-features", "streams.version=0", "--yes")
    assert level(cluster, "streams.version") == 0
    (back,) = [line for line in done.stderr.splitlines() if line.startswith("undo: ")]
    run.ok(stdin=back.removeprefix("undo: ") + "\n")
    assert level(cluster, "streams.version") == 1


def test_levels_by_release(run: Program) -> None:
    same = run.ok("update-features", "--release-version", "4.3", "--dry-run")
    assert "nothing to change" in same.stdout
    down = run("update-features", "--release-version", "4.2", "--dry-run")
    assert down.status == 1
    assert "metadata.version: 30 -> 29 (4.3-IV0 -> 4.2-IV1, downgrade)" in down.stdout
    named = run("update-features", "--metadata", "4.2", "--dry-run")
    assert "30 -> 29" in named.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("metadata.version=4.9",), "Use one of: 3.0"),
        (("group.version=on",), "group.version must be a level such as 1"),
        (("group.version=1", "--disable", "group.version"), "twice"),
        (("--release-version", "4.33"), "Did you mean 4.3?"),
        (("--unsafe",), "feature"),
    ],
)
def test_levels_that_are_none(run: Program, words: tuple[str, ...], said: str) -> None:
    ran = run("update-features", *words)
    assert ran.status == 2 and said in ran.stderr, str(ran)


def test_features_as_they_are(run: Program) -> None:
    page = run.ok("describe-features").stdout
    assert "metadata.version                     30  4.3-IV0  7-30 (4.3-IV0)" in page
    rows = run.ok("describe-features", "--output", "json").json["features"]
    (metadata,) = [row for row in rows if row["name"] == "metadata.version"]
    assert (metadata["level"], metadata["lowest"], metadata["highest"]) == (30, 7, 30)
    assert "features  " in run.ok("cluster-metadata").stdout


def test_api_versions(run: Program) -> None:
    assert len(run.ok("api-versions").lines) > 60
    some = run.ok("api-versions", "80", "raftvoter").lines
    assert [line.split()[1] for line in some[1:]] == ["AddRaftVoter", "RemoveRaftVoter"]
    assert "no differences" in run.ok("api-versions", "--differences").stderr
    assert run("api-versions", "--broker-id", "9").status == 1


def test_a_broker_that_is_up_stays_registered(run: Program) -> None:
    ran = run("unregister-broker", "1", "--yes")
    assert ran.status == 1 and "broker 1 is running" in ran.stderr
    assert run("unregister-broker", "*").status == 2


def test_subscriptions_are_listed_and_selected(run: Program) -> None:
    before = run.ok("list-configs", "client-metrics")
    assert before.lines or "no client metrics subscriptions" in before.stderr
    names = ("web-one", "web-two")
    for name in names:
        run.ok("alter-configs", "--client-metrics", name, "interval.ms=60000")
    try:
        listed = run.ok("list-configs", "client-metrics").lines
        assert sorted(listed) == sorted([*before.lines, *names])
        told = run.ok("describe-configs", "--client-metrics", "web-*", "--output", "json").json
        assert {row["resource"] for row in told} == {f"client-metrics {name}" for name in names}
        missing = run("describe-configs", "--client-metrics", "x*")
        assert missing.status == 1 and "list-configs client-metrics" in missing.stderr
    finally:
        words = ("--delete-config", "interval.ms")
        run.ok("alter-configs", "--client-metrics", "web-*", *words)
    assert run.ok("list-configs", "client-metrics").lines == before.lines


@pytest.mark.parametrize(
    ("words", "permission"),
    [
        (("describe-quorum",), "DESCRIBE on the cluster"),
        (("alter-quorum", "--remove", "1", "--yes"), "DESCRIBE on the cluster"),
        (("update-features", "streams.version=0", "--yes"), "ALTER on the cluster"),
        (("list-configs", "client-metrics"), "DESCRIBE_CONFIGS on the cluster"),
    ],
)
def test_the_missing_permission_of_a_user_is_named(
    secure_sandbox: Sandbox, tmp_path: Path, words: tuple[str, ...], permission: str
) -> None:
    login = tmp_path / "alice.properties"
    login.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="alice" password="{passwords(secure_sandbox)["alice"]}";\n'
    )
    run = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    ran = run(*words, "--command-config", str(login))
    assert ran.status == 1, str(ran)
    assert "CLUSTER_AUTHORIZATION_FAILED" in ran.stderr or "authoriz" in ran.stderr, str(ran)
    assert permission.lower() in ran.stderr.lower(), str(ran)


def test_what_anybody_may_know(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    login = tmp_path / "alice.properties"
    login.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
        f' username="alice" password="{passwords(secure_sandbox)["alice"]}";\n'
    )
    run = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    for words in (("describe-features",), ("api-versions",)):
        run.ok(*words, "--command-config", str(login))
    partly = run("cluster-metadata", "--command-config", str(login))
    assert partly.status == 1 and "features  " in partly.stdout, str(partly)
    assert "not read: controller: the metadata quorum: not authorized" in partly.stdout
