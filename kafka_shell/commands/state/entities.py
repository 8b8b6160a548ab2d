"""The names of entities in state files: `user alice, client-id app`, `user-default`."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.quotas.model import DEFAULT, Default, QuotaEntity
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.common.units import shorten
from kafka_shell.errors import ShellError, did_you_mean


def quota_entity(text: str, at: DocumentValue) -> QuotaEntity:
    """The entity of a quota, written at this place."""
    parts = parts_of(text, at, ("user", "client-id", "ip"))
    if not parts or ("ip" in parts and len(parts) > 1):
        raise at.error(
            f"expected user NAME, client-id ID, user NAME client-id ID or ip ADDRESS, got"
            f" {shorten(text)}",
            "Defaults are user-default, client-id-default and ip-default.",
        )
    return QuotaEntity(parts.get("user"), parts.get("client-id"), parts.get("ip"))


def parts_of(text: str, at: DocumentValue, known: tuple[str, ...]) -> dict[str, Any]:
    """The parts of an entity by type; DEFAULT for `user-default`. A comma between is optional."""
    from kafka_shell.commands.acls.rules import split_words

    try:
        words = split_words(text)
    except ShellError as error:
        raise at.error(error.message, error.hint) from None
    parts: dict[str, Any] = {}
    while words:
        kind = words.pop(0).text
        name: str | Default = DEFAULT
        if kind.removesuffix(",").endswith("-default"):
            kind = kind.removesuffix(",").removesuffix("-default")
        elif words:
            word = words.pop(0)
            last = not words or word.quoted
            name = word.text if last else word.text.removesuffix(",")
        else:
            raise at.error(f"{shorten(text)}: the name after {kind!r} is missing")
        if kind not in known or kind in parts:
            hint = did_you_mean(kind, known, f"Expected {', '.join(known)}.")
            raise at.error(f"{shorten(text)}: unexpected {kind!r}", hint)
        parts[kind] = name
    return parts
