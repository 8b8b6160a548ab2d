"""Why a schema cannot be used."""

from __future__ import annotations


class SchemaError(Exception):
    """Why a schema, or a message of it, cannot be read. The text names the schema."""


class UnavailableSchema(SchemaError):
    """The schema could not be read or compiled: nothing is known about its messages."""


class MissingSchema(SchemaError):
    """The registry responded that it does not have the schema."""
