"""Files for Java clients, which others may have written, do not run commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.client import Admin
from kafka_shell.base.errors import ShellError
from kafka_shell.settings import load

SASL = (
    "bootstrap.servers=127.0.0.1:1\nsecurity.protocol=SASL_PLAINTEXT\n"
    "sasl.mechanism=PLAIN\nusername=al\n"
)


@pytest.fixture(params=["password-command=touch {}", "keyring={}"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "client.properties"
    path.write_text(SASL + request.param.format(tmp_path / "ran") + "\n")
    return path


def test_password_source_of_file_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ShellError, match=r"client.properties:5: .* only allowed in a profile"):
        load({"command-config": str(file)}, {}, tmp_path / "config.toml")
    with Admin.from_file(file) as admin, pytest.raises(ShellError, match="only allowed"):
        _ = admin.cluster_id
    assert not (tmp_path / "ran").exists()


def test_password_source_of_file_of_profile_is_refused(file: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[profiles.dev]\ncommand-config = "client.properties"\n')
    with pytest.raises(ShellError, match="only allowed"):
        load({"profile": "dev"}, {}, config)


def test_password_source_of_option_is_refused(tmp_path: Path) -> None:
    pairs = (SASL + "password-command=true").splitlines()
    with pytest.raises(ShellError, match=r"--adminclient-property: .* only allowed"):
        load({"adminclient-property": pairs}, {}, tmp_path / "config.toml")
