"""Secrets are masked without changing positions in the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.text import masked, quote


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("alter-configs --broker-id 1 ssl.key.password=hush b=1",
         "alter-configs --broker-id 1 ssl.key.password=**** b=1"),
        ("x 'SCRAM-SHA-256=[iterations=8192,password=a b],SCRAM-SHA-512=[password=c]' y",
         "x 'SCRAM-SHA-256=[iterations=8192,password=*******************************' y"),
        ("x SCRAM-SHA-256=hush", "x SCRAM-SHA-256=****"),
        ("x SCRAM-SHA-256=[iterations=8192]", "x SCRAM-SHA-256=[iterations=8192]"),
        ("renew-token --hmac aGk= --deadline 5s", "renew-token --hmac **** --deadline 5s"),
        ("x --password-file f --delete-config ssl.key.password",
         "x --password-file f --delete-config ssl.key.password"),
        ("x 'password=never closed", "x 'password=************"),
        ("x basic.auth.user.info=bob:pw", "x basic.auth.user.info=******"),
        ("x schema.registry.url=https://bob:pw@h/", "x schema.registry.url=https://bob:*****"),
        ("x https://h:8081/a:b", "x https://h:8081/a:b"),
        ("list-topics", "list-topics"),
        ('x "ssl.key.password"=hunter2 y', 'x "ssl.key.password"=******* y'),
        ("x ssl.key.'password=hu sh' y", "x ssl.key.'password=*****' y"),
        (r"x ssl.key.password\=hush", r"x ssl.key.password\=****"),
        ("x SCRAM-SHA-256=[iterations=8192,'password'=x]",
         "x SCRAM-SHA-256=[iterations=8192,'password'=**"),
        ("renew-token '--hmac' abc", "renew-token '--hmac' ***"),
        ("expire-token --hmac 'a+b=' --yes", "expire-token --hmac ****** --yes"),
        ("x password='hu sh' y", "x password=******* y"),
        ("x password='' y", "x password='' y"),
    ],
)  # fmt: skip
def test_secrets_are_masked_with_stars(line: str, shown: str) -> None:
    assert masked(line) == shown
    assert len(masked(line)) == len(line)
    assert masked(masked(line)) == shown


def test_the_mask_in_files_hides_the_length() -> None:
    assert masked("x 'a.password=hu sh' b", "[hidden]") == "x 'a.password=[hidden]' b"
    assert masked("x --hmac 'aGk=' b", "[hidden]") == "x --hmac [hidden] b"


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=6))
def test_passwords_are_masked_in_any_quoting(password: str) -> None:
    line = f"config-command --add-config {quote(f'SCRAM-SHA-256=[password={password}]')} --alter"
    before, _, after = masked(line).partition("password=")
    assert before + after[-8:] == line.partition("password=")[0] + " --alter"
    assert not set(after[:-8]) - set("*'\" ")


@pytest.mark.timeout(60)  # 40 times as long as it takes
@pytest.mark.parametrize("piece", ["password", "password ", "token.", "a=b", "SCRAM-SHA-1", "'\""])
def test_a_long_message_is_masked_in_one_pass(piece: str) -> None:
    masked(piece * (600_000 // len(piece)))
