"""The schemas of --value-format and --key-format of write-record."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from kafka_shell.admin.schemas.budget import MissingSchema, NotJson, SchemaError
from kafka_shell.admin.schemas.client import Client
from kafka_shell.admin.schemas.files import LARGEST, SUFFIXES
from kafka_shell.admin.schemas.registry import client_of, no_registry
from kafka_shell.admin.schemas.subjects import RegisterSchemas
from kafka_shell.admin.schemas.write import Encoder, of_text, registered
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import read_text
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


class Encoders(Struct, frozen=True):
    """The encoders of keys and values, None for plain ones, and the schemas to register."""

    key: Encoder | None = None
    value: Encoder | None = None
    steps: tuple[RegisterSchemas, ...] = ()

    def encode_key(self, raw: bytes | None) -> bytes | None:
        """The content of a key, which is JSON if it has a schema. Raises ShellError."""
        return _encoded(self.key, "key", raw)

    def encode_value(self, raw: bytes | None) -> bytes | None:
        """The content of a value."""
        return _encoded(self.value, "value", raw)


def _encoded(encoder: Encoder | None, part: str, raw: bytes | None) -> bytes | None:
    if encoder is None or raw is None:
        return raw
    try:
        return encoder.write(raw)
    except SchemaError as error:
        hint = "A string is JSON in quotes: '\"text\"'." if isinstance(error, NotJson) else ""
        raise ShellError(
            f"the {part} does not match its schema: {error}", hint=hint, code="schema"
        ) from None


def encoders_of(invocation: Invocation, context: Context) -> Encoders:
    """The encoders of a command's options. Raises ShellError."""
    if not (invocation["key-format"] or invocation["value-format"]):
        return Encoders()
    client = client_of(context.settings.properties)
    if client is None:
        raise no_registry("a format with a schema")
    key, key_step = _encoder("key", "key-schema", invocation, client)
    value, value_step = _encoder("value", "schema", invocation, client)
    steps = tuple(step for step in (key_step, value_step) if step is not None)
    return Encoders(key, value, steps)


def _encoder(
    part: str, option: str, invocation: Invocation, client: Client
) -> tuple[Encoder | None, RegisterSchemas | None]:
    format, named = invocation[f"{part}-format"], invocation[option]
    if not format:
        return None, None
    subject = f"{invocation['topic']}-{part}"
    message = invocation["message-type"] if part == "value" else ""
    about = ""
    try:
        if named is not None and Path(named).suffix in SUFFIXES:
            about, text = f"{named}: ", read_text(named, largest=LARGEST)
            return of_text(client, format, text, subject, message or "")
        if named is not None and named.isascii() and named.isdigit():
            return registered(client, format, int(named), message or ""), None
        return registered(client, format, named or subject, message or ""), None
    except SchemaError as error:
        raise ShellError(
            f"{about}{error} (nothing was written)",
            hint=f"Use --{option} FILE to register a schema."
            if isinstance(error, MissingSchema)
            else "",
            code="schema",
        ) from None
