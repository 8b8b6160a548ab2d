"""The files of OAuth logins are named by their purpose."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.wire.endpoint import Assertion, ConnectionConfig, OAuth, Sasl
from kafka_shell.wire.oauth import bearer_token

_ENDPOINT = "https://idp.example/token"


@pytest.mark.parametrize(
    ("oauth", "noun"),
    [
        (OAuth(token_file="{}"), "token file"),
        (OAuth(token_endpoint=_ENDPOINT, assertion=Assertion(file="{}")), "assertion"),
        (OAuth(token_endpoint=_ENDPOINT, assertion=Assertion(template_file="{}")), "template"),
    ],
)
def test_file_that_cannot_be_read(oauth: OAuth, noun: str) -> None:
    with pytest.raises(ShellError, match=f"the {noun} .* cannot be read: No such file"):
        bearer_token(Sasl("OAUTHBEARER", oauth=oauth), ConnectionConfig())
