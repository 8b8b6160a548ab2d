"""Each way in which a connection fails has a specific error, long before any timeout."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Secret
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig, Sasl, Tls, parse_addresses

PASSWORD = "s3cret-never-shown"
# A test that waited for one of these would be ended.
PATIENT = {"connect_timeout": 3600.0, "request_timeout": 3600.0, "call_timeout": 3600.0}
PLAIN = Sasl("PLAIN", "alice", Secret(PASSWORD))


def fails(bootstrap: str, **more: object) -> ShellError:
    """The error of a first request. It comes long before any timeout and shows no password."""
    config = ConnectionConfig(parse_addresses(bootstrap), **PATIENT | more)  # type: ignore[arg-type]
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.brokers()
    error = caught.value
    assert error.status is Status.UNREACHABLE
    assert error.hint
    assert PASSWORD not in f"{error.message}{error.hint}{error!r}"
    return error


@contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Something that listens and is no broker."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(client,), daemon=True).start()

        def answer(client: socket.socket) -> None:
            with closing(client):
                try:
                    serve(client)
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def certificate_server(leaf: trustme.LeafCert, reads: int = 1) -> Callable[[socket.socket], None]:
    """A TLS server with this certificate that closes the connection after so many bytes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)

    def serve(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as secured:
            secured.makefile("rb").read(reads)

    return serve


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="test")


@pytest.fixture(scope="module")
def trusted(authority: trustme.CA) -> Tls:
    return Tls(ca_text=authority.cert_pem.bytes().decode())


@pytest.fixture(scope="module")
def ca(secure_sandbox: Sandbox) -> Tls:
    return Tls(ca_file=str(secure_sandbox.folder / "tls" / "ca.pem"))


def test_a_resolver_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def breaks(*args: Any, **more: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("out of order")
        return resolve(*args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", breaks)
    assert fails("kafka.example:9092").code == "unknown-host"


def test_a_refused_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = fails(f"localhost:{port}")
    assert error.code == "refused"
    assert "port" in error.hint


def test_a_port_that_does_not_respond() -> None:
    """A full backlog drops SYNs as a firewall does."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
        error = fails(f"127.0.0.1:{server.getsockname()[1]}", connect_timeout=0.5)
        for filler in fillers:
            filler.close()
    assert error.code == "connect-timeout"


def test_an_unused_address_family_costs_no_time(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """localhost is ::1 first in many places, and brokers often listen on 127.0.0.1 alone."""
    port = parse_addresses(sandbox.bootstrap)[0].port
    found = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: found)
    with Cluster(ConnectionConfig((Address("localhost", port),), **PATIENT)) as cluster:
        assert cluster.brokers()


def test_an_unreachable_advertised_address(sandbox: Sandbox) -> None:
    """The classic: bootstrap works, the brokers' own names do not."""
    from kafka.protocol.admin import ListGroupsRequest

    from kafka_shell.wire.frames import MetadataHead
    from kafka_shell.wire.requests import Call, Node

    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        cluster.brokers()
        cluster._pool.head = MetadataHead(((1, "kafka.internal.invalid", 9092, None),), "c", 1)
        (found,) = cluster.send_all([Call(ListGroupsRequest(), Node(1))])
    assert found.name == "unknown-host"
    assert "advertised" in found.message
    assert "advertised.listeners" in found.hint


def test_an_http_server() -> None:
    def serve(client: socket.socket) -> None:
        client.recv(100)
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listener(serve) as address:
        error = fails(address)
    assert error.code == "not-kafka"
    assert "HTTP server" in error.message


def test_an_http_server_that_waits_for_a_whole_line() -> None:
    def serve(client: socket.socket) -> None:
        data = b""
        while b"\n" not in data:
            more = client.recv(100)
            if not more:
                return
            data += more
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listener(serve) as address:
        assert fails(address).code == "not-kafka"


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", b"220 mail ESMTP\r\n"])
def test_a_server_that_speaks_first(greeting: bytes) -> None:
    with listener(lambda client: (client.sendall(greeting), client.recv(9), None)[2]) as address:
        error = fails(address)
    assert error.code == "not-kafka"
    assert greeting.decode().split()[0] in error.message


@pytest.mark.parametrize(
    "answer",
    [b"\0\0\0\1x", b"\0\0\0\x08\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\x06\0\0\0\1\0\0", b"\x80\0\0\0"],
)
def test_invalid_frames(answer: bytes) -> None:
    def serve(client: socket.socket) -> None:
        client.recv(100)
        client.sendall(answer)
        client.recv(100)

    with listener(serve) as address:
        assert fails(address).code == "not-kafka"


def test_a_server_that_closes_the_connection() -> None:
    with listener(lambda client: None) as address:
        assert fails(address).code == "closed-early"


def _says_nothing(client: socket.socket) -> None:
    while client.recv(1000):
        pass


def test_a_server_that_sends_nothing() -> None:
    with listener(_says_nothing) as address:
        error = fails(address, connect_timeout=1)
    assert error.code == "no-answer"


def test_plaintext_to_a_tls_listener(secure_sandbox: Sandbox) -> None:
    for name in ("SSL", "SASL_SSL"):
        error = fails(secure_sandbox.bootstraps[name])
        assert error.code == "tls-needed"
        assert "security.protocol=SSL" in error.hint


def test_tls_to_a_plaintext_listener(sandbox: Sandbox, ca: Tls) -> None:
    error = fails(sandbox.bootstrap, security_protocol="SSL", tls=ca)
    assert error.code == "plain-text"
    assert "PLAINTEXT" in error.hint


def test_a_tls_server_that_closes_the_connection(authority: trustme.CA, trusted: Tls) -> None:
    """As a broker does while it starts. It answers plaintext, sent to see what it is, with an
    alert of TLS: that is no reason to say that TLS is required, which is in use."""
    closes = certificate_server(authority.issue_cert("127.0.0.1"))

    def serve(client: socket.socket) -> None:
        if client.recv(1, socket.MSG_PEEK) != b"\x16":  # no handshake
            client.sendall(b"\x15\x03\x03\x00\x02\x02\x0a")
        else:
            closes(client)

    with listener(serve) as address:
        error = fails(address, security_protocol="SSL", tls=trusted)
    assert error.code == "closed-early", error.message
    assert "TLS" not in error.hint


def test_tls_to_a_server_that_is_not_a_broker() -> None:
    def serve(client: socket.socket) -> None:
        client.recv(100)
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listener(serve) as address:
        error = fails(address, security_protocol="SSL")
    assert error.code == "plain-text"


def test_an_unknown_ca(secure_sandbox: Sandbox) -> None:
    error = fails(secure_sandbox.bootstraps["SASL_SSL"], security_protocol="SSL")
    assert error.code == "tls-untrusted"
    assert "unknown CA" in error.message
    assert "ssl.truststore.location" in error.hint


def test_a_self_signed_certificate(tmp_path: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(1))
        .not_valid_after(now + timedelta(1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path / "self.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)

    def serve(client: socket.socket) -> None:
        context.wrap_socket(client, server_side=True).recv(1)

    with listener(serve) as address:
        error = fails(address, security_protocol="SSL")
    assert error.code == "tls-untrusted"
    assert "self-signed" in error.message


def test_an_expired_certificate(authority: trustme.CA, trusted: Tls) -> None:
    leaf = authority.issue_cert("127.0.0.1", not_after=datetime(2020, 1, 1, tzinfo=UTC))
    with listener(certificate_server(leaf)) as address:
        error = fails(address, security_protocol="SSL", tls=trusted)
    assert error.code == "tls-expired"
    assert "expired" in error.message


def test_a_certificate_for_other_names_says_which(authority: trustme.CA, trusted: Tls) -> None:
    leaf = authority.issue_cert("kafka-1.example.com", "10.0.0.1")
    with listener(certificate_server(leaf)) as address:
        error = fails(address, security_protocol="SSL", tls=trusted)
    assert error.code == "tls-hostname"
    assert "kafka-1.example.com, 10.0.0.1" in error.message
    assert "ssl.endpoint" not in error.hint, "nobody is told to switch the check off"


def test_a_client_certificate_is_required(secure_sandbox: Sandbox, ca: Tls) -> None:
    error = fails(secure_sandbox.bootstraps["SSL"], security_protocol="SSL", tls=ca)
    assert error.code == "tls-client-certificate"
    assert "ssl.keystore.location" in error.hint


def test_an_untrusted_client_certificate(secure_sandbox: Sandbox, ca: Tls) -> None:
    stranger = trustme.CA().issue_cert("stranger")
    chain = b"".join(blob.bytes() for blob in stranger.cert_chain_pems).decode()
    key = Secret(stranger.private_key_pem.bytes().decode())
    tls = Tls(ca_file=ca.ca_file, certificate_text=chain, key_text=key)
    error = fails(secure_sandbox.bootstraps["SSL"], security_protocol="SSL", tls=tls)
    assert error.code == "tls-client-certificate"


def test_a_login_is_required(secure_sandbox: Sandbox, ca: Tls) -> None:
    """The mechanisms come from the listener itself."""
    plain = fails(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    secured = fails(secure_sandbox.bootstraps["SASL_SSL"], security_protocol="SSL", tls=ca)
    assert plain.code == secured.code == "sasl-needed"
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"):
        assert mechanism in plain.message
    assert "SASL_PLAINTEXT" in plain.hint
    assert "SASL_SSL" in secured.hint


def test_a_login_without_credentials(secure_sandbox: Sandbox) -> None:
    where = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    assert fails(where, security_protocol="SASL_PLAINTEXT").code == "sasl-needed"
    nobody = fails(where, security_protocol="SASL_PLAINTEXT", sasl=Sasl("PLAIN"))
    assert "user name and a password" in nobody.message


def test_a_listener_without_sasl(sandbox: Sandbox) -> None:
    error = fails(sandbox.bootstrap, security_protocol="SASL_PLAINTEXT", sasl=PLAIN)
    assert error.code == "sasl-not-wanted"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("user", ["alice", "nobody=a,b"])
def test_a_wrong_password(secure_sandbox: Sandbox, mechanism: str, user: str) -> None:
    error = fails(
        secure_sandbox.bootstraps["SASL_PLAINTEXT"],
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl(mechanism, user, Secret(PASSWORD)),
    )
    assert error.code == "sasl-failed"
    assert f"as {user} failed ({mechanism})" in error.message
    assert "nvalid" in error.message  # the broker's own words


def test_a_mechanism_that_is_not_enabled(sandbox: Sandbox, secure_sandbox: Sandbox) -> None:
    pytest.importorskip("kafka")
    from kafka_shell.wire.login import _check_handshake

    with pytest.raises(ShellError) as caught:
        _check_handshake(33, ("PLAIN", "SCRAM-SHA-512"), "GSSAPI", Address("a", 1))
    assert "(enabled: PLAIN, SCRAM-SHA-512)" in caught.value.message
    assert caught.value.code == "sasl-mechanism"


def test_an_unknown_mechanism(secure_sandbox: Sandbox) -> None:
    error = fails(
        secure_sandbox.bootstraps["SASL_PLAINTEXT"],
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl("CRAM-MD5", "alice", Secret(PASSWORD)),
    )
    assert error.code == "sasl-mechanism"
    assert "SCRAM-SHA-512" in error.hint


def test_iam_without_tls(secure_sandbox: Sandbox) -> None:
    error = fails(
        secure_sandbox.bootstraps["SASL_PLAINTEXT"],
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl("AWS_MSK_IAM"),
    )
    assert error.hint == "Set security.protocol=SASL_SSL."


def test_a_token_that_is_refused(secure_sandbox: Sandbox) -> None:
    from kafka_shell.wire.endpoint import OAuth

    error = fails(
        secure_sandbox.bootstraps["SASL_PLAINTEXT"],
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl("OAUTHBEARER", oauth=OAuth(token=Secret(PASSWORD))),
    )
    assert error.code == "sasl-failed"


def test_an_unreachable_token_endpoint(secure_sandbox: Sandbox) -> None:
    from kafka_shell.wire.endpoint import OAuth

    oauth = OAuth(
        token_endpoint="http://127.0.0.1:1/token", client_id="c", client_secret=Secret(PASSWORD)
    )
    config = ConnectionConfig(
        parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"]),
        security_protocol="SASL_PLAINTEXT",
        sasl=Sasl("OAUTHBEARER", oauth=oauth),
    )
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.brokers()
    assert caught.value.code == "sasl-token"
    assert "127.0.0.1:1" in caught.value.message


def test_a_name_that_does_not_resolve() -> None:
    error = fails("no-such-host.invalid:9092")
    assert error.code == "unknown-host"
    assert "no-such-host.invalid" in error.message


@pytest.mark.parametrize("host", ["x" * 64 + ".invalid", "a..b"])
def test_an_invalid_host_name(host: str) -> None:
    assert fails(f"{host}:9092").code == "unknown-host"


def test_one_error_names_all_servers() -> None:
    error = fails("127.0.0.1:1,no-such-host.invalid:2,127.0.0.1:3")
    assert error.code == "no-broker"
    for name in ("127.0.0.1:1", "no-such-host.invalid", "127.0.0.1:3"):
        assert name in error.message


def test_every_target_fails_at_once() -> None:
    from kafka.protocol.admin import ListGroupsRequest

    from kafka_shell.wire.requests import CONTROLLER, Call, Coordinator, CoordinatorKind, Node

    config = ConnectionConfig((Address("127.0.0.1", 1),), **PATIENT)
    for target in (CONTROLLER, Coordinator(CoordinatorKind.GROUP, "g"), Node(1)):
        with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
            cluster.send_all([Call(ListGroupsRequest(), target)] * 3)
        assert caught.value.code == "refused"
