"""Client properties of a schema registry."""

from __future__ import annotations

import pytest

from kafka_shell.admin.schemas.settings import registry_settings
from kafka_shell.base.errors import ShellError
from kafka_shell.wire.client_properties import Property, shown_value

URL = "schema.registry.url"


def located(**values: str) -> dict[str, Property]:
    return {
        name.replace("_", "."): Property(value, f"client.properties:{line}")
        for line, (name, value) in enumerate(values.items(), 1)
    }


def test_without_a_url_there_is_no_registry() -> None:
    assert registry_settings({}) is None
    assert registry_settings(located(schema_registry_url=" ")) is None


def test_credentials_are_not_part_of_the_urls() -> None:
    found = registry_settings(located(schema_registry_url="https://u:p%40x@a:8081/, http://b/x"))
    assert found is not None
    assert found.urls == ("https://a:8081", "http://b/x")
    assert (found.user, found.password and found.password.reveal()) == ("u", "p@x")


@pytest.mark.parametrize("prefix", ["", "schema.registry."])
def test_user_info(prefix: str) -> None:
    values = {
        URL: "http://a",
        f"{prefix}basic.auth.credentials.source": "USER_INFO",
        f"{prefix}basic.auth.user.info": "alice:se:cret",
    }
    found = registry_settings({name: Property(value, "f:1") for name, value in values.items()})
    assert found is not None
    assert (found.user, found.password and found.password.reveal()) == ("alice", "se:cret")
    assert "se:cret" not in repr(found)


def test_tls_of_the_brokers_does_not_apply() -> None:
    found = registry_settings(
        located(
            schema_registry_url="https://a",
            ssl_truststore_certificates="brokers",
            schema_registry_ssl_truststore_certificates="registry",
        )
    )
    assert found is not None
    assert found.tls.ca_text == "registry"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"schema_registry_url": "a:8081"}, "client.properties:1: schema.registry.url is not"),
        ({"schema_registry_url": " , "}, "client.properties:1: schema.registry.url has no URL"),
        ({"schema_registry_url": "http://u:s3cret@:1"}, "schema.registry.url is not a valid URL"),
        (
            {
                "schema_registry_url": "http://a",
                "basic_auth_credentials_source": "USER_INFO",
                "basic_auth_user_info": "s3cret",
            },
            "client.properties:3: basic.auth.user.info is not USER:PASSWORD",
        ),
        (
            {"schema_registry_url": "http://a", "basic_auth_credentials_source": "X"},
            "client.properties:2: basic.auth.credentials.source=X is not supported",
        ),
        (
            {
                "schema_registry_url": "http://a",
                "bearer_auth_credentials_source": "X",
                "bearer_auth_token": "s3cret",
            },
            "client.properties:2: bearer.auth.credentials.source=X is not supported",
        ),
    ],
)
def test_invalid_settings_have_their_place(values: dict[str, str], problem: str) -> None:
    with pytest.raises(ShellError) as caught:
        registry_settings(located(**values))
    assert problem in caught.value.message
    assert "s3cret" not in f"{caught.value.message}{caught.value.hint}"


def test_secrets_are_masked() -> None:
    assert shown_value("basic.auth.user.info", "alice:secret") == "***"
    assert shown_value("schema.registry.basic.auth.user.info", "alice:secret") == "***"
    assert shown_value("bearer.auth.token", "secret") == "***"
    assert shown_value("schema.registry.ssl.keystore.password", "secret") == "***"
    assert shown_value(URL, "http://a:8081") == "http://a:8081"
    assert shown_value(URL, "http://u:p@a:8081") == "***"
