"""Settings of a connection that this program does not use, but Java does, are refused by name."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.wire.client_properties import parse_properties, to_connection

MODULE = "org.apache.kafka.common.security"


def jaas(mechanism: str, options: str) -> str:
    return (
        f"security.protocol=SASL_SSL\nsasl.mechanism={mechanism}\n"
        f"sasl.jaas.config={MODULE}.LoginModule required {options};\n"
    )


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        (jaas("AWS_MSK_IAM", 'awsProfile="audit"'), 3, "awsProfile"),
        (jaas("PLAIN", 'username="a" password="b" userName="c"'), 3, "userName"),
        (jaas("SCRAM-SHA-512", 'username="a" passwordFile="f"'), 3, "passwordFile"),
        (jaas("GSSAPI", 'useKeyTab="true" keytab="/k" principal="p"'), 3, "keytab"),
        (jaas("OAUTHBEARER", 'clientId="a" clientAssertion="b"'), 3, "clientAssertion"),
        (jaas("OAUTHBEARER", 'unsecuredLoginLifetimeSeconds="9"'), 3, "LifetimeSeconds"),
        ("security.providers=org.acme.Provider\n", 1, "security.providers"),
        ("client.id=x\nssl.engine.factory.class=org.acme.Engine\n", 2, "ssl.engine.factory.class"),
        ("sasl.login.class=org.acme.Login\n", 1, "sasl.login.class"),
        (
            "sasl.login.callback.handler.class=org.acme.VaultCallbackHandler\n",
            1,
            "sasl.login.callback.handler.class",
        ),
    ],
)
def test_unused_setting_is_refused_by_name(text: str, line: int, name: str) -> None:
    with pytest.raises(ShellError) as caught:
        to_connection(parse_properties(text, "client.properties"))
    error = caught.value
    assert error.status is Status.WRONG
    assert error.message.startswith(f"client.properties:{line}: "), error.message
    assert name in error.message, error.message
    assert "not supported" in error.message, error.message
    assert error.hint.startswith("Remove"), error.hint


@pytest.mark.parametrize(
    "text",
    [
        jaas("PLAIN", 'username="a" password="b"'),
        jaas("SCRAM-SHA-256", 'username="a" password="b" tokenauth="true"'),
        jaas("GSSAPI", "useTicketCache=true useKeyTab=false serviceName=kafka"),
        jaas("GSSAPI", 'useKeyTab=true storeKey=true keyTab="/k" principal="p@R"'),
        jaas("AWS_MSK_IAM", 'awsProfileName="audit" awsRoleArn="r" awsStsRegion="eu-west-1"')
        + "sasl.client.callback.handler.class=software.amazon.msk.IAMClientCallbackHandler\n",
        jaas("OAUTHBEARER", 'clientId="a" clientSecret="b" scope="c" extension_pool="d"')
        + f"sasl.login.callback.handler.class={MODULE}.OAuthBearerLoginCallbackHandler\n",
    ],
)
def test_settings_of_supported_logins_are_accepted(text: str) -> None:
    sasl = to_connection(parse_properties(text, "client.properties")).sasl
    assert sasl is not None
    assert sasl.mechanism in text
