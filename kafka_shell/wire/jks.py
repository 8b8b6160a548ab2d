"""Java's JKS stores as PEM. The format is that of the JDK's class `JavaKeyStore`; no library that
is maintained reads it."""

from __future__ import annotations

import base64
import ssl
import struct
from collections.abc import Iterator
from hashlib import sha1
from io import BytesIO

_KEY, _CERTIFICATE = 1, 2  # entries
_PROTECTOR = bytes.fromhex("2b060104012a02110101")  # OID 1.3.6.1.4.1.42.2.17.1.1
_DIGEST = 20  # bytes of SHA-1


def to_pem(data: bytes, password: str | None, key_password: str | None) -> str:
    """Return the first private key with its certificates, and the other certificates. Without a
    password, the store is not verified, as in Java. Raises ValueError if it is damaged, or a
    password is wrong."""
    content, digest = data[:-_DIGEST], data[-_DIGEST:]
    if password is not None and _sha1(password, b"Mighty Aphrodite" + content) != digest:
        raise ValueError("wrong password")
    try:
        keys, certificates = _entries(BytesIO(content))
        pem = [_key_as_pem(_decrypted(key, key_password or password or "")) for key in keys[:1]]
    except (struct.error, IndexError):
        raise ValueError("it ends early") from None
    return "".join([*pem, *map(ssl.DER_cert_to_PEM_cert, certificates)])


def _entries(store: BytesIO) -> tuple[list[bytes], list[bytes]]:
    """The encrypted keys, and the certificates, those of keys first."""

    def number(format: str = ">I") -> int:
        (unpacked,) = struct.unpack(format, store.read(struct.calcsize(format)))
        return int(unpacked)

    def block(format: str = ">I") -> bytes:
        size = number(format)
        unpacked = store.read(size)
        if len(unpacked) < size:
            raise ValueError("it ends early")
        return unpacked

    def certificate() -> bytes:
        if version > 1:
            block(">H")  # X.509
        return block()

    keys: list[bytes] = []
    of_keys: list[bytes] = []
    trusted: list[bytes] = []
    _, version, count = number(), number(), number()
    for _ in range(count):
        entry, _, _ = number(), block(">H"), number(">Q")  # with its alias and time
        if entry == _KEY:
            keys.append(block())
            of_keys += [certificate() for _ in range(number())]
        elif entry == _CERTIFICATE:
            trusted.append(certificate())
        else:
            raise ValueError(f"entry of type {entry}")
    return keys, [*of_keys, *trusted]


def _decrypted(info: bytes, password: str) -> bytes:
    """The key (PKCS #8) of an EncryptedPrivateKeyInfo (RFC 5958)."""
    (content,) = _values(info)
    algorithm, octets = _values(content)
    if next(_values(algorithm), b"") != _PROTECTOR:
        raise ValueError("the key is encrypted in another way")
    digest, encrypted, check = octets[:_DIGEST], octets[_DIGEST:-_DIGEST], octets[-_DIGEST:]
    stream = bytearray()
    while len(stream) < len(encrypted):
        digest = _sha1(password, digest)
        stream += digest
    key = bytes(one ^ other for one, other in zip(encrypted, stream, strict=False))
    if _sha1(password, key) != check:
        raise ValueError("wrong password")
    return key


def _values(der: bytes) -> Iterator[bytes]:
    """The contents of the values of DER that follow one another."""
    while der:
        size, start = der[1], 2
        if size & 0x80:
            start += size & 0x7F
            size = int.from_bytes(der[2:start], "big")
        yield der[start : start + size]
        der = der[start + size :]


def _sha1(password: str, data: bytes) -> bytes:
    return sha1(password.encode("utf-16-be") + data, usedforsecurity=False).digest()


def _key_as_pem(key: bytes) -> str:
    text = base64.encodebytes(key).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}-----END PRIVATE KEY-----\n"
