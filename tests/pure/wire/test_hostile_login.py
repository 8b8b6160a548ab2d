"""A login reveals no secrets to an impostor or to a fake token endpoint. Text from a server is
quoted, and slow servers do not exceed the deadline."""

from __future__ import annotations

import pytest

from kafka_shell.wire.codec import check_challenge
from kafka_shell.wire.failures import SaslUnsafeError
from tests.support.hostile_login import SALT, refused

NONCE = b"0123456789abcdef"


@pytest.mark.parametrize(
    ("challenge", "why"),
    [
        (f"r=0123456789abcdefXYZ,s={SALT},i=4095", "got 4,095"),
        (f"r=0123456789abcdefXYZ,s={SALT},i=1", "got 1"),
        (f"r=0123456789abcdefXYZ,s={SALT},i=999999999", "got 999,999,999"),
        (f"r=0123456789abcdefXYZ,s={SALT},i=+8192", "malformed"),
        (f"r=0123456789abcdefXYZ,s={SALT},i=8192,i=1", "malformed"),
        ("r=0123456789abcdefXYZ,s=,i=8192", "no salt"),
        ("r=0123456789abcdefXYZ,s=!,i=8192", "malformed"),
        ("r=0123456789abcdefXYZ,s=QQ,i=8192", "no salt"),
        (f"r=0123456789abcdef,s={SALT},i=8192", "no server nonce"),
        (f"r=another,s={SALT},i=8192", "no server nonce"),
        (f"m=x,r=0123456789abcdefXYZ,s={SALT},i=8192", "extension"),
        ("", "malformed"),
        ("\xff\x1b[2J", "malformed"),
    ],
)
def test_an_unsafe_scram_challenge_is_refused(challenge: str, why: str) -> None:
    with pytest.raises(SaslUnsafeError, match=why):
        check_challenge(challenge.encode("latin-1"), NONCE)


def test_the_scram_challenge_of_a_broker_is_accepted() -> None:
    check_challenge(f"r=0123456789abcdefXYZ,s={SALT},i=4096".encode(), NONCE)


@pytest.mark.parametrize(
    "address",
    [
        "http://idp.example.com/token",
        "http://127.0.0.1.example.com/token",
        "data:application/json,%7B%22access_token%22%3A%22x%22%7D",
        "ftp://localhost/token",
        "https:///token",
        "//localhost/token",
        "https://[::1/token",
    ],
)
def test_only_https_endpoints_are_used(address: str) -> None:
    assert "must be an https URL" in refused(address)
