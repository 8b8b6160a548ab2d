"""JKS stores that are damaged. Those of keytool are read in tests/live."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.wire.endpoint import JKS
from kafka_shell.wire.jks import to_pem

_KEY = struct.pack(">IHQI", 1, 0, 0, 2)  # an entry of a key with two bytes


@given(st.binary(max_size=200), st.sampled_from([b"", _KEY, struct.pack(">IH", 2, 0)]))
def test_damaged_store_is_a_value_error(data: bytes, entry: bytes) -> None:
    store = JKS + struct.pack(">II", 2, 2) + entry + data
    with suppress(ValueError):
        to_pem(store, None, "password")


@pytest.mark.parametrize(
    "key", [b"", b"0", b"0\0", b"0\2\0\0", b"0\x84\xff\xff\xff\xff", b"0\4\x30\0\4\0"]
)
def test_key_that_is_no_key_is_a_value_error(key: bytes) -> None:
    entry = struct.pack(">IHQI", 1, 0, 0, len(key)) + key + struct.pack(">I", 0)
    with pytest.raises(ValueError):
        to_pem(JKS + struct.pack(">II", 2, 1) + entry + bytes(20), None, "password")
