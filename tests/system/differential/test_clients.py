"""Quotas and credentials: kafka-configs and this program report the same state."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.kafka_tools import Tools
from tests.support.program import Program

_LINE = re.compile(r"(Quota|SCRAM credential) configs for (.+) are (.*)")
Facts = dict[str, dict[str, float | str]]

ENTITIES = (
    ("--user {u}", "producer_byte_rate=1048576,consumer_byte_rate=12345678,request_percentage=0.1"),
    ("--user {u} --client {u}-app", "consumer_byte_rate=10000000"),
    ("--user {u} --client-defaults", "producer_byte_rate=2000"),
    ("--client {u}-app", "request_percentage=200,controller_mutation_rate=2.5"),
    ("--ip 192.0.2.{n}", "connection_creation_rate=11"),
)


def facts(text: str, user: str) -> Facts:
    """What either of them prints: whose line -> key -> value, without the user's own name."""
    found: Facts = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match and (user in match[2] or match[2].startswith("ip ")):
            kind, whose, values = match.groups()
            pairs = (pair.split("=", 1) for pair in values.split(", "))
            found[f"{kind} {re.sub(r'192.0.2.[0-9]+', 'IP', whose.replace(user, 'U'))}"] = {
                key: float(value) if kind == "Quota" else value for key, value in pairs
            }
    return found


@pytest.fixture(scope="module")
def told(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Facts]:
    """Both set the same for a user each, and each describes both."""
    tools = Tools(sandbox.bootstrap)
    program = Program(tmp_path_factory.mktemp("home"))
    theirs, ours = (f"{who}-{uuid4().hex[:6]}" for who in ("jvm", "our"))

    def by_tool(words: str, added: str) -> None:
        tools.configs("--alter", *words.format(u=theirs, n=71).split(), "--add-config", added)

    credentials = (
        "SCRAM-SHA-256=[iterations=8192,password=a-secret]",
        "SCRAM-SHA-512=[password=b]",
    )
    apart = (*ENTITIES, *(("--user {u}", each) for each in credentials))
    with ThreadPoolExecutor(2) as pool:  # Kafka's tool fails at two mechanisms in one command
        list(pool.map(lambda each: by_tool(*each), apart))
    for words, added in (*ENTITIES, ("--user {u}", ",".join(credentials))):
        program.ok("config-command", "--bootstrap-server", sandbox.bootstrap, "--alter",
                   *words.format(u=ours, n=72).split(), "--add-config", added)  # fmt: skip
    described = {}
    lines = [
        ("--entity-type", "users"),
        ("--entity-type", "clients"),
        ("--entity-type", "users", "--entity-name", "{u}", "--entity-type", "clients"),
        ("--ip", "192.0.2.{n}"),
    ]
    for user, n in ((theirs, 71), (ours, 72)):
        words = [[word.format(u=user, n=n) for word in line] for line in lines]
        by_jvm = [tools.configs("--describe", *line) for line in words]
        by_us = [
            program.ok("config-command", "--bootstrap-server", sandbox.bootstrap, "--describe",
                       *line).stdout
            for line in words
        ]  # fmt: skip
        whose = "theirs" if user == theirs else "ours"
        described[f"{whose} by the tool"] = facts("\n".join(by_jvm), user)
        described[f"{whose} by us"] = facts("\n".join(by_us), user)
    return described


def test_both_leave_the_same_state(told: dict[str, Facts]) -> None:
    left = told["ours by the tool"]
    assert left == told["theirs by the tool"]
    assert left["Quota user-principal 'U'"]["request_percentage"] == 0.1
    assert left["SCRAM credential user-principal 'U'"] == {
        "SCRAM-SHA-256": "iterations=8192", "SCRAM-SHA-512": "iterations=4096",
    }  # fmt: skip


@pytest.mark.parametrize("whose", ["theirs", "ours"])
def test_both_report_the_same_figures(told: dict[str, Facts], whose: str) -> None:
    assert told[f"{whose} by us"] == told[f"{whose} by the tool"]
    assert len(told[f"{whose} by us"]) == len(ENTITIES) + 1


def test_a_credential_of_kafkas_tool_and_one_of_ours_log_in_alike(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    """The tool's client logs in with a credential that was salted here."""
    admin = ("--command-config", str(secure_sandbox.client_properties["admin-sasl-plaintext"]))
    name = f"zoe-{uuid4().hex[:6]}"
    Program(tmp_path).ok("scram-credentials", "--username", name, "--add",
                         "SCRAM-SHA-512=[iterations=5000,password=pa55]", *admin)  # fmt: skip
    login = tmp_path / "zoe.properties"
    login.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{name}" password="pa55";\n'
    )
    tools = Tools(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    assert "orders" not in tools.topics("--list", "--command-config", str(login))
