"""TLS: the context of a configuration, and what its failures mean. Imported only where TLS is."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shell.errors import ShellError
from kafka_shell.units import to_path

from .endpoint import Address, Tls
from .failures import unreachable

_HOSTNAME_MISMATCH = {62, 64}  # X509_V_ERR_HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH
_EXPIRED, _NOT_YET_VALID = 10, 9
_SELF_SIGNED = 18
_NO_KNOWN_CA = {2, 19, 20, 21}  # no issuer, or one at the end of the chain that is not trusted
_TRUST_HINT = (
    "Name the CA that signed it: ssl.truststore.type=PEM and ssl.truststore.location=/path/ca.pem"
)


def make_context(tls: Tls) -> ssl.SSLContext:
    """What is trusted and shown. Raises ShellError for files that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = getattr(ssl.TLSVersion, tls.minimum_version.replace(".", "_"))
    context.check_hostname = tls.check_hostname
    _trust(context, tls)
    if tls.certificate_file or tls.certificate_text:
        _show(context, tls)
    return context


def _trust(context: ssl.SSLContext, tls: Tls) -> None:
    if not (tls.ca_file or tls.ca_text):
        context.load_default_certs()
        return
    text = tls.ca_text or _read(tls.ca_file, "ssl.truststore.location")
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        where = tls.ca_file or "ssl.truststore.certificates"
        raise _bad_file(f"{where} holds no PEM certificates", error) from None


def _show(context: ssl.SSLContext, tls: Tls) -> None:
    where = tls.certificate_file or "ssl.keystore.certificate.chain"
    text = tls.certificate_text or _read(tls.certificate_file, "ssl.keystore.location")
    if tls.key_text is not None:
        text = f"{tls.key_text.reveal()}\n{text}"
    if "PRIVATE KEY" not in text:
        raise _bad_file(f"{where} has a certificate but no private key", None)
    asked = False

    def password() -> str:
        # Without a callback OpenSSL would ask on the terminal.
        nonlocal asked
        asked = True
        return tls.key_password.reveal() if tls.key_password else ""

    with _as_file(text) as path:
        try:
            context.load_cert_chain(path, password=password)
        except (ssl.SSLError, ValueError) as error:
            if asked and tls.key_password is None:
                raise _bad_file(
                    f"the private key of {where} is encrypted and no password is set",
                    None,
                    "Set ssl.key.password.",
                ) from None
            if asked:
                raise _bad_file(
                    f"the private key of {where} does not open with ssl.key.password", None
                ) from None
            raise _bad_file(f"{where} holds no usable PEM certificate and key", error) from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path OpenSSL can read a key from, in memory where the system can; gone afterwards."""
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


def _read(path: str, setting: str) -> str:
    try:
        return to_path(path).read_text("ascii", errors="replace")
    except OSError as error:
        raise _bad_file(f"{setting}={path} cannot be read: {error.strerror}", None) from None


def _bad_file(message: str, error: Exception | None, hint: str = "") -> ShellError:
    why = f" ({_reason(error)})" if error is not None and _reason(error) else ""
    return unreachable(message + why, hint, "tls-files")


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason).replace("_", " ").lower() if reason else ""


def handshake_error(address: Address, error: Exception) -> ShellError:
    """Why a handshake failed. Code `closed-early` where a closer look could tell more."""
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
            f"{address} and this side have no TLS version in common",
            "Brokers should enable TLSv1.2 or TLSv1.3; ssl.protocol says what this side does.",
            "tls-version",
        )
    if isinstance(error, ssl.SSLError) and reason and not isinstance(error, ssl.SSLEOFError):
        return unreachable(
            f"the TLS handshake with {address} failed: {_reason(error)}", "", "tls-failed"
        )
    return unreachable(
        f"{address} closed the connection during the TLS handshake",
        "It may be a plain-text listener, or no broker at all.",
        "closed-early",
    )


def session_error(address: Address, error: Exception) -> ShellError | None:
    """What ended a TLS session, where it was TLS: with TLS 1.3 a broker refuses the client's
    certificate only after the handshake."""
    return _client_certificate_refused(address, error)


def speaks_plain_text(address: Address) -> ShellError:
    """TLS was spoken to a plain-text port."""
    return unreachable(
        f"{address} speaks plain text, not TLS",
        "Set security.protocol=PLAINTEXT (SASL_PLAINTEXT with a login), or use the TLS port.",
        "plain-text",
    )


def wrong_names(address: Address, names: tuple[str, ...]) -> ShellError:
    """The certificate is trusted but made for other names."""
    has = f": it is for {', '.join(names)}" if names else ""
    return unreachable(
        f"the certificate of {address} is not for {address.host}{has}",
        "Connect by a name it has; or the brokers need a certificate for this name.",
        "tls-hostname",
    )


def _untrusted(address: Address, error: ssl.SSLCertVerificationError) -> ShellError:
    code = error.verify_code
    if code in _HOSTNAME_MISMATCH:
        return wrong_names(address, ())
    if code == _EXPIRED:
        return unreachable(
            f"the certificate of {address} (or of its CA) has expired",
            "The brokers need a new certificate.",
            "tls-expired",
        )
    if code == _NOT_YET_VALID:
        return unreachable(
            f"the certificate of {address} is not valid yet", "Check both clocks.", "tls-expired"
        )
    why = error.verify_message
    if code == _SELF_SIGNED:
        why = "it is signed by itself"
    elif code in _NO_KNOWN_CA:
        why = "its CA is not known here"
    return unreachable(
        f"the certificate of {address} is not trusted: {why}", _TRUST_HINT, "tls-untrusted"
    )


_CLIENT_REFUSED = {
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it wants a client certificate and got none",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it does not accept the client certificate",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not trust the CA of the client certificate",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it does not trust the client certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client certificate has expired",
    "TLSV1_ALERT_ACCESS_DENIED": "it does not accept the client certificate",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "it may want a client certificate",
}


def _client_certificate_refused(address: Address, error: Exception) -> ShellError | None:
    why = _CLIENT_REFUSED.get(getattr(error, "reason", "") or "")
    if why is None:
        return None
    return unreachable(
        f"{address} refused the TLS handshake: {why}",
        "Set ssl.keystore.type=PEM and ssl.keystore.location=/path/client.pem (key and"
        " certificate).",
        "tls-client-certificate",
    )
