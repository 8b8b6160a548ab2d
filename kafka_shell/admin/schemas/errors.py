"""Why a schema cannot be used."""

from __future__ import annotations


class SchemaError(Exception):
    """Why a schema, or a message of it, cannot be read. The text names the schema."""


class UnavailableSchema(SchemaError):
    """The schema could not be read or compiled: nothing is known about its messages."""


class MissingSchema(SchemaError):
    """The registry responded that it does not have the schema."""


def reason(error: BaseException) -> str:
    """Why a schema or message cannot be read, of any exception of a library that reads it."""
    if isinstance(error, EOFError):
        return "it ends too early"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) or type(error).__name__
