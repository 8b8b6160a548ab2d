"""The answer of `config-command --describe` (KIP-248)."""

from __future__ import annotations

from dataclasses import dataclass

from .configs import ConfigEntry, ConfigResource


@dataclass(frozen=True, slots=True)
class ConfigTable:
    """One resource's configs, printed with raw values in KIP-248's layout."""

    resource: ConfigResource
    entries: tuple[ConfigEntry, ...]
