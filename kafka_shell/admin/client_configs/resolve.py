"""The effective configs of one client: those of its client ID override those of its user."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity


def resolve(configs: Iterable[ClientConfig], user: str, client_id: str) -> dict[str, ClientConfig]:
    """The configs of one client by key, each from the level that applies (KIP-649)."""
    levels = (ClientEntity(user), ClientEntity(user, client_id))
    found: dict[str, ClientConfig] = {}
    for level in levels:
        found.update((config.key, config) for config in configs if config.entity == level)
    return dict(sorted(found.items()))
