"""Completion and documentation of dynamic client configs."""

from __future__ import annotations

from kafka_shell.admin.client_configs.keys import KEYS, ClientConfigKey
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidates, Catalog, pick
from kafka_shell.view.view import ClusterView


def offer(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the keys, or the values of a key."""
    if request.part == "value":
        key = KEYS.get(request.key)
        return pick(key.choices, request.prefix) if key else NONE
    keys = {name: key for name, key in KEYS.items() if name not in request.taken}
    return pick(keys, request.prefix, lambda name: (_summary(keys[name]), ""), request.tail)


def document(request: CompletionRequest, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and text about a key; None for other keys."""
    known = KEYS.get(key)
    return (f"{_summary(known)} · {known.takes_effect}", known.about) if known else None


def _summary(key: ClientConfigKey) -> str:
    return f"{key.type.name.lower():<7}  {', '.join(key.of)}"
