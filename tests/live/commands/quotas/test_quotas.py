"""The commands on quotas: entities, values, errors, formats, and undo."""

from __future__ import annotations

import csv
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


@pytest.fixture(scope="module")
def program(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"), sandbox.bootstrap)


@pytest.fixture
def user() -> str:
    return f"q-{uuid4().hex[:8]}"


def test_a_rate_may_have_units(program: Program, user: str) -> None:
    run = program.ok(
        "alter-quotas", "--user", user, "producer_byte_rate=5MB/s", "consumer_byte_rate=1GiB",
        "request_percentage=12.5%", "controller_mutation_rate=10/s",
    )  # fmt: skip
    assert run.lines == [
        f"altered user {user}: producer_byte_rate 5MB/s, consumer_byte_rate 1GiB/s,"
        " request_percentage 12.5%, controller_mutation_rate 10/s"
    ]
    rows = program.ok("describe-quotas", "--user", user, "--output", "json").json
    assert {row["key"]: row["value"] for row in rows} == {
        "producer_byte_rate": 5e6, "consumer_byte_rate": float(1 << 30),
        "request_percentage": 12.5, "controller_mutation_rate": 10.0,
    }  # fmt: skip
    assert rows[0]["entity"] == {"user": user, "client_id": None, "ip": None}
    assert {row["source"] for row in rows} == {"user"}


def test_a_user_is_shown_with_its_client_ids_and_a_client_id_with_its_users(
    program: Program, user: str
) -> None:
    limit, app = "producer_byte_rate=1000", f"{user}-app"
    program.ok("alter-quotas", "--user", user, "--client-id", app, "--client-id-default", limit)
    program.ok("alter-quotas", "--client-id", app, limit)
    told = program.ok("describe-quotas", "--user", user).stdout
    assert f"user {user} client-id-default" in told and "Default client of user" in told
    assert f"user {user} client-id {app}" in told and "  Client of user" in told
    both = program.ok("describe-quotas", "--client-id", app).lines[1:]
    assert [line.split("  ")[0] for line in both] == [f"client-id {app}",
                                                      f"user {user} client-id {app}"]  # fmt: skip
    assert len(program.ok("describe-quotas", "--client-id", app, "--strict").lines) == 2
    children = program.ok("list-quotas", "--user", user).lines
    assert children == [f"user {user} client-id-default", f"user {user} client-id {app}"]
    assert program.ok("list-quotas", "--client-id", app).lines == children[1:]
    assert f"user {user}" in program.ok("list-quotas", "users").lines
    long = program.ok("list-quotas", "users", "--long").lines
    (row,) = (line.split() for line in long if f"user {user} " in line)
    assert row[2] == "2", "two children"


def test_a_plan_does_not_repeat_that_rates_are_not_compared(program: Program, user: str) -> None:
    for limit in ("5MB/s", "1MB/s"):
        run = program.ok("alter-quotas", "--user", user, f"producer_byte_rate={limit}")
        assert "rates" not in run.stderr, str(run)
    assert "only as metrics" in program.ok("help", "alter-quotas").stdout


def test_a_name_is_never_the_default(program: Program, user: str) -> None:
    name = "<default>"
    program.ok("alter-quotas", "--user", user, "--client-id", name, "request_percentage=7")
    try:
        assert f"user {user} client-id '{name}'" in program.ok("list-quotas").stdout
        run = program.ok("describe-quotas", "--user", user, "--client-id-default")
        assert run.stdout == "" and "client-id-default" in run.stderr
        found = program.ok("resolve-quota", "--user", user, "--client-id", "x", "--output", "json")
        (request,) = (r for r in found.json["resolutions"] if r["key"] == "request_percentage")
        assert request["entity"] is None or request["entity"]["user"] != user
    finally:
        program.ok("alter-quotas", "--user", user, "--client-id", name,
                   "--delete-config", "request_percentage")  # fmt: skip


def test_the_undo_command_restores_the_quota(program: Program, user: str) -> None:
    name = f"{user}'s app"
    entity = ("--user", user, "--client-id", name)
    program.ok("alter-quotas", *entity, "producer_byte_rate=123457", "request_percentage=0.25")
    before = program.ok("describe-quotas", *entity, "--output", "json").json
    run = program.ok(
        "alter-quotas", *entity, "producer_byte_rate=5", "consumer_byte_rate=6",
        "--delete", "request_percentage",
    )  # fmt: skip
    (back,) = (line for line in run.stderr.splitlines() if line.startswith("undo: "))
    program.ok(stdin=back.removeprefix("undo: ") + "\n")
    assert program.ok("describe-quotas", *entity, "--output", "json").json == before


def test_unchanged_quotas_are_reported_and_not_sent(program: Program, user: str) -> None:
    program.ok("alter-quotas", "--user", user, "producer_byte_rate=1MB")
    run = program.ok("alter-quotas", "--user", user, "producer_byte_rate=1000kB/s",
                     "--delete-config", "request_percentage")  # fmt: skip
    assert run.stderr.count("no change: ") == 2
    assert "altered" not in run.stdout


def test_a_dry_run_asks_the_broker_and_changes_nothing(program: Program, user: str) -> None:
    run = program.ok("alter-quotas", "--user", user, "producer_byte_rate=7", "--dry-run")
    assert "the brokers accept the plan" in run.stderr
    assert program.ok("describe-quotas", "--user", user).stdout == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["producer_byte_rte=5"], 1, "Did you mean producer_byte_rate?"),
        (["producer_byte_rate=5Mb"], 1, "bytes per second such as 5MB/s"),
        (["request_percentage=half"], 1, "a percentage of one thread"),
        (["producer_byte_rate=9007199254740993"], 2, "exactly"),
        (["producer_byte_rate=0"], 2, "must be greater than 0"),
        (["producer_byte_rate=0.5"], 1, "fractional"),
        (["connection_creation_rate=5"], 1, "unknown quota of users and client IDs"),
        (["producer_byte_rate=5", "producer_byte_rate=6"], 2, "is set twice"),
        (["producer_byte_rate=5", "--delete-config", "producer_byte_rate"], 2, "is set twice"),
        (["--ip", "10.0.0.1", "producer_byte_rate=5"], 2, "cannot be used with"),
        ([], 2, "at least one of"),
    ],
)
def test_a_wrong_limit_is_refused_with_the_word(
    program: Program, user: str, words: list[str], status: int, said: str
) -> None:
    run = program("alter-quotas", "--user", user, *words)
    assert run.status == status, str(run)
    assert said in run.stderr, str(run)
    assert program.ok("describe-quotas", "--user", user).stdout == "", "something was set"


def test_an_address_has_connection_rates_only(program: Program) -> None:
    run = program("alter-quotas", "--ip", "192.0.2.9", "producer_byte_rate=5")
    assert run.status == 1 and "unknown quota of IP addresses: 'producer_byte_rate'" in run.stderr
    run = program("alter-quotas", "--ip", "no.such.host.example", "connection_creation_rate=5")
    assert run.status == 1 and "not a valid IP" in run.stderr


def test_a_user_with_its_type_in_front_is_warned_about(program: Program) -> None:
    run = program.ok("alter-quotas", "--user", "User:zoe", "producer_byte_rate=5", "--dry-run")
    assert "User:zoe is not the user zoe: user names do not include 'User:'" in run.stdout


def test_every_level_and_the_effective_one_are_shown(program: Program, user: str) -> None:
    program.ok("alter-quotas", "--user", user, "producer_byte_rate=2MB")
    program.ok("alter-quotas", "--user", user, "--client-id", "app", "producer_byte_rate=1MB")
    run = program.ok("resolve-quota", "--user", user, "--client-id", "app")
    rows = {line[:32].strip(): line for line in run.lines}
    assert "1MB/s *" in rows["Client of user"]
    assert "2MB/s " in rows["User"] and "*" not in rows["User"]
    (applies,) = (line for line in run.lines if line.startswith("producer_byte_rate"))
    assert applies.split()[1:5] == ["1MB/s", "Client", "of", "user"]
    rows = program.ok("resolve-quota", "--user", user, "--client-id", "app",
                      "--output", "csv").lines  # fmt: skip
    assert rows[0] == "key,source,entity,value,effective"
    assert f"producer_byte_rate,client_of_user,user {user} client-id app,1000000.0,true" in rows
    assert len(rows) == 1 + 4 * 8


def test_csv_has_the_same_columns_for_all_entities(program: Program, user: str) -> None:
    limit = "producer_byte_rate=1000"
    entities = (
        ("--user", user), ("--user", user, "--client-id", user), ("--ip", "10.9.8.7"),
        ("--user-default", "--client-id", user), ("--user", user, "--client-id-default"),
    )  # fmt: skip
    for entity in entities:
        rate = "connection_creation_rate=5" if entity[0] == "--ip" else limit
        program.ok("alter-quotas", *entity, rate)
    columns = [
        "entity.user", "entity.user.default", "entity.client_id", "entity.client_id.default",
        "entity.ip", "entity.ip.default",
    ]  # fmt: skip
    own = program.ok("list-quotas", "--output", "csv")
    one = program.ok("list-quotas", "ips", "--output", "csv")
    set_ = program.ok("describe-quotas", "--output", "csv")
    for entity in entities:
        rate = "connection_creation_rate" if entity[0] == "--ip" else "producer_byte_rate"
        program.ok("alter-quotas", *entity, "--delete-config", rate)
    for run, more in ((own, ["keys", "children"]), (one, ["keys", "children"]),
                      (set_, ["key", "value", "source"])):  # fmt: skip
        header, *rows = csv.reader(run.lines)
        assert header == columns + more
        assert {len(row) for row in rows} == {len(header)}, str(run)
        assert ["", "", "", "", "10.9.8.7", ""] in [row[:6] for row in rows]
    for run in (own, set_):
        found = [row[:6] for row in csv.reader(run.lines)]
        assert [user, "", "", "", "", ""] in found
        assert ["", "true", user, "", "", ""] in found
        assert [user, "", "", "true", "", ""] in found
    gone = program.ok("list-quotas", "--user", user, "--output", "csv")
    assert gone.stdout == ""


def test_the_missing_permission_is_named(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    login = str(secure_sandbox.client_properties["alice-sasl-plaintext"])
    program = Program(tmp_path)
    for words in (["quotas"], ["list-quotas"], ["resolve-quota", "--user", "alice"],
                  ["alter-quotas", "--user", "alice", "producer_byte_rate=5"]):  # fmt: skip
        run = program(*words, "--command-config", login)
        assert run.status == 1, str(run)
        assert "not authorized for the cluster" in run.stderr
        assert "Requires DESCRIBE_CONFIGS on the cluster." in run.stderr
