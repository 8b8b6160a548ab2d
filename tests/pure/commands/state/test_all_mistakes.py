"""All mistakes of a state file are reported at once, each with its position."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.commands.state.files import load

FILE = """\
version: 1
topics:
  a:
    partitions: none
    configs: {retention.ms: soon, segment.bytes: 1 GB/h}
quotas:
  user alice: {producer_byte_rat: 5MB/s}
  user bob: {producer_byte_rate: 5 apples, consumer_byte_rate: -1}
client_configs:
  user alice: {linger.ms: x, fetch.max.wait.ms: y}
"""


def test_every_mistake_has_its_position(tmp_path: Path) -> None:
    file = tmp_path / "state.yaml"
    file.write_text(FILE)
    with pytest.raises(ShellError) as caught:
        load(str(file))
    first, *lines = str(caught.value.message).splitlines()
    assert first == "8 mistakes:"
    found = [line.removeprefix(f"{file}:").split(" ", 1) for line in lines]
    assert [(place, text[:28]) for place, text in found] == [
        ("4:17:", "partitions of topic a must b"),
        ("5:29:", "retention.ms must be an inte"),
        ("5:50:", "segment.bytes must be an int"),
        ("7:16:", "unknown field 'producer_byte"),
        ("8:34:", "producer_byte_rate must be a"),
        ("8:64:", "consumer_byte_rate must be g"),
        ("10:27:", "linger.ms must be an integer"),
        ("10:49:", "fetch.max.wait.ms must be an"),
    ]
    assert "Did you mean producer_byte_rate?" in lines[3]
