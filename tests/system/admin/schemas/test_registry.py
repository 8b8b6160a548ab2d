"""Messages with schemas of a real schema registry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.schema_registry import (
    Registry,
    connected,
    decoded,
    message,
)

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "amount", "type": "double"}],
}


@pytest.fixture(scope="module")
def order_id(registry: Registry) -> int:
    return registry.register("order", ORDER)


def test_any_content_is_a_message_or_bytes(registry: Registry, order_id: int) -> None:
    client = connected(registry.url)

    @given(st.binary(max_size=30))
    def check(content: bytes) -> None:
        raw = message(order_id, content)
        found = decoded(client, raw)
        assert found.kind == "avro" if not found.problem else found.data == raw

    check()
