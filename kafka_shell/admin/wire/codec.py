"""The one file that touches kafka-python's inner parts: message codec and SASL mechanisms.

Proved with kafka-python 3.0.12. It is imported when the first message is needed: `import kafka`
costs more than a whole `list-topics` does.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from kafka_shell.characters import escape, quoted
from kafka_shell.errors import ShellError

from .endpoint import Address, ConnectionConfig, Patience, Sasl
from .failures import COORDINATION, unreachable
from .frames import MalformedError


class Message:
    """A kafka-python request as the connection sends it (see `connection.Request`)."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self.api_key: int = request.API_KEY
        self.name: str = type(request).__name__.removesuffix("Request")
        low, high = request._min_version or 0, request.max_version
        if request._max_version is not None:
            high = min(high, request._max_version)
        if request.API_VERSION is not None:
            low = high = request.API_VERSION
        self.versions: tuple[int, int] = (low, high)
        self.validates_only = bool(getattr(request, "validate_only", False))

    def flexible(self, version: int) -> bool:
        """Whether this version has compact strings and tagged fields."""
        return bool(self._request.flexible_version_q(version))

    def encode(self, version: int) -> bytes:
        """The body. Raises ShellError where a value does not fit its field."""
        try:
            return bytes(self._request.encode(version=version))
        except Exception as error:  # whatever the codec trips over: it must not hang the call
            # Not the codec's words: they may quote the value, which may be a password.
            raise ShellError(
                f"{self.name} v{version} cannot be encoded: {type(error).__name__}", code="encode"
            ) from error

    def decode(self, version: int, body: memoryview) -> Any:
        """The response message. Raises whatever the codec trips over where the bytes make no
        sense."""
        response = _response_class(self._request)
        flexible = response.flexible_version_q(version)
        decode = response._struct.compiled_decode_from(
            version, compact=flexible, tagged=flexible, data_class=response[None]
        )
        message, end = decode(body, 0)
        if end > len(body):  # the codec takes what is left for a text that is longer
            raise MalformedError("it ends too early")
        return message

    def lacks(self, version: int) -> tuple[str, int] | None:
        """A field that is set, is not ignorable and does not exist yet in this version: its name
        and the first version that has it. kafka-python would drop it in silence."""
        for field in self._request._struct._fields:
            since = field._versions[0] if field._versions else 0
            if since <= version or field._ignorable:
                continue
            if getattr(self._request, field.name) != field.default:
                return field.name, since
        return None


def api_of(request_class: Any) -> tuple[int, str]:
    """API key and name of a kafka-python request class."""
    return request_class.API_KEY, request_class.__name__.removesuffix("Request")


@cache
def _response_classes() -> dict[int, Any]:
    """kafka-python's response classes by API key, with numbers that end."""
    from kafka.protocol.api_header import ResponseClassRegistry

    _bound_numbers()
    classes: dict[int, Any] = ResponseClassRegistry._response_class_registry
    return classes


def _response_class(request: Any) -> Any:

    key = request.API_KEY
    found = _response_classes().get(key)
    if found is None:
        raise ShellError(f"no response class for API key {key} is loaded", code="decode")
    return found


def _bound_numbers() -> None:
    """Have the codec refuse a varint without an end: a megabyte of them would take hours."""
    from kafka.protocol.schemas.fields.codecs import UnsignedVarInt32

    emit = UnsignedVarInt32.emit_decode_from.__func__

    def bounded(cls: Any, context: Any, name: str, indent: str) -> None:
        emit(cls, context, name, indent)  # its last line adds 7 to the shift, in a loop
        shift = context.lines[-1].split()[0]
        loop = context.lines[-1][: -len(context.lines[-1].lstrip())]
        context.emit(loop, f"if {shift} > 28: raise ValueError('a number in it is too long')")

    UnsignedVarInt32.emit_decode_from = classmethod(bounded)


def error_of(response: Any) -> tuple[int, str | None]:
    """A response's own error code (0 where it has none) and the broker's words."""
    fields = type(response)._struct.fields
    if "error_code" not in fields:
        return 0, None
    message = response.error_message if "error_message" in fields else None
    return response.error_code, message


def moved(response: Any) -> int:
    """The code when every item of a response says that the wrong broker was asked, else 0.

    Nothing was done then, and the whole request may be sent again.
    """
    codes = list(_item_codes(response))
    if codes and all(code in COORDINATION for code in codes):
        return codes[0]
    return 0


def _item_codes(response: Any) -> Iterator[int]:
    for field in type(response)._struct._fields:
        if not field.is_struct_array():
            continue
        for item in getattr(response, field.name) or ():
            if "error_code" in type(item)._struct.fields:
                yield item.error_code


def find_coordinators(kind: int, keys: list[str], version: int) -> list[Message]:
    """FindCoordinator (API key 10): one request for all keys from v4 on, else one a key."""
    from kafka.protocol.metadata import FindCoordinatorRequest

    if version >= 4:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys, version=version)
        return [Message(request)]
    if version >= 1:
        each = (FindCoordinatorRequest(key=key, key_type=kind, version=version) for key in keys)
    else:
        each = (FindCoordinatorRequest(key=key, version=version) for key in keys)
    return [Message(request) for request in each]


def read_coordinators(response: Any, key: str) -> Iterator[tuple[str, int, int, str | None]]:
    """(key, node id, error code, message) of each coordinator; `key` is what v0 to v3 asked for."""
    rows = response.coordinators if response.version >= 4 else [response]
    for row in rows:
        name = row.key if response.version >= 4 else key
        yield name, row.node_id, row.error_code, row.error_message


def release_table() -> dict[tuple[int, ...], dict[int, tuple[int, int]]]:
    """Which API versions each Kafka release has."""
    from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

    return dict(BROKER_API_VERSIONS)


# -- SASL ------------------------------------------------------------------------------------------


class SaslRefusedError(Exception):
    """A mechanism gave up. The text holds no secret, and quotes what the other side or a library
    said."""


class SaslUnsafeError(SaslRefusedError):
    """The other side asked for something that a sound broker never does."""


class SaslClient(Protocol):
    """A mechanism under way: tokens out, tokens in, until it is done."""

    def auth_bytes(self) -> bytes: ...
    def receive(self, auth_bytes: bytes) -> object: ...
    def is_done(self) -> bool: ...
    def is_authenticated(self) -> bool: ...


class _Guarded:
    """kafka-python's mechanism with its assorted exceptions as SaslRefusedError."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism

    def auth_bytes(self) -> bytes:
        try:
            return bytes(self._mechanism.auth_bytes())
        except ShellError:
            raise
        except Exception as error:
            raise SaslRefusedError(quoted(_first_line(error))) from error

    def receive(self, auth_bytes: bytes) -> None:
        client = getattr(self._mechanism, "_scram_client", None)
        if client is not None and client.salted_password is None:
            check_challenge(auth_bytes, client.nonce)
        elif client is not None and auth_bytes.startswith(b"e="):
            raise SaslRefusedError(quoted(auth_bytes[2:].decode(errors="replace")))
        try:
            self._mechanism.receive(auth_bytes)
        except Exception as error:
            raise SaslRefusedError(quoted(_first_line(error))) from error

    def is_done(self) -> bool:
        return bool(self._mechanism.is_done())

    def is_authenticated(self) -> bool:
        return bool(self._mechanism.is_authenticated())


_LEAST_ITERATIONS, _MOST_ITERATIONS = 4096, 1_000_000  # RFC 7677; what takes seconds
_CHALLENGE = re.compile(r"r=(?P<nonce>[!-+\--~]+),s=(?P<salt>[A-Za-z0-9+/=]*),i=(?P<times>\d{1,9})")


def check_challenge(challenge: bytes, nonce: bytes) -> None:
    """Refuse a SCRAM challenge (RFC 5802) by which whoever poses as the broker could learn the
    password: kafka-python would answer it."""
    text = challenge.decode("ascii", errors="replace")
    if text.startswith("m="):
        raise SaslUnsafeError("its SCRAM challenge has an extension that is not known here (m=)")
    found = _CHALLENGE.fullmatch(text)
    if found is None:
        raise SaslUnsafeError("its SCRAM challenge is malformed")
    if not found["nonce"].startswith(nonce.decode()) or found["nonce"] == nonce.decode():
        raise SaslUnsafeError("its SCRAM challenge adds nothing of its own to the nonce")
    try:
        salt = base64.b64decode(found["salt"], validate=True)
    except ValueError:
        salt = b""
    if not salt:
        raise SaslUnsafeError("its SCRAM challenge has no salt")
    if not _LEAST_ITERATIONS <= int(found["times"]) <= _MOST_ITERATIONS:
        raise SaslUnsafeError(
            f"its SCRAM challenge is for {int(found['times']):,} iterations, which must be"
            f" {_LEAST_ITERATIONS:,} to {_MOST_ITERATIONS:,}"
        )


def sasl_mechanism(
    config: ConnectionConfig, sasl: Sasl, address: Address, patience: Patience
) -> SaslClient:
    """A client of the configured mechanism. Raises ShellError for one that cannot be had."""
    from kafka.net.sasl import SASL_MECHANISMS, get_sasl_mechanism

    if sasl.mechanism not in SASL_MECHANISMS:
        raise _unusable(
            f"SASL {sasl.mechanism} is not known here",
            f"Known are {', '.join(sorted(SASL_MECHANISMS))}.",
        )
    settings: dict[str, Any] = {
        "host": address.host,
        "security_protocol": config.security_protocol,
        "sasl_mechanism": sasl.mechanism,
    }
    if sasl.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = _token_provider(sasl, config, patience)
    elif sasl.mechanism == "GSSAPI":
        settings["sasl_kerberos_service_name"] = sasl.service_name
    elif sasl.mechanism != "AWS_MSK_IAM":
        settings |= _name_and_password(sasl)
    try:
        mechanism = get_sasl_mechanism(sasl.mechanism)(**settings)
        return _Guarded(_as_token(mechanism) if sasl.token else mechanism)
    except ShellError:
        raise
    except Exception as error:
        package = {"GSSAPI": "gssapi", "AWS_MSK_IAM": "botocore"}.get(sasl.mechanism, "")
        hint = f"It needs the Python package {package}: pip install {package}" if package else ""
        raise _unusable(f"SASL {sasl.mechanism} cannot start: {_first_line(error)}", hint) from None


def _as_token(mechanism: Any) -> Any:
    """A SCRAM mechanism that logs in with a delegation token, which its first message says."""
    client = getattr(mechanism, "_scram_client", None)
    if client is None:
        raise ValueError("only SCRAM logs in with a delegation token")
    plain, extension = client.first_message, b",tokenauth=true"

    def first_message() -> bytes:
        message: bytes = plain()
        client.auth_message += extension
        return message + extension

    client.first_message = first_message
    return mechanism


def _name_and_password(sasl: Sasl) -> dict[str, str]:
    password = sasl.password
    if password is None and sasl.source is not None:
        password = sasl.source.read(sasl.username)
    if not sasl.username or password is None:
        raise _unusable(
            f"SASL {sasl.mechanism} needs a user name and a password",
            "Set both in sasl.jaas.config.",
        )
    name = sasl.username
    if sasl.mechanism.startswith("SCRAM"):
        # RFC 5802: `=` and `,` of a user name are escaped; kafka-python sends it as it is.
        name = name.replace("=", "=3D").replace(",", "=2C")
    return {"sasl_plain_username": name, "sasl_plain_password": password.reveal()}


def _token_provider(sasl: Sasl, config: ConnectionConfig, patience: Patience) -> Any:
    from kafka.net.sasl.oauth import AbstractTokenProvider

    from .oauth import bearer_token

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return bearer_token(sasl, config, patience(config.connect_timeout)).reveal()

        def extensions(self) -> dict[str, str]:
            return dict(sasl.oauth.extensions) if sasl.oauth else {}

    return Provider()


def _first_line(error: Exception) -> str:
    return escape((str(error) or type(error).__name__).splitlines()[0])


def _unusable(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-mechanism")
