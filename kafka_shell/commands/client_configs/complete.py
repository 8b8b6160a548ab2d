"""Completion and documentation of dynamic client configs."""

from __future__ import annotations

from kafka_shell.admin.client_configs.keys import KEYS, ClientConfigKey
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidates, Catalog, pick
from kafka_shell.view.view import ClusterView


def offer(found: CompletionRequest, known: Catalog) -> Candidates:
    """Return the keys, or the values of a key."""
    if found.part == "value":
        key = KEYS.get(found.key)
        return pick(key.choices, found.prefix) if key else NONE
    keys = {name: key for name, key in KEYS.items() if name not in found.taken}
    return pick(keys, found.prefix, lambda name: (_summary(keys[name]), ""), found.tail)


def document(found: CompletionRequest, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and text about a key; None for other keys."""
    known = KEYS.get(key)
    return (f"{_summary(known)} · {known.takes_effect}", known.about) if known else None


def _summary(key: ClientConfigKey) -> str:
    return f"{key.type.name.lower():<7}  {', '.join(key.of)}"
