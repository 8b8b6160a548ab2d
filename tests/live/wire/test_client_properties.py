"""docs/client-properties.md against Java."""

from __future__ import annotations

from tests.support.java_properties import NAMES
from tests.support.jvm_tools import java


def test_page_has_every_property_of_java() -> None:
    names = java().org.apache.kafka.clients.admin.AdminClientConfig.configNames()
    assert sorted(map(str, names)) == NAMES
