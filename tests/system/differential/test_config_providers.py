"""Variables in client properties are resolved as by Kafka's own class."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.wire.client_properties import parse_properties, resolve
from tests.support.jvm_tools import java

VALUES = [
    "${file:DIR/f.properties:user}",
    "a${dir:DIR:password}b${dir:DIR:password}",
    "${file:DIR/f.properties:key.with:colon}",
    "${other:x:y}",
    "$${dir:DIR:password}}",
    "${dir:DIR:password",
    "${dir}",
    "\\${dir:DIR:password}",
    "plain",
]


@pytest.mark.parametrize("value", VALUES)
def test_value_is_that_of_java(tmp_path: Path, value: str) -> None:
    (tmp_path / "password").write_text(" s3cret\n")
    (tmp_path / "f.properties").write_text("user = alice\nkey.with\\:colon = x:y\n")
    config = java().org.apache.kafka.common.config
    providers = java().java.util.HashMap()
    for name, kind in (("file", "FileConfigProvider"), ("dir", "DirectoryConfigProvider")):
        provider = getattr(config.provider, kind)()
        provider.configure(java().java.util.HashMap())
        providers.put(name, provider)
    value = value.replace("DIR", str(tmp_path))
    theirs = java().java.util.HashMap()
    theirs.put("client.id", value)
    expected = config.ConfigTransformer(providers).transform(theirs).data().get("client.id")

    text = (
        "config.providers=file,dir\nconfig.providers.file.class=FileConfigProvider\n"
        "config.providers.dir.class=DirectoryConfigProvider\n"
    )
    properties = parse_properties(text, "client.properties")
    properties |= parse_properties("client.id=" + value.replace("\\", "\\\\"), "client.properties")
    assert resolve(properties)["client.id"].value == str(expected)
