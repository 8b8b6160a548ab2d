"""The XDG base directories of the user, also used on macOS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_FOLDERS = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def xdg_folder(what: str, environ: Mapping[str, str]) -> Path:
    """The directory of kafka.sh for config, cache, data or state."""
    variable, default = _FOLDERS[what]
    base = environ.get(variable, "")
    if not base.startswith("/"):  # the specification: a relative path is invalid
        return Path.home() / default / "kafka-sh"
    return Path(base) / "kafka-sh"
