"""A login reveals no secrets to an impostor or to a fake token endpoint. Text from a server is
quoted, and slow servers do not exceed the deadline."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import trustme

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Secret
from kafka_shell.output.errors import error_lines
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, OAuth, Sasl, Tls, parse_addresses
from kafka_shell.wire.oauth import bearer_token
from tests.live.wire.test_connection_faults import certificate_server, listener
from tests.support.hostile_login import SALT, refused, token_from


def _answer(client: socket.socket, body: bytes) -> bytes:
    """Answer the next request with a body; the request."""
    size = struct.unpack(">i", client.recv(4, socket.MSG_WAITALL))[0]
    request = client.recv(size, socket.MSG_WAITALL)
    client.sendall(struct.pack(">i", 4 + len(body)) + request[4:8] + body)
    return request


def _string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def impostor(
    mechanism: bytes, answers: Callable[[bytes], bytes], seen: list[bytes]
) -> Callable[[socket.socket], None]:
    """Lets anybody in as far as SaslAuthenticate, whose answers `answers` makes."""
    apis = b"".join(struct.pack(">hhhB", key, 0, high, 0) for key, high in ((17, 1), (36, 1)))

    def serve(client: socket.socket) -> None:
        _answer(client, b"\0\0" + b"\x03" + apis + bytes(5))
        _answer(client, b"\0\0" + struct.pack(">i", 1) + _string(mechanism))
        while head := client.recv(4, socket.MSG_WAITALL):
            request = client.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
            seen.append(request)
            body = answers(request)
            client.sendall(struct.pack(">i", 4 + len(body)) + request[4:8] + body)

    return serve


def logs_in(address: str, sasl: Sasl) -> ShellError:
    config = ConnectionConfig(
        parse_addresses(address), security_protocol="SASL_PLAINTEXT", sasl=sasl
    )
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.brokers()
    assert caught.value.status is Status.UNREACHABLE
    return caught.value


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_one_iteration_gets_no_proof(mechanism: str) -> None:
    seen: list[bytes] = []

    def one_iteration(request: bytes) -> bytes:
        nonce = request.rpartition(b",r=")[2]
        token = b"r=" + nonce + b"more,s=" + SALT.encode() + b",i=1"
        return b"\0\0" + b"\xff\xff" + struct.pack(">i", len(token)) + token + bytes(8)

    with listener(impostor(mechanism.encode(), one_iteration, seen)) as address:
        error = logs_in(address, Sasl(mechanism, "alice", Secret("hush")))
    assert error.code == "sasl-unsafe"
    assert "got 1" in error.message
    assert len(seen) == 1, "no proof was sent, from which the password could be guessed"


FORGED = b'no\nhint: Run rm -rf /\r\n\x1b[2J\x1b]0;x\x07\xc2\x9b31m \xe2\x80\xaeevil "quoted"'


def test_text_of_the_server_is_quoted_and_escaped() -> None:
    seen: list[bytes] = []

    def refuse(request: bytes) -> bytes:
        return b"\0\x3a" + _string(FORGED) + bytes(4) + bytes(8)

    with listener(impostor(b"PLAIN", refuse, seen)) as address:
        error = logs_in(address, Sasl("PLAIN", "alice", Secret("hush")))
    assert error.code == "sasl-failed"
    assert error.message.isprintable()
    assert r'"no\nhint: Run rm -rf /\r\n\x1b[2J' in error.message
    lines = [line.plain for line in error_lines(error)]
    assert [line.partition(":")[0] for line in lines] == ["error", "hint"]


def test_a_megabyte_of_text_is_shortened() -> None:
    def refuse(request: bytes) -> bytes:
        return b"\0\x3a" + _string(b"password" * 4000) + bytes(4) + bytes(8)

    with listener(impostor(b"PLAIN", refuse, [])) as address:
        error = logs_in(address, Sasl("PLAIN", "alice", Secret("hush")))
    assert len(error.message) < 1_500


def test_invalid_mechanism_names_are_not_shown() -> None:
    apis = b"".join(struct.pack(">hhhB", key, 0, high, 0) for key, high in ((17, 1), (36, 1)))

    def serve(client: socket.socket) -> None:
        _answer(client, b"\0\0" + b"\x03" + apis + bytes(5))
        names = _string(b"\x1b[2J") + _string(b"PLAIN\nhint: x") + _string(b"GSSAPI")
        _answer(client, b"\0\x21" + struct.pack(">i", 3) + names)

    with listener(serve) as address:
        error = logs_in(address, Sasl("PLAIN", "alice", Secret("hush")))
    assert error.code == "sasl-mechanism"
    assert "(enabled: GSSAPI)" in error.message
    assert error.hint == "Set sasl.mechanism=GSSAPI."


@pytest.mark.parametrize(
    ("protocol", "head"), [("SSL", b"\x16\x03\x03\x40\0"), ("PLAINTEXT", struct.pack(">i", 500))]
)
def test_a_slow_server_does_not_exceed_the_deadline(
    protocol: str, head: bytes, authority: trustme.CA
) -> None:
    """A byte every 0.2 s would keep every single wait alive."""

    def drip(client: socket.socket) -> None:
        client.recv(1000)
        for byte in head + bytes(500):
            client.sendall(bytes((byte,)))
            time.sleep(0.2)

    config = {"security_protocol": protocol, "tls": Tls(ca_text=pem(authority))}
    with listener(drip) as address:
        made = ConnectionConfig(parse_addresses(address), **config)  # type: ignore[arg-type]
        with Cluster(made) as cluster, pytest.raises(ShellError) as caught, cluster.within(2.0):
            cluster.brokers()
    assert caught.value.code == "deadline"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="test")


def pem(authority: trustme.CA) -> str:
    return authority.cert_pem.bytes().decode()


@contextmanager
def endpoint(
    serve: Callable[[BaseHTTPRequestHandler], None], leaf: trustme.LeafCert | None = None
) -> Iterator[str]:
    """A web server, with TLS where it has a certificate; the address of a page on it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            serve(self)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *args: object) -> None:
            """Nothing on stderr."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        if leaf is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            leaf.configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if leaf else ''}://127.0.0.1:{server.server_port}/token"
        server.shutdown()


def gives(body: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def serve(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(body)

    return serve


TOKEN = json.dumps({"access_token": "tok-1.2_3"}).encode()


def test_https_is_trusted_as_the_properties_say(authority: trustme.CA) -> None:
    with endpoint(gives(TOKEN), authority.issue_cert("127.0.0.1")) as address:
        assert token_from(address, Tls(ca_text=pem(authority))) == "tok-1.2_3"
        assert token_from(address, Tls(ca_text=pem(authority), check_hostname=False))
        assert "cannot be reached" in refused(address)
    with endpoint(gives(TOKEN), authority.issue_cert("elsewhere.example")) as address:
        assert "cannot be reached" in refused(
            address, Tls(ca_text=pem(authority), check_hostname=False)
        )


def test_a_redirect_is_not_followed() -> None:
    got: list[str | None] = []

    def elsewhere(handler: BaseHTTPRequestHandler) -> None:
        got.append(handler.headers["Authorization"])
        gives(TOKEN)(handler)

    with endpoint(elsewhere) as there:

        def redirect(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", there)
            handler.end_headers()

        with endpoint(redirect) as address:
            assert "redirects to another URL" in refused(address)
    assert got == []


def test_http_on_localhost_requires_a_property() -> None:
    with endpoint(gives(TOKEN)) as address:
        assert token_from(address) == "tok-1.2_3"
        oauth = OAuth(token_endpoint=address, client_id="me", client_secret=Secret("hush"))
        with pytest.raises(ShellError) as caught:
            bearer_token(Sasl("OAUTHBEARER", oauth=oauth), ConnectionConfig())
    assert "allow.loopback.http=true" in caught.value.message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"x" * (1 << 20), "larger than 256 KiB"),
        (b"[" * 100_000, "no valid access_token"),
        (b"[]", "no valid access_token"),
        (b'{"access_token": 5}', "no valid access_token"),
        (json.dumps({"access_token": "x\x01extra=1"}).encode(), "no valid access_token"),
    ],
)
def test_a_response_without_token(body: bytes, said: str) -> None:
    with endpoint(gives(body)) as address:
        assert said in refused(address)


def test_a_slow_endpoint_times_out() -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.1):
            handler.wfile.write(b" ")

    with endpoint(drip) as address:
        assert "within 1.0 s" in refused(address, patience=1.0)
        over.set()


def test_the_deadline_includes_the_token() -> None:
    """A command with `--deadline 1s` does not wait ten seconds for a token."""
    over = threading.Event()

    def wait(handler: BaseHTTPRequestHandler) -> None:
        over.wait()

    with endpoint(wait) as token, listener(impostor(b"OAUTHBEARER", bytes, [])) as address:
        oauth = OAuth(
            token_endpoint=token,
            client_id="me",
            client_secret=Secret("hush"),
            allow_loopback_http=True,
        )
        config = ConnectionConfig(
            parse_addresses(address),
            security_protocol="SASL_PLAINTEXT",
            sasl=Sasl("OAUTHBEARER", oauth=oauth),
        )
        with Cluster(config) as cluster, pytest.raises(ShellError) as caught, cluster.within(1.0):
            cluster.brokers()
        assert "no response within" in caught.value.message, caught.value
        over.set()


def test_a_silent_tls_listener_ends_with_the_deadline(authority: trustme.CA) -> None:
    leaf = authority.issue_cert("127.0.0.1")
    with listener(certificate_server(leaf, 1 << 20)) as address:
        config = ConnectionConfig(
            parse_addresses(address), security_protocol="SSL", tls=Tls(ca_text=pem(authority))
        )
        with Cluster(config) as cluster, pytest.raises(ShellError) as caught, cluster.within(1.0):
            cluster.brokers()
        assert caught.value.code == "deadline"
