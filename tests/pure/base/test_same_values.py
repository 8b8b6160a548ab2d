"""Whether two values of a config mean the same."""

from __future__ import annotations

import pytest

from kafka_shell.base.units import ConfigType, same_value

UNKNOWN, STRING, LIST = ConfigType.UNKNOWN, ConfigType.STRING, ConfigType.LIST


@pytest.mark.parametrize(
    ("key", "one", "other", "type", "same"),
    [
        ("cleanup.policy", "compact,delete", "delete, compact", LIST, True),
        ("log.cleanup.policy", "compact,delete", "delete,compact", UNKNOWN, True),
        ("cleanup.policy", "compact,delete", "compact", LIST, False),
        ("interceptor.classes", "a, b", "a,b", LIST, True),
        ("interceptor.classes", "a,b", "b,a", LIST, False),
        ("any.text", "a, b", "a,b", STRING, False),
        ("any.text", "1.0", "1", STRING, False),
        ("min.cleanable.dirty.ratio", "0.50", "0.5", ConfigType.DOUBLE, True),
        ("preallocate", "TRUE", "true", ConfigType.BOOLEAN, True),
        ("partitions", 3, "3", UNKNOWN, True),
        ("retention.ms", "12345678901234567", "12345678901234568", ConfigType.LONG, False),
        ("retention.ms", None, None, UNKNOWN, True),
        ("retention.ms", None, "", UNKNOWN, False),
    ],
)
def test_same_values(key: str, one: object, other: object, type: ConfigType, same: bool) -> None:
    assert same_value(key, one, other, type) is same
    assert same_value(key, other, one, type) is same
