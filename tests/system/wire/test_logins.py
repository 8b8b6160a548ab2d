"""Log in with tokens of a token server, and with tickets of a KDC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.base.files import to_properties
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions, save
from tests.support import kdc as kdcs
from tests.support.jvm_tools import java
from tests.support.kdc import REALM, Kdc, running_kdc
from tests.support.program import Process, Program
from tests.support.token_server import AUDIENCE, ISSUER, SECRET, TokenServer, running_token_server

OAUTH = "org.apache.kafka.common.security.oauthbearer"
PREFIX = "sasl.oauthbearer"
ASSERTION = f"{PREFIX}.assertion"
KERBEROS = "com.sun.security.auth.module.Krb5LoginModule required"


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenServer]:
    with running_token_server(tmp_path_factory.mktemp("tokens")) as server:
        yield server


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc | None]:
    if kdcs.missing():
        yield None
        return
    with running_kdc(tmp_path_factory.mktemp("kdc")) as running:
        running.principal("alice", "wonderland")
        yield running


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, tokens: TokenServer, kdc: Kdc | None
) -> Iterator[Sandbox]:
    """A broker that checks the tokens of the token server and the tickets of the KDC."""
    listener = "listener.name.sasl_plaintext"
    overrides = {
        f"{listener}.oauthbearer.sasl.server.callback.handler.class": (
            f"{OAUTH}.OAuthBearerValidatorCallbackHandler"
        ),
        f"{listener}.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
        f"{PREFIX}.jwks.endpoint.url": tokens.jwks.as_uri(),
        f"{PREFIX}.expected.audience": AUDIENCE,
        f"{PREFIX}.expected.issuer": ISSUER,
        "super.users": "User:admin;User:broker;User:me;User:alice;User:batch",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN,OAUTHBEARER",
    }
    options = [f"-Dorg.apache.kafka.{PREFIX}.allowed.urls={tokens.jwks.as_uri()}"]
    if kdc is not None:
        name = "kafka/127.0.0.1"
        keytab = kdc.principal(name)
        login = f'storeKey=true keyTab="{keytab}" principal="{name}@{REALM}";'
        overrides |= {
            f"{listener}.gssapi.sasl.jaas.config": f"{KERBEROS} useKeyTab=true {login}",
            f"{listener}.sasl.kerberos.service.name": "kafka",
            f"{listener}.sasl.enabled.mechanisms": "GSSAPI,OAUTHBEARER,PLAIN",
        }
        options.append(f"-Djava.security.krb5.conf={kdc.config}")
    folder = tmp_path_factory.mktemp("broker")
    choice = SandboxOptions(folder, port=0, secure=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", " ".join(options))
        try:
            start(choice)
            save(replace(stop(folder), overrides=overrides))
            yield start(choice)
        finally:
            wipe(folder)


def properties(sandbox: Sandbox, **settings: str) -> dict[str, str]:
    return {
        "bootstrap.servers": sandbox.bootstraps["SASL_PLAINTEXT"],
        "security.protocol": "SASL_PLAINTEXT",
        **settings,
    }


def oauth(sandbox: Sandbox, tokens: TokenServer, settings: dict[str, str]) -> dict[str, str]:
    return properties(sandbox) | {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
        "sasl.login.callback.handler.class": f"{OAUTH}.OAuthBearerLoginCallbackHandler",
        f"{PREFIX}.token.endpoint.url": tokens.url,
        f"{PREFIX}.token.endpoint.allow.loopback.http": "true",
        **settings,
    }


def cluster_id(folder: Path, settings: dict[str, str], **environ: str) -> str:
    """The ID of the cluster as this program reads it."""
    run = describe(folder, settings, **environ)
    assert run.status == 0, str(run)
    found: str = run.json["cluster_id"]
    return found


def describe(folder: Path, settings: dict[str, str], **environ: str) -> Any:
    path = folder / "client.properties"
    path.write_text(to_properties(settings))
    path.chmod(0o600)
    kind = Process if environ else Program
    program = kind(folder / "home", environ=environ)
    return program("cluster", "--output", "json", "--command-config", str(path))


def java_cluster_id(settings: dict[str, str]) -> str:
    """The ID of the cluster as Kafka's AdminClient reads it with the same properties."""
    named = java().java.util.Properties()
    for name, value in settings.items():
        named.put(name, value)
    client = java().org.apache.kafka.clients.admin.AdminClient.create(named)
    try:
        return str(client.describeCluster().clusterId().get())
    finally:
        client.close()


def signed(tokens: TokenServer, key: str = "rs256", **claims: str) -> dict[str, str]:
    return {
        f"{ASSERTION}.private.key.file": str(tokens.folder / f"{key}.pem"),
        f"{ASSERTION}.algorithm": key.partition("-")[0].upper(),
        f"{ASSERTION}.claim.iss": "me",
        f"{ASSERTION}.claim.sub": "batch",
        f"{ASSERTION}.claim.aud": ISSUER,
    } | {f"{ASSERTION}.{name.replace('_', '.')}": value for name, value in claims.items()}


BEARER = {f"{PREFIX}.jwt.retriever.class": f"{OAUTH}.JwtBearerJwtRetriever"}


@pytest.mark.parametrize(("key", "bearer"), [("rs256", True), ("es256", True), ("rs256", False)])
def test_signed_assertion_as_in_java(
    broker: Sandbox, tokens: TokenServer, tmp_path: Path, key: str, bearer: bool
) -> None:
    settings = oauth(broker, tokens, signed(tokens, key) | (BEARER if bearer else {}))
    settings[f"{PREFIX}.scope"] = "kafka"
    del tokens.requests[:], tokens.claims[:]
    assert cluster_id(tmp_path, settings) == broker.cluster_id
    ours = [set(tokens.requests[-1]), set(tokens.claims[-1])]
    java().java.lang.System.setProperty(
        f"org.apache.kafka.{PREFIX}.allowed.urls", f"{tokens.url},{tokens.jwks.as_uri()}"
    )
    files = [str(path) for path in tokens.folder.iterdir()]
    java().java.lang.System.setProperty(f"org.apache.kafka.{PREFIX}.allowed.files", ",".join(files))
    assert java_cluster_id(settings) == broker.cluster_id
    assert ours == [set(tokens.requests[-1]), set(tokens.claims[-1])]
    assert tokens.claims[-1]["sub"] == "batch"


def test_private_key_with_a_passphrase(
    broker: Sandbox, tokens: TokenServer, tmp_path: Path
) -> None:
    settings = oauth(broker, tokens, signed(tokens, "rs256-locked") | BEARER)
    settings[f"{ASSERTION}.private.key.passphrase"] = "locked"
    assert cluster_id(tmp_path, settings) == broker.cluster_id
    settings[f"{ASSERTION}.private.key.passphrase"] = "hush"
    run = describe(tmp_path, settings)
    assert "cannot be read: a wrong passphrase" in run.stderr
    assert "hush" not in run.stderr


def test_template_and_times_of_an_assertion(
    broker: Sandbox, tokens: TokenServer, tmp_path: Path
) -> None:
    template = tmp_path / "template.json"
    template.write_text(json.dumps({"header": {"kid": "k"}, "payload": {"aud": ISSUER, "t": 1}}))
    changed = {
        f"{ASSERTION}.template.file": str(template), f"{ASSERTION}.claim.exp.seconds": "30",
        f"{ASSERTION}.claim.nbf.seconds": "5", f"{ASSERTION}.claim.jti.include": "true",
    }  # fmt: skip
    settings = oauth(broker, tokens, signed(tokens) | BEARER | changed)
    del settings[f"{ASSERTION}.claim.aud"]
    assert cluster_id(tmp_path, settings) == broker.cluster_id
    claims = tokens.claims[-1]
    assert (claims["exp"] - claims["iat"], claims["iat"] - claims["nbf"]) == (30, 5)
    assert claims["t"] == 1
    assert claims["jti"]


def test_assertion_of_a_file(broker: Sandbox, tokens: TokenServer, tmp_path: Path) -> None:
    jwt = tmp_path / "assertion.jwt"
    cluster_id(tmp_path, oauth(broker, tokens, signed(tokens) | BEARER))
    jwt.write_text(tokens.requests[-1]["assertion"])
    settings = oauth(broker, tokens, {f"{ASSERTION}.file": str(jwt)} | BEARER)
    assert cluster_id(tmp_path, settings) == broker.cluster_id


def test_client_secret_and_token_file(broker: Sandbox, tokens: TokenServer, tmp_path: Path) -> None:
    client = f"{PREFIX}.client.credentials.client"
    secret = oauth(broker, tokens, {f"{client}.id": "me", f"{client}.secret": SECRET})
    assert cluster_id(tmp_path, secret) == broker.cluster_id
    file = tmp_path / "token"
    file.write_text(tokens.token("me"))
    from_file = oauth(broker, tokens, {f"{PREFIX}.token.endpoint.url": file.as_uri()})
    assert cluster_id(tmp_path, from_file) == broker.cluster_id


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({f"{ASSERTION}.claim.iss": "other"}, "returned no token: HTTP 400"),
        ({f"{ASSERTION}.private.key.file": "{folder}/rs256-locked.pem"}, "or has a passphrase"),
        ({f"{ASSERTION}.private.key.file": "{folder}/es256.pem"}, "RS256 requires an RSA key"),
        ({f"{ASSERTION}.private.key.file": "{folder}/none.pem"}, "No such file"),
        ({f"{ASSERTION}.algorithm": "HS256"}, "HS256 is not supported"),
        ({f"{ASSERTION}.private.key.file": ""}, "private.key.file is not set"),
        ({f"{ASSERTION}.claim.exp.seconds": "5m"}, "must be a number of seconds"),
    ],
)
def test_assertion_that_cannot_be_made_or_is_rejected(
    broker: Sandbox, tokens: TokenServer, tmp_path: Path, changed: dict[str, str], said: str
) -> None:
    changed = {key: value.format(folder=tokens.folder) for key, value in changed.items()}
    run = describe(tmp_path, oauth(broker, tokens, signed(tokens) | BEARER | changed))
    assert run.status
    assert said in run.stderr, run.stderr


# -- Kerberos --------------------------------------------------------------------------------------

needs_kdc = pytest.mark.skipif(bool(kdcs.missing()), reason=kdcs.missing())


def kerberos(sandbox: Sandbox, options: str, **settings: str) -> dict[str, str]:
    named = {"sasl.mechanism": "GSSAPI", "sasl.jaas.config": f"{KERBEROS} {options};"}
    return properties(sandbox) | named | {"sasl.kerberos.service.name": "kafka"} | settings


@needs_kdc
def test_key_table(broker: Sandbox, kdc: Kdc, tmp_path: Path) -> None:
    name = f"batch@{REALM}"
    keytab = kdc.folder / "batch.keytab"
    if not keytab.exists():
        kdc.principal("batch")
    login = f'useKeyTab=true storeKey=true keyTab="{keytab}" principal="{name}"'
    found = cluster_id(tmp_path, kerberos(broker, login), **kdc.environment)
    assert found == broker.cluster_id
    assert not (kdc.folder / "no-tickets").exists(), "the user's ticket cache stays as it is"


@needs_kdc
def test_ticket_cache_of_kinit(broker: Sandbox, kdc: Kdc, tmp_path: Path) -> None:
    cache = tmp_path / "tickets"
    kdc.run("kinit", "alice", stdin="wonderland\n", KRB5CCNAME=f"FILE:{cache}")
    where = kdc.environment | {"KRB5CCNAME": f"FILE:{cache}"}
    assert cluster_id(tmp_path, kerberos(broker, "useTicketCache=true"), **where)
    named = f'useTicketCache=true ticketCache="{cache}" principal="alice"'
    assert cluster_id(tmp_path, kerberos(broker, named), **kdc.environment)


@needs_kdc
@pytest.mark.parametrize(
    ("options", "settings", "said", "hint"),
    [
        ("useTicketCache=true", {}, "no Kerberos ticket or key: ", "Run kinit"),
        ('keyTab="/none" principal="bob"', {}, "no Kerberos ticket or key for bob: ", "keyTab"),
        (
            'keyTab="{folder}/kafka_127.0.0.1.keytab" principal="kafka/127.0.0.1"',
            {"sasl.kerberos.service.name": "other"},
            "no Kerberos ticket for other@127.0.0.1: ",
            "sasl.kerberos.service.name",
        ),
    ],
)
def test_login_without_a_ticket(
    broker: Sandbox, kdc: Kdc, tmp_path: Path, options: str, settings: dict[str, str], said: str,
    hint: str,
) -> None:  # fmt: skip
    login = kerberos(broker, options.format(folder=kdc.folder), **settings)
    run = describe(tmp_path, login, **kdc.environment)
    assert run.status == 3, str(run)
    assert said in run.stderr
    assert hint in run.stderr
