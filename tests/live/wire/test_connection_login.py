"""Log in to a real broker by every security protocol and mechanism, from Java properties files."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from kafka.protocol.admin import DescribeAclsRequest, DescribeClusterRequest, ListGroupsRequest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.settings import load
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, OAuth, Sasl, parse_addresses
from kafka_shell.wire.oauth import bearer_token
from kafka_shell.wire.requests import Node

WAYS = ["sasl-ssl", "sasl-ssl-plain", "sasl-ssl-oauth", "sasl-plaintext", "ssl"]


def connection(sandbox: Sandbox, name: str) -> ConnectionConfig:
    flags = {"command-config": str(sandbox.client_properties[name])}
    found = load(flags, {}, Path("/nowhere"))
    assert found.warnings == ()
    return found.connection


@pytest.mark.parametrize("way", WAYS)
def test_every_security_protocol(secure_sandbox: Sandbox, way: str) -> None:
    config = connection(secure_sandbox, f"admin-{way}")
    with Cluster(config) as cluster:
        assert cluster.send(DescribeClusterRequest()).error_code == 0
        assert cluster.send(ListGroupsRequest(), Node(1)).error_code == 0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_every_mechanism_on_every_listener(
    secure_sandbox: Sandbox, mechanism: str, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    config = replace(
        connection(secure_sandbox, "admin-sasl-ssl"),
        bootstrap=parse_addresses(secure_sandbox.bootstraps[protocol]),
        security_protocol=protocol,
        sasl=Sasl(mechanism, "alice", Secret(passwords(secure_sandbox)["alice"])),
    )
    with Cluster(config) as cluster:
        assert cluster.brokers()
    assert not caplog.messages, "what is logged would be on the user's terminal"


def test_a_user_name_with_characters_that_scram_escapes(secure_sandbox: Sandbox) -> None:
    import hashlib
    import os

    from kafka.protocol.admin import AlterUserScramCredentialsRequest as Alter

    name, password, salt = "o'=brien, jr", "pass=word,", os.urandom(16)
    upsertion = Alter.ScramCredentialUpsertion(
        name=name,
        mechanism=1,
        iterations=4096,
        salt=salt,
        salted_password=hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 4096),
    )
    with Cluster(connection(secure_sandbox, "admin-sasl-ssl")) as admin:
        row = admin.send(Alter(deletions=[], upsertions=[upsertion])).results[0]
        assert row.error_code == 0
        config = replace(admin.config, sasl=Sasl("SCRAM-SHA-256", name, Secret(password)))
        for attempt in admin.attempts(10):  # a broker learns of it a moment later
            try:
                with Cluster(config) as cluster:
                    assert cluster.brokers()
                    return
            except Exception:
                if attempt > 20:
                    raise
        raise AssertionError("never let in")


def test_an_expiring_login_is_renewed(secure_sandbox: Sandbox) -> None:
    """KIP-368: the broker would drop the connection at the end of the session."""
    with Cluster(connection(secure_sandbox, "admin-sasl-ssl")) as cluster:
        cluster.brokers()
        (link,) = cluster._pool.ready()
        link._expires = time.monotonic() - 1
        assert cluster.brokers(refresh=True)
        (renewed,) = cluster._pool.ready()
        assert renewed is not link


def test_an_oauth_session_expires(secure_sandbox: Sandbox) -> None:
    """The broker tells how long a login by token lasts, where it re-authenticates."""
    with Cluster(connection(secure_sandbox, "admin-sasl-ssl-oauth")) as cluster:
        cluster.brokers()
        (link,) = cluster._pool.ready()
        assert not link.stale


def test_not_authorized_is_not_retried(secure_sandbox: Sandbox) -> None:
    any_acl = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    with Cluster(connection(secure_sandbox, "alice-sasl-ssl")) as cluster:
        cluster.brokers()
        # If it were asked again until the deadline, the test would be ended.
        with pytest.raises(ShellError) as caught, cluster.within(3600):
            cluster.send(any_acl)
    assert caught.value.code == "CLUSTER_AUTHORIZATION_FAILED"
    assert caught.value.message == "DescribeAcls: not authorized for the cluster"
    assert caught.value.hint == "Requires DESCRIBE permission."


class TokenEndpoint(BaseHTTPRequestHandler):
    """The client credentials grant, as an identity provider answers it."""

    seen: list[tuple[str, str]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.seen.append((self.headers["Authorization"], body))
        answer = json.dumps({"access_token": "tok", "expires_in": 60}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        """Nothing on stderr."""


def test_a_token_from_an_endpoint() -> None:
    with HTTPServer(("127.0.0.1", 0), TokenEndpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        oauth = OAuth(
            token_endpoint=f"http://127.0.0.1:{server.server_port}/token",
            client_id="me",
            client_secret=Secret("s3 cret"),
            scope="kafka",
            allow_loopback_http=True,
        )
        token = bearer_token(Sasl("OAUTHBEARER", oauth=oauth), ConnectionConfig())
        server.shutdown()
    assert token == Secret("tok")
    ((authorization, body),) = TokenEndpoint.seen
    assert base64.b64decode(authorization.split()[1]) == b"me:s3%20cret"
    assert body == "grant_type=client_credentials&scope=kafka"
