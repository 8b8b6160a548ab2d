"""The properties of Java's AdminClient 4.3, and what this program does with each."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.wire.client_properties import KNOWN, ONLY

_TEXT = """\
bootstrap.controllers bootstrap.servers client.dns.lookup client.id config.providers
connections.max.idle.ms default.api.timeout.ms enable.metrics.push metadata.max.age.ms
metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters
metrics.num.samples metrics.recording.level metrics.sample.window.ms receive.buffer.bytes
reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retries retry.backoff.max.ms
retry.backoff.ms sasl.client.callback.handler.class sasl.jaas.config sasl.kerberos.kinit.cmd
sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name
sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms
sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
sasl.mechanism sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file
sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.private.key.passphrase
sasl.oauthbearer.assertion.template.file sasl.oauthbearer.client.credentials.client.id
sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.clock.skew.seconds
sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url
sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope
sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
sasl.oauthbearer.token.endpoint.url security.protocol security.providers send.buffer.bytes
socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms ssl.cipher.suites
ssl.enabled.protocols ssl.endpoint.identification.algorithm ssl.engine.factory.class
ssl.key.password ssl.keymanager.algorithm ssl.keystore.certificate.chain ssl.keystore.key
ssl.keystore.location ssl.keystore.password ssl.keystore.type ssl.protocol ssl.provider
ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates
ssl.truststore.location ssl.truststore.password ssl.truststore.type
"""
NAMES = _TEXT.split()

_USED = KNOWN | {"config.providers"}
# What happens instead of an ignored property.
_INSTEAD = {
    "client.dns.lookup": "all addresses of a name are tried",
    "enable.metrics.push": "no metrics are pushed",
    "metadata.recovery.strategy": "the bootstrap servers are always tried again",
    "sasl.kerberos.kinit.cmd": "the ticket of kinit or the key table is used",
    "sasl.oauthbearer.header.urlencode": "client ID and secret are always URL-encoded",
    "ssl.cipher.suites": "OpenSSL chooses",
    "ssl.provider": "OpenSSL is used",
    "ssl.keymanager.algorithm": "OpenSSL is used",
    "ssl.trustmanager.algorithm": "OpenSSL is used",
    "ssl.secure.random.implementation": "OpenSSL is used",
}
_OF_BROKERS = (
    "sasl.oauthbearer.expected.", "sasl.oauthbearer.jwks.", "sasl.oauthbearer.clock.",
    "sasl.oauthbearer.scope.claim.", "sasl.oauthbearer.sub.claim.",
    "sasl.oauthbearer.jwt.validator.",
)  # fmt: skip


def meaning(name: str) -> str:
    """What this program does with a property."""
    if name in ONLY:
        classes = ", ".join(ONLY[name])
        return f"an error, except {classes}" if classes else "an error"
    if name in _USED:
        return "used"
    if name in _INSTEAD:
        return f"ignored: {_INSTEAD[name]}"
    if name.startswith(_OF_BROKERS):
        return "ignored: brokers check tokens"
    return "ignored"


def rows() -> Iterator[tuple[str, str]]:
    """The properties of Java, and the others that are used."""
    for name in sorted({*NAMES, *KNOWN}):
        yield name, meaning(name)
