"""`config-command` for users, clients and IPs: entities, output, and refused combinations."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import tokenize, words_of
from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program, Run

Runner = Callable[..., Run]

USERS, CLIENTS = ("--entity-type", "users"), ("--entity-type", "clients")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def configs(program: Program, sandbox: Sandbox) -> Runner:
    """Runs config-command."""

    def run(*words: str) -> Run:
        return program("config-command", "--bootstrap-server", sandbox.bootstrap, *words)

    return run


@pytest.fixture
def user() -> str:
    return f"c-{uuid4().hex[:8]}"


def named(*parts: str) -> list[str]:
    """`users alice clients app` in the tool's words; `-` is the default of its type."""
    words = []
    for kind, name in zip(parts[::2], parts[1::2], strict=True):
        words += ["--entity-type", kind]
        words += ["--entity-default"] if name == "-" else ["--entity-name", name]
    return words


def test_a_users_quotas_are_a_line_of_kip_649(configs: Runner, user: str) -> None:
    run = configs(*named("users", user), "--alter", "--add-config",
                  "producer_byte_rate=50000,request_percentage=12.5")  # fmt: skip
    line = f"Quota configs for user-principal '{user}' are producer_byte_rate=50000.0,"
    assert run.status == 0 and run.lines[-1].startswith(line), str(run)
    run = configs("--user", user, "--alter", "--delete-config", "request_percentage")
    assert run.lines == [f"altered user {user}: request_percentage 12.5% -> (removed)"]
    assert configs("--user", user, "--describe").lines[-1] == line.rstrip(",")
    assert "alter-quotas --user" in run.stderr, "the way back is in the shell's own words"


@pytest.mark.parametrize("order", [1, -1])
def test_names_go_with_types_in_their_order(configs: Runner, user: str, order: int) -> None:
    pairs = [("users", user), ("clients", "app")][::order]
    words = named(*(word for pair in pairs for word in pair))
    run = configs(*words, "--alter", "--add-config", "producer_byte_rate=1MiB")
    said = f"Quota configs for user-principal '{user}', client-id 'app' are"
    assert run.lines[-1] == f"{said} producer_byte_rate=1048576.0", str(run)


def test_defaults_and_names_stand_together(configs: Runner, user: str) -> None:
    limit = ("--alter", "--add-config", "consumer_byte_rate=7")
    for words, said in (
        (named("users", "-", "clients", user), f"the default user-principal, client-id '{user}'"),
        (named("users", user, "clients", "-"), f"user-principal '{user}', the default client-id"),
        (["--user", user, "--client-defaults"], f"user-principal '{user}', the default client-id"),
    ):  # fmt: skip
        run = configs(*words, *limit)
        assert run.lines[-1] == f"Quota configs for {said} are consumer_byte_rate=7.0", str(run)
        gone = configs(*words, "--alter", "--delete-config", "consumer_byte_rate")
        assert gone.status == 0, str(gone)


@pytest.mark.parametrize("names", [("-", "u"), ("u", "-"), ("-", "-"), ("u", "c"), ("-",)])
def test_the_journal_names_the_same_entity(
    configs: Runner, user: str, names: tuple[str, ...]
) -> None:
    """Before: the default user with a named client ID was recorded as a named user with the default
    client ID."""
    own = [f"{user}-{name}" if name != "-" else name for name in names]
    words = named(*(word for pair in zip(("users", "clients"), own, strict=False) for word in pair))
    limit = ("--alter", "--add-config", "consumer_byte_rate=7")
    changed = configs(*words, *limit)
    typed = parse(words_of(["config-command", *words, "--describe"]), REGISTRY)
    recorded = [word.text for word in tokenize(render(typed)).words[1:]]
    assert configs(*recorded).lines == changed.lines[-1:], recorded
    gone = configs(*words, "--alter", "--delete-config", "consumer_byte_rate")
    assert gone.status == 0, str(gone)


def test_without_a_name_all_children_are_described(configs: Runner, user: str) -> None:
    for client in ("b", "a"):
        configs("--user", user, "--client", client, "--alter", "--add-config",
                "consumer_byte_rate=9")  # fmt: skip
    run = configs(*named("users", user), *CLIENTS, "--describe")
    whose = f"Quota configs for user-principal '{user}', client-id"
    assert run.lines == [f"{whose} '{name}' are consumer_byte_rate=9.0" for name in "ab"]


def test_credentials_are_set_described_and_deleted(configs: Runner, user: str) -> None:
    both = "SCRAM-SHA-256=[iterations=8192,password=a,b],SCRAM-SHA-512=[password=c]"
    run = configs(*named("users", user), "--alter", "--add-config", both)
    line = f"SCRAM credential configs for user-principal '{user}' are SCRAM-SHA-256=iterations=8192"
    assert run.lines[-1] == f"{line}, SCRAM-SHA-512=iterations=4096", str(run)
    configs("--user", user, "--alter", "--delete-config", "SCRAM-SHA-512", "--force")
    everyone = configs(*USERS, "--describe")
    assert line in everyone.lines


def test_a_mechanism_is_deleted_after_its_replacement_is_set(configs: Runner, user: str) -> None:
    """Before: it was deleted first, so that the user had no credential if the rest failed."""
    old, new = "SCRAM-SHA-256", "SCRAM-SHA-512"
    configs("--user", user, "--alter", "--add-config", f"{old}=[password=a]")
    words = ("--user", user, "--alter", "--add-config", f"{new}=[password=b]",
             "--delete-config", old)  # fmt: skip
    planned = configs(*words, "--dry-run", "--output", "json").json["changes"]
    assert [each["field"] for each in planned] == [new, old]
    done = configs(*words, "--force")
    assert done.lines[-1].endswith(f" are {new}=iterations=4096"), str(done)


@pytest.mark.parametrize(
    ("entity", "words", "said"),
    [
        (("users", "u"), ["--add-config", "SCRAM-SHA-256=[password=x],producer_byte_rate=1"],
         "cannot be altered together with"),
        (("users", "u"), ["--add-config", "producer_byte_rate=1",
                          "--delete-config", "SCRAM-SHA-256"],
         "cannot be altered together with"),
        (("users", "-"), ["--add-config", "SCRAM-SHA-256=[password=x]"],
         "cannot have SCRAM credentials"),
        (("users", "u", "clients", "c"), ["--add-config", "SCRAM-SHA-256=[password=x]"],
         "cannot have SCRAM credentials"),
        (("users", "u"), ["--add-config", "SCRAM-SHA-256=[password=x]",
                          "--delete-config", "SCRAM-SHA-256"], "is both added and deleted"),
        (("users", "u", "ips", "10.0.0.1"), ["--add-config", "x=1"],
         "cannot be combined with users or clients"),
        (("users", "u", "topics", "t"), ["--add-config", "x=1"], "cannot be combined"),
        (("users", "u"), [], "--alter requires --add-config"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_sent(
    configs: Runner, entity: tuple[str, ...], words: list[str], said: str
) -> None:
    run = configs(*named(*entity), "--alter", *words)
    assert run.status == 2 and said in run.stderr, str(run)


def test_an_unknown_key_names_the_near_miss(configs: Runner, user: str) -> None:
    run = configs("--user", user, "--alter", "--add-config", "producer_byte_rte=1")
    assert run.status == 1 and "Did you mean producer_byte_rate?" in run.stderr
    run = configs(*USERS, "--alter", "--add-config", "producer_byte_rate=1")
    assert run.status == 2 and "--alter of users requires --entity-name or" in run.stderr


def test_topics_and_brokers_are_as_before(configs: Runner) -> None:
    assert configs("--entity-type", "brokers", "--entity-default", "--describe").status == 0
    run = configs("--entity-type", "topics", "--entity-name", "a", "--entity-name", "b",
                  "--describe")  # fmt: skip
    assert run.status == 2 and "only users and clients can be combined" in run.stderr
    run = configs("--entity-type", "topics", "--entity-default", "--describe")
    assert run.status == 2 and "no default entity" in run.stderr
