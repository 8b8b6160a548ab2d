"""`read-records` and `copy-records` with a schema registry in the client properties."""

from __future__ import annotations

import io
import json
from pathlib import Path
from uuid import uuid4

import fastavro
import pytest

from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.write import Writer
from kafka_shell.admin.wire.connection import Cluster
from tests.admin.helpers import make_topic
from tests.program import Program
from tests.schema_registry import Registry, message

ORDER = {
    "type": "record",
    "name": "shop.Parcel",
    "fields": [{"name": "id", "type": "string"}, {"name": "weight", "type": "double"}],
}
MISSING = 987_654


def avro(value: dict[str, object]) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(ORDER), value)
    return stream.getvalue()


@pytest.fixture
def parcels(cluster: Cluster, registry: Registry, name: str) -> str:
    """Two messages of a schema, and one whose schema does not exist."""
    topic = make_topic(cluster, name)
    number = registry.register(f"{topic}-value", ORDER)
    values = [message(number, avro({"id": f"p-{n}", "weight": n / 2})) for n in (1, 5)]
    values.append(message(MISSING, b"\xff"))
    written = Writer(cluster, topic).write({0: [NewRecord(None, value) for value in values]})
    assert all(each.failure is None for each in written)
    return topic


@pytest.fixture
def name() -> str:
    return f"parcels-{uuid4().hex[:8]}"


@pytest.fixture
def options(registry: Registry, tmp_path: Path) -> tuple[str, str]:
    file = tmp_path / "client.properties"
    file.write_text(f"schema.registry.url={registry.url}\n")
    return "--command-config", str(file)


def test_messages_are_decoded_and_a_missing_schema_is_named(
    kafka: Program, options: tuple[str, str], parcels: str
) -> None:
    run = kafka.ok(*options, "read-records", parcels, "--output", "json")
    first, second, third = map(json.loads, run.stdout.splitlines())
    assert (first["value"], second["value"]) == (
        {"id": "p-1", "weight": 0.5}, {"id": "p-5", "weight": 2.5},
    )  # fmt: skip
    assert "value_base64" in third
    assert f"schema {MISSING} is not in the registry" in run.stderr
    assert '"weight":2.5' in kafka.ok(*options, "peek", parcels).stdout


def test_conditions_see_the_fields_of_messages(
    kafka: Program, options: tuple[str, str], parcels: str
) -> None:
    heavy = ("--where", "value.weight>2")
    assert kafka.ok(*options, "read-records", parcels, *heavy, "--count").stdout == "1\n"
    kafka.ok("create-topic", f"{parcels}.heavy")
    kafka.ok(*options, "copy-records", parcels, "--to", f"{parcels}.heavy", *heavy)
    assert kafka.ok("read-records", f"{parcels}.heavy", "--count").stdout == "1\n"


@pytest.mark.quick
def test_without_a_registry_a_format_with_schemas_is_refused(kafka: Program) -> None:
    run = kafka("read-records", "orders", "--value-format", "avro")
    assert run.status == 2, str(run)
    assert "requires a schema registry" in run.stderr
