"""Bad input and faults: a clear error, the right exit status, nothing lost, and no secret told."""

from __future__ import annotations

import http.server
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from kafka_shell.admin import topics
from kafka_shell.admin.connection import Cluster, ConnectionConfig, parse_addresses
from kafka_shell.carry_out import apply
from kafka_shell.nouns import NewTopic
from kafka_shell.sandbox import Sandbox

from .program import Program, Run

quick = pytest.mark.quick

ANSI = re.compile(r"\x1b[\[(\]]")


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)


@pytest.fixture
def nowhere(tmp_path: Path) -> Program:
    """The program with no broker named."""
    return Program(tmp_path / "home")


@pytest.fixture(scope="module")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    """Another client of the shared cluster."""
    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        yield cluster


def create(cluster: Cluster, name: str) -> None:
    assert not apply(topics.plan_create([NewTopic(name, 1)]), cluster).failures


def delete(cluster: Cluster, name: str) -> None:
    apply(topics.plan_delete(cluster, [name]), cluster)


def exists(cluster: Cluster, name: str) -> bool:
    return name in topics.scan(cluster)


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic to look at."""
    name = f"fault.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic that may be lost."""
    name = f"fault.victim.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


def refused(run: Run, status: int, *words: str) -> Run:
    """The run ended with this status, an error that holds the words, and a hint of what to do."""
    assert run.status == status, str(run)
    assert "error: " in run.stderr, str(run)
    for word in words:
        assert word in run.stderr, f"{word!r} is missed in\n{run}"
    assert "a mistake of kafka.sh" not in run.stderr, str(run)
    return run


def hinted(run: Run) -> Run:
    """The error says what to do."""
    assert "hint: " in run.stderr, str(run)
    return run


# -- no way to the broker --------------------------------------------------------------------------


def timed(program: Program, *argv: str) -> tuple[Run, float]:
    start = time.monotonic()
    return program(*argv), time.monotonic() - start


@quick
@pytest.mark.parametrize(
    ("broker", "words"),
    [
        ("localhost:1", ("localhost:1 refused the connection", "kafka.sh --sandbox")),
        ("localhost:1,127.0.0.1:2", ("refused the connection",)),
        ("no-such-host.invalid:9092", ("no-such-host.invalid does not resolve",)),
    ],
)
def test_no_broker_there(nowhere: Program, broker: str, words: tuple[str, ...]) -> None:
    for argv in (("list-topics",), ("alter-configs", "t", "retention.ms=1d"), ("health",)):
        run, seconds = timed(nowhere, "--broker", broker, *argv)
        hinted(refused(run, 3, *words))
        assert run.stdout == ""
        assert seconds < 10, "at once"
    assert not (nowhere.home / "state" / "journal.jsonl").exists()


@quick
@pytest.mark.parametrize("broker", ["host:bar", "host:99999", "host:0", ":9092", "[::1"])
def test_no_address(nowhere: Program, broker: str) -> None:
    run = refused(nowhere("--broker", broker, "list-topics"), 2, "--broker", "host:port")
    hinted(run)


@quick
def test_no_default_cluster(nowhere: Program) -> None:
    """Nothing is named: localhost:9092 is tried, and where nothing is, it says what to do."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 9092)) == 0:
            pytest.skip("something listens on localhost:9092")
    refused(nowhere("list-topics"), 3, "localhost:9092", "kafka.sh --sandbox")


@pytest.fixture
def web() -> Iterator[str]:
    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@quick
def test_a_web_server(nowhere: Program, web: str) -> None:
    run, seconds = timed(nowhere, "--broker", web, "list-topics")
    hinted(refused(run, 3, f"{web} is an HTTP server"))
    assert seconds < 10


@pytest.fixture
def silent() -> Iterator[str]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@quick
def test_a_port_that_says_nothing(nowhere: Program, silent: str) -> None:
    run, seconds = timed(nowhere, "--broker", silent, "list-topics", "--deadline", "1s")
    hinted(refused(run, 3, silent, "deadline"))
    assert seconds < 6


@quick
def test_tls_spoken_to_a_plain_port(nowhere: Program, sandbox: Sandbox, tmp_path: Path) -> None:
    config = tmp_path / "tls.properties"
    config.write_text("security.protocol=SSL\n")
    run, seconds = timed(
        nowhere, "--broker", sandbox.bootstrap, "--command-config", str(config), "list-topics"
    )
    hinted(refused(run, 3, f"{sandbox.bootstrap} speaks plain text, not TLS"))
    assert seconds < 10


@pytest.mark.parametrize("listener", ["SSL", "SASL_SSL"])
def test_plain_text_spoken_to_a_tls_port(
    nowhere: Program, secure_sandbox: Sandbox, listener: str
) -> None:
    broker = secure_sandbox.bootstraps[listener]
    run, seconds = timed(nowhere, "--broker", broker, "list-topics")
    hinted(refused(run, 3, f"{broker} speaks TLS", "security.protocol"))
    assert seconds < 10


def test_no_login_where_one_is_wanted(nowhere: Program, secure_sandbox: Sandbox) -> None:
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    run = nowhere("--broker", broker, "list-topics")
    hinted(refused(run, 3, f"{broker} wants a login", "SCRAM-SHA-512", "sasl.jaas.config"))


PASSWORD = "hunter2-is-not-it"


@pytest.mark.parametrize("way", ["sasl-ssl", "sasl-ssl-plain", "sasl-plaintext"])
def test_a_wrong_password_is_told_and_told_to_nobody(
    nowhere: Program, secure_sandbox: Sandbox, tmp_path: Path, way: str
) -> None:
    right = secure_sandbox.client_properties[f"alice-{way}"].read_text()
    config = tmp_path / "wrong.properties"
    config.write_text(re.sub('password="[^"]*"', f'password="{PASSWORD}"', right))
    for argv in (
        ("list-topics",),
        ("list-topics", "--output", "json"),
        ("create-topic", "x"),
        ("describe-topic", "--nope"),
        ("set",),
        ("connect",),
        ("journal",),
    ):
        run, seconds = timed(nowhere, "--command-config", str(config), *argv)
        assert PASSWORD not in run.stdout + run.stderr, str(run)
        assert seconds < 10
        if argv[0] in ("list-topics", "create-topic", "connect"):
            hinted(refused(run, 3, "refused the login as alice", "password"))
    no_secret_in(nowhere.home)


def no_secret_in(folder: Path, secret: str = PASSWORD) -> None:
    """No file below the folder holds it."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), f"{path} holds the password"


@quick
def test_a_malformed_login_does_not_repeat_the_password(nowhere: Program, tmp_path: Path) -> None:
    config = tmp_path / "bad.properties"
    for login in (
        f'username="a" password="{PASSWORD}";',
        f'x.PlainLoginModule required username="a" password="{PASSWORD};',
        f"x.PlainLoginModule required username=a {PASSWORD}",
        f'x.PlainLoginModule optional password="{PASSWORD}" ;;',
    ):
        config.write_text(
            f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
        )
        run = nowhere("--command-config", str(config), "--broker", "localhost:1", "list-topics")
        assert run.status in (2, 3), str(run)
        assert PASSWORD not in run.stdout + run.stderr, str(run)
    no_secret_in(nowhere.home)


def test_a_login_on_the_line_is_not_kept(nowhere: Program, secure_sandbox: Sandbox) -> None:
    """A password given as an argument is the user's own risk; the program adds none."""
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    login = f'x.PlainLoginModule required username="alice" password="{PASSWORD}";'
    run = nowhere(
        "create-topic", "x", "--broker", broker,
        "--adminclient-property", "security.protocol=SASL_PLAINTEXT",
        "--adminclient-property", "sasl.mechanism=PLAIN",
        "--adminclient-property", f"sasl.jaas.config={login}",
    )  # fmt: skip
    refused(run, 3, "refused the login as alice")
    assert PASSWORD not in run.stdout + run.stderr
    no_secret_in(nowhere.home)


def test_a_mistyped_option_beside_a_password(nowhere: Program) -> None:
    login = f'x.PlainLoginModule required username="alice" password="{PASSWORD}";'
    run = nowhere("list-topics", "--adminclient-property", f"sasl.jaas.config={login}", "--nope")
    assert run.status == 2
    assert PASSWORD not in run.stderr, "the line is shown, its secret is not"


def test_not_authorized(nowhere: Program, secure_sandbox: Sandbox) -> None:
    admin, alice = (
        str(secure_sandbox.client_properties[f"{user}-sasl-plaintext"])
        for user in ("admin", "alice")
    )
    name = f"fault.acl.{uuid.uuid4().hex[:6]}"
    nowhere.ok("--command-config", admin, "create-topic", name)
    for argv, word in (
        (("create-topic", name + ".x"), "TOPIC_AUTHORIZATION_FAILED"),
        (("describe-topic", name), "TOPIC_AUTHORIZATION_FAILED"),
        (("describe-configs", name), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-configs", name, "retention.ms=1d"), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-topic", name, "--partitions", "3"), "TOPIC_AUTHORIZATION_FAILED"),
        (("delete-topic", name, "--yes"), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-configs", "--broker-default", "log.cleaner.threads=2"), "CLUSTER_AUTHORIZATION"),
    ):
        run = refused(nowhere("--command-config", alice, *argv), 1, word)
        if "broker" not in argv[1]:
            assert name in run.stderr, "the error names the topic"
    assert nowhere.ok("--command-config", alice, "list-topics").lines == [], "and sees nothing"
    assert name in nowhere.ok("--command-config", admin, "list-topics").lines
    nowhere.ok("--command-config", admin, "delete-topic", name, "--yes")


# -- between the question and the answer -----------------------------------------------------------

Terminal = Callable[..., "pexpect.spawn[str]"]


@pytest.fixture
def terminal(kafka: Program) -> Iterator[Terminal]:
    """Runs the program in a pseudo-terminal."""
    children: list[pexpect.spawn[str]] = []

    def run(*argv: str, rows: int = 40, columns: int = 120, **environ: str) -> pexpect.spawn[str]:
        child = pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", "--broker", kafka.broker, *argv],
            env={**kafka.environment(), "NO_COLOR": "1", **environ},
            encoding="utf-8", timeout=20, dimensions=(rows, columns),
        )  # fmt: skip
        children.append(child)
        return child

    yield run
    for child in children:
        child.close(force=True)


def ended(child: pexpect.spawn[str]) -> tuple[int | None, str]:
    """Wait for the end: status, and what was said since the last question."""
    child.expect(pexpect.EOF)
    text = " ".join((child.before or "").split())  # a terminal wraps
    child.close()
    assert "Traceback" not in text
    assert "mistake of kafka.sh" not in text
    return child.exitstatus, text


READS = "\x1b\\[\\?2004h"  # bracketed paste: the prompt reads from here on


def leave(child: pexpect.spawn[str]) -> str:
    """Wait for the prompt and leave by Ctrl-D; what was said until then."""
    child.expect(READS)
    before = child.before or ""
    child.sendeof()
    child.expect(pexpect.EOF)
    return before + (child.before or "")


@quick
def test_a_topic_that_vanishes_at_the_question(
    terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert victim in text
    assert "UNKNOWN_TOPIC" in text
    assert "deleted topic" not in text


@quick
def test_a_topic_created_again_at_the_question_is_not_lost(
    terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    create(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert exists(cluster, victim), "the new one has another id"
    assert "UNKNOWN_TOPIC" in text


@quick
def test_one_of_two_topics_vanishes(
    kafka: Program, terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    other = f"{victim}.other"
    create(cluster, other)
    child = terminal("delete-topic", victim, other)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert f"deleted topic {other}" in text
    assert "1 done" in text
    assert "1 failed" in text
    assert not exists(cluster, other)
    assert kafka.ok("journal", "--output", "json").json[-1]["status"] == "failed"


@quick
def test_a_config_that_changes_at_the_question(
    kafka: Program, sandbox: Sandbox, cluster: Cluster, victim: str, tmp_path: Path
) -> None:
    config = kafka.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[profiles.p]\nbootstrap = "{sandbox.bootstrap}"\nguard = "confirm"\n')
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kafka_shell", "--profile", "p", "alter-configs", victim, "retention.ms=1h"],
        env={**kafka.environment(), "NO_COLOR": "1"}, encoding="utf-8", timeout=20,
    )  # fmt: skip
    child.expect(r"\[y/N\]")
    Program(tmp_path / "other", sandbox.bootstrap).ok("alter-configs", victim, "retention.ms=2h")
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert "changed while the question was open" in text
    assert "Nothing was sent" in text
    assert "2h" in kafka.ok("describe-configs", victim).stdout


@quick
def test_a_broker_that_stops_answering_at_the_question(
    kafka: Program, terminal: Terminal, sandbox: Sandbox, cluster: Cluster, victim: str
) -> None:
    """The deadline passes with the request on its way: it may still happen, and later it does."""
    pid = sandbox.brokers[0].pid
    assert pid is not None
    child = terminal("delete-topic", victim, "--deadline", "3s")
    child.expect(r"\[y/N\]")
    os.kill(pid, signal.SIGSTOP)
    try:
        child.sendline("y")
        status, text = ended(child)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert status == 1, text
    assert "may still happen" in text
    assert victim in text
    assert "deleted topic" not in text
    entry = kafka.ok("journal", "--output", "json").json[-1]
    assert entry["status"] == "unknown", entry
    until = time.monotonic() + 20
    while exists(cluster, victim) and time.monotonic() < until:
        time.sleep(0.05)
    assert not exists(cluster, victim), "it did happen"


@quick
def test_ctrl_c_with_a_change_on_its_way(
    kafka: Program, terminal: Terminal, sandbox: Sandbox, victim: str
) -> None:
    pid = sandbox.brokers[0].pid
    assert pid is not None
    journal = kafka.home / "state" / "journal.jsonl"
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    os.kill(pid, signal.SIGSTOP)
    try:
        child.sendline("y")
        until = time.monotonic() + 10
        while not journal.exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert journal.exists()
        time.sleep(0.2)  # from the intent to the request is no time at all; it shows nowhere
        child.sendintr()
        status, text = ended(child)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert status == 130, text
    assert kafka.ok("journal", "--output", "json").json[-1]["status"] == "unknown"


# -- files that are wrong --------------------------------------------------------------------------


@quick
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a=b\nsecurity.protocol=TLS\n", 2, ("security.protocol=TLS", "SASL_SSL")),
        ("# c\n\nssl.keystore.location=\\u12\n", 3, ("hexadecimal",)),
        ("bootstrap.servers=host:port\n", 1, ("host:port",)),
        ("request.timeout.ms=soon\n", 1, ("soon",)),
        ("security.protocol=SSL\nssl.truststore.location=/no/such.pem\n", 2, ("/no/such.pem",)),
    ],
)
def test_malformed_properties(
    nowhere: Program, tmp_path: Path, text: str, line: int, words: tuple[str, ...]
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(text)
    argv = ["--command-config", str(config), "list-topics"]
    if "bootstrap" not in text:
        argv = ["--broker", "localhost:1", *argv]
    run = nowhere(*argv)
    assert run.status in (2, 3), str(run)
    hinted(refused(run, run.status, f"{config}:{line}: ", *words))


@quick
def test_a_properties_file_that_is_not_there(nowhere: Program, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "no", "No such file"), (tmp_path, "Is a directory")):
        run = nowhere("--command-config", str(path), "list-topics")
        hinted(refused(run, 2, str(path), why, "--command-config"))


@quick
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[profiles.p\n", 1, ("TOML",)),
        ('[profiles.p]\nbootstrap = "a:1\n', 2, ("TOML",)),
        ('[profiles.p]\nbootstrp = "a:1"\n', 2, ("bootstrp", "bootstrap")),
        ('[profiles.p]\nbootstrap = "a:1"\nguard = "none"\n', 3, ("guard", "read-only")),
        ('outptu = "json"\n[profiles.p]\n', 1, ("outptu", "output")),
        ("profiles = 3\n", 1, ("profiles",)),
        ('[profiles.p]\nbootstrap = "a:x"\n', 2, ("a:x",)),
    ],
)
def test_a_malformed_profile(
    nowhere: Program, text: str, line: int, words: tuple[str, ...]
) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    run = nowhere("--profile", "p", "list-topics")
    hinted(refused(run, 2, f"{config}:{line}: ", *words))


@quick
def test_a_profile_that_is_not_there(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[profiles.production]\nbootstrap = "a:1"\n')
    run = nowhere("--profile", "prodution", "list-topics")
    hinted(refused(run, 2, "prodution", "Did you mean production?"))


@quick
def test_a_profile_file_that_is_no_text(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_bytes(b"\xff\xfe[\0p\0")
    hinted(refused(nowhere("list-topics"), 2, str(config), "UTF-8"))


@quick
def test_a_malformed_theme(kafka: Program, terminal: Terminal, topic: str) -> None:
    theme = kafka.home / "config" / "themes" / "mine.toml"
    theme.parent.mkdir(parents=True)
    theme.write_text('description = "x"\n[styles\n')
    refused(kafka("theme", "mine"), 1, f"{theme}:2: ", "expected")
    refused(kafka("theme", "mines"), 1, "mines", "mine")
    run = kafka.ok("list-topics", topic)
    assert run.stderr == "", "no colour, no theme: nothing to say"
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kafka_shell", "--broker", kafka.broker, "list-topics", topic],
        env={**kafka.environment(), "KAFKA_SH_THEME": "mine"}, encoding="utf-8", timeout=20,
    )  # fmt: skip
    status, text = ended(child)
    assert status == 0
    assert text.count("mine.toml:2: ") == 1, text
    assert topic in text


@quick
def test_a_broken_journal(kafka: Program, victim: str) -> None:
    kafka.ok("alter-configs", victim, "retention.ms=1h")
    journal = kafka.home / "state" / "journal.jsonl"
    (whole, done) = journal.read_text().splitlines()
    journal.write_bytes(
        b"garbage\n[]\n{}\nnull\n3\n\xff\xfe\n" + b"[" * 100_000 + b"\n"
        + f"{done.replace('1', 'x')}\n{whole}\n{done}\n{whole[:40]}".encode()
    )  # fmt: skip
    run = kafka.ok("journal", "--output", "json")
    assert [entry["status"] for entry in run.json] == ["done"]
    assert run.stderr.count("\n") == 1, "said once"
    assert str(journal) in run.stderr
    kafka.ok("alter-configs", victim, "retention.ms=2h")
    entries = kafka.ok("journal", "--output", "json").json
    assert [entry["status"] for entry in entries] == ["done", "done"], "the cut line took none"


@quick
def test_a_journal_that_cannot_be_written(kafka: Program, cluster: Cluster, victim: str) -> None:
    """What cannot be written down is not done."""
    journal = kafka.home / "state" / "journal.jsonl"
    journal.mkdir(parents=True)
    name = f"{victim}.new"
    for argv in (
        ("create-topic", name),
        ("delete-topic", victim, "--yes"),
        ("alter-configs", victim, "retention.ms=1h"),
    ):
        hinted(refused(kafka(*argv), 1, str(journal), "Nothing was sent"))
    assert not exists(cluster, name)
    assert exists(cluster, victim)
    refused(kafka("journal"), 1, str(journal), "Is a directory")


@quick
def test_a_home_that_is_no_folder(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir()
    (kafka.home / "state").write_text("a file\n")
    assert kafka.ok("list-topics", victim).lines == [victim], "reading needs no home"
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "Nothing was sent")
    assert exists(cluster, victim)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@quick
def test_a_home_that_is_read_only(kafka: Program, cluster: Cluster, victim: str) -> None:
    kafka.home.mkdir(mode=0o500)
    assert kafka.ok("list-topics", victim).lines == [victim]
    refused(kafka("delete-topic", victim, "--yes"), 1, "journal", "Permission denied")
    assert exists(cluster, victim)


@quick
def test_a_broken_history(kafka: Program, terminal: Terminal) -> None:
    history = kafka.home / "state" / "history"
    history.parent.mkdir(parents=True)
    history.write_bytes(b"\xff\xfe\n# 2026-01-01 10:00:00\n+list-topics\n\0")
    assert "list-topics" in kafka.ok("history").stdout
    child = terminal("--shell")
    child.expect("history file was broken")
    leave(child)
    assert b"\xff\xfe" in (history.parent / "history.broken").read_bytes(), "set aside"
    child = terminal("--shell")
    leave(child)
    assert "broken" not in child.before, "said once"
    history.unlink(missing_ok=True)
    history.mkdir()
    refused(kafka("history"), 1, str(history), "Is a directory")


@quick
def test_a_broken_cache(kafka: Program, terminal: Terminal, topic: str) -> None:
    child = terminal("--shell")
    child.expect(READS)
    cache = kafka.home / "cache"
    until = time.monotonic() + 15
    while not (files := [path for path in cache.rglob("*") if path.is_file()]):
        assert time.monotonic() < until, "the view is kept on disk"
        time.sleep(0.05)
    child.sendeof()
    child.expect(pexpect.EOF)
    for path in files:
        path.write_bytes(b"\xff\xfe not json {")
    child = terminal("--shell")
    child.expect(READS)
    child.sendline(f"list-topics {topic} | tr a-z A-Z")
    child.expect(topic.upper())
    assert "Traceback" not in leave(child)


# -- terminals and streams -------------------------------------------------------------------------


@quick
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 9), (24, 20), (0, 0)])
def test_a_tiny_terminal(terminal: Terminal, topic: str, rows: int, columns: int) -> None:
    for argv in (("list-topics", topic, "--long"), ("describe-topic", topic), ("help",)):
        child = terminal(*argv, rows=rows, columns=columns, PAGER="cat")
        status, text = ended(child)
        assert status == 0, text
        assert text.strip()


@quick
@pytest.mark.parametrize(("rows", "columns"), [(2, 9), (5, 20)])
def test_the_prompt_in_a_tiny_terminal_that_is_resized(
    terminal: Terminal, rows: int, columns: int
) -> None:
    child = terminal("--shell", rows=rows, columns=columns)
    child.expect(READS)
    child.setwinsize(3, 7)
    child.setwinsize(50, 200)
    child.setwinsize(1, 2)
    child.setwinsize(30, 100)
    child.sendline("!echo still $((40 + 2))")
    child.expect("still 42")
    assert "Traceback" not in leave(child)


def shell(kafka: Program, line: str, **environ: str) -> Run:
    """A line of /bin/sh in which $K is the program."""
    env = kafka.environment() | environ
    env["K"] = f"{sys.executable} -m kafka_shell --broker {kafka.broker}"
    done = subprocess.run(
        ["/bin/bash", "-c", line], env=env, capture_output=True, timeout=60, check=False
    )
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err
    return Run(("sh", line), done.returncode, out, err)


@quick
@pytest.mark.parametrize(
    "command",
    [
        "help",
        "describe-configs --broker-id 1 --all",
        "describe-configs --broker-id 1 --all --output json",
        "describe-configs --broker-id 1 --all --documentation --output json",
        "describe-configs --broker-id 1 --all --documentation --output csv",
        "describe-configs --broker-id 1 --all --output yaml",
        "watch 0.1 help",
    ],
)
def test_a_reader_that_has_read_enough(kafka: Program, command: str) -> None:
    run = shell(kafka, f"$K {command} | head -n 1; echo ${{PIPESTATUS[0]}} >&2")
    assert len(run.lines) == 1, str(run)
    assert run.stderr in ("0\n", "141\n"), str(run)
    run = shell(kafka, f"$K {command} | true; echo ${{PIPESTATUS[0]}} >&2")
    assert run.stderr in ("0\n", "141\n"), str(run)


@quick
def test_a_script_whose_reader_has_read_enough(kafka: Program, cluster: Cluster) -> None:
    """What the script changes is changed, whoever looks."""
    name = f"fault.head.{uuid.uuid4().hex[:8]}"
    run = shell(
        kafka, f"printf 'help\\nhelp\\ncreate-topic {name}\\n' | $K 2>/dev/null | head -n 1"
    )
    assert len(run.lines) == 1
    assert exists(cluster, name)
    delete(cluster, name)


@quick
def test_a_full_disk(kafka: Program, topic: str) -> None:
    refused(shell(kafka, f"$K list-topics {topic} > /dev/full"), 1, "No space left on device")
    refused(
        shell(kafka, f"echo 'list-topics {topic} > /dev/full' | $K"),
        1,
        "stdin:1: error: ",
        "/dev/full",
        "No space left on device",
    )
    run = shell(kafka, f"$K list-topics {topic} --output json > /dev/full")
    refused(run, 1, "standard output", "No space left on device")
    assert shell(kafka, "$K list-topicz 2> /dev/full").status == 2
    run = shell(kafka, "$K help > /dev/full")
    refused(run, 1, "No space left on device")


@quick
def test_closed_streams(kafka: Program, topic: str) -> None:
    run = shell(kafka, f"$K list-topics {topic} <&-")
    assert (run.status, run.lines, run.stderr) == (0, [topic], ""), str(run)
    assert shell(kafka, "$K <&-").status == 0, "a script of nothing"
    refused(shell(kafka, f"$K list-topics {topic} >&-"), 1, "standard output")
    assert shell(kafka, f"$K list-topics {topic} 2>&-").lines == [topic]
    assert shell(kafka, "$K list-topicz 2>&-").status == 2
    assert shell(kafka, "$K list-topicz <&- >&- 2>&-").status == 2
    run = shell(kafka, f"$K delete-topic {topic} <&- 2>&1")
    assert run.status == 2
    assert "no terminal" in run.stdout


@quick
@pytest.mark.parametrize(
    ("environ", "argv", "coloured"),
    [
        ({}, (), True),
        ({"NO_COLOR": "1"}, (), False),
        ({}, ("--no-color",), False),
        ({"TERM": "dumb"}, (), False),
    ],
)
def test_colour_only_where_it_is_wanted(
    kafka: Program, topic: str, environ: dict[str, str], argv: tuple[str, ...], coloured: bool
) -> None:
    for command in (("describe-topic", topic), ("list-topicz",), ("describe-topic", "no-such")):
        child = pexpect.spawn(
            sys.executable,
            ["-m", "kafka_shell", "--broker", kafka.broker, *command, *argv],
            env=kafka.environment() | environ, encoding="utf-8", timeout=20,
        )  # fmt: skip
        _, text = ended(child)
        if coloured:
            assert ANSI.search(text), text
        elif command[0] != "list-topicz" or argv == ():
            assert not ANSI.search(text), text


@quick
def test_no_colour_in_pipes(kafka: Program, topic: str) -> None:
    for argv in (("describe-topic", topic), ("help",), ("theme",), ("theme", "mono")):
        run = kafka(*argv, environ={"TERM": "xterm-256color", "COLORTERM": "truecolor"})
        assert not ANSI.search(run.stdout + run.stderr), str(run)


@quick
@pytest.mark.parametrize(
    "environ",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
def test_a_stream_that_cannot_hold_the_name(kafka: Program, environ: dict[str, str]) -> None:
    for argv in (
        ("describe-topic", "tøpic-日本"),
        ("describe-topic", "tøpic-日本", "--output", "json"),
        ("describe-topic", "tøpic-日本", "--output", "yaml"),
        ("describe-topic", "tøpic-日本", "--output", "csv"),
        ("create-topic", "tøpic-日本"),
    ):
        run = shell(kafka, '$K "$@"'.replace('"$@"', " ".join(argv)), **environ)
        assert run.status == 1, str(run)
        assert "INVALID_TOPIC" in run.stderr, str(run)
    run = shell(kafka, "$K tøpic", **environ)
    assert run.status == 2, str(run)
    run = shell(kafka, "echo 'describe-topic tøpic-日本' | $K", **environ)
    assert run.status == 1, str(run)
    assert "INVALID_TOPIC" in run.stderr, str(run)


# -- lines that are wrong --------------------------------------------------------------------------


@quick
@pytest.mark.parametrize(
    "line",
    [
        b"a" * 10_000_000,
        b"list-topics " + b"a" * 10_000_000,
        b"list-topics " + b"a " * 5_000_000,
        b"list-topics '" + (b"a" * 99 + b"\n") * 100_000,
        b"list-topics \\\n" * 500_000,
        b"\0" * 10_000_000,
    ],
    ids=["word", "topic", "topics", "quote", "backslashes", "zeros"],
)
def test_ten_megabytes_on_standard_input(kafka: Program, line: bytes) -> None:
    start = time.monotonic()
    run = kafka(stdin=line)
    assert time.monotonic() - start < 20
    refused(run, 2, "stdin:1: error: ")
    assert len(run.stderr) < 2_000, "it is not repeated"
    assert run.stdout == ""


@quick
def test_standard_input_without_an_end(kafka: Program) -> None:
    run = shell(kafka, "$K < /dev/zero")
    refused(run, 2, "stdin:1: error: the line is longer than")


@quick
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("{long}",), ("unknown command",)),
        (("describe-topic", "{long}"), ("249",)),
        (("list-topics", "--{long}"), ("unknown option",)),
        (("alter-configs", "{topic}", "retention.ms={long}"), ("retention.ms",)),
    ],
    ids=["command", "topic", "option", "value"],
)
def test_a_word_of_a_hundred_kilobytes(
    kafka: Program, topic: str, argv: tuple[str, ...], words: tuple[str, ...]
) -> None:
    long = "a" * 100_000
    start = time.monotonic()
    run = kafka(*(word.replace("{long}", long).replace("{topic}", topic) for word in argv))
    assert time.monotonic() - start < 15
    assert run.status in (1, 2, 3), str(run)[:2000]
    refused(run, run.status, *words)
    assert len(run.stderr) < 3_000, "it is not repeated"


@quick
@pytest.mark.parametrize("argv", [(b"describe-topic", b"a\xffb"), (b"\xfe",), (b"--\xff",)])
def test_bytes_that_are_no_text(kafka: Program, argv: tuple[bytes, ...]) -> None:
    run = kafka(*map(os.fsdecode, argv))
    hinted(refused(run, 2, f"word {len(argv) + 2} of the command line is not UTF-8"))


@quick
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("list-topisc",), ("unknown command", "list-topics")),
        (("--list-topisc",), ("unknown option", "--list-topics")),
        (("describe-topic", "t", "--ouput", "json"), ("--ouput", "--output", "usage: ")),
        (("list-topics", "--output", "jsn"), ("jsn", "json, yaml, csv")),
        (("list-topics", "--deadline", "soon"), ("soon", "30s")),
        (("list-topics", "--long=yes"), ("--long",)),
        (("create-topic",), ("create-topic", "usage: ")),
        (("create-topic", "t", "--partitions", "many"), ("many", "whole number")),
        (("create-topic", "t", "--partitions", "3", "--replica-assignment", "1"),
         ("--partitions", "--replica-assignment")),
        (("create-topic", "t", "--partitions"), ("--partitions wants a value",)),
        (("alter-topic", "t"), ("usage: ",)),
        (("alter-configs", "t", "retention.ms"), ("retention.ms",)),
        (("watch", "soon", "health"), ("soon",)),
        (("watch", "0", "health"), ("0.1",)),
        (("help", "list-topisc"), ("list-topics",)),
        (("set", "outptu", "json"), ("output",)),
        (("--output", "jsn"), ("jsn",)),
        (("--completion", "tcsh"), ("tcsh", "bash")),
        (("--keep-goin",), ("--keep-going",)),
        (("--zookeeper", "z:2181", "list-topics"), ("--zookeeper",)),
        (("",), ()),
        (("--", "list-topicz"), ()),
        (("list-topics", "--profile"), ("--profile wants a value",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_wrong_lines(kafka: Program, argv: tuple[str, ...], words: tuple[str, ...]) -> None:
    run = refused(kafka(*argv), 2, *words)
    assert run.stdout == ""


@quick
@pytest.mark.parametrize(
    ("argv", "word"),
    [(("--broker",), "--broker wants a value"), (("--keep-going=3",), "takes no value"),
     (("--broker", "a:1", "--broker", "b:2", "list-topics"), "given twice")],
)  # fmt: skip
def test_wrong_options_of_the_program(nowhere: Program, argv: tuple[str, ...], word: str) -> None:
    refused(nowhere(*argv), 2, word)


@quick
def test_help_without_a_command(nowhere: Program) -> None:
    page = nowhere.ok("help").stdout
    assert nowhere.ok("--help").stdout == page
    assert nowhere.ok("-h").stdout == page
    assert "list-topics" in page
    assert nowhere.ok("--version").stdout.startswith("kafka.sh ")


# -- time ------------------------------------------------------------------------------------------


@quick
def test_a_deadline_that_is_too_short(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.late.{uuid.uuid4().hex[:8]}"
    run, seconds = timed(kafka, "create-topic", name, "--deadline", "1ms")
    hinted(refused(run, run.status, "deadline", "--deadline"))
    assert run.status in (1, 3)
    assert seconds < 10
    assert not exists(cluster, name)


@quick
def test_a_broker_that_has_stopped(kafka: Program, sandbox: Sandbox) -> None:
    pid = sandbox.brokers[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        run, seconds = timed(kafka, "list-topics", "--deadline", "1s")
    finally:
        os.kill(pid, signal.SIGCONT)
    hinted(refused(run, run.status, "deadline", sandbox.bootstrap))
    assert run.status in (1, 3)
    assert seconds < 6


@quick
def test_a_timeout_of_nothing_does_not_wait(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.zero.{uuid.uuid4().hex[:8]}"
    run = kafka.ok("create-topic", name, "--timeout", "0")
    assert f"created topic {name}" in run.stdout
    until = time.monotonic() + 20
    while not exists(cluster, name):
        assert time.monotonic() < until
        time.sleep(0.05)
    delete(cluster, name)


def test_a_sandbox_does_not_outlive_a_shell_that_is_killed(tmp_path: Path) -> None:
    """SIGTERM and a closed terminal end the sandbox that this run started."""
    kafka = Program(tmp_path / "home", environ={"HOME": str(Path.home())})  # Kafka's jars
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_shell", "--sandbox", "--empty", "--port", "0"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=kafka.environment(), text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("!echo up\n")
    process.stdin.flush()
    assert process.stdout.readline() == "up\n", process.stderr
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "up"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "down"
