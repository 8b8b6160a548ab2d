"""The commands on delegation tokens."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from kafka_shell.admin.tokens import change as token_changes
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.admin.tokens.model import DelegationToken
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import apply
from kafka_shell.base.structs import replace
from kafka_shell.commands.tokens.render import COLUMNS
from kafka_shell.output.tables import draw_table
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Sasl
from tests.support.logins import log_in
from tests.support.program import Program, Run
from tests.support.waiting import wait_for

JAAS = re.compile(r'username="([^"]+)" password="([^"]+)" tokenauth="true";')


class Users:
    """The program as users of the secure sandbox run it."""

    def __init__(self, sandbox: Sandbox, home: Path) -> None:
        self.program = Program(home, sandbox.bootstraps["SASL_PLAINTEXT"])
        self._files = sandbox.client_properties

    def __call__(self, user: str, *words: str) -> Run:
        file = self._files[f"{user}-sasl-plaintext"]
        return self.program(*words, "--command-config", str(file))


@pytest.fixture
def run(secure_sandbox: Sandbox, tmp_path: Path) -> Users:
    return Users(secure_sandbox, tmp_path)


def ids(run: Users, user: str) -> set[str]:
    return {row["id"] for row in run(user, "describe-tokens", "--output", "json").json}


def test_a_token_is_shown_once_logs_in_and_is_never_kept(run: Users, tmp_path: Path) -> None:
    made = run("alice", "create-token", "--max-life-time-period", "1h",
               "--renewer-principal", "User:admin")  # fmt: skip
    assert made.status == 0, str(made)
    found = JAAS.search(made.stdout)
    assert found, made.stdout
    token, hmac = found.groups()
    assert f"undo: expire-token {token}" in made.stderr
    properties = tmp_path / "token.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        + "\n".join(line for line in made.stdout.splitlines() if line.startswith("sasl."))
    )
    logged_in = run.program("list-topics", "--command-config", str(properties))
    assert logged_in.status == 0, str(logged_in)
    refused = run.program("create-token", "--command-config", str(properties))
    assert (refused.status, "not with a delegation" in refused.stderr) == (1, True)
    told = run("alice", "describe-tokens")
    assert token in told.stdout
    assert hmac not in told.stdout + run("alice", "describe-tokens", "--output", "json").stdout
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path != properties]
    assert kept, "there is a journal"
    assert not [path for path in kept if hmac in path.read_text(errors="replace")]
    ended = run("alice", "expire-token", token, "--yes")
    assert ended.status == 0, str(ended)
    assert token not in ids(run, "alice")
    late = run.program("list-topics", "--command-config", str(properties))
    assert late.status == 3, str(late)
    assert "with delegation token" in late.stderr
    assert hmac not in late.stderr


@pytest.mark.parametrize("to_file", [False, True])
def test_ctrl_c_while_a_token_becomes_visible_does_not_lose_it(
    run: Users, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to_file: bool
) -> None:
    file = tmp_path / "t.properties"
    words = ("--properties-file", str(file)) if to_file else ()
    with monkeypatch.context() as patch:
        patch.setattr(token_changes, "wait_until_visible", ctrl_c)
        made = run("alice", "create-token", *words)
    assert made.status == Status.INTERRUPTED, str(made)
    found = JAAS.search(file.read_text() if to_file else made.stdout)
    assert found, str(made)
    wait_for("the broker shows the token", lambda: found[1] in ids(run, "alice"))
    with monkeypatch.context() as patch:
        patch.setattr(token_changes, "wait_until_visible", ctrl_c)
        ended = run("alice", "undo", "--yes")  # the journal has its ID
    assert ended.status == Status.INTERRUPTED and "unknown" not in ended.stderr, str(ended)
    wait_for("the token has expired", lambda: found[1] not in ids(run, "alice"))


def ctrl_c(*_: object) -> None:
    raise KeyboardInterrupt


def test_properties_are_written_for_their_owner_only(run: Users, tmp_path: Path) -> None:
    file = tmp_path / "mine" / "t.properties"
    file.parent.mkdir()
    words = ("create-token", "--properties-file", str(file))
    made = run("admin", *words, "--output", "json")
    assert made.status == 0, str(made)
    (change,) = made.json["changes"]
    (line,) = made.json["undo"]
    assert change["resource"].removeprefix("token ") == line.removeprefix("expire-token ")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run.program("list-topics", "--command-config", str(file)).status == 0
    again = run("admin", *words)
    assert (again.status, "already exists" in again.stderr) == (1, True)
    for folder in (file, tmp_path / "missing"):  # a file, and nothing
        before = ids(run, "admin")
        nowhere = run("admin", "create-token", "--properties-file", str(folder / "t"))
        assert (nowhere.status, "in which you can create files" in nowhere.stderr) == (1, True)
        assert ids(run, "admin") == before
    lost = run("admin", "create-token", "--output", "json")
    assert (lost.status, "would be lost" in lost.stderr) == (2, True)
    assert run("admin", *line.split(), "--yes").status == 0


def test_a_token_and_its_expiry_are_undone(run: Users) -> None:
    before = ids(run, "alice")
    assert run("alice", "create-token", "--max-life-time-period", "2h").status == 0
    (token,) = ids(run, "alice") - before
    assert run("alice", "expire-token", token, "--expiry-time-period", "30m", "--yes").status == 0
    renewed = run("alice", "undo", "--yes")
    assert renewed.status == 0, str(renewed)
    rows = run("alice", "describe-tokens", "--output", "json").json
    (row,) = (row for row in rows if row["id"] == token)
    assert (row["expires"] - row["issued"]) // 60_000 == 120
    asked = run("alice", "undo")
    assert asked.status == 2 and f"- delegation token {token}" in asked.stderr, str(asked)
    assert run("alice", "undo", "--yes").status == 0
    assert ids(run, "alice") == before
    assert run("alice", "create-token").status == 0
    (token,) = ids(run, "alice") - before
    assert run("alice", "expire-token", token, "--yes").status == 0
    irreversible = run("alice", "undo", "--yes")
    assert irreversible.status == 1 and "is irreversible" in irreversible.stderr


def test_renew_and_expire_by_id_and_by_hmac(run: Users) -> None:
    made = run("alice", "create-token", "--max-life-time-period", "2h")
    found = JAAS.search(made.stdout)
    assert found, str(made)
    token, hmac = found.groups()

    def left() -> int:
        (row,) = [
            row for row in run("alice", "describe-tokens", "--output", "json").json
            if row["id"] == token
        ]  # fmt: skip
        return int(row["expires"] - row["issued"]) // 60_000

    assert left() == 120
    unasked = run("alice", "expire-token", token, "--expiry-time-period", "30m")
    assert unasked.status == 2, "ending a token is asked about"
    later = run("alice", "expire-token", token, "--expiry-time-period", "30m", "--yes")
    assert later.status == 0, str(later)
    assert 29 <= left() <= 30
    assert f"undo: renew-token {token}" in later.stderr
    run("alice", "renew-token", token, "--renew-time-period", "1h")
    assert 59 <= left() <= 60
    assert run("alice", "renew-token", token).status == 0
    assert left() == 120, "never beyond its maximum"
    other = run("admin", "expire-token", "--hmac", hmac, "--yes")
    assert other.status == 1, "neither the owner nor a renewer"
    assert "DELEGATION_TOKEN_OWNER_MISMATCH" in other.stderr
    gone = run("alice", "expire-token", "--hmac", hmac, "--yes")
    assert gone.status == 0, str(gone)
    assert token not in ids(run, "alice")
    journal = [path.read_text() for path in run.program.home.glob("state/journal/*/*.json")]
    assert journal and hmac not in "".join(journal)
    missing = run("alice", "renew-token", token)
    assert (missing.status, "DELEGATION_TOKEN_NOT_FOUND" in missing.stderr) == (1, True)
    wrong = run("alice", "renew-token", "--hmac", "***")
    assert (wrong.status, "base64" in wrong.stderr) == (2, True)


def test_a_token_for_another_user_requires_a_permission(run: Users) -> None:
    refused = run("alice", "create-token", "--owner-principal", "User:carol")
    assert refused.status == 1
    assert "CREATE_TOKENS on user User:carol" in refused.stderr
    allow = ("alter-acls", "--user-principal", "User:carol", "--add")
    assert run("admin", *allow, "allow User:alice CreateTokens").status == 0
    made = run("alice", "create-token", "--owner-principal", "User:carol")
    assert made.status == 0, str(made)
    assert "owner User:carol" in made.stdout
    found = JAAS.search(made.stdout)
    assert found
    shown = ("describe-tokens", "--owner-principal", "User:carol")
    wait_for("the broker shows the token", lambda: found[1] in run("admin", *shown).stdout)
    assert run("admin", "describe-tokens", "--owner-principal", "User:nobody").stdout == ""
    rule = "any User:alice Any on user User:carol"
    assert run("admin", "alter-acls", "--remove", rule, "--yes").status == 0
    untyped = run("admin", "create-token", "--renewer-principal", "bob")
    assert (untyped.status, "User:bob" in untyped.stderr) == (2, True)
    group = run("admin", "create-token", "--renewer-principal", "Group:bob")
    assert (group.status, "INVALID_PRINCIPAL_TYPE" in group.stderr) == (1, True)


@pytest.mark.parametrize(
    "line", ["describe-tokens", "create-token", "renew-token x", "expire-token x --yes"]
)
def test_without_a_login_there_are_no_tokens(sandbox: Sandbox, tmp_path: Path, line: str) -> None:
    run = Program(tmp_path, sandbox.bootstrap)(*line.split())
    assert run.status == 1
    assert (
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" in run.stderr
        or "require authentication" in run.stderr
    )
    assert "SASL or TLS listener" in run.stderr


def test_an_expired_token_is_reported(secure_sandbox: Sandbox) -> None:
    """Brokers take the login, and hang up at the first request without a word."""
    with log_in(secure_sandbox, "admin") as admin:
        plan = token_changes.plan_create(admin, max_life=2000)
        assert apply(plan, admin).ok
        (step,) = plan.steps
        assert isinstance(step, token_changes.CreateToken)
        (made,) = step.created

        def read() -> DelegationToken:
            return next(t for t in delegation_tokens.describe(admin) if t.id == made.token.id)

        wait_for("the token expires", lambda: read().expired)
        (row,) = list(draw_table(COLUMNS[DelegationToken], [read()]))[1:]
        assert " expired 20" in row.plain
        sasl = Sasl("SCRAM-SHA-256", made.token.id, made.hmac, token=True)
        with (
            Cluster(replace(admin.config, sasl=sasl)) as late,
            pytest.raises(ShellError) as caught,
        ):
            late.brokers()
    assert "expired" in f"{caught.value.message} {caught.value.hint}"
    assert made.token.id in caught.value.message
    assert caught.value.status is Status.UNREACHABLE
