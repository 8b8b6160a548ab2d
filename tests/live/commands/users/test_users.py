"""The commands on SCRAM credentials, their secrets, and the page of a user."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell import settings
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.shell.history import holds_secret
from tests.support.program import Program, Run


@pytest.fixture(scope="module")
def program(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"), sandbox.bootstrap)


@pytest.fixture
def user() -> str:
    return f"s-{uuid4().hex[:8]}"


def held(program: Program, user: str) -> dict[str, int]:
    """The user's mechanisms and iterations."""
    run = program("scram-credentials", "--describe", "--username", user, "--output", "json")
    return {row["mechanism"]: row["iterations"] for row in run.json if "mechanism" in row}


def everything_written(program: Program, run: Run) -> str:
    """What a run said, and every file it left below its home."""
    files = (path.read_text(errors="replace") for path in program.home.rglob("*") if path.is_file())
    return "\n".join((run.stdout, run.stderr, *files))


def test_kip_248_spells_it_like_this(program: Program, user: str) -> None:
    secret = f"alice-{uuid4().hex}"
    run = program.ok(
        "scram-credentials", "--add",
        f"SCRAM-SHA-256=[iterations=8192,password={secret}],SCRAM-SHA-512=[password={secret}]",
        "--username", user,
    )  # fmt: skip
    assert held(program, user) == {"SCRAM-SHA-256": 8192, "SCRAM-SHA-512": 4096}
    assert secret not in everything_written(program, run)
    run = program.ok("scram-credentials", "--delete", "SCRAM-SHA-512", "--username", user, "--yes")
    assert held(program, user) == {"SCRAM-SHA-256": 8192}
    assert "irreversible" in run.stderr


def test_a_password_from_a_file(program: Program, user: str, tmp_path: Path) -> None:
    secret, file = uuid4().hex, tmp_path / "password"
    file.write_text(f"{secret}\n")
    run = program.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--iterations", "5000",
                     "--password-file", str(file), "--username", user)  # fmt: skip
    assert held(program, user) == {"SCRAM-SHA-256": 5000}
    assert secret not in everything_written(program, run)
    file.write_text("")
    run = program("scram-credentials", "--add", "SCRAM-SHA-256", "--password-file", str(file),
                  "--username", user)  # fmt: skip
    assert run.status == 2 and "is empty" in run.stderr
    file.write_text(f"{secret}\nand more")
    run = program("scram-credentials", "--add", "SCRAM-SHA-256", "--password-file", str(file),
                  "--username", user)  # fmt: skip
    assert run.status == 2 and "more than one line" in run.stderr and secret not in run.stderr


def test_a_generated_password_is_shown_once(program: Program, user: str) -> None:
    run = program.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--generate",
                     "--username", user)  # fmt: skip
    (line,) = (line for line in run.lines if line.startswith("password  "))
    secret = line.split()[1]
    assert len(secret) == 24
    assert everything_written(program, run).count(secret) == 1
    run = program("scram-credentials", "--add", "SCRAM-SHA-256", "--generate", "--username", user,
                  "--output", "json")  # fmt: skip
    assert run.status == 2 and "would be lost" in run.stderr


def test_without_a_terminal_a_password_has_to_come_from_somewhere(
    program: Program, user: str
) -> None:
    run = program("scram-credentials", "--add", "SCRAM-SHA-256", "--username", user)
    assert run.status == 2
    assert "--password-file FILE or --generate" in run.stderr
    assert held(program, user) == {}
    dry = program.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--username", user, "--dry-run")
    assert "SCRAM-SHA-256: iterations=4096" in dry.stdout


@dataclass
class Typist:
    """Types these answers; notes what was asked, and whether without echo."""

    answers: list[str]
    asked: list[tuple[str, bool]] = field(default_factory=list)

    def __call__(self, question: str, *, secret: bool = False) -> str:
        self.asked.append((question, secret))
        return self.answers.pop(0)


@pytest.fixture
def at_a_terminal(sandbox: Sandbox, tmp_path: Path) -> Callable[[str, Typist], tuple[int, str]]:
    """Runs a line with somebody to ask: (exit status, all that was said)."""
    paths = Paths(tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    flags = {"broker": sandbox.bootstrap}
    loaded = settings.load(flags, {}, paths.config_file)

    def run(line: str, typist: Typist) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        context = Context(ClusterSession(loaded), paths, out=out, err=err, ask=typist)
        try:
            status = int(run_text(line, context))
        finally:
            context.close()
        return status, out.getvalue() + err.getvalue()

    return run


def test_a_password_is_asked_for_twice_without_echo(
    at_a_terminal: Callable[[str, Typist], tuple[int, str]], program: Program, user: str
) -> None:
    line = f"scram-credentials --add SCRAM-SHA-512 --username {user}"
    typist = Typist(["pa55word", "pa55word"])
    status, said = at_a_terminal(line, typist)
    assert status == 0, said
    assert [secret for _, secret in typist.asked] == [True, True]
    assert "pa55word" not in said
    assert held(program, user) == {"SCRAM-SHA-512": 4096}
    status, said = at_a_terminal(line, Typist(["one", "other"]))
    assert status == 1 and "the passwords differ" in said
    status, said = at_a_terminal(line, Typist([""]))
    assert status == 1 and "no password entered" in said


def test_a_user_with_its_type_in_front_is_asked_about(program: Program, user: str) -> None:
    """Before: the password of another user was set, and that of the named one stayed valid."""
    for words in (
        ("scram-credentials", "--add", "SCRAM-SHA-256=[password=one]", "--username"),
        ("config-command", "--alter", "--add-config", "SCRAM-SHA-256=[password=one]", "--user"),
    ):
        asked = program(*words, f"User:{user}")
        assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
        assert f"User:{user} is not the user {user}" in asked.stderr, str(asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--add", "SCRAM-SHA-1"], "Did you mean SCRAM-SHA-"),
        (["--add", "SCRAM-SHA-256=hunter2"], "expected a SCRAM mechanism"),
        (["--add", "SCRAM-SHA-256=[password=hunter2"], "expected a SCRAM mechanism"),
        (["--add", "SCRAM-SHA-256=[password=hun]ter2"], "expected a SCRAM mechanism"),
        (["--add", "SCRAM-SHA-256=[password=hun],ter2"], "expected a SCRAM mechanism"),
        (["--add", "SCRAM-SHA-256=[password=]"], "is empty"),
        (["--add", "SCRAM-SHA-256=[password=hunter2]", "--generate"], "--generate cannot be used"),
        (["--add", "SCRAM-SHA-256=[password=hunter2]", "--bogus"], "unknown option"),
        (["--delete", "SCRAM-SHA-3"], "Did you mean"),
        (["--delete", "SCRAM-SHA-256", "--generate"], "--generate requires --add"),
        (["--describe", "--delete", "SCRAM-SHA-256"], "cannot be used with"),
    ],
)
def test_invalid_options_are_marked_without_showing_secrets(
    program: Program, words: list[str], said: str
) -> None:
    run = program("scram-credentials", *words, "--username", "nobody")
    assert run.status == 2, str(run)
    assert said in run.stderr
    assert "hunter2" not in run.stderr and "ter2" not in run.stderr


def test_iterations_are_within_the_brokers_bounds(program: Program, user: str) -> None:
    for count in ("4095", "16385"):
        run = program("scram-credentials", "--username", user, "--add",
                      f"SCRAM-SHA-256=[iterations={count},password=x]")  # fmt: skip
        assert run.status == 2 and "must be from 4096 to 16384" in run.stderr, str(run)


def test_a_new_credential_is_taken_back_and_a_replaced_one_cannot_be(
    program: Program, user: str
) -> None:
    words = ("scram-credentials", "--add", "SCRAM-SHA-256=[password=one]", "--username", user)
    run = program.ok(*words)
    (back,) = (line for line in run.stderr.splitlines() if line.startswith("undo: "))
    asked = program(*words)
    assert asked.status == 2 and "confirmation is required" in asked.stderr, str(asked)
    again = program.ok(*words, "--yes")
    assert again.stderr == "undo: none (irreversible)\n", str(again)
    program.ok("--yes", stdin=back.removeprefix("undo: ") + "\n")
    assert held(program, user) == {}


@pytest.mark.parametrize(
    "line",
    [
        "scram-credentials --add 'SCRAM-SHA-256=[iterations=8192,password=x]' --username u",
        "config-command --entity-type users --entity-name u --alter --add-config"
        " 'SCRAM-SHA-256=[password=x]'",
    ],
)
def test_history_keeps_no_line_with_a_password(line: str) -> None:
    assert holds_secret(line)
    assert not holds_secret("scram-credentials --add SCRAM-SHA-256 --username u --password-file f")


def test_the_credential_logs_in(secure_sandbox: Sandbox, tmp_path: Path, user: str) -> None:
    admin = ("--command-config", str(secure_sandbox.client_properties["admin-sasl-plaintext"]))
    program = Program(tmp_path)
    run = program.ok("scram-credentials", "--add", "SCRAM-SHA-512", "--generate",
                     "--username", user, *admin)  # fmt: skip
    secret = next(line.split()[1] for line in run.lines if line.startswith("password  "))
    login = tmp_path / "new.properties"
    login.write_text(
        f"bootstrap.servers={secure_sandbox.bootstraps['SASL_PLAINTEXT']}\n"
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{user}" password="{secret}";\n'
    )
    program.ok("api-versions", "--command-config", str(login))
    program.ok("scram-credentials", "--delete", "SCRAM-SHA-512", "--username", user, "--yes",
               *admin)  # fmt: skip
    assert program("api-versions", "--command-config", str(login)).status == 3


def test_the_missing_permission_is_named(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    login = ("--command-config", str(secure_sandbox.client_properties["alice-sasl-plaintext"]))
    program = Program(tmp_path)
    for words in (["--describe"], ["--describe", "--username", "alice"],
                  ["--add", "SCRAM-SHA-256", "--generate", "--username", "alice"],
                  ["--delete", "SCRAM-SHA-256", "--username", "alice", "--yes"]):  # fmt: skip
        run = program("scram-credentials", *words, *login)
        assert run.status == 1, str(run)
        assert "Requires DESCRIBE on the cluster." in run.stderr
        assert "password" not in run.stdout


def parts(run: Run) -> dict[str, Sequence[str]]:
    """The parts of the page by their first word."""
    blocks = run.stdout.split("\n\n")
    return {block.split("  ")[0].split("\n")[0]: block.splitlines() for block in blocks}


def test_everything_about_alice_is_on_one_page(demo_sandbox: Sandbox, tmp_path: Path) -> None:
    program = Program(tmp_path, demo_sandbox.bootstrap)
    run = program.ok("describe-user", "alice")
    page = parts(run)
    assert run.lines[0].startswith("user alice   principal User:alice")
    assert [line.split() for line in page["credentials"][2:]] == [
        ["SCRAM-SHA-256", "8192"], ["SCRAM-SHA-512", "8192"],
    ]  # fmt: skip
    assert any("user alice client-id-default" in line for line in page["quotas"])
    (holds,) = (line for line in page["effective quotas"] if line.startswith("any other"))
    assert holds.split() == ["any", "other", "5MiB/s", "10MiB/s", "50%", "-"]
    assert any(line.startswith("prefixed topic orders.  All") for line in page["ACLs"])
    assert any("topic *" in line and line.endswith("User:*") for line in page["ACLs"])
    assert "SASL" in page["tokens"][0], "without logins there are no tokens"
    assert "orders-enricher" in page["groups"][0]
    assert program.ok("user", "User:alice").stdout == run.stdout
    rows = program.ok("describe-user", "alice", "--output", "json").json
    assert rows["tokens"]["error"] == "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"
    assert rows["groups"] == ["orders-enricher"]


def test_a_client_id_has_its_own_row_of_limits(demo_sandbox: Sandbox, tmp_path: Path) -> None:
    page = parts(Program(tmp_path, demo_sandbox.bootstrap).ok("describe-user", "svc-payments"))
    rows = {line.split("  ")[0]: line.split()[-4:] for line in page["effective quotas"][2:]}
    assert rows["checkout"][0] == "1MiB/s" and rows["any other"][0] == "50MiB/s"
    assert rows["checkout"][3] == "5/s", "what the client id does not say, its user does"
    assert page["client IDs"][0].split()[-1] == "checkout"


def test_an_unreadable_part_shows_why_and_the_others_are_shown(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    program = Program(tmp_path)
    login = ("--command-config", str(secure_sandbox.client_properties["alice-sasl-plaintext"]))
    run = program("describe-user", "alice", *login)
    assert run.status == 1
    page = parts(run)
    assert "Requires DESCRIBE_CONFIGS on the cluster." in page["quotas"][0]
    assert "Requires DESCRIBE on the cluster." in page["credentials"][0]
    assert "Requires DESCRIBE on the cluster." in page["ACLs"][0]
    assert page["tokens"][0].startswith("tokens"), "one's own tokens take no right"
    assert "Requires" not in page["tokens"][0]


def test_nothing_is_known_of_a_misspelled_user(demo_sandbox: Sandbox, tmp_path: Path) -> None:
    run = Program(tmp_path, demo_sandbox.bootstrap).ok("describe-user", "alicee")
    assert "nothing found for user alicee. Did you mean alice?" in run.stderr
    assert "no SCRAM credentials, quotas, client configs, ACLs or tokens" in run.stdout
    assert len(run.lines) == 3, str(run)


def test_a_cluster_without_an_authorizer_has_no_acls(program: Program, user: str) -> None:
    program.ok("alter-quotas", "--user", user, "request_percentage=7")
    page = parts(program.ok("describe-user", user))
    assert page["credentials"][0].split("  ")[-1].strip() == "no SCRAM credentials"
    program.ok("alter-quotas", "--user", user, "--delete-config", "request_percentage")
    program.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--username", user, "--generate")
    page = parts(program.ok("describe-user", user))
    assert page["quotas"][0].split("  ")[-1].strip() == "none of its own"


def test_a_refused_change_names_the_required_permission(
    secure_sandbox: Sandbox, tmp_path: Path, user: str
) -> None:
    """Describe and DescribeConfigs on the cluster read everything here; Alter is not among them."""
    admin = ("--command-config", str(secure_sandbox.client_properties["admin-sasl-plaintext"]))
    program, file = Program(tmp_path), tmp_path / "password"
    file.write_text("pa55word")
    program.ok("scram-credentials", "--add", "SCRAM-SHA-256", "--username", user,
               "--password-file", str(file), *admin)  # fmt: skip
    rule = f"allow User:{user} Describe,DescribeConfigs"
    program.ok("alter-acls", "--cluster", "--add", rule, *admin)
    stores = ("--topic", "__client_configs", "--topic", "__client_config_registrations")
    program.ok("alter-acls", *stores, "--add", f"allow User:{user} Read", *admin)
    login = tmp_path / "auditor.properties"
    login.write_text(
        f"bootstrap.servers={secure_sandbox.bootstraps['SASL_PLAINTEXT']}\n"
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{user}" password="pa55word";\n'
    )
    as_user = ("--command-config", str(login))
    try:
        page = parts(program.ok("describe-user", user, *as_user))
        assert any("DescribeConfigs" in line for line in page["ACLs"])
        program.ok("quotas", *as_user)
        run = program("alter-quotas", "--user", user, "producer_byte_rate=5", *as_user)
        assert run.status == 1 and "Requires ALTER_CONFIGS on the cluster." in run.stderr, str(run)
        run = program("scram-credentials", "--add", "SCRAM-SHA-512", "--username", user,
                      "--password-file", str(file), *as_user)  # fmt: skip
        assert run.status == 1 and "Requires ALTER on the cluster." in run.stderr, str(run)
        delete = ("scram-credentials", "--delete", "SCRAM-SHA-256", "--yes", "--username")
        run = program(*delete, "alice", *as_user)
        assert run.status == 1 and "Requires ALTER on the cluster." in run.stderr, str(run)
        run = program(*delete, user, *as_user)
        assert run.status == 1 and "this connection is authenticated with" in run.stderr, str(run)
    finally:
        program("alter-acls", "--cluster", "--remove", rule, "--yes", *admin)
        program("alter-acls", *stores, "--remove", f"allow User:{user} Read", "--yes", *admin)
        program("scram-credentials", "--delete", "SCRAM-SHA-256", "--username", user, "--yes",
                *admin)  # fmt: skip
