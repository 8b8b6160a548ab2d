"""A schema registry whose schemas are given, not requested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from kafka_shell.admin.schemas.budget import MissingSchema
from kafka_shell.admin.schemas.client import Client, Imported, Schema
from kafka_shell.admin.schemas.registry import SchemaId, SchemaRegistry


class _Stored:
    is_apicurio = is_glue = False

    def __init__(self, schemas: Mapping[SchemaId, Schema]) -> None:
        self._schemas = schemas

    def by_id(self, schema_id: SchemaId) -> Schema:
        if schema_id not in self._schemas:
            raise MissingSchema(f"schema {schema_id} is not in the registry")
        return self._schemas[schema_id]

    def imports(self, schema: Schema) -> list[Imported]:
        return []


def stored(schemas: Mapping[SchemaId, Schema]) -> SchemaRegistry:
    """A registry that has these schemas."""
    return SchemaRegistry(cast(Client, _Stored(schemas)))
