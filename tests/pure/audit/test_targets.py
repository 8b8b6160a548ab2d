"""What Spark executors are told about a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell import settings
from kafka_shell.audit.tasks import of_settings, open_target
from kafka_shell.base.errors import UsageError


def test_executors_take_the_same_way(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    flags = {"broker": "a:1", "via": "socks5://proxy:1080", "address-map": (("a:*", "b:{port}"),)}
    found = settings.load(flags, {}, file)
    with open_target(of_settings(found, {}, file)) as cluster:
        assert cluster.config.via == found.connection.via is not None
        assert cluster.config.address_map == found.connection.address_map != ()


def test_password_of_the_environment_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    environ = {"KAFKA_SH_VIA": "socks5://user:secret@proxy:1080"}
    found = settings.load({"broker": "a:1"}, environ, file)
    with pytest.raises(UsageError, match="the password of via would be sent") as caught:
        of_settings(found, environ, file)
    assert "secret" not in str(caught.value)
