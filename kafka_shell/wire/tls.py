"""TLS contexts, and the errors of TLS. Imported only if TLS is used."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.plans import Secret
from kafka_shell.base.units import to_path
from kafka_shell.wire import jks
from kafka_shell.wire.endpoint import JKS, Address, Tls, is_pem
from kafka_shell.wire.failures import unreachable

_HOSTNAME_MISMATCH = {62, 64}  # X509_V_ERR_HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH
_EXPIRED, _NOT_YET_VALID = 10, 9
_SELF_SIGNED = 18
_NO_KNOWN_CA = {2, 19, 20, 21}  # no issuer, or one at the end of the chain that is not trusted
_TRUST_HINT = (
    "Set ssl.truststore.type=PEM and ssl.truststore.location to the CA certificate that signed it."
)


def make_context(tls: Tls) -> ssl.SSLContext:
    """The SSL context of TLS settings. Raises ShellError for invalid files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = getattr(ssl.TLSVersion, tls.minimum_version.replace(".", "_"))
    context.check_hostname = tls.check_hostname
    _load_ca(context, tls)
    if tls.certificate_file or tls.certificate_text:
        _load_client_certificate(context, tls)
    return context


def _load_ca(context: ssl.SSLContext, tls: Tls) -> None:
    if not (tls.ca_file or tls.ca_text):
        context.load_default_certs()
        return
    text = _pem(tls.ca_text or _read(tls.ca_file, "ssl.truststore", tls.ca_password))
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        where = tls.ca_file or "ssl.truststore.certificates"
        raise _bad_file(f"{where} contains no valid PEM certificates", error) from None


def _load_client_certificate(context: ssl.SSLContext, tls: Tls) -> None:
    where = tls.certificate_file or "ssl.keystore.certificate.chain"
    text = tls.certificate_text or _read(
        tls.certificate_file, "ssl.keystore", tls.certificate_password, tls.key_password
    )
    if tls.key_text is not None:
        text = f"{tls.key_text.reveal()}\n{text}"
    text = _pem(text)
    if "PRIVATE KEY" not in text:
        raise _bad_file(f"{where} contains no private key", None)
    password_read = False

    def password() -> str:
        # Without a callback, OpenSSL would ask on the terminal.
        nonlocal password_read
        password_read = True
        return tls.key_password.reveal() if tls.key_password else ""

    with _as_file(text) as path:
        try:
            context.load_cert_chain(path, password=password)
        except (ssl.SSLError, ValueError) as error:
            if password_read and tls.key_password is None:
                raise _bad_file(
                    f"the private key in {where} is encrypted, and no password is set",
                    None,
                    "Set ssl.key.password.",
                ) from None
            if password_read:
                raise _bad_file(
                    f"ssl.key.password is wrong for the private key in {where}", None
                ) from None
            raise _bad_file(f"{where} has no valid PEM certificate and key", error) from None


_BLOCK = re.compile(r"-----BEGIN ([^-]+)-----(.*?)-----END \1-----", re.S)


def _pem(text: str) -> str:
    """The PEM blocks of a text as OpenSSL reads them. As in Java, text around them is a comment,
    and a block may be on one line, which is how continued lines of a properties file end up."""
    blocks = []
    for label, body in _BLOCK.findall(text.encode("ascii", "replace").decode()):
        if ":" not in body:  # an encrypted key may have headers
            body = "\n".join(re.findall(".{1,64}", "".join(body.split())))
        blocks.append(f"-----BEGIN {label}-----\n{body.strip()}\n-----END {label}-----\n")
    return "".join(blocks)


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A temporary path that OpenSSL can read the key from, in memory if the system supports it."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        handle = os.memfd_create("kafka-sh")
        try:
            os.write(handle, text.encode())
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:  # mode 0600
        file.write(text)
        file.flush()
        yield file.name


def _read(path: str, store: str, password: Secret | None, of_key: Secret | None = None) -> str:
    """Return the PEM text of a PEM file, or of a JKS or PKCS12 store."""
    try:
        data = to_path(path).read_bytes()
    except OSError as error:
        raise _bad_file(f"{store}.location={path} cannot be read: {error.strerror}", None) from None
    if is_pem(data):
        return data.decode("utf-8", "replace")
    try:
        if not data.startswith(JKS):
            return _of_pkcs12(data, password)
        return jks.to_pem(data, *(each.reveal() if each else None for each in (password, of_key)))
    except ImportError:
        raise missing_package(f"reading {path}", "cryptography", "pkcs12") from None
    except ValueError:
        hint = f"Check {store}.password, or write the store with a newer keytool."
        raise _bad_file(f"{path} is damaged, or {store}.password is wrong", None, hint) from None


def _of_pkcs12(data: bytes, password: Secret | None) -> str:
    """The PEM text of a store. Raises ValueError, and ImportError without the extra `pkcs12`."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    pem = serialization.Encoding.PEM
    loaded = pkcs12.load_pkcs12(data, password.reveal().encode() if password else None)
    certificates = [entry.certificate for entry in (loaded.cert, *loaded.additional_certs) if entry]
    parts = [certificate.public_bytes(pem) for certificate in certificates]
    if loaded.key is not None:
        form, secrecy = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        parts.append(loaded.key.private_bytes(pem, form, secrecy))
    return b"".join(parts).decode()


def _bad_file(message: str, error: Exception | None, hint: str = "") -> ShellError:
    why = f" ({_reason(error)})" if error is not None and _reason(error) else ""
    return unreachable(message + why, hint, "tls-files")


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason).replace("_", " ").lower() if reason else ""


def handshake_error(address: Address, error: Exception) -> ShellError:
    """The error of a failed handshake. The code `closed-early` means that the reason is unknown."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _untrusted(address, error)
    refused = _client_certificate_refused(address, error)
    if refused is not None:
        return refused
    reason = getattr(error, "reason", "") or ""
    if reason in (
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "UNKNOWN_PROTOCOL",
        "RECORD_LAYER_FAILURE",
    ):
        return speaks_plain_text(address)
    if reason in ("UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "NO_PROTOCOLS_AVAILABLE"):
        return unreachable(
            f"{address} supports none of the enabled TLS versions",
            "Enable TLSv1.2 or TLSv1.3 on the brokers and in ssl.enabled.protocols.",
            "tls-version",
        )
    if isinstance(error, ssl.SSLError) and reason and not isinstance(error, ssl.SSLEOFError):
        return unreachable(
            f"the TLS handshake with {address} failed: {_reason(error)}", "", "tls-failed"
        )
    return unreachable(
        f"{address} closed the connection during the TLS handshake",
        "The listener may use plaintext, or it may not be a Kafka broker.",
        "closed-early",
    )


def session_error(address: Address, error: Exception) -> ShellError | None:
    """The TLS error that closed a connection, or None. In TLS 1.3 a broker rejects the client's
    certificate after the handshake."""
    return _client_certificate_refused(address, error)


def speaks_plain_text(address: Address) -> ShellError:
    """A TLS connection to a plaintext listener."""
    return unreachable(
        f"the listener at {address} does not use TLS",
        "Set security.protocol=PLAINTEXT (SASL_PLAINTEXT with authentication), or use the port"
        " of a TLS listener.",
        "plain-text",
    )


def wrong_names(address: Address, names: tuple[str, ...]) -> ShellError:
    """The certificate is trusted, but its host names are others."""
    valid = f", only for {', '.join(names)}" if names else ""
    return unreachable(
        f"the certificate of {address} is not valid for {address.host}{valid}",
        "Connect to a host name of the certificate, or add this name to the broker's certificate.",
        "tls-hostname",
    )


def _untrusted(address: Address, error: ssl.SSLCertVerificationError) -> ShellError:
    code = error.verify_code
    if code in _HOSTNAME_MISMATCH:
        return wrong_names(address, ())
    if code == _EXPIRED:
        return unreachable(
            f"the certificate of {address} (or of its CA) has expired",
            "Renew the certificate of the brokers.",
            "tls-expired",
        )
    if code == _NOT_YET_VALID:
        return unreachable(
            f"the certificate of {address} is not valid yet",
            "Check the clocks of this machine and of the broker.",
            "tls-expired",
        )
    why = error.verify_message
    if code == _SELF_SIGNED:
        why = "it is self-signed"
    elif code in _NO_KNOWN_CA:
        why = "unknown CA"
    return unreachable(
        f"the certificate of {address} is not trusted: {why}", _TRUST_HINT, "tls-untrusted"
    )


_CLIENT_REFUSED = {
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "a client certificate is required",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the client certificate is not accepted",
    "TLSV1_ALERT_UNKNOWN_CA": "the CA of the client certificate is not trusted",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the client certificate is not trusted",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client certificate has expired",
    "TLSV1_ALERT_ACCESS_DENIED": "the client certificate is not accepted",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "a client certificate may be required",
}


def _client_certificate_refused(address: Address, error: Exception) -> ShellError | None:
    why = _CLIENT_REFUSED.get(getattr(error, "reason", "") or "")
    if why is None:
        return None
    return unreachable(
        f"{address} rejected the TLS handshake: {why}",
        "Set ssl.keystore.type=PEM and ssl.keystore.location to a file with key and certificate.",
        "tls-client-certificate",
    )
