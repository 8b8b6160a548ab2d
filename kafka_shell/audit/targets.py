"""The clusters to audit: profiles by name, or the current cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_shell import settings
from kafka_shell.audit.tasks import Target
from kafka_shell.base.errors import UsageError
from kafka_shell.base.units import to_path
from kafka_shell.settings import Settings


def of_settings(found: Settings, environ: Mapping[str, str], config_file: Path) -> Target:
    """Return the target of these settings. Raises UsageError for a secret on the command line."""
    flags = found.flags
    file = str(flags.get("command-config") or environ.get("KAFKA_SH_COMMAND_CONFIG") or "")
    return Target(
        found.cluster_name,
        found.profile,
        ",".join(map(str, found.connection.bootstrap)),
        str(config_file.absolute()),
        str(to_path(file).absolute()) if file else "",
        _properties(flags.get("adminclient-property")),
    )


def of_profiles(
    names: Sequence[str], environ: Mapping[str, str], config_file: Path
) -> tuple[Target, ...]:
    """Return the targets of these profiles, without duplicates. Raises ShellError if one is
    missing."""
    return tuple(
        of_settings(settings.load({"profile": name}, {}, config_file), {}, config_file)
        for name in dict.fromkeys(names)
    )


def _properties(given: object) -> tuple[str, ...]:
    from kafka_shell.wire.client_properties import KNOWN, is_secret

    pairs = given if isinstance(given, list | tuple) else [given] if given else []
    texts = [f"{pair[0]}={pair[1]}" if isinstance(pair, tuple) else str(pair) for pair in pairs]
    for text in texts:
        key = text.partition("=")[0].strip()
        if is_secret(key):
            raise UsageError(
                f"{key} on the command line would be sent to the Spark executors",
                hint="Put the credentials into config.toml or a --command-config file.",
                code="secret",
            )
    return tuple(text for text in texts if text.partition("=")[0].strip() in KNOWN)
