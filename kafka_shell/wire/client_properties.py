"""Java client properties as a ConnectionConfig."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlparse

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.files import read_bytes
from kafka_shell.base.plans import Secret
from kafka_shell.base.units import to_path
from kafka_shell.wire.endpoint import (
    JKS,
    PKCS12,
    Assertion,
    ConnectionConfig,
    OAuth,
    PasswordSource,
    Sasl,
    Tls,
    Via,
    is_loopback,
    is_pem,
    parse_address_map,
    parse_addresses,
    parse_via,
)

T = TypeVar("T")
D = TypeVar("D", int, None)

# Java's `.properties` files, and the value of sasl.jaas.config.

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANK = " \t\f"
_MAX_SIZE = 1 << 22  # bytes; the file may contain certificates


class Property(Struct, frozen=True):
    """A value and its place, such as `client.properties:4`. `own`: of a profile in config.toml."""

    value: str
    where: str
    own: bool = False

    def __repr__(self) -> str:
        return f"Property({self.where!r})"


def read_properties(path: Path) -> dict[str, str]:
    """The values of a Java `.properties` file. Raises OSError, or ShellError with file and line,
    also for a key that is set twice."""
    text = _decode(read_bytes(path, largest=_MAX_SIZE))
    properties = parse_properties(text, str(path), unique=True)
    return {key: setting.value for key, setting in properties.items()}


def read_located(path: Path) -> dict[str, Property]:
    """The values of a Java `.properties` file with their lines."""
    return parse_properties(_decode(read_bytes(path, largest=_MAX_SIZE)), str(path))


def _decode(data: bytes) -> str:
    # Java reads ISO-8859-1, but most files are UTF-8.
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("iso-8859-1")


def parse_properties(text: str, name: str, *, unique: bool = False) -> dict[str, Property]:
    """Java's rules: `=`, `:` or blanks separate, `\\` continues and escapes, the last value of a
    key wins. If `unique`, a key that is set twice is an error."""
    properties: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        where = f"{name}:{number}"
        key, value = _split(line)
        if value is None:
            raise bad(where, f"{_first_word(line)} is not a setting", "Use key=value.")
        key = _unescape(key, where)
        if unique and key in properties:
            raise bad(where, f"{key} is set twice", f"It is also set at {properties[key].where}.")
        properties[key] = Property(_unescape(value, where), where)
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments, and with continuation lines joined."""
    lines = iter(enumerate(re.split(r"\r\n|\r|\n", text), 1))
    for number, natural in lines:
        line = natural.lstrip(_BLANK)
        if not line or line[0] in "#!":
            continue
        while _continues(line):
            _, more = next(lines, (0, ""))
            line = line[:-1] + more.lstrip(_BLANK)
        yield number, line


def _continues(line: str) -> bool:
    """Whether the line ends with an odd number of backslashes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str | None]:
    """Key and value, still escaped. The value is None without a separator."""
    match = re.match(r"((?:\\.|[^\\=: \t\f])*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)(.*)", line, re.S)
    return (match[1], match[2]) if match else (line, None)


def _unescape(text: str, where: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2] == "u":
            raise bad(where, "\\u is not followed by four hexadecimal digits", "Use \\uXXXX.")
        return _ESCAPES.get(match[2], match[2])

    if "\\" not in text:
        return text
    replaced = re.sub(r"\\u([0-9a-fA-F]{4})|\\(.)", plain, text)
    # Two escapes may be the surrogates of one character.
    return replaced.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def bad(where: str, what: str, expected: str) -> ShellError:
    """The error of an invalid file: the place, the problem, and the expected form."""
    return ShellError(f"{where}: {what}", hint=expected, code="bad-file", status=Status.WRONG)


def _first_word(line: str) -> str:
    """The line's first word, because the rest may be a secret."""
    word = re.split(r"[\s=:]", line, maxsplit=1)[0]
    return repr(word[:40])


# -- config providers (KIP-421, KIP-887) -----------------------------------------------------------

# As in Java, the provider ends at the first colon, and the key is what follows the path's colon.
_VARIABLE = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")

Provider = Callable[[str, str], str]
"""The value of a path and key. Raises KeyError without the key, or OSError."""


def resolve(properties: Mapping[str, Property]) -> dict[str, Property]:
    """Return the properties with each variable `${provider:path:key}` of their config providers
    replaced by its value, or raise ShellError with file and line."""
    providers = _providers(properties)
    if not providers:
        return dict(properties)
    return {name: _resolved(name, setting, providers) for name, setting in properties.items()}


def _resolved(name: str, setting: Property, providers: Mapping[str, Provider]) -> Property:
    if "${" not in setting.value or name.startswith("config.providers"):
        return setting
    value = _VARIABLE.sub(lambda match: _variable(match, setting, providers), setting.value)
    return Property(value, setting.where, setting.own)


def _providers(properties: Mapping[str, Property]) -> dict[str, Provider]:
    names = properties.get("config.providers")
    providers: dict[str, Provider] = {}
    for name in names.value.split(",") if names is not None else ():
        prefix = f"config.providers.{name.strip()}"
        named = properties.get(f"{prefix}.class")
        kind = named.value.strip().rpartition(".")[2] if named else ""
        if kind not in _PROVIDERS:
            place = named or names
            what = f"{prefix}.class is {'not supported' if named else 'not set'}"
            expected = f"Use one of {', '.join(_PROVIDERS)}."
            raise bad(place.where if place else "", what, expected)
        parameters = {
            key.removeprefix(f"{prefix}.param."): property_.value
            for key, property_ in properties.items()
        }
        providers[name.strip()] = _PROVIDERS[kind](parameters)
    return providers


def _variable(match: re.Match[str], setting: Property, providers: Mapping[str, Provider]) -> str:
    name, path, key = match[1], match[2] or "", match[3]
    if name not in providers:
        return match[0]
    try:
        return providers[name](path, key)
    except KeyError:
        raise bad(setting.where, f"{match[0]} is not set", "Check its path and key.") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise bad(setting.where, f"{match[0]} cannot be read: {why}", "Check its path.") from None


def _from_file(parameters: Mapping[str, str]) -> Provider:
    """FileConfigProvider: a key of a properties file."""

    def value(path: str, key: str) -> str:
        return read_located(_allowed(path, parameters))[key].value

    return value


def _from_directory(parameters: Mapping[str, str]) -> Provider:
    """DirectoryConfigProvider: the whole content of a file in a directory."""

    def value(path: str, key: str) -> str:
        file = _allowed(path, parameters) / key
        if Path(key).name != key or not file.is_file():
            raise KeyError(key)
        return read_bytes(file, largest=_MAX_SIZE).decode()

    return value


def _from_environment(parameters: Mapping[str, str]) -> Provider:
    """EnvVarConfigProvider: a variable of the environment."""
    allowed = re.compile(parameters.get("allowlist.pattern") or ".*")

    def value(path: str, key: str) -> str:
        if path or not allowed.fullmatch(key):
            raise KeyError(key)
        return os.environ[key]

    return value


def _allowed(path: str, parameters: Mapping[str, str]) -> Path:
    """Return the path if it is below one of `allowed.paths`."""
    file, allowed = to_path(path), parameters.get("allowed.paths")
    if allowed and not any(
        file.resolve().is_relative_to(Path(folder.strip()).resolve())
        for folder in allowed.split(",")
    ):
        raise KeyError(path)
    return file


_PROVIDERS: dict[str, Callable[[Mapping[str, str]], Provider]] = {
    "FileConfigProvider": _from_file,
    "DirectoryConfigProvider": _from_directory,
    "EnvVarConfigProvider": _from_environment,
}

# -- sasl.jaas.config ------------------------------------------------------------------------------


class Jaas(Struct, frozen=True):
    """A login module's class name and its options, some of which are secrets."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"Jaas({self.module!r})"


_OPTION = re.compile(
    r"""\s*([\w.\-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))"""
)
_CONTROL = ("required", "requisite", "sufficient", "optional")


def parse_jaas(setting: Property) -> Jaas:
    """`org...PlainLoginModule required username="a" password="b";`. Raises ShellError."""
    text = setting.value.strip()
    words = text.split(None, 2)
    if len(words) < 2 or words[1].rstrip(";").lower() not in _CONTROL:
        raise _bad_jaas(setting.where, "it must start with a login module and `required`")
    rest = words[2] if len(words) > 2 else ""
    if not text.endswith(";"):
        raise _bad_jaas(setting.where, "missing semicolon")
    options, at = {}, 0
    while match := _OPTION.match(rest, at):
        at = match.end()
        quoted = match[2] if match[2] is not None else match[3]
        value = match[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[match[1]] = value
    if rest[at:].strip(" \t\r\n;"):
        raise _bad_jaas(setting.where, f'expected key="value" after option {len(options)}')
    return Jaas(words[0].rpartition(".")[2], options)


def _bad_jaas(where: str, why: str) -> ShellError:
    return bad(
        where,
        f"sasl.jaas.config is malformed: {why}",
        'Use: LOGIN_MODULE required OPTION="VALUE" OPTION="VALUE";',
    )


PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

# Properties that are used. Files for Java clients may contain others, which are ignored.
KNOWN = frozenset(
    {
        "bootstrap.servers",
        "client.id",
        "security.protocol",
        "request.timeout.ms",
        "default.api.timeout.ms",
        "retry.backoff.ms",
        "retry.backoff.max.ms",
        "socket.connection.setup.timeout.ms",
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.kerberos.service.name",
        "sasl.oauthbearer.token",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.token.endpoint.allow.loopback.http",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.assertion.algorithm",
        "sasl.oauthbearer.assertion.claim.aud",
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        "sasl.oauthbearer.assertion.claim.iss",
        "sasl.oauthbearer.assertion.claim.jti.include",
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        "sasl.oauthbearer.assertion.claim.sub",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.template.file",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        "ssl.protocol",
        "ssl.enabled.protocols",
        "schema.registry.url",
        "basic.auth.credentials.source",
        "basic.auth.user.info",
        "bearer.auth.credentials.source",
        "bearer.auth.token",
        "schema.registry.ssl.truststore.type",
        "schema.registry.ssl.truststore.location",
        "schema.registry.ssl.keystore.type",
        "schema.registry.ssl.keystore.location",
    }
)

_ASSERTION = "sasl.oauthbearer.assertion"
_RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
_JWT_BEARER = "JwtBearerJwtRetriever"

# Properties of Java that change what others mean, with the supported classes.
ONLY: dict[str, tuple[str, ...]] = {
    "bootstrap.controllers": (),
    "sasl.login.class": (),
    "sasl.login.callback.handler.class": (
        "OAuthBearerLoginCallbackHandler",
        "OAuthBearerUnsecuredLoginCallbackHandler",
    ),
    "sasl.client.callback.handler.class": ("IAMClientCallbackHandler",),
    _RETRIEVER: (
        "DefaultJwtRetriever",
        "ClientCredentialsJwtRetriever",
        "FileJwtRetriever",
        _JWT_BEARER,
    ),
    "security.providers": (),
    "ssl.engine.factory.class": (),
}

_CLAIMS = ("iss", "sub", "aud")

# The options of sasl.jaas.config that are used, or that change nothing here.
_NAME_AND_PASSWORD = re.compile("username|password|tokenauth")
_OPTIONS = {
    "OAUTHBEARER": re.compile(
        "clientId|clientSecret|scope|extension_.+|unsecuredLogin(Extension|(String|Number|List)Claim)_.+"
    ),
    "GSSAPI": re.compile(
        "serviceName|principal|useKeyTab|keyTab|useTicketCache|ticketCache|storeKey|renewTGT"
        "|doNotPrompt|refreshKrb5Config|debug"
    ),
    "AWS_MSK_IAM": re.compile(
        "awsProfileName|awsRoleArn|awsRoleExternalId|awsRoleSessionName|awsStsRegion|awsDebugCreds"
    ),
}

_SECRETS = ("password", "passphrase", "jaas.config", "secret", "token", "keystore.key", "user.info")

_LOGIN = ("sasl.jaas.config", "sasl.oauthbearer.", "username", "password-command", "keyring")
_REGISTRY_LOGIN = ("basic.auth.", "bearer.auth.")
LOGINS = {
    "bootstrap.servers": _LOGIN,
    "sasl.oauthbearer.token.endpoint.url": _LOGIN,
    "schema.registry.url": (*_REGISTRY_LOGIN, *(f"schema.registry.{e}" for e in _REGISTRY_LOGIN)),
}
"""The property that names a server -> prefixes of the properties of its login, which must not be
sent to another server."""

Properties = Mapping[str, Property]


def is_secret(name: str) -> bool:
    """Whether a property's value is a secret."""
    return name.endswith(_SECRETS)


def shown_value(name: str, value: str) -> str:
    """The value to show: `***` for secrets, and for values that may contain one.

    Unknown properties may contain secrets (`aws.secret.access.key`).
    """
    own_setting = "." not in name and name != "password-command"
    if is_secret(name) or not (own_setting or name in KNOWN):
        return "***"
    return "***" if "://" in value and "@" in value else value


def to_connection(properties: Properties) -> ConnectionConfig:
    """The connection settings of client properties. Raises ShellError with file and line."""
    return _Reader(properties).connection()


def read_tls(properties: Properties) -> Tls:
    """The TLS settings of client properties. Raises ShellError with file and line."""
    return _Reader(properties).tls()


def read_via(properties: Properties) -> Via | None:
    """Return the proxy of all connections. Raises ShellError with file and line."""
    return _Reader(properties)._parsed("via", parse_via)


class _Reader:
    """Converts client properties to a ConnectionConfig."""

    def __init__(self, properties: Properties) -> None:
        self._properties = properties
        for name, supported in ONLY.items():
            value = self._text(name)
            if value and value.rpartition(".")[2] not in supported:
                classes = f" Supported: {', '.join(supported)}." if supported else ""
                raise bad(self._where(name), f"{name} is not supported", f"Remove it.{classes}")
        for name, setting in properties.items():
            # Java would send the variable itself as the password.
            if name in KNOWN and _VARIABLE.search(setting.value):
                what = f"{name} has a variable of an unknown config provider"
                raise bad(setting.where, what, "Name its provider in config.providers.")

    def connection(self) -> ConnectionConfig:
        default = ConnectionConfig()
        protocol = self._choice("security.protocol", PROTOCOLS, default.security_protocol)
        return ConnectionConfig(
            bootstrap=self._parsed("bootstrap.servers", parse_addresses) or default.bootstrap,
            security_protocol=protocol,
            sasl=self._sasl() if protocol.startswith("SASL_") else None,
            tls=self.tls() if protocol.endswith("SSL") else Tls(),
            client_id=self._text("client.id") or default.client_id,
            connect_timeout=self._seconds(
                "socket.connection.setup.timeout.ms", default.connect_timeout
            ),
            request_timeout=self._seconds("request.timeout.ms", default.request_timeout),
            call_timeout=self._seconds("default.api.timeout.ms", default.call_timeout),
            backoff=self._seconds("retry.backoff.ms", default.backoff),
            backoff_max=self._seconds("retry.backoff.max.ms", default.backoff_max),
            cluster_id=self._text("cluster-id"),
            address_map=self._parsed("address-map", parse_address_map) or (),
            via=self._parsed("via", parse_via),
        )

    def _parsed(self, name: str, parse: Callable[[str], T]) -> T | None:
        setting = self._find(name)
        if setting is None:
            return None
        try:
            return parse(setting.value)
        except UsageError as error:
            raise bad(setting.where, error.message, error.hint) from None

    # -- values ------------------------------------------------------------------------------------

    def _find(self, name: str) -> Property | None:
        setting = self._properties.get(name)
        return setting if setting is not None and setting.value.strip() else None

    def _text(self, name: str) -> str:
        setting = self._find(name)
        return setting.value.strip() if setting else ""

    def _flag(self, name: str) -> bool:
        return self._text(name).lower() == "true"

    def _where(self, name: str) -> str:
        setting = self._properties.get(name)
        return setting.where if setting else ""

    def _secret(self, name: str) -> Secret | None:
        setting = self._find(name)
        return Secret(setting.value) if setting else None

    def _choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        value = self._text(name).upper()
        if not value:
            return default
        if value not in choices:
            what = f"{name}={self._text(name)} is not supported"
            raise bad(self._where(name), what, f"Use one of {', '.join(choices)}.")
        return value

    def _seconds(self, name: str, default: float) -> float:
        value = self._integer(name, "milliseconds", None)
        return default if value is None else value / 1000

    def _integer(self, name: str, unit: str, default: D) -> int | D:
        value = self._text(name)
        if not value:
            return default
        if not (value.isascii() and value.isdigit()):
            what = f"{name} must be a number of {unit}, got {value}"
            raise bad(self._where(name), what, "Use an integer without unit.")
        return int(value)

    # -- SASL --------------------------------------------------------------------------------------

    def _sasl(self) -> Sasl:
        setting = self._find("sasl.jaas.config")
        jaas = parse_jaas(setting) if setting else Jaas("", {})
        mechanism = self._text("sasl.mechanism").upper() or self._likely_mechanism(jaas)
        used = _OPTIONS.get(mechanism, _NAME_AND_PASSWORD)
        for option, value in jaas.options.items():
            if not used.fullmatch(option) and value.lower() != "false":
                what = f"option {option} of sasl.jaas.config is not supported with {mechanism}"
                raise bad(self._where("sasl.jaas.config"), what, f"Remove {option}.")
        if mechanism == "OAUTHBEARER":
            return Sasl(mechanism, oauth=self._oauth(jaas.options))
        if mechanism in ("GSSAPI", "AWS_MSK_IAM"):
            service = self._text("sasl.kerberos.service.name")
            named = {"serviceName": service} if service else {}
            return Sasl(mechanism, options=tuple((jaas.options | named).items()))
        password = jaas.options.get("password")
        username = jaas.options.get("username") or self._text("username")
        return Sasl(
            mechanism,
            username,
            None if password is None else Secret(password),
            token=jaas.options.get("tokenauth", "").lower() == "true",
            source=self._password_source(username, mechanism) if password is None else None,
        )

    def _password_source(self, username: str, mechanism: str) -> PasswordSource | None:
        """A profile's `password-command` or `keyring`. Files of Java clients come from others."""
        command, keyring = self._find("password-command"), self._find("keyring")
        setting = command or keyring
        if setting is None:
            return None
        if not all(source is None or source.own for source in (command, keyring)):
            what = "password-command and keyring are only allowed in a profile of config.toml"
            raise bad(setting.where, what, "Move it to a profile, or set sasl.jaas.config.")
        if command is not None and keyring is not None:
            what = "password-command cannot be used with keyring"
            raise bad(setting.where, what, "Remove one of them.")
        if not username:
            raise bad(setting.where, "username is not set", 'Add username = "NAME".')
        if not mechanism:
            expected = "Use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."
            raise bad(setting.where, "sasl.mechanism is not set", expected)
        return PasswordSource(
            command.value if command else "", keyring.value if keyring else "", setting.where
        )

    def _likely_mechanism(self, jaas: Jaas) -> str:
        if jaas.module == "PlainLoginModule":
            return "PLAIN"
        if jaas.module == "OAuthBearerLoginModule":
            return "OAUTHBEARER"
        if jaas.module == "ScramLoginModule":
            raise bad(
                self._where("sasl.jaas.config"),
                "sasl.mechanism is not set",
                "Set sasl.mechanism=SCRAM-SHA-256 or SCRAM-SHA-512.",
            )
        # GSSAPI is Java's default. Without a login module, the login itself reports the error.
        return "GSSAPI" if jaas.module else ""

    def _oauth(self, options: Mapping[str, str]) -> OAuth:
        endpoint = self._text("sasl.oauthbearer.token.endpoint.url")
        prefix = "sasl.oauthbearer.client.credentials.client."
        secret = self._secret(f"{prefix}secret")
        if secret is None and "clientSecret" in options:
            secret = Secret(options["clientSecret"])
        return OAuth(
            token=self._secret("sasl.oauthbearer.token"),
            token_file=_path_of(endpoint) if endpoint.startswith("file:") else "",
            token_endpoint="" if endpoint.startswith("file:") else endpoint,
            client_id=self._text(f"{prefix}id") or options.get("clientId", ""),
            client_secret=secret,
            scope=self._text("sasl.oauthbearer.scope") or options.get("scope", ""),
            assertion=self._assertion(),
            jwt_bearer=self._jwt_bearer(),
            allow_loopback_http=self._flag("sasl.oauthbearer.token.endpoint.allow.loopback.http"),
            unsecured_claims=_unsecured_claims(options),
            extensions=tuple(
                (key.partition("_")[2], value)
                for key, value in options.items()
                if key.startswith(("extension_", "unsecuredLoginExtension_"))
            ),
        )

    def _jwt_bearer(self) -> bool:
        return self._text(_RETRIEVER).endswith(_JWT_BEARER)

    def _assertion(self) -> Assertion | None:
        """The assertion of JwtBearerJwtRetriever, or one instead of a client secret."""
        file, issuer = f"{_ASSERTION}.file", f"{_ASSERTION}.claim.iss"
        if not (self._jwt_bearer() or self._find(file) or self._find(issuer)):
            return None
        key = f"{_ASSERTION}.private.key.file"
        if not (self._find(file) or self._find(key)):
            where = self._where(_RETRIEVER) or self._where(issuer)
            raise bad(where, f"{key} is not set", f"Set it, or {file}.")
        claims = ((name, self._text(f"{_ASSERTION}.claim.{name}")) for name in _CLAIMS)
        return Assertion(
            file=self._text(file),
            key_file=self._text(key),
            key_password=self._secret(f"{_ASSERTION}.private.key.passphrase"),
            algorithm=self._choice(f"{_ASSERTION}.algorithm", ("RS256", "ES256"), "RS256"),
            template_file=self._text(f"{_ASSERTION}.template.file"),
            claims=tuple((name, value) for name, value in claims if value),
            lifetime=self._integer(f"{_ASSERTION}.claim.exp.seconds", "seconds", 300),
            valid_before=self._integer(f"{_ASSERTION}.claim.nbf.seconds", "seconds", 60),
            with_id=self._flag(f"{_ASSERTION}.claim.jti.include"),
        )

    # -- TLS ---------------------------------------------------------------------------------------

    def tls(self) -> Tls:
        """The settings `ssl.*`."""
        algorithm = self._properties.get("ssl.endpoint.identification.algorithm")
        return Tls(
            ca_file=self._store("ssl.truststore"),
            ca_text=self._text("ssl.truststore.certificates"),
            ca_password=self._secret("ssl.truststore.password"),
            certificate_file=self._store("ssl.keystore"),
            certificate_text=self._text("ssl.keystore.certificate.chain"),
            certificate_password=self._secret("ssl.keystore.password"),
            key_text=self._secret("ssl.keystore.key"),
            key_password=self._secret("ssl.key.password") or self._secret("ssl.keystore.password"),
            check_hostname=algorithm is None or bool(algorithm.value.strip()),
            minimum_version=self._minimum_version(),
        )

    def _minimum_version(self) -> str:
        protocols = self._text("ssl.enabled.protocols") or self._text("ssl.protocol")
        names = [name.strip() for name in protocols.split(",") if name.strip()]
        secure = sorted(set(names) & {"TLSv1.2", "TLSv1.3"})
        if names and not secure and names != ["TLS"]:
            setting = next(n for n in ("ssl.enabled.protocols", "ssl.protocol") if self._find(n))
            what = f"{setting}={protocols} has no secure TLS version"
            raise bad(self._where(setting), what, "Use TLSv1.2 or TLSv1.3.")
        return secure[0] if secure else "TLSv1.2"

    def _store(self, store: str) -> str:
        """Return the path of a PEM file, or of a JKS or PKCS12 store."""
        location = self._text(f"{store}.location")
        if not location:
            return ""
        path, where = to_path(location), self._where(f"{store}.location")
        try:
            with path.open("rb") as file:
                head = file.read(1 << 16)
        except OSError as error:
            what = f"{store}.location={location} cannot be read: {error.strerror}"
            raise bad(where, what, "Use a PEM file, or a JKS or PKCS12 store.") from None
        if not (is_pem(head) or head.startswith((PKCS12, JKS))):
            what = f"{location} is neither a PEM file nor a JKS or PKCS12 store"
            raise bad(where, what, f"Set {store}.location to one of these.")
        return str(path)


def _path_of(url: str) -> str:
    return unquote(urlparse(url).path)


def _unsecured_claims(
    options: Mapping[str, str],
) -> tuple[tuple[str, str | float | tuple[str, ...]], ...]:
    """Claims of Java's unsecured login module. A list starts with its separator: `,a,b`."""
    claims: list[tuple[str, str | float | tuple[str, ...]]] = []
    for key, value in options.items():
        kind, _, name = key.partition("Claim_")
        if kind == "unsecuredLoginString":
            claims.append((name, value))
        elif kind == "unsecuredLoginNumber":
            claims.append((name, float(value)))
        elif kind == "unsecuredLoginList" and value:
            claims.append((name, tuple(value[1:].split(value[0]))))
    return tuple(claims)


# Warnings about client properties that are valid, but probably a mistake.

# Correct properties of Java that are similar to a property in KNOWN.
_NEIGHBORS = {"sasl.oauthbearer.jwks.endpoint.url", "socket.connection.setup.timeout.max.ms"}
_IDENTIFICATION = "ssl.endpoint.identification.algorithm"


def connection_warnings(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> tuple[str, ...]:
    """Misspelled names, unused logins, disabled checks, and unencrypted passwords."""
    return (
        *_misspelled(properties),
        *_unused_credentials(properties, connection),
        *_no_host_name_check(properties, connection),
        *_unencrypted_password(connection),
    )


def _misspelled(properties: Mapping[str, Property]) -> Iterator[str]:
    for name, setting in properties.items():
        if name in KNOWN or name in _NEIGHBORS or "." not in name:
            continue
        from difflib import get_close_matches

        near = get_close_matches(name, KNOWN, n=1, cutoff=0.88)
        if near:
            yield f"{setting.where}: unknown client property {name}; did you mean {near[0]}?"


def _unused_credentials(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> Iterator[str]:
    """SASL credentials that are ignored because of security.protocol; Java does not say so."""
    names = ("sasl.jaas.config", "sasl.mechanism", "password-command", "keyring")
    setting = next((properties[name] for name in names if name in properties), None)
    if setting is None or connection.uses_sasl:
        return
    name = connection.security_protocol
    yield f"{setting.where}: SASL credentials are ignored because security.protocol is {name}"


def _no_host_name_check(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> Iterator[str]:
    setting = properties.get(_IDENTIFICATION)
    if setting is not None and connection.uses_tls and not setting.value.strip():
        yield (
            f"{setting.where}: with an empty {_IDENTIFICATION}, any host with a trusted certificate"
            " can impersonate a broker"
        )


def _unencrypted_password(connection: ConnectionConfig) -> Iterator[str]:
    sasl = connection.sasl
    if sasl is None or sasl.mechanism not in ("PLAIN", "OAUTHBEARER") or connection.uses_tls:
        return
    if all(is_loopback(address.host) for address in connection.bootstrap):
        return
    secret = "password" if sasl.mechanism == "PLAIN" else "token"
    yield (
        f"SASL {sasl.mechanism} without TLS sends the {secret} unencrypted;"
        " use security.protocol=SASL_SSL"
    )


def file_warnings(properties: Mapping[str, Property]) -> Iterator[str]:
    """Files with secrets that every user of this machine can read."""
    files: dict[Path, str] = {}
    for name, setting in properties.items():
        if is_secret(name) and setting.value:
            files.setdefault(Path(setting.where.rpartition(":")[0]), "secrets")
    store = properties.get("ssl.keystore.location")
    if store is not None and store.value.strip():
        files.setdefault(to_path(store.value.strip()), "a private key")
    for file, content in files.items():
        try:
            mode = file.stat().st_mode if file.name else 0
        except OSError:
            continue
        if mode & 0o004:
            yield f"{file} contains {content} and is readable by every user; run chmod 600 on it"
