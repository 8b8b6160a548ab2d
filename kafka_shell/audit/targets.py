"""Which clusters are audited: profiles by name, or the one this shell works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_shell import settings
from kafka_shell.errors import UsageError
from kafka_shell.settings import Settings
from kafka_shell.units import to_path

from .work import Target


def of_settings(found: Settings, environ: Mapping[str, str], config_file: Path) -> Target:
    """The cluster of these settings. UsageError where its login is nothing executors may see."""
    flags = found.flags
    file = str(flags.get("command-config") or environ.get("KAFKA_SH_COMMAND_CONFIG") or "")
    return Target(
        found.cluster_name,
        found.profile,
        ",".join(map(str, found.connection.bootstrap)),
        str(config_file.absolute()),
        str(to_path(file).absolute()) if file else "",
        _spelt_out(flags.get("adminclient-property")),
    )


def of_profiles(
    names: Sequence[str], environ: Mapping[str, str], config_file: Path
) -> tuple[Target, ...]:
    """The clusters of these profiles, each once. Raises ShellError for one that is not there."""
    return tuple(
        of_settings(settings.load({"profile": name}, {}, config_file), {}, config_file)
        for name in dict.fromkeys(names)
    )


def _spelt_out(given: object) -> tuple[str, ...]:
    from kafka_shell.admin.wire.client_properties import KNOWN, is_secret

    pairs = given if isinstance(given, list | tuple) else [given] if given else []
    texts = [f"{pair[0]}={pair[1]}" if isinstance(pair, tuple) else str(pair) for pair in pairs]
    for text in texts:
        key = text.partition("=")[0].strip()
        if is_secret(key):
            raise UsageError(
                f"{key} was given on the command line, and Spark's executors would have to be told",
                hint="Put the login into a profile of config.toml, or a --command-config file.",
                code="secret",
            )
    return tuple(text for text in texts if text.partition("=")[0].strip() in KNOWN)
