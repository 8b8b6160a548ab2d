"""GSSAPI: a Kerberos login (RFC 4752) with kinit's ticket or a key table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.text import quoted
from kafka_shell.wire.failures import unreachable

try:
    import gssapi
except (ImportError, OSError):
    _COMPILES = ", which requires Debian's packages libkrb5-dev, python3-dev and gcc."
    raise missing_package("SASL GSSAPI", "gssapi", "kerberos", hint=_COMPILES) from None

_MINOR = re.compile(r"Minor \(\d+\): (.*)", re.S)
_NO_LAYER = 1  # Kafka has neither integrity nor confidentiality of SASL; TLS has both


class Kerberos:
    """An exchange of tokens with the broker of a host. `options` are those of Krb5LoginModule.
    Raises ShellError."""

    def __init__(self, host: str, options: Mapping[str, str]) -> None:
        service = f"{options.get('serviceName') or 'kafka'}@{host}"
        try:
            name = gssapi.Name(service, gssapi.NameType.hostbased_service)
            login = _credentials(options)
            self._context = gssapi.SecurityContext(name=name, creds=login, usage="initiate")
            self._token: bytes = self._context.step() or b""
        except gssapi.exceptions.GSSError as error:
            raise unreachable(
                f"no Kerberos ticket for {service}: {_why(error)}",
                "Check that the brokers' principals contain these host names and"
                " sasl.kerberos.service.name.",
                "sasl-ticket",
            ) from None
        self._last = self._done = False

    def auth_bytes(self) -> bytes:
        """The next token to send."""
        return self._token

    def receive(self, answer: bytes) -> None:
        """Read the broker's token. Raises any exception for an invalid one."""
        if self._last:
            self._done = True
        elif not self._context.complete:
            self._token = self._context.step(answer) or b""
        else:
            offered = self._context.unwrap(answer).message
            if not offered[0] & _NO_LAYER:
                raise ValueError("the broker requires a SASL security layer")
            # Without an authorization identity: the broker uses the principal.
            self._token = self._context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message
            self._last = True

    def is_done(self) -> bool:
        """Whether no token is to be sent."""
        return self._done

    def is_authenticated(self) -> bool:
        """Whether the broker confirmed the login."""
        return self._done


def _credentials(options: Mapping[str, str]) -> Any:
    """Return the credentials of the ticket cache, or else of the key table, as Java does."""
    principal = options.get("principal", "")
    name = gssapi.Name(principal, gssapi.NameType.kerberos_principal) if principal else None
    reason = "none is configured"
    for store in _stores(options):
        try:
            login = gssapi.Credentials(name=name, usage="initiate", store=store)
            if login.lifetime:
                return login
            reason = "it has expired"
        except gssapi.exceptions.ExpiredCredentialsError:
            reason = "it has expired"
        except gssapi.exceptions.GSSError as error:
            reason = _why(error)
    raise _no_credentials(principal, reason)


def _stores(options: Mapping[str, str]) -> Iterator[dict[str, str] | None]:
    """The stores of credentials; None is the default ticket cache."""

    def on(option: str) -> bool:
        return options.get(option, "").lower() == "true"

    keytab = options.get("keyTab") or ("/etc/krb5.keytab" if on("useKeyTab") else "")
    if on("useTicketCache") or not keytab:
        cache = options.get("ticketCache", "")
        yield {"ccache": cache} if cache else None
    if keytab:
        # In memory, so that the user's ticket cache stays as it is.
        cache = f"MEMORY:kafka-sh:{keytab}:{options.get('principal', '')}"
        yield {"client_keytab": keytab, "ccache": cache}


def _no_credentials(principal: str, reason: str) -> ShellError:
    who = f" for {principal}" if principal else ""
    return unreachable(
        f"no Kerberos ticket or key{who}: {reason}",
        "Run kinit, or set useKeyTab=true, keyTab and principal in sasl.jaas.config.",
        "sasl-ticket",
    )


def _why(error: Exception) -> str:
    """The reason of the library, without its generic first part."""
    text = str(error)
    match = _MINOR.search(text)
    return quoted((match[1] if match else text).strip())
