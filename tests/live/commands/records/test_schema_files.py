"""`read-records --schema FILE`: messages that are decoded without a registry."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.write import Writer
from kafka_shell.admin.schemas.avro_writer import avro_writer
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.program import Program
from tests.support.schema_registry import message

ORDER = {
    "type": "record", "name": "Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "weight", "type": "double"}],
}  # fmt: skip
PROTO = """
syntax = "proto3";
package shop;
import "shop/line.proto";
message First { int32 x = 1; }
message Order { string id = 1; repeated Line lines = 2; }
"""
LINE = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Line { string article = 1; google.protobuf.Timestamp at = 2; }
"""
A_LINE = b"\x12\x03\x0a\x01b"  # of an Order


def written(cluster: Cluster, *values: bytes) -> str:
    topic = make_topic(cluster, f"files-{uuid4().hex[:8]}")
    done = Writer(cluster, topic).write({0: [NewRecord(None, value) for value in values]})
    assert all(each.failure is None for each in done)
    return topic


@pytest.fixture
def avsc(tmp_path: Path) -> Path:
    path = tmp_path / "order.avsc"
    path.write_text(json.dumps(ORDER))
    return path


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    folder = tmp_path / "protos" / "shop"
    folder.mkdir(parents=True)
    (folder / "line.proto").write_text(LINE)
    (folder / "order.proto").write_text(PROTO)
    return folder / "order.proto"


def test_avro_with_and_without_the_id_of_a_schema(
    kafka: Program, cluster: Cluster, avsc: Path
) -> None:
    write = avro_writer(json.dumps(ORDER), [])
    plain, framed = (write(b'{"id":"%d","weight":%d}' % (n, n)) for n in (1, 5))
    topic = written(cluster, plain, message(4711, framed), b"no message")
    run = kafka.ok("read-records", topic, "--schema", str(avsc), "--output", "json")
    values = [json.loads(line)["value"] for line in run.stdout.splitlines()]
    assert values[:2] == [{"id": "1", "weight": 1.0}, {"id": "5", "weight": 5.0}]
    assert values[2] == "no message"
    full = kafka.ok("read-records", topic, "--schema", str(avsc), "--full", "--last", "1")
    assert f"not a message of {avsc}" in full.stdout + full.stderr
    heavy = ("--schema", str(avsc), "--where", "value.weight>2", "--count")
    assert kafka.ok("read-records", topic, *heavy).stdout == "1\n"
    equal = ("--schema", str(avsc), "--where", "value.weight=5", "--count")
    assert kafka.ok("read-records", topic, *equal).stdout == "1\n"


def test_protobuf_message_and_imports(kafka: Program, cluster: Cluster, proto: Path) -> None:
    order = b"\x0a\x01a" + A_LINE
    topic = written(cluster, order, message(4711, b"\x02\x02" + order))
    options = ("--schema", str(proto), "--message-type", "shop.Order", "--output", "json")
    run = kafka.ok("read-records", topic, *options)
    for line in run.stdout.splitlines():
        assert json.loads(line)["value"] == {"id": "a", "lines": [{"article": "b"}]}
    topic = written(cluster, b"\x08\x07")
    run = kafka.ok("read-records", topic, "--schema", str(proto), "--output", "json")
    assert json.loads(run.stdout)["value"] == {"x": 7}


def test_a_profile_names_the_schemas_of_topics(
    cluster: Cluster, sandbox: Sandbox, avsc: Path, proto: Path, tmp_path: Path
) -> None:
    order = avro_writer(json.dumps(ORDER), [])(b'{"id":"1","weight":2}')
    avro, protobuf = written(cluster, order), written(cluster, b"\x0a\x01a" + A_LINE)
    config = tmp_path / "home" / "config"
    config.mkdir(mode=0o700, parents=True)
    file = config / "config.toml"
    file.write_text(
        f"""[profiles.p]
bootstrap = "{sandbox.bootstrap}"
[profiles.p.topics."{avro}"]
schema = "../../order.avsc"
[profiles.p.topics."files-*"]
schema = "{proto.parent.parent}"
message-type = "shop.Order"
mask = "value.lines.article"
"""
    )
    file.chmod(0o600)
    program = Program(config.parent)
    run = program.ok("read-records", avro, protobuf, "--profile", "p", "--output", "json")
    values = {row["topic"]: row["value"] for row in map(json.loads, run.lines)}
    assert values == {
        avro: {"id": "1", "weight": 2.0},
        protobuf: {"id": "a", "lines": [{"article": "***"}]},
    }
    hexed = ("--value-format", "hex", "--output", "json")
    run = program.ok("read-records", avro, "--profile", "p", *hexed)
    assert run.json["value"] == "***", "a value of another format is masked as a whole"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--schema", "none.avsc"), "none.avsc: cannot be read: No such file"),
        (("--schema", "{proto}", "--message-type", "Nobody"), "it has no message Nobody"),
        (("--schema", "{proto}/../line.txt"), "a file of .avsc, .proto, .json is required"),
        (("--schema", "{proto}", "--value-format", "avro"), "--value-format"),
        (("--message-type", "x"), "--schema"),
    ],
)
def test_schema_file_that_cannot_be_used(
    kafka: Program, cluster: Cluster, proto: Path, options: tuple[str, ...], said: str
) -> None:
    (proto.parent.parent / "line.txt").write_text("")
    topic = written(cluster, b"x")
    words = [each.replace("{proto}/..", str(proto.parent.parent)) for each in options]
    run = kafka("read-records", topic, *(word.format(proto=proto) for word in words))
    assert run.status == 2, str(run)
    assert said in run.stderr, run.stderr
