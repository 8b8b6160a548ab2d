"""The only file that uses internals of kafka-python: its message codec and SASL mechanisms.

Tested with kafka-python 3.0.12. Imported with the first message, because `import kafka` takes
longer than listing topics.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.text import escape, quoted
from kafka_shell.wire import messages
from kafka_shell.wire.endpoint import Address, ConnectionConfig, LimitTime, Sasl
from kafka_shell.wire.failures import COORDINATION, SaslRefusedError, SaslUnsafeError, unreachable
from kafka_shell.wire.frames import MalformedError


class Message:
    """A kafka-python request as a `requests.Request`."""

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
        """The body. Raises ShellError if a value does not fit its field."""
        try:
            return bytes(self._request.encode(version=version))
        except Exception as error:  # the codec can raise anything
            # Without the codec's message, because it may contain the value, such as a password.
            raise ShellError(
                f"{self.name} v{version} cannot be encoded: {type(error).__name__}", code="encode"
            ) from error

    def decode(self, version: int, body: memoryview) -> Any:
        """The response message. Raises any exception for invalid bytes."""
        response = _response_class(self._request)
        flexible = response.flexible_version_q(version)
        decode = response._struct.compiled_decode_from(
            version, compact=flexible, tagged=flexible, data_class=response[None]
        )
        message, end = decode(body, 0)
        if end > len(body):  # the codec truncates a text that is too long
            raise MalformedError("ends too early")
        return message

    def unsupported_field(self, version: int) -> tuple[str, int] | None:
        """A field that is set and not ignorable, but does not exist in this version: its name and
        first version. kafka-python would silently drop it."""
        for field in self._request._struct._fields:
            since = field._versions[0] if field._versions else 0
            if since <= version or field._ignorable:
                continue
            if getattr(self._request, field.name) != field.default:
                return field.name, since
        return None


def import_messages() -> None:
    """Import all messages and SASL mechanisms. They import one another, which fails in threads that
    begin at the same time."""
    import kafka.net.sasl
    import kafka.protocol.admin
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer  # noqa: F401

    _response_classes()


_PATCHING = threading.Lock()


def _response_classes() -> dict[int, Any]:
    """kafka-python's response classes by API key."""
    with _PATCHING:  # `cache` alone lets several threads patch at once, and a second patch breaks
        return _patched_classes()


@cache
def _patched_classes() -> dict[int, Any]:
    from kafka.protocol.api_header import ResponseClassRegistry

    _limit_varints()
    _refuse_nulls()
    classes: dict[int, Any] = ResponseClassRegistry._response_class_registry
    for cls in classes.values():  # kafka-python's clients may have used some before
        cls._struct._compiled_encoders.clear()  # of decoders, too
    return classes


def _response_class(request: Any) -> Any:
    key = request.API_KEY
    response_class = _response_classes().get(key)
    if response_class is None:
        raise ShellError(f"no response class for API key {key} is loaded", code="decode")
    return response_class


def _limit_varints() -> None:
    """Make the codec reject a varint that is too long: a megabyte of them would take hours."""
    from kafka.protocol.schemas.fields.codecs import UnsignedVarInt32

    emit = UnsignedVarInt32.emit_decode_from.__func__

    def bounded(cls: Any, context: Any, name: str, indent: str) -> None:
        emit(cls, context, name, indent)  # its last line adds 7 to the shift, in a loop
        shift = context.lines[-1].split()[0]
        loop = context.lines[-1][: -len(context.lines[-1].lstrip())]
        context.emit(loop, f"if {shift} > 28: raise ValueError('contains a varint too long')")

    UnsignedVarInt32.emit_decode_from = classmethod(bounded)


def _refuse_nulls() -> None:
    """Make the codec reject null in a field that cannot be null, as Kafka's own does."""
    from kafka.protocol.schemas.fields.array import ArrayField
    from kafka.protocol.schemas.fields.simple import SimpleField
    from kafka.protocol.schemas.fields.struct_array import StructArrayField

    for kind in (ArrayField, StructArrayField, SimpleField):
        kind.emit_decode_from = _without_null(kind.emit_decode_from)


def _without_null(emit: Callable[..., None]) -> Callable[..., None]:
    def strict(
        field: Any, context: Any, name: str, indent: str, version: int | None = None, **how: Any
    ) -> None:
        emit(field, context, name, indent, version=version, **how)
        sized = field._type_str.startswith(("[]", "string", "bytes", "records"))
        if sized and not field.nullable_for_version_q(version):
            why = f"{field.name} is null"
            context.emit(indent, f"if {name} is None: raise ValueError({why!r})")

    return strict


def error_of(response: Any) -> tuple[int, str | None]:
    """A response's own error code (0 if it has none) and error message."""
    fields = type(response)._struct.fields
    if "error_code" not in fields:
        return 0, None
    message = response.error_message if "error_message" in fields else None
    return response.error_code, message


def moved(response: Any) -> int:
    """The error code if all items of a response say that the broker was the wrong one, else 0.

    Then nothing was done, and the whole request may be sent again.
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


def find_coordinators(kind: int, keys: list[str], version: int) -> Message:
    """FindCoordinator (API key 10) for all keys, which are of one kind."""
    request = messages.FindCoordinatorRequest(key_type=kind, coordinator_keys=keys, version=version)
    return Message(request)


def release_table() -> dict[tuple[int, ...], dict[int, tuple[int, int]]]:
    """The API versions of each Kafka release."""
    from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

    return dict(BROKER_API_VERSIONS)


# -- SASL ------------------------------------------------------------------------------------------


class SaslClient:
    """A SASL exchange by a mechanism of kafka-python or of ours: tokens to send, tokens received,
    until it is done. All exceptions of the mechanism become SaslRefusedError."""

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


_MIN_ITERATIONS, _MAX_ITERATIONS = 4096, 1_000_000  # RFC 7677; more would take seconds
_CHALLENGE = re.compile(r"r=(?P<nonce>[!-+\--~]+),s=(?P<salt>[A-Za-z0-9+/=]*),i=(?P<times>\d{1,9})")


def check_challenge(challenge: bytes, nonce: bytes) -> None:
    """Raise SaslUnsafeError for a SCRAM challenge (RFC 5802) that a server which impersonates the
    broker could use to learn the password. kafka-python would answer it."""
    text = challenge.decode("ascii", errors="replace")
    if text.startswith("m="):
        raise SaslUnsafeError("the SCRAM challenge has an unsupported extension (m=)")
    match = _CHALLENGE.fullmatch(text)
    if match is None:
        raise SaslUnsafeError("the SCRAM challenge is malformed")
    if not match["nonce"].startswith(nonce.decode()) or match["nonce"] == nonce.decode():
        raise SaslUnsafeError("the SCRAM challenge has no server nonce")
    try:
        salt = base64.b64decode(match["salt"], validate=True)
    except ValueError:
        salt = b""
    if not salt:
        raise SaslUnsafeError("the SCRAM challenge has no salt")
    if not _MIN_ITERATIONS <= int(match["times"]) <= _MAX_ITERATIONS:
        raise SaslUnsafeError(
            f"the SCRAM challenge must have {_MIN_ITERATIONS:,} to {_MAX_ITERATIONS:,} iterations,"
            f" got {int(match['times']):,}"
        )


def sasl_mechanism(
    config: ConnectionConfig, sasl: Sasl, address: Address, limit_time: LimitTime
) -> SaslClient:
    """A client of the configured mechanism. Raises ShellError if it is not available."""
    from kafka.net.sasl import SASL_MECHANISMS, get_sasl_mechanism

    if sasl.mechanism not in SASL_MECHANISMS:
        raise _unusable(
            f"unsupported SASL mechanism {sasl.mechanism}",
            f"Use one of {', '.join(sorted(SASL_MECHANISMS))}.",
        )
    if sasl.mechanism == "GSSAPI":
        from kafka_shell.wire.kerberos import Kerberos

        return SaslClient(Kerberos(address.host, dict(sasl.options)))
    if sasl.mechanism == "AWS_MSK_IAM":
        if not config.uses_tls:
            raise _unusable("SASL AWS_MSK_IAM requires TLS", "Set security.protocol=SASL_SSL.")
        from kafka_shell.wire.iam import Iam

        return SaslClient(Iam(address.host, sasl.options))
    settings: dict[str, Any] = {
        "host": address.host,
        "sasl_mechanism": sasl.mechanism,
    }
    if sasl.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = _token_provider(sasl, config, limit_time)
    else:  # without the protocol: it would only log a warning for every connection
        settings |= _name_and_password(sasl)
    try:
        mechanism = get_sasl_mechanism(sasl.mechanism)(**settings)
        return SaslClient(_as_token(mechanism) if sasl.token else mechanism)
    except ShellError:
        raise
    except Exception as error:
        message = f"SASL {sasl.mechanism} is not available: {_first_line(error)}"
        raise _unusable(message, "") from None


def _as_token(mechanism: Any) -> Any:
    """A SCRAM mechanism that logs in with a delegation token, as its first message says."""
    client = getattr(mechanism, "_scram_client", None)
    if client is None:
        raise ValueError("delegation tokens require SCRAM")
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
            f"SASL {sasl.mechanism} requires a user name and a password",
            "Set both in sasl.jaas.config.",
        )
    name = sasl.username
    if sasl.mechanism.startswith("SCRAM"):
        # RFC 5802: `=` and `,` in user names must be escaped. kafka-python does not escape them.
        name = name.replace("=", "=3D").replace(",", "=2C")
    return {"sasl_plain_username": name, "sasl_plain_password": password.reveal()}


def _token_provider(sasl: Sasl, config: ConnectionConfig, limit_time: LimitTime) -> Any:
    from kafka.net.sasl.oauth import AbstractTokenProvider

    from kafka_shell.wire.oauth import bearer_token

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return bearer_token(sasl, config, limit_time(config.connect_timeout)).reveal()

        def extensions(self) -> dict[str, str]:
            return dict(sasl.oauth.extensions) if sasl.oauth else {}

    return Provider()


def _first_line(error: Exception) -> str:
    return escape((str(error) or type(error).__name__).splitlines()[0])


def _unusable(message: str, hint: str) -> ShellError:
    return unreachable(message, hint, "sasl-mechanism")
