"""The schemas of AWS Glue, by botocore."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct

from kafka_shell.admin.schemas.budget import GLUE, MissingSchema, UnavailableSchema
from kafka_shell.admin.schemas.client import Imported, Schema
from kafka_shell.base.errors import missing_package
from kafka_shell.base.text import quoted

try:
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.session import Session
except ImportError:
    raise missing_package("AWS Glue", "botocore", "msk") from None

_TIMEOUT_S = 3


class Glue(Struct):
    """The schemas of AWS Glue in a region, with the credentials of AWS's environment and files."""

    region: str
    is_apicurio: ClassVar[bool] = False
    is_glue: ClassVar[bool] = True
    _client: Any = None

    def by_id(self, schema_id: int | str) -> Schema:
        """The schema of a version. Raises SchemaError."""
        version = str(schema_id).removeprefix(GLUE)
        try:
            found = self._service().get_schema_version(SchemaVersionId=version)
        except ClientError as error:
            why = error.response.get("Error", {})
            if why.get("Code") == "EntityNotFoundException":
                raise MissingSchema(f"schema {schema_id} is not in AWS Glue") from None
            said = quoted(f"{why.get('Code')}: {why.get('Message')}")
            raise UnavailableSchema(f"schema {schema_id} cannot be read: {said}") from None
        except BotoCoreError as error:
            said = quoted(str(error))
            raise UnavailableSchema(f"schema {schema_id} cannot be read: {said}") from None
        if found["DataFormat"] == "PROTOBUF":  # which does not say the name of the message
            raise UnavailableSchema(
                f"schema {schema_id}: Protobuf of AWS Glue requires a schema file"
            )
        return Schema(found["SchemaDefinition"], found["DataFormat"])

    def imports(self, schema: Schema) -> list[Imported]:
        """None: its schemas cannot refer to others."""
        return []

    def _service(self) -> Any:
        if self._client is None:
            config = Config(
                connect_timeout=_TIMEOUT_S, read_timeout=_TIMEOUT_S,
                retries={"total_max_attempts": 1},
            )  # fmt: skip
            self._client = Session().create_client("glue", region_name=self.region, config=config)
        return self._client
