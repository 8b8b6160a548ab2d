"""Quotas of users and clients."""

from __future__ import annotations

from kafka_shell.admin.quotas.model import (
    DEFAULT,
    EffectiveQuotas,
    QuotaEntity,
    QuotaResolution,
)

USER = "ANONYMOUS"  # whom a broker without logins takes everyone for


def levels_of(client: str) -> tuple[QuotaEntity, ...]:
    """KIP-55's order, written out once more."""
    return (
        QuotaEntity(USER, client),
        QuotaEntity(USER, DEFAULT),
        QuotaEntity(USER),
        QuotaEntity(DEFAULT, client),
        QuotaEntity(DEFAULT, DEFAULT),
        QuotaEntity(DEFAULT),
        QuotaEntity(None, client),
        QuotaEntity(None, DEFAULT),
    )


def resolved(client: EffectiveQuotas, key: str) -> QuotaResolution:
    (found,) = (each for each in client.resolutions if each.key == key)
    return found
