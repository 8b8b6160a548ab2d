"""Damaged files of this program and invalid files of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.faults import hinted, refused
from tests.support.program import Program


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


def test_a_properties_file_that_is_not_there(nowhere: Program, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "no", "No such file"), (tmp_path, "Is a directory")):
        run = nowhere("--command-config", str(path), "list-topics")
        hinted(refused(run, 2, str(path), why, "--command-config"))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[profiles.p\n", 1, ("TOML",)),
        ('[profiles.p]\nbootstrap = "a:1\n', 2, ("TOML",)),
        ('[profiles.p]\nbootstrp = "a:1"\n', 2, ("bootstrp", "bootstrap")),
        ('[profiles.p]\nbootstrap = "a:1"\nguard = "some"\n', 3, ("guard", "read-only")),
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


def test_a_profile_that_is_not_there(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[profiles.production]\nbootstrap = "a:1"\n')
    run = nowhere("--profile", "prodution", "list-topics")
    hinted(refused(run, 2, "prodution", "Did you mean production?"))


def test_a_profile_file_that_is_no_text(nowhere: Program) -> None:
    config = nowhere.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_bytes(b"\xff\xfe[\0p\0")
    hinted(refused(nowhere("list-topics"), 2, str(config), "UTF-8"))
