"""Security of a sandbox: passwords, certificates, broker configs and client properties files."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from kafka_shell.base.errors import missing_package
from kafka_shell.base.files import private_folder, to_properties, write_private
from kafka_shell.sandbox.state import Sandbox

ADMINISTRATOR = "admin"
USERS = (ADMINISTRATOR, "alice")
TWIN_USER = "kafka-sh-twin"
SECURE_LISTENERS = ("SASL_SSL", "SASL_PLAINTEXT", "SSL")

_LOGIN = "org.apache.kafka.common.security"
_PLAIN = f"{_LOGIN}.plain.PlainLoginModule required"
_SCRAM = f"{_LOGIN}.scram.ScramLoginModule required"
_OAUTH = f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required"
_BETWEEN_NODES = {
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
}


def make_secrets(sandbox: Sandbox) -> None:
    """Create the passwords and certificates of a new secure sandbox."""
    for folder in (_tls(sandbox), sandbox.folder / "clients"):
        private_folder(folder)
    names = (*USERS, "broker", "oauth-scope", "delegation-token-key")
    passwords = {name: secrets.token_urlsafe(18) for name in names}
    write_private(_secrets_file(sandbox), json.dumps(passwords, indent=2))
    _make_certificates(sandbox)


def passwords(sandbox: Sandbox) -> dict[str, str]:
    """Return the password of each user."""
    known = _secrets(sandbox)
    return {user: known[user] for user in sandbox.users}


def scram_credentials(sandbox: Sandbox) -> list[str]:
    """Return the initial SCRAM credentials in the format of StorageTool."""
    return [
        f"{mechanism}=[name={user},password={password}]"
        for user, password in passwords(sandbox).items()
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    ]


def twin_settings(sandbox: Sandbox) -> dict[str, str]:
    """Return the security configs of a twin, whose listeners have one user."""
    login = f'username="{TWIN_USER}" password="{sandbox.password}"'
    plain = f'{_PLAIN} {login} user_{TWIN_USER}="{sandbox.password}";'
    return _BETWEEN_NODES | {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": plain,
        "listener.name.controller.plain.sasl.jaas.config": plain,
        "super.users": f"User:{TWIN_USER}",
    }


def server_settings(sandbox: Sandbox) -> dict[str, str]:
    """Return the security configs of the broker."""
    known = _secrets(sandbox)
    accounts = "".join(f' user_{name}="{known[name]}"' for name in (*USERS, "broker"))
    plain = f'{_PLAIN} username="broker" password="{known["broker"]}"{accounts};'
    # Unsecured tokens prove nothing, so a token must contain a secret scope.
    scope = f'unsecuredValidatorRequiredScope="{known["oauth-scope"]}"'
    oauth = f'{_OAUTH} unsecuredLoginStringClaim_sub="broker" {scope};'
    settings = _BETWEEN_NODES | {
        "super.users": "User:admin;User:broker",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN,OAUTHBEARER",
        "listener.name.controller.plain.sasl.jaas.config": plain,
        "delegation.token.secret.key": known["delegation-token-key"],
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(_tls(sandbox) / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(_tls(sandbox) / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.ssl.ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/",
    }
    for listener in ("sasl_ssl", "sasl_plaintext"):
        prefix = f"listener.name.{listener}"
        settings |= {
            f"{prefix}.plain.sasl.jaas.config": plain,
            f"{prefix}.scram-sha-256.sasl.jaas.config": f"{_SCRAM};",
            f"{prefix}.scram-sha-512.sasl.jaas.config": f"{_SCRAM};",
            f"{prefix}.oauthbearer.sasl.jaas.config": oauth,
        }
    return settings


def write_client_properties(sandbox: Sandbox) -> None:
    """Write the client properties files of each user, one per login method, with current ports."""
    for user in sandbox.users:
        for name, settings in _logins(sandbox, user).items():
            path = sandbox.folder / "clients" / f"{user}-{name}.properties"
            write_private(path, to_properties(settings))


def _logins(sandbox: Sandbox, user: str) -> dict[str, dict[str, str]]:
    known = _secrets(sandbox)
    account = f'username="{user}" password="{known[user]}";'
    token = (
        f'{_OAUTH} unsecuredLoginStringClaim_sub="{user}" '
        f'unsecuredLoginListClaim_scope=",{known["oauth-scope"]}";'
    )
    trust = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(_tls(sandbox) / "ca.pem"),
    }
    key = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(_tls(sandbox) / f"{user}.pem"),
    }

    def listener(name: str) -> dict[str, str]:
        return {"bootstrap.servers": sandbox.bootstraps[name], "security.protocol": name}

    def sasl(mechanism: str, login: str) -> dict[str, str]:
        return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}

    scram = f"{_SCRAM} {account}"
    return {
        "sasl-ssl": listener("SASL_SSL") | sasl("SCRAM-SHA-512", scram) | trust,
        "sasl-ssl-plain": listener("SASL_SSL") | sasl("PLAIN", f"{_PLAIN} {account}") | trust,
        "sasl-ssl-oauth": listener("SASL_SSL") | sasl("OAUTHBEARER", token) | trust,
        "sasl-plaintext": listener("SASL_PLAINTEXT") | sasl("SCRAM-SHA-256", scram),
        "ssl": listener("SSL") | trust | key,
    }


def _make_certificates(sandbox: Sandbox) -> None:
    """Create a CA (its key is discarded) and certificates for the broker and each user."""
    try:
        import trustme
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise missing_package("a secure sandbox", "trustme", "sandbox") from None

    def write(name: str, certificate: trustme.LeafCert) -> None:
        # Java reads PKCS 8 only; trustme writes the traditional OpenSSL format.
        key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        write_private(_tls(sandbox) / f"{name}.pem", (pem + chain).decode())

    authority = trustme.CA(organization_name="kafka.sh sandbox")
    write_private(_tls(sandbox) / "ca.pem", authority.cert_pem.bytes().decode())
    write("broker", authority.issue_cert("localhost", "127.0.0.1", common_name="broker"))
    for user in USERS:
        write(user, authority.issue_cert(f"{user}@localhost", common_name=user))


def _tls(sandbox: Sandbox) -> Path:
    return sandbox.folder / "tls"


def _secrets_file(sandbox: Sandbox) -> Path:
    return sandbox.folder / "secrets.json"


def _secrets(sandbox: Sandbox) -> dict[str, str]:
    if not sandbox.secure:
        return {}
    known: dict[str, str] = json.loads(_secrets_file(sandbox).read_text())
    return known
