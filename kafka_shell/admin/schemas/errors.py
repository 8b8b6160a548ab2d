"""Why a schema cannot be used."""

from __future__ import annotations


class SchemaError(Exception):
    """Why a schema, or a message of it, cannot be read. The text names the schema."""


class MissingSchema(SchemaError):
    """The registry responded that it does not have the schema."""
