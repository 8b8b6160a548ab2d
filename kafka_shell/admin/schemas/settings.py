"""The settings of a schema registry in client properties, named as in Confluent's Java clients."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from kafka_shell.base.plans import Secret
from kafka_shell.wire.client_properties import Property, bad, parse_jaas, read_tls, read_via
from kafka_shell.wire.endpoint import Tls, Via

URL = "schema.registry.url"
_PREFIX = "schema.registry."
_AUTH = "basic.auth."
_BEARER = "bearer.auth."


class RegistrySettings(Struct, frozen=True):
    """The URLs of a schema registry, without credentials, and how to authenticate."""

    urls: tuple[str, ...]
    user: str = ""
    password: Secret | None = None
    token: Secret | None = None
    tls: Tls = field(default_factory=Tls)
    via: Via | None = None


def registry_settings(properties: Mapping[str, Property]) -> RegistrySettings | None:
    """The settings, or None without schema.registry.url. Raises ShellError with file and line."""
    found = properties.get(URL)
    if found is None or not found.value.strip():
        return None
    words = [word.strip().rstrip("/") for word in found.value.split(",") if word.strip()]
    if not words:
        raise bad(found.where, f"{URL} has no URL", "Use https://host:8081.")
    urls = tuple(_without_credentials(word, found) for word in words)
    user, password = _credentials(words[0], properties)
    return RegistrySettings(
        urls,
        user,
        password,
        _token(properties),
        read_tls(_without_prefix(properties)),
        read_via(properties),
    )


def _without_credentials(url: str, found: Property) -> str:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:  # the URL may contain a password
        raise bad(found.where, f"{URL} is not a valid URL", "Use https://host:8081.")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _without_prefix(properties: Mapping[str, Property]) -> dict[str, Property]:
    """The properties of the registry's own TLS: those of the brokers do not apply to it."""
    return {
        name.removeprefix(_PREFIX): found
        for name, found in properties.items()
        if name.startswith(f"{_PREFIX}ssl.")
    }


def _find(properties: Mapping[str, Property], name: str) -> Property | None:
    """A property, with or without the prefix."""
    found = properties.get(_PREFIX + name) or properties.get(name)
    return found if found is not None and found.value.strip() else None


def _credentials(url: str, properties: Mapping[str, Property]) -> tuple[str, Secret | None]:
    chosen = _find(properties, f"{_AUTH}credentials.source")
    source = chosen.value.strip().upper() if chosen else "URL"
    if source == "USER_INFO":
        info = _find(properties, f"{_AUTH}user.info")
        user, colon, password = info.value.strip().partition(":") if info else ("", "", "")
        if not (user and colon):
            where = (info or chosen or properties[URL]).where
            raise bad(where, f"{_AUTH}user.info is not USER:PASSWORD", "Use USER:PASSWORD.")
        return user, Secret(password)
    if source == "SASL_INHERIT":
        jaas = properties.get("sasl.jaas.config")
        options = parse_jaas(jaas).options if jaas else {}
        return options.get("username", ""), Secret(options.get("password", ""))
    if source != "URL":
        assert chosen is not None
        what = f"{_AUTH}credentials.source={chosen.value} is not supported"
        raise bad(chosen.where, what, "Use URL, USER_INFO or SASL_INHERIT.")
    parts = urlsplit(url)
    return unquote(parts.username or ""), Secret(unquote(parts.password or ""))


def _token(properties: Mapping[str, Property]) -> Secret | None:
    source = _find(properties, f"{_BEARER}credentials.source")
    token = _find(properties, f"{_BEARER}token")
    if source is None:
        return None
    if source.value.strip().upper() != "STATIC_TOKEN":
        what = f"{_BEARER}credentials.source={source.value} is not supported"
        raise bad(source.where, what, "Use STATIC_TOKEN.")
    if token is None:
        raise bad(source.where, f"{_BEARER}token is not set", f"Set {_BEARER}token.")
    return Secret(token.value.strip())
