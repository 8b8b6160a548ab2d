"""Metrics, webhooks, owners and accepted findings of real audits; the webhook is a real server."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import pytest
import trustme

from kafka_shell.audit.engine import Engine
from kafka_shell.audit.webhook import post, trust_of
from kafka_shell.base.plans import Secret
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.endpoint import ConnectionConfig, Tls, parse_via
from tests.support.in_process_shell import Shell
from tests.support.proxies import free_port

PATH = "/T0/secret-key"


@contextmanager
def receiver(
    status: int = 200, leaf: trustme.LeafCert | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """The URL of a web server that answers with this status, and what is posted to it."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == PATH and self.headers["Content-Type"] == "application/json"
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Location", f"http://127.0.0.1:{free_port()}{PATH}")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Nothing on stderr."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        if leaf is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            leaf.configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if leaf else ''}://127.0.0.1:{server.server_port}{PATH}", got
        server.shutdown()


def posted(url: str, connection: ConnectionConfig) -> str:
    trust = trust_of(Secret(url), connection)
    return post(Secret(url), b"{}", trust, connection.via)


@pytest.mark.parametrize(("status", "says"), [(200, ""), (404, "HTTP 404"), (302, "HTTP 302")])
def test_the_answer_of_a_webhook_decides(status: int, says: str) -> None:
    with receiver(status) as (url, got):
        why = posted(url, ConnectionConfig())
    assert got == [b"{}"] and says in why and bool(why) == bool(says)
    assert "secret" not in why


def test_a_webhook_is_reached_as_the_profile_says() -> None:
    authority = trustme.CA(organization_name="test")
    trusting = ConnectionConfig(tls=Tls(ca_text=authority.cert_pem.bytes().decode()))
    with receiver(leaf=authority.issue_cert("127.0.0.1")) as (url, got):
        assert posted(url, trusting) == ""
        assert "certificate" in posted(url, ConnectionConfig())
        via = parse_via(f"http://127.0.0.1:{free_port()}")
        far = url.replace("127.0.0.1", "0.0.0.0")  # what is not this machine for a proxy
        down = posted(far, ConnectionConfig(tls=trusting.tls, via=via))
    assert "through" in down and "secret" not in down
    assert got == [b"{}"]


@pytest.mark.usefixtures("few_tables", "few_controls")
def test_changes_are_posted_and_findings_have_owners(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, sandbox.bootstrap, Resources(spark=engine))
    folder, topic = tmp_path / "state", f"outputs.{uuid4().hex[:8]}"
    shell.profile("unused", sandbox.bootstrap)
    config = next(tmp_path.rglob("config.toml")).parent
    (config / "owners.toml").write_text(f'[[owner]]\nteam = "web"\nresource = "{topic}*"\n')
    audit = f"spark audit --controls T13,T05 --snapshot {folder}"
    unclean = "--config unclean.leader.election.enable=true"
    shell.ok(f"create-topic {topic} --config retention.ms=60000 {unclean}")
    shell.ok(f"create-topic {topic}.b {unclean}")
    prom = tmp_path / "audit.prom"
    try:
        shell.ok(f"spark snapshot {folder}")
        shell.ok(f"alter-configs {topic} --delete-config retention.ms")
        shell.ok(f"alter-configs {topic}.b retention.ms=1m --yes")
        shell.ok(f"spark snapshot {folder}")

        found = tmp_path / "found.jsonl"
        with receiver() as (url, got):
            outputs = f"--metrics {prom} --findings {found} --webhook {url} --output json"
            run = shell(f"{audit} --owner web {outputs}")
            assert run.status == 1 and len(got) == 1, str(run)
            content = json.loads(got[0])
            (new,), (fixed,) = content["new"], content["fixed"]
            assert (new["control"], new["resource"], new["owner"]) == ("T13", f"{topic}.b", "web")
            assert (fixed["control"], fixed["resource"]) == ("T13", topic)
            assert {(f["resource"], f["owner"]) for f in run.json["findings"]} == {
                (topic, "web"), (f"{topic}.b", "web"),
            }  # fmt: skip
            assert re.search(r'control="T13",severity="\w+",owner="web"} 1\n', prom.read_text())
            parts = [part.read_text() for part in found.glob("*.json")]
            lines = [json.loads(line) for part in parts for line in part.splitlines()]
            reported = [
                {k: v for k, v in f.items() if k != "changes"} for f in run.json["findings"]
            ]
            assert sorted(lines, key=str) == sorted(reported, key=str)
            trend = shell.ok(f"spark trend findings --snapshot {folder} --output json").json
            assert {each["owner"] for each in trend if each["resource"] == topic} == {"web"}

        policy = tmp_path / "policy.toml"
        accept = f"--policy {policy} --owner web --accept 'a trial' --expires 2999-01-31"
        before = shell(f"{audit} --policy {policy} --accept why")
        assert before.status == 2 and not policy.exists(), "only what is accepted is written"
        silent = shell(f"{audit} {accept}")
        assert silent.status == 2 and "--yes" in silent.err
        declined = shell(f"{audit} --controls T05,T13 {accept}", answer="n")
        assert declined.status == 1 and not policy.exists(), str(declined)
        accepted = shell.ok(f"{audit} --controls T05,T13 {accept} --yes --output json")
        assert "3 findings accepted until 2999-01-31" in accepted.err, str(accepted)
        assert all(not each["counts"].get("alarm") for each in accepted.json["controls"])
        with receiver(500) as (url, got):
            line = f"{audit} --owner web --policy {policy} --webhook {url}"
            failed = shell(f"{line} --webhook-format slack")
        assert failed.status == 1 and "not posted: the webhook at 127.0.0.1 failed" in failed.out
        assert "3 findings suppressed" in failed.out
        text = json.loads(got[0])["text"]
        assert ": 1 fixed\n" in text, "an accepted finding is not news"
        assert "secret-key" not in run.out + run.err + failed.out + failed.err
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or b"secret-key" not in file.read_bytes(), file
    finally:
        shell(f"delete-topic {topic},{topic}.b --yes --if-exists")


def test_options_that_need_others(shell: Shell, tmp_path: Path) -> None:
    for line, says in {
        "--webhook https://x/y": "--webhook requires --snapshot or --new-only",
        "--accept why": "--accept requires --policy",
        f"--policy {tmp_path}/p.toml --accept why": "requires --expires",
        "--webhook https://x/y --new-only d --webhook-format teams": "json, slack",
        f"--policy {tmp_path}/p.toml --accept why --expires 2020-01-01": "must be today or later",
        "--owner nobody": "team 'nobody' is not in",
    }.items():
        run = shell(f"spark audit {line}")
        assert run.status == 2 and says in run.err, str(run)
    assert not (tmp_path / "p.toml").exists()
