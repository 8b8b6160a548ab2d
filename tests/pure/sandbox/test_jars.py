"""Jars must match the lock file."""

from __future__ import annotations

from kafka_shell.sandbox.jars import locked_jars, locked_versions


def test_a_lock_holds_one_version_of_kafka() -> None:
    assert locked_versions() == ["3.9.2", "4.3.1"]
    for version in locked_versions():
        kafka = {jar.version for jar in locked_jars(version) if jar.group == "org.apache.kafka"}
        assert kafka == {version}
