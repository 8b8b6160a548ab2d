"""The XDG base directories of the user, also used on macOS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_shell.errors import ShellError, Status

_FOLDERS = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def xdg_folder(what: str, environ: Mapping[str, str]) -> Path:
    """The directory of kafka.sh for config, cache, data or state. Raises ShellError, status 2, if
    the user has no home directory."""
    variable, default = _FOLDERS[what]
    base = environ.get(variable, "")
    if not base.startswith("/"):  # the specification: a relative path is invalid
        try:
            return Path.home() / default / "kafka-sh"
        except RuntimeError:
            raise ShellError(
                "this user has no home directory",
                hint="Set HOME or KAFKA_SH_HOME to a folder.",
                code="no-home",
                status=Status.WRONG,
            ) from None
    return Path(base) / "kafka-sh"
