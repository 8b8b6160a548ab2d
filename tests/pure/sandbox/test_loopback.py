"""Nodes of sandboxes and twins listen on 127.0.0.1, and a twin has one user."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_shell.sandbox.config import server_properties, write_configuration
from kafka_shell.sandbox.state import Broker, Sandbox


@pytest.mark.parametrize(
    ("password", "protocol", "super_user"),
    [("", "PLAINTEXT", "User:ANONYMOUS"), ("hush", "SASL_PLAINTEXT", "User:kafka-sh-twin")],
    ids=["sandbox", "twin"],
)
def test_only_twin_requires_login(
    password: str, protocol: str, super_user: str, tmp_path: Path
) -> None:
    node = Broker(1, "a", {"PLAINTEXT": 9}, 8, tmp_path / "node-1")
    sandbox = Sandbox(tmp_path, "4.3.1", "id", False, (), (node,), password=password)
    write_configuration(sandbox, node)
    lines = server_properties(node).read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line)
    protocols = settings["listener.security.protocol.map"].replace("\\", "")
    assert protocols == f"PLAINTEXT:{protocol},CONTROLLER:{protocol}"
    assert settings["super.users"].replace("\\", "") == super_user
    hosts = re.findall(r"//(.*?):\d+", settings["listeners"].replace("\\", ""))
    assert hosts == ["127.0.0.1", "127.0.0.1"]
    assert all(password in value for key, value in settings.items() if "jaas" in key)
    assert not server_properties(node).stat().st_mode & 0o077
